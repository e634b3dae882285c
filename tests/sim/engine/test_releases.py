"""Runs in which some jobs arrive only when the jobs that they follow have ended.

Also tests sim.engine.arrivals, sim.workload.follows, sim.workload.fidelity.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.metrics.fairness import fair_start, fairness
from sim.policies import POLICIES
from sim.support.errors import NotThereError, ParameterError, TraceError
from sim.timeline.scenario import Scenario
from sim.timeline.timeline import Timeline
from sim.workload.fidelity import UNMODELLED
from sim.workload.follows import After, Follow, Outcome, renumbered
from sim.workload.limits import Bound, Limits
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.source import Source
from sim.workload.transforms import Transforms, feedback

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sim.conftest import Lab

CHAINS = ("1 0 2 10 10", "2 5 2 10 30", "3 6 4 8 8", "4 40 1 10 10", "5 41 3 5 9", "6 42 2 20 20", "7 43 4 5 5")


def chained(lab: Lab) -> Workload:
    """Return seven jobs, of which the fourth, the fifth and the last arrive only after others have ended."""
    follows = (None, None, None, Follow((After(1),), 2.0), Follow((After(0), After(2))), None, Follow((After(3),), 0.0))
    return replace(lab.workload(4, *CHAINS), follows=follows)


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"recorded"}))
def test_jobs_come_when_the_others_have_ended_and_the_user_has_thought(lab: Lab, name: str) -> None:
    workload = chained(lab)
    engine = Engine(workload, name, watchers=[Checker])
    engine.run()
    done = engine.schedule()
    end, submit = done.end, done.workload.submit
    assert not np.isnan(end).any()
    assert submit[3] == end[1] + 2
    assert submit[4] == max(end[0], end[2], 41)
    assert submit[6] == end[3]
    assert submit[[0, 1, 2, 5]].tolist() == [0, 5, 6, 42]
    assert (done.start >= submit).all()


def test_first_come_first_served_goes_by_the_time_of_the_submission(lab: Lab) -> None:
    workload = lab.workload(1, "1 0 1 10 10", "2 1 1 50 50", "3 2 1 5 5", "4 3 1 5 5")
    engine = Engine(replace(workload, follows=(None, None, Follow((After(0),), 9.0), None)), "fcfs")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 65, 60]
    assert engine.schedule().wait.tolist() == [0, 9, 46, 57]


def test_submit_times_differ_between_policies_and_on_rewind(lab: Lab) -> None:
    timeline = Timeline(chained(lab), "fcfs")
    timeline.seek(3)
    timeline.switch("firstfit")
    timeline.seek(99)
    other = timeline.schedule().workload.submit
    timeline.look_at("main")
    timeline.seek(99)
    whole = Engine(chained(lab), "fcfs")
    whole.run()
    assert timeline.schedule().workload.submit.tolist() == whole.schedule().workload.submit.tolist()
    assert other[3] == 17
    timeline.seek(2)
    assert {job.submit for job in timeline.snapshot().queue.jobs} <= {5, 6}


def test_jobs_that_wait_for_another_outcome_are_counted(lab: Lab) -> None:
    workload = replace(chained(lab), status=np.array([0, -1, -1, -1, -1, -1, -1]))
    never = Follow((After(0, "ok"),))
    kept = replace(
        workload, follows=(None, never, Follow((After(1, "not ok"),)), *workload.follows[3:])
    ).with_overruns()
    assert kept.ids == ("1", "3", "4", "5", "6", "7")
    assert [(note.what, note.count) for note in kept.fidelity.skipped][-1] == (
        "waits for an outcome of another job that does not come",
        1,
    )
    assert kept.follows[1] is None
    assert kept.follows[2] is None
    assert kept.follows[5] == Follow((After(2),), 0.0)


def test_feedback_uses_fields_17_and_18_divided_by_the_load(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    rows = ["1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1", "2 90 0 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 1 60"]
    path.write_text("\n".join(rows), encoding="utf-8")
    _, plain = Source(str(path)).read()
    assert plain.follows == ()
    _, workload = Source(str(path), transforms=Transforms(load=2, feedback=True)).read()
    assert workload.follows == (None, Follow((After(0),), 30))
    engine = Engine(workload, "easy")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 40]


def test_feedback_takes_sessions_where_the_log_names_no_preceding_jobs(lab: Lab) -> None:
    workload = replace(lab.workload(4, *CHAINS), user=np.array([1, 2, 1, 1, 2, 3, -1]), wait=np.zeros(7))
    made = feedback(workload)
    assert [follow and follow.after[0].job for follow in made.follows] == [None, None, None, 2, 1, None, None]
    assert made.follows[3] == Follow((After(2),), 40 - 14)
    assert [note.count for note in made.fidelity.invented][-1] == 2
    with pytest.raises(NotThereError, match="feedback needs preceding jobs"):
        feedback(replace(workload, user=np.full(7, -1)))


def test_fairness_is_refused_where_submit_times_depend_on_the_run(lab: Lab) -> None:
    scenario = Scenario(chained(lab), "fcfs")
    with pytest.raises(ParameterError, match="fairness needs fixed submit times"):
        fairness(scenario, scenario.begun())
    with pytest.raises(ParameterError, match="fairness needs fixed submit times"):
        fair_start(scenario, 4)


def test_jobs_wait_for_others_that_are_submitted_later(tmp_path: Path) -> None:
    job = {"submit": 0, "run": 10, "tasks": 1}
    jobs = [{"id": 1, **job, "begin": 50}, {"id": 2, **job, "dependency": "afterok:1"}]
    (tmp_path / "x.json").write_text(json.dumps({"nodes": [{"cores": 2}], "jobs": jobs}))
    engine = Engine(Workload.of(read(tmp_path / "x.json")), "fcfs")
    engine.run()
    assert engine.schedule().start.tolist() == [50, 60]


@pytest.mark.parametrize(("load", "starts"), [(1, [0, 10, 50, 60, 3]), (2, [0, 10, 25, 35, 1.5])])
def test_one_of_several_jobs_may_be_submitted_later(tmp_path: Path, load: int, starts: list[float]) -> None:
    """J1 ends well at 10, before J3 is submitted. J4 waits for the end of J3, and J5 for neither."""
    job = {"submit": 0, "run": 10, "tasks": 1}
    waits = {1: "", 2: "afterok:1?afterany:3", 3: "", 4: "afternotok:1?afterany:3", 5: "after:1?afterany:3"}
    begins = {2: 5, 3: 50, 5: 3}
    jobs = [{"id": id, **job, "dependency": text, "begin": begins.get(id, 0)} for id, text in waits.items()]
    (tmp_path / "x.json").write_text(json.dumps({"nodes": [{"cores": 9}], "jobs": jobs}))
    _, workload = Source(str(tmp_path / "x.json"), transforms=Transforms(load=load)).read()
    engine = Engine(workload, "fcfs", watchers=[Checker])
    engine.run()
    started = dict(zip(engine.workload.ids, engine.schedule().start.tolist(), strict=True))
    assert [started[str(id)] for id in waits] == starts
    submits = dict(zip(engine.workload.ids, engine.schedule().workload.submit.tolist(), strict=True))
    assert submits == started


def test_jobs_wait_for_others_that_stand_later_in_the_file(tmp_path: Path) -> None:
    """J3 and J4 wait for each other. One of them has to come first, and the note names it."""
    job = {"submit": 0, "run": 10, "tasks": 1}
    waits = {1: "afterok:2", 2: "", 3: "afterany:4", 4: "afterany:3"}
    jobs = [{"id": id, **job, "dependency": text} for id, text in waits.items()]
    (tmp_path / "x.json").write_text(json.dumps({"nodes": [{"cores": 4}], "jobs": jobs}))
    trace = read(tmp_path / "x.json")
    engine = Engine(Workload.of(trace), "fcfs")
    engine.run()
    starts = dict(zip(engine.workload.ids, engine.schedule().start.tolist(), strict=True))
    assert starts == {"2": 0, "4": 0, "1": 10, "3": 10}
    (note,) = trace.fidelity.unmodelled().assumed
    assert (note.what, note.first) == (f"{UNMODELLED} dependencies of jobs that wait for each other", "job 4")


def test_turns_of_jobs_left_out_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Follow(tuple(After(job, "turn") for job in range(10)))
    follows = (*[None] * 10, first, *(Follow((After(job, "turn"),)) for job in range(10, 30)))
    assert len(renumbered(follows, [*range(10), 29])) == 11
    monkeypatch.setattr("sim.workload.follows.MOST_IN_ALL", 100)
    with pytest.raises(TraceError, match="has dependencies on more than 100 jobs"):
        renumbered(follows, [*range(10), 29])


@pytest.mark.parametrize("outcome", ["ok", "not ok"])
@pytest.mark.parametrize("is_any", [False, True])
def test_cancelled_job_counts_as_failed_for_its_dependents(lab: Lab, outcome: Outcome, is_any: bool) -> None:
    follow = Follow((After(1, outcome),) * (1 + is_any), is_any=is_any)
    chain = (None, None, follow, Follow((After(2, "ok"),)), Follow((After(2, "any"),)))
    jobs = lab.workload(4, "1 0 2 10 10", "2 5 2 10 10", "3 6 1 5 5", "4 7 1 5 5", "5 8 1 5 5")
    limits = Limits((Bound("QOSMaxSubmitJobPerUserLimit", 1, "jobs", "user a"),), ((),) * 5, ((0,), (0,), (), (), ()))
    workload = replace(jobs, follows=chain, limits=limits).with_overruns()
    assert workload.follows == chain  # whether the run cancels job 2 is not known before
    engine = Engine(workload, "easy", watchers=[Checker])
    engine.run()
    done = engine.schedule()
    assert done.dropped == ((1, 2, 3) if outcome == "ok" else (1,))
    starts = [0, math.nan, math.nan, math.nan, 8] if outcome == "ok" else [0, math.nan, 6, 11, 11]
    assert np.array_equal(done.start, starts, equal_nan=True)


def test_dependent_on_a_start_comes_in_a_second_step(lab: Lab) -> None:
    jobs = lab.workload(4, "1 3 1 100 100", "2 3 1 10 10")
    engine = Engine(replace(jobs, follows=(None, Follow((After(0, "start"),)))), "easy", watchers=[Checker])
    seen = []
    while engine.step() and engine.now <= 3:
        seen.append((engine.now, [job.id for job in engine.moment.arrived]))
    assert seen == [(3, ["1"]), (3, ["2"])]


def test_dependent_on_a_start_comes_after_the_first_turn(lab: Lab) -> None:
    jobs = lab.workload(4, "1 0 4 100 100", "2 0 1 10 10")
    engine = Engine(replace(jobs, follows=(None, Follow((After(0, "start", 7.0),)))), "gang", watchers=[Checker])
    engine.run()
    assert engine.schedule().workload.submit.tolist() == [0, 7]


def test_dependent_on_a_failure_is_cancelled_after_success(lab: Lab) -> None:
    chain = (None, Follow((After(0, "not ok"),)), Follow((After(1, "any"), After(0, "ok"))))
    jobs = lab.workload(4, "1 0 2 10 10", "2 5 2 10 10", "3 6 1 5 5")
    limits = Limits((Bound("QOSMaxSubmitJobPerUserLimit", 9, "jobs", "user a"),), ((),) * 3, ((0,),) * 3)
    engine = Engine(replace(jobs, follows=chain, limits=limits).with_overruns(), "fcfs", watchers=[Checker])
    engine.run()
    assert engine.schedule().dropped == (1,)
    assert engine.schedule().start.tolist()[::2] == [0, 10]
