import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tests.tui.replays import replay
from tests.tui.scenes import about_of, context_of, engine_of, scene_of
from tui.look import text
from tui.look.palette import DARK, Look
from tui.look.sheets import Line, Span
from tui.panels import queue, run_comparison
from tui.panels.context import Context
from tui.panels.run_comparison import between, draw
from tui.replay.compared_runs import Versus
from tui.replay.scene import VersusScene
from tui.replay.stage import RunView
from tui.widgets.panel import draw_rows

END = 1995
"""Number of steps of lublin-128 under EASY."""


@cache
def compared(name: str, first: str, second: str, step: int = 0, *, done: bool = True, look: Look = DARK) -> Context:
    """Return the context of two compared runs under `first` and `second`, shown after `step` steps of the first;
    `done`: False leaves the comparison at its beginning."""
    _, workload = Source(name).read()
    one = Timeline(workload, parse_policy(first))
    other = one.twin()
    other.switch(parse_policy(second), at_step=0)
    one.compute_all()
    other.compute_all()
    one.seek(step)
    moment = one.history.time_of(step - 1) if step else 0.0
    other.seek_time(moment)
    made = Versus(RunView(one), RunView(other))
    while done and not made.is_done:
        made.advance()
    scene = scene_of(one.branch.engine, snapshot=one.snapshot(), clock=moment, versus=made.scene(moment))
    return Context(about_of(workload), scene, look)


def scene(context: Context) -> VersusScene:
    assert context.scene.versus is not None
    return context.scene.versus


def lines(context: Context, width: int = 60, rows: int = 40) -> list[Line]:
    drawn = draw(context, (width, rows), 0)
    return [*drawn.head, *drawn.body]


def line_of(context: Context, label: str, width: int = 60) -> Line:
    return next(line for line in lines(context, width) if line.text.startswith(label))


# The panel
def test_dependent_jobs_count_from_their_submission_in_each_run(tmp_path: Path) -> None:
    """Under firstfit job 3 ends at 20, so job 4 is submitted then. Under fcfs job 3 still waits."""
    path = tmp_path / "follows.json"
    asked = {"run": 100, "nodes": 1, "cores": 3}
    jobs = [
        asked | {"id": "1", "submit": 0},
        asked | {"id": "2", "submit": 1},
        asked | {"id": "3", "submit": 2, "run": 18, "cores": 1},
        asked | {"id": "4", "submit": 3, "dependency": "afterok:3"},
    ]
    path.write_text(json.dumps({"nodes": [{"cores": 4}], "jobs": jobs}), encoding="utf-8")
    context = compared(str(path), "firstfit", "fcfs", 4)
    assert context.scene.clock == 20
    assert line_of(context, "not started").text.split() == ["not", "started", "2", "2"]
    assert scene(context).waiting == (2, 2)


def test_no_winner_where_the_jobs_that_ended_differ_much() -> None:
    """At 20 minutes three jobs have ended under EASY but only two in both runs, as J5 has not ended under FCFS."""
    context = compared("z-figure4", "fcfs", "easy", 7)
    drawn = lines(context)
    assert drawn[1].text.startswith("Of the 2 jobs that ended in both, too few")
    assert not any("●" in row.text for row in drawn)


def test_of_which_run_the_other_panels_are_is_said() -> None:
    context = compared("z-figure4", "fcfs", "easy", 5)
    drawn = [
        draw_rows(draw(context, (60, 10), 0), (), context, 60, 2, None)[0] for draw in (queue.draw, run_comparison.draw)
    ]
    titles = ["".join(segment.text for segment in row) for row in drawn]
    assert [title.split()[0] for title in titles] == ["Queue", "Compared"]
    assert "fcfs" not in titles[0]  # its chart says so
    assert replace(context, of_other=True).whose == Span(" easy ", "other")


def test_names_of_both_runs_fit_over_their_columns_and_how_one_began_is_whole() -> None:
    context = compared("z-figure4", "easy", "conservative", 5)
    led = "easy", "easy, from d0 00:00:40 on conservative"
    parted = replace(context, scene=replace(context.scene, versus=replace(scene(context), led=led)))
    rows = [row.text.rstrip() for row in lines(parted, 46)]
    assert rows[:2] == ["easy, from d0 00:00:40 on conservative", f"{'easy':>31}{'conservative':>14}"]
    both = replace(scene(context), led=("easy, from d0 00:00:40 on fcfs", led[1]))
    rows = [row.text.rstrip() for row in lines(replace(context, scene=replace(context.scene, versus=both)), 46)]
    assert rows[0] == " easy  easy, from d0 00:00:40 on fcfs"
    assert rows[1:3] == [" conservative  easy, from d0 00:00:40 on", "               conservative"]


