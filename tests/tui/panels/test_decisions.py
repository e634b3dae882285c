"""Also tests tui.panels.decision_icons."""

from dataclasses import replace

from sim.decisions.decisions import Keep
from sim.decisions.reasons_to_wait import TooFewFree, WaitsForOwn
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of
from tui.panels import decisions
from tui.panels.context import Context

AT_600 = 600
"""Time in seconds at which J1 of z-figure4 ends, J5 is backfilled and J4 is kept waiting."""


def at_600() -> Context:
    return context_of(engine_of("z-figure4", "easy", until=AT_600))


def test_events_come_before_decisions_with_their_reasons() -> None:
    assert decisions.draw(at_600(), (84, 20), 0).text.splitlines() == [
        "Decisions   1 made · 1 waits · then 1 free",
        "− J1 ends",
        "○ J4 waits: needs 4 > 2 extra and would end at 00:25:00 > J3's start at 00:20:00",
        "◐ J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start at 00:20:00",
    ]


def test_walking_marks_one_decision_and_leaves_the_later_ones_quiet() -> None:
    first, second = (decisions.draw(replace(at_600(), decision=index), (84, 20), 0) for index in (0, 1))
    assert (first.note, second.note) == ("1 of 2", "2 of 2")
    assert [line.spans[0][:2] for line in first.body[1:]] == [("▸", "accent"), ("◐", "dim")]
    assert [line.spans[0][:2] for line in second.body[1:]] == [("○", "dim"), ("▸", "accent")]
    assert (first.mark, second.mark) == (1, 2)


def test_long_lists_show_what_is_selected(lab: Lab) -> None:
    sheet = decisions.draw(replace(at_600(), selected=4), (44, 3), 0)
    assert sheet.mark == 3
    assert sheet.body[3].rank == 4
    engine = lab.run("firstfit", 4, "1 0 4 900 900", *(f"{number} 1 2 10 10" for number in range(2, 302)), until=1)
    drawn = decisions.draw(context_of(engine, decision=200), (36, 10), 195)
    assert (drawn.first, drawn.total, len(drawn.body), drawn.mark) == (195, 301, 10, 201)
    assert drawn.body[6].text == "▸ J202 waits: needs 2 > 0 free"


def test_seen_as_a_whole_those_who_lack_the_same_are_told_together(lab: Lab) -> None:
    engine = lab.run("firstfit", 4, "1 0 4 900 900", *(f"{number} 1 2 10 10" for number in range(2, 9)), until=1)
    whole = decisions.draw(context_of(engine), (80, 20), 0)
    assert whole.body[-1].text == "○ J2, J3, J4, J5 and 3 more wait: each needs more than is free"
    walked = decisions.draw(context_of(engine, decision=0), (80, 20), 0)
    assert walked.body[1].text == "▸ J2 waits: needs 2 > 0 free"
    assert len(walked.body) == 1 + 7


def test_those_who_wait_for_something_else_are_told_by_themselves() -> None:
    """Two jobs wait for different reasons with the same number, so that they must not share a line."""
    context = at_600()
    jobs = context.about.workload.jobs
    kept = Keep(jobs[3], TooFewFree(2)), Keep(jobs[1], WaitsForOwn(2))
    shown = replace(context.scene.snapshot, decisions=kept)
    whole = decisions.draw(replace(context, scene=replace(context.scene, snapshot=shown)), (80, 20), 0)
    assert [line.text for line in whole.body[-2:]] == [
        "○ J4 waits: needs 4 > 2 free",
        "○ J2 waits: 2 of its own 4 processors are taken",
    ]


def test_empty_phases_share_a_line_until_selected() -> None:
    context = context_of(engine_of("z-figure7", "gang", until=300))
    drawn = decisions.draw(context, (80, 30), 0)
    assert "phases clean · compact: no job moves" in [line.text for line in drawn.body]
    walked = [line.text for line in decisions.draw(replace(context, decision=1), (80, 30), 0).body]
    assert {"phase clean", "phase compact"} <= set(walked)


def test_a_panel_without_decisions_teaches(lab: Lab) -> None:
    before = decisions.draw(context_of(engine_of("z-figure4", "easy")), (80, 20), 0)
    assert before.body[-1].text == "Press → to make the first step."
    idle = decisions.draw(context_of(lab.run("easy", 4, "1 0 3 10 10")), (80, 20), 0)
    assert [line.text for line in idle.body] == ["− J1 ends", "", "No decisions: no job waits."]
    turn = lab.run("gang:mpl=2,slice=5", 4, "1 0 4 20 20", "2 0 4 20 20", until=5)
    gang = decisions.draw(context_of(turn), (80, 20), 0)
    assert gang.body[0].text.startswith("No change to the matrix")


def test_odd_steps_are_told(lab: Lab) -> None:
    context = context_of(lab.run("selective:sf=2,tick=60", 4, "1 0 4 600 600", "2 0 3 60 60", until=60))
    scene = replace(context.scene, snapshot=replace(context.scene.snapshot, decisions=()))
    told = decisions.draw(replace(context, scene=scene), (80, 20), 0).body[-1].text
    assert told == "No decisions: no job waits; 1 is suspended."
    engine = lab.run("fcfs", 2, *(f"{number} 0 2 10 10" for number in range(1, 2001)), until=0)
    first = decisions.draw(context_of(engine), (80, 20), 0).body[0]
    assert first.text == "+ J1, J2, J3, J4 and 1,996 more arrive"


def test_reason_of_the_selected_job_stands_in_its_own_panel_alone() -> None:
    context = context_of(engine_of("z-figure4", "easy", until=600), selected=3)
    assert "J4 waits: needs 4" in decisions.draw(context, (60, 20), 0).text
    told = decisions.draw(replace(context, visible=frozenset({"details"})), (60, 20), 0).text
    assert "J4 waits" in told
    assert "needs 4" not in told
