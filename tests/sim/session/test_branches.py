import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.past import Switch
from sim.policies import parse_policy
from sim.session.branches import records_of, restore
from sim.session.session import BranchRecord, Session, parsed, session_text
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.timeline import Timeline
from sim.workload.job_changes import JobChanges
from sim.workload.replay import read
from tests.examples import examples
from tests.sim.conftest import Lab

JOBS = ("1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11", "4 3 1 9 9", "5 40 2 5 5")
WORKLOAD = Lab().workload(4, *JOBS)
FCFS = parse_policy("fcfs")
SPECS = ("easy", "fcfs", "conservative", "selective", "gang")


def again(timeline: Timeline, **of_timeline: object) -> Timeline:
    fresh = Timeline(timeline.workload, "easy", **of_timeline)  # type: ignore[arg-type]
    restore(fresh, records_of(timeline))
    return fresh


def courses(timeline: Timeline) -> dict[str, object]:
    """Return the last snapshot and the ends of the jobs in every branch, computed to its end: mapping from the branch's
    name."""
    found: dict[str, object] = {}
    for name in timeline.branches:
        timeline.look_at(name)
        timeline.compute_all()
        timeline.seek(timeline.computed)
        found[name] = timeline.snapshot(), timeline.schedule().end.tolist()
    return found


def test_the_first_branch_has_no_parent() -> None:
    assert records_of(Timeline(WORKLOAD, "easy")) == (BranchRecord("main"),)


def test_records_have_fork_and_switches_of_every_branch() -> None:
    timeline = Timeline(WORKLOAD, "easy")
    timeline.seek(3)
    timeline.switch("fcfs")
    timeline.seek(6)
    timeline.fork("mine")
    assert records_of(timeline) == (
        BranchRecord("main"),
        BranchRecord("fork 1", "main", 3, (Switch(4, 2, FCFS),)),
        BranchRecord("mine", "fork 1", 6),
    )


@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 14), st.none() | st.sampled_from(SPECS)), min_size=1, max_size=5
    ),
    st.lists(st.tuples(st.integers(-1, 60), st.sampled_from(SPECS)), max_size=2),
)
def test_what_was_recorded_grows(grown: list[tuple[int, int, str | None]], planned: list[tuple[float, str]]) -> None:
    timeline = Timeline(WORKLOAD, "easy", switches=planned)
    for parent, step, spec in grown:
        timeline.look_at(list(timeline.branches)[parent % len(timeline.branches)])
        timeline.seek(step)
        if spec is None:
            timeline.fork()
        else:
            timeline.switch(spec)
    fresh = again(timeline, switches=planned)
    assert courses(fresh) == courses(timeline)
    assert records_of(fresh) == records_of(timeline)


def test_a_fork_just_before_a_planned_switch_is_still_a_fork() -> None:
    timeline = Timeline(WORKLOAD, "easy", switches=[(10, "fcfs")])
    timeline.compute_all()
    (switch,) = timeline.branch.switches
    timeline.seek(switch.step - 1)
    timeline.fork("mine")
    timeline.compute_all()
    assert records_of(timeline)[1] == BranchRecord("mine", "main", switch.step - 1)
    assert courses(again(timeline, switches=[(10, "fcfs")])) == courses(timeline)


def test_who_gives_up_has_the_branches_that_were_grown_by_then() -> None:
    timeline, asked = Timeline(WORKLOAD, "easy"), iter([False, True])
    records = (BranchRecord("main"), BranchRecord("a", "main", 2), BranchRecord("b", "main", 3))
    restore(timeline, records, lambda: next(asked))
    assert list(timeline.branches) == ["main", "a"]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (BranchRecord("a", "main", 99), "main has no step 99"),
        (BranchRecord("a", "nobody", 2), "no branch 'nobody'"),
        (BranchRecord("main", "main", 2), "there is a branch 'main' already"),
        (
            BranchRecord("a", "main", 2, (Switch(3, 0, FCFS),)),
            "the next policy switch must be at a time from d0 00:00:01 to d0 00:00:02, got d0 00:00:00",
        ),
    ],
)
def test_a_branch_that_cannot_be_is_named_with_the_reason(record: BranchRecord, why: str) -> None:
    with pytest.raises(ParameterError, match=f"the session's branch {record.name!r} cannot be restored: .*{why}"):
        restore(Timeline(WORKLOAD, "easy"), [BranchRecord("main"), record])


@pytest.mark.parametrize("policy", ["conservative", "gang-backfill", "selective", "multiqueue"])
def test_failures_are_repeated_when_a_run_is_restored(policy: str) -> None:
    workload = read("lublin-128", jobs=150)
    timeline = Timeline(workload, policy, check=True)
    timeline.seek(100)
    branch = timeline.take_away((1 << 64) - 1, timeline.history.time_of(99) + 20_000)
    broken = timeline.step
    timeline.compute_all()
    timeline.seek(broken + 5)
    shown = timeline.snapshot()
    assert shown.totals.interruptions > 0
    timeline.seek(10)
    timeline.seek(broken + 5)
    assert timeline.snapshot() == shown
    session = Session(TraceRef.of("lublin-128", True), policy=policy, branches=records_of(timeline), branch=branch.name)
    back = parsed(session_text(session).encode(), "x")
    assert (back.branches, back.warnings) == (session.branches, ())
    again = Timeline(workload, policy)
    restore(again, back.branches)
    again.seek(broken + 5)
    assert again.snapshot() == shown
    timeline.fork()
    timeline.compute_all()
    first, second = (timeline.branches[name].history.ends(len(timeline.workload)) for name in ("fork 1", "fork 2"))
    assert np.array_equal(first, second)


def test_branches_with_changed_jobs_are_restored_from_a_session() -> None:
    timeline = Timeline(read("lublin-128", jobs=40, without="J3"), "easy")
    timeline.seek(10)
    timeline.switch("fcfs")
    timeline.change_jobs(JobChanges.of_options(change="J9:procs=64", add="128x1h@1h"))
    timeline.seek(20)
    timeline.switch("conservative", name="later")
    records = records_of(timeline)
    kept = parsed(session_text(Session(TraceRef("lublin-128", "0" * 64, 7, True), branches=records)).encode(), "kept")
    fresh = Timeline(read("lublin-128", jobs=40, without="J3"), "easy")
    restore(fresh, kept.branches)
    assert [*fresh.branches] == ["main", "fork 1", "without J3; J9:procs=64; with 128x1h@1h", "later"]
    assert courses(fresh) == courses(timeline)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('change = "J9:width=4"', "change: no field 'width'"),
        ('without = "J3; 3"', "without: 3 is withdrawn or changed twice"),
        ("without = 3", "without: expected words in quotes, got 3"),
    ],
)
def test_wrong_changes_of_jobs_in_a_session_are_refused_in_a_line(line: str, said: str) -> None:
    text = session_text(Session(TraceRef("lublin-128", "0" * 64, 7, True)))
    with pytest.raises(SchedscopeError, match=f"kept:[0-9]+: {said}"):
        parsed(f'{text}[branch]\nname = "b"\n{line}\n'.encode(), "kept")
