from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sim.session.session import BranchRecord
from tests.tui.scenes import about_of, engine_of, scene_of
from tui.look.text import cells
from tui.panels.top import Going, top_line

ENGINE = engine_of("lublin-128", "easy", steps=300)
ABOUT, SCENE = about_of(ENGINE.workload), scene_of(ENGINE)
PAUSED = Going(speed="1h/s")


def top_text(going: Going = PAUSED, width: int = 120, beside: str = "") -> str:
    return top_line(ABOUT, SCENE, going, width, beside).text


def test_top_line_tells_and_can_be_clicked() -> None:
    line = top_text()
    assert line.startswith(" lublin-128 · 128 procs · 1,000 jobs ")
    assert line.endswith("easy   ‖ 1h/s   d3 14:25:53   step 300 / 300+ ")
    spans = top_line(ABOUT, SCENE, PAUSED, 120).spans
    actions = {span.text.strip(): span.action for span in spans}
    assert (actions["easy"], actions["1h/s"], actions["d3 14:25:53"]) == ("policy", "speed(1)", "go_to")
    going = replace(PAUSED, stops=2, hidden=("1 queue", "7 strip"))
    assert "2 stops set · hidden: 1 queue, 7 strip   easy" in top_text(going)
    assert top_text(going, width=60) == top_text(width=60)
    actions = {span.text: span.action for span in top_line(ABOUT, SCENE, going, 120).spans}
    assert (actions["2 stops set"], actions[" · hidden: 1 queue, 7 strip"]) == ("stops", "all_panels")


def test_top_line_names_machine_branch_and_work() -> None:
    branches = (BranchRecord("main"), BranchRecord("fork 1", "main", 3))
    line = top_line(ABOUT, replace(SCENE, branch="fork 1", branches=branches), Going(), 120)
    assert "easy on fork 1" in line.text
    assert " on " not in top_text()
    about = about_of(engine_of("full-memory", "easy").workload)
    assert top_line(about, None, Going(), 120).text.rstrip() == " full-memory · 3 nodes · 12 cores · 7 jobs"
    searching = top_text(Going(True, 1, "1h/s", ("searching", 0.42)))
    assert "searching 42 %, esc stops" in searching
    assert "1h/s" not in searching


@given(width=st.integers(13, 250), beside=st.sampled_from(["", "fcfs", "x" * 80]), playing=st.booleans())
def test_the_line_is_as_wide_as_the_screen(width: int, beside: str, playing: bool) -> None:
    progress = None if playing else ("computing", 1.0)
    branches = (BranchRecord("main"), BranchRecord("a long name of a branch", "main", 3))
    scene = replace(SCENE, branch="a long name of a branch", branches=branches)
    noted = Going(stops=3, hidden=("queue", "decisions"))
    for going in (Going(playing, 1, "by event, 2 s", progress), Going(), noted):
        assert cells(top_line(ABOUT, scene, going, width, beside).text) == width
