"""Also tests sim.code.lines."""

import sys
from pathlib import Path

import pytest

from sim import read
from sim.code import recorder
from sim.code.lines import Focus, PassCode
from sim.decisions.decisions import Backfill, Decision, Keep
from sim.policies import POLICIES, Policy, parse_policy
from sim.timeline.timeline import Timeline

pytestmark = pytest.mark.usefixtures("own_program")

LITERATURE = sorted((Path(__file__).parents[1] / "authoring" / "literature").glob("*.py"))


def at_step(trace: str, policy: str | Policy, step: int) -> tuple[PassCode, tuple[Decision, ...]]:
    timeline = Timeline(read(trace), policy)
    timeline.seek(step)
    return timeline.code(), timeline.snapshot().decisions


def text_at(focus: Focus) -> str:
    assert focus.line is not None
    return focus.function.lines[focus.line - focus.function.first].strip()


def conditions(focus: Focus) -> list[tuple[str, bool]]:
    return [(each.text, each.is_true) for each in focus.conditions.values()]


def test_lines_stand_beside_decisions_and_conditions() -> None:
    code, decisions = at_step("k-figure2.1-2.2", "easy", 4)
    kept, passes = code.focus(0, 3), code.focus(1, 4)
    assert kept is not None
    assert passes is not None
    assert [type(each) for each in decisions] == [Keep, Backfill]
    assert text_at(kept) == "now.keep(job)"
    assert text_at(passes) == "now.start(job, FitsExtra(head, shadow, extra))"
    assert ("not (8 <= 3)", True) in conditions(kept)
    assert conditions(passes)[1:] == [("not (3 <= 3)", False), ("2030 <= 1200", False), ("3 <= 3", True)]
    told = {text.strip(): passes.values.get(at) for at, text in enumerate(passes.function.lines, passes.function.first)}
    assert told["shadow, extra = now.shadow(head)"] == [("shadow", "1200"), ("extra", "3")]
    assert told["for job in now.in_tail(now.easy_candidates(head, shadow, extra), self.tail):"] == [("job", "J5")]


def test_a_function_that_the_policy_calls_is_shown_with_its_callers() -> None:
    timeline = Timeline(read("lublin-128"), "easy:depth=2")
    timeline.seek(300)
    focus = timeline.code().focus(0, None)
    assert focus is not None
    assert focus.function.name == "_deep"
    assert [function.name for function, _ in focus.callers] == ["decide"]


def test_a_job_that_no_decision_is_about_shows_its_last_condition() -> None:
    code, _ = at_step("k-figure2.1-2.2", "easy", 4)
    focus = code.focus(None, 2)
    assert focus is not None
    assert focus.line is None
    assert focus.conditions
    assert code.focus(None, 0) is None


def test_recording_changes_no_schedule_and_leaves_no_trace_function() -> None:
    plain, watched = Timeline(read("lublin-128"), "selective"), Timeline(read("lublin-128"), "selective")
    was = sys.gettrace()
    for step in range(1, 200, 7):
        watched.seek(step)
        watched.code()
        plain.seek(step)
        assert watched.snapshot() == plain.snapshot()
    assert sys.gettrace() is was


def test_a_step_of_very_many_lines_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MOST_LINES", 5)
    code, decisions = at_step("k-figure2.1-2.2", "easy", 4)
    assert code.is_cut
    assert len(code.made) == len(decisions)


@pytest.mark.parametrize("name", sorted({*POLICIES} - {"adaptive"}))
def test_every_policy_of_ours_has_a_line_for_each_decision(name: str) -> None:
    """Except `adaptive`, under which the engine changes from one policy to another and makes decisions of its own."""
    _check(name)


@pytest.mark.parametrize("path", LITERATURE, ids=lambda path: path.stem)
def test_policies_of_the_literature_have_a_line_for_each_decision(path: Path) -> None:
    _check(parse_policy(str(path)))


def _check(policy: str | Policy) -> None:
    """Check some steps of a run: every decision was made by a line of the policy's code, whose source is known."""
    timeline = Timeline(read("lublin-128"), policy)
    found = 0
    for step in range(20, 200, 9):
        timeline.seek(step)
        code, decisions = timeline.code(), timeline.snapshot().decisions
        assert len(code.made) == len(decisions)
        for index in range(len(decisions)):
            focus = code.focus(index, None)
            assert focus is not None
            assert focus.line is not None
            assert focus.line in range(focus.function.first, focus.function.first + len(focus.function.lines))
            found += 1
    assert found