async def test_each_run_is_named_in_its_chart_and_over_its_column_only() -> None:
    async with replay("lublin-128", at="#984") as run:
        await run.press("v", *"conservative", "enter", "right")
        await run.wait_for(lambda: run.screen.scene and run.screen.scene.versus)
        await run.settle()
        words = run.text.replace("·", " ").split()
        assert words.count("conservative") == 3  # in the chart, in how it began, over its column
        await run.press("e")
        assert "Queue conservative" in run.text


def test_the_ratio_of_slowdowns_is_told_in_words() -> None:
    context = compared("lublin-128", "easy", "conservative", 984)
    for ratio, told in ((0.25, "1.25 times as high with easy"), (-1.5, "2.50 times as high with conservative")):
        shown = replace(context, scene=replace(context.scene, versus=replace(scene(context), r=ratio)))
        assert line_of(shown, "R ", 80).text == f"R {ratio:+.2f}: bounded slowdown {told}"


def test_whole_panel_is_known_at_the_end() -> None:
    told = draw(compared("lublin-128", "easy", "conservative", 900), (60, 60), 0).text
    assert "gained most" not in told
    assert "press end" in told
    told = " no start or end differs yet   d to the first difference   e other run   v ends"
    assert between(compared("z-figure4", "fcfs", "easy", done=False), 80).text == told
    assert between(compared("z-figure4", "fcfs", "easy", 5), 80).text == told
    context = compared("z-figure4", "fcfs", "easy", 1, done=False)
    rows = [line.text for line in lines(context)]
    assert rows[1].split() == ["ended", "0", "0"]
    assert not any("●" in row for row in rows)


def test_the_selected_job_comes_into_sight() -> None:
    context = compared("lublin-128", "easy", "conservative", END)
    found = scene(context).comparison
    assert found is not None
    lost = found.lost[-1].job.rank
    drawn = draw(replace(context, selected=lost), (60, 10), 0)
    assert drawn.mark is not None
    assert drawn.body[drawn.mark].rank == lost


def test_runs_that_are_alike_say_so() -> None:
    told = draw(compared("z-figure4", "easy", "easy", 10), (76, 40), 0).text
    assert "Both runs are the same: every job of both starts and ends at the same time." in told
    assert "Who" not in told
    assert between(compared("z-figure4", "easy", "easy", 9, done=False), 80).text.startswith(
        " no start or end differs yet"
    )
    assert between(compared("z-figure4", "easy", "easy", 9), 80).text == " no start and no end differs   v ends"
    told = draw(context_of(engine_of("z-figure4", "easy")), (60, 8), 0).text
    assert told.startswith("Compared\nNo comparison: v compares with another policy")


@pytest.mark.parametrize("width", [40, 46, 60, 76])
@pytest.mark.parametrize(("first", "second"), [("easy", "conservative"), ("selective", "multiqueue:speculate=180")])
def test_no_line_is_wider_than_the_panel(width: int, first: str, second: str) -> None:
    context = compared("lublin-128", first, second, 900)
    for drawn in (context, replace(context, look=DARK.with_mode("ascii"))):
        assert max(text.cells(line.text) for line in lines(drawn, width)) <= width


def test_a_run_that_decides_twice_at_the_first_difference_is_named_once() -> None:
    context = compared("z-figure4", "fcfs", "easy", 7)
    versus = scene(context)
    assert versus.parting is not None
    act = versus.parting.only[1][0]
    both = replace(versus.parting, only=((act._replace(rank=3),), (act,)))
    twice = replace(versus, parting=both, told=(("J4 waits", "J5 waits"), ("J4 runs",)))
    rows = [row.text for row in lines(replace(context, scene=replace(context.scene, versus=twice)))]
    assert rows[rows.index(" fcfs  J4 waits") + 1 :][:2] == ["       J5 waits", " easy  J4 runs"]


def test_in_ascii_all_of_it_is_ascii() -> None:
    context = compared("z-figure4", "fcfs", "easy", 10, look=DARK.with_mode("ascii"))
    told = draw(context, (60, 40), 0).text
    assert told.isascii()
    assert "2.01 *" in told
    assert "d0 00:30 -> d0 00:10" in told


# The line between the charts
@pytest.mark.parametrize(
    ("width", "told"),
    [
        (
            145,
            " first difference at d0 00:10:00: fcfs keeps J5 waiting: needs 5, 6 free, and the policy stopped at J3; "
            "easy backfills J5   d goes there",
        ),
        (
            120,
            " first difference at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5   d goes there   e other run"
            "   v ends",
        ),
        (96, " first difference at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5   d goes there"),
        (73, " differ at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5"),
        (60, " at d0 00:10:00: fcfs keeps J5 waiting; easy backfills J5"),
        (56, " first difference at d0 00:10:00 over J5   d goes there"),
        (34, " first difference at d0 00:10:00 …"),
    ],
)
def test_the_line_says_as_much_as_has_room(width: int, told: str) -> None:
    assert between(compared("z-figure4", "fcfs", "easy", 7), width).text == told
