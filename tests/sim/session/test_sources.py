"""Also tests sim.workload.source."""

import os
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.past import Switch
from sim.policies import parse_policy
from sim.session.session import BranchRecord, Session, from_line, one_line, parsed, session_text, verify_trace
from sim.session.sources import records_of, restore, session_of, source_of
from sim.session.syntax import Value
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.timeline import Timeline
from sim.workload.job_changes import JobChanges
from sim.workload.options import OPTIONS
from sim.workload.replay import read
from sim.workload.source import Source
from sim.workload.transforms import Transforms
from tests.examples import examples
from tests.sim.conftest import Lab

seconds = st.floats(0, 1e9) | st.integers(0, 10**9).map(float)
shares = st.floats(0, 1)


@st.composite
def transforms(draw: st.DrawFn) -> Transforms:
    start, end = sorted(draw(st.tuples(seconds, seconds)))
    window = st.sampled_from([None, (start, end + 1), (-inf, end + 1), (start, inf), (-inf, inf)])
    return Transforms(
        window=draw(window),
        jobs=draw(st.none() | st.integers(0, 10**6)),
        load=draw(st.floats(1e-6, 1e6)),
        stretch=draw(st.floats(1e-6, 1e6)),
        offline=draw(st.booleans()),
        estimates=draw(st.sampled_from(["recorded", "exact", "factor:2", "phi:0.2"])),
        high=draw(st.none() | shares),
        reserve=draw(shares),
        lead=draw(seconds),
        seed=draw(st.integers(0, 2**62)),
        overrun=draw(st.sampled_from(["kill", "grow"])),
    )


sources = st.builds(
    Source,
    st.just("z-figure4"),
    st.none() | st.integers(1, 10**6),
    st.sampled_from(["cpus", "nodes"]),
    transforms() | st.just(Transforms(priority_from="queue")),
    st.sampled_from(["eligible", "submit"]),
)


@given(sources)
def test_every_source_comes_back(source: Source) -> None:
    assert source_of(from_line(one_line(session_of(source, "easy")))) == source


def test_a_path_is_kept_whole_and_a_sample_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.swf").write_text("; MaxProcs: 4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert session_of(Source("my.swf"), "easy").trace.name == str(tmp_path / "my.swf")
    sample = session_of(Source("z-figure4"), "easy")
    assert sample.trace.name == "z-figure4"
    assert verify_trace(sample) is None


def test_a_file_that_is_called_like_a_sample_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(Source("z-figure4"), "easy")
    (tmp_path / "z-figure4").write_text("; MaxProcs: 4\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(source_of(session).read()[1]) == 5


def test_odd_sources_are_refused() -> None:
    with pytest.raises(ParameterError, match="no such file, and no sample of that name"):
        session_of(Source("z-figure44"), "easy")
    assert Source("z-figure4").options == {}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("laod", 1.2, "an option 'laod' that does not exist; did you mean 'load' or 'lead'?"),
        ("load", "much", "option load: expected a number, got 'much'"),
        ("load", True, "option load: expected a number, got 'True'"),
        ("load", -1.0, "the load factor must be between 0.000001 and 1,000,000, got -1.0"),
        ("jobs", 1.5, "option jobs: expected a whole number, got '1.5'"),
        ("offline", 1, "option offline: expected yes or no, got '1'"),
        ("window", "tomorrow", "a window is two times like 1d,36h, got 'tomorrow'"),
        ("count", "racks", "option count: expected cpus or nodes, got 'racks'"),
        ("priority_from", "", "option priority_from: expected queue, got ''"),
        ("estimates", "guess", "no estimates 'guess'"),
    ],
)
def test_a_wrong_option_is_refused_in_a_line(option: str, value: Value, said: str) -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), options={option: value})
    with pytest.raises(SchedscopeError) as error:
        source_of(session)
    assert said in str(error.value)


@given(st.dictionaries(st.sampled_from(sorted(OPTIONS)), st.text(max_size=5) | st.integers() | st.floats()))
def test_any_options_make_a_source_or_are_refused(options: dict[str, Value]) -> None:
    session = replace(session_of(Source("z-figure4"), "easy"), options=options)
    with suppress(SchedscopeError):
        assert isinstance(source_of(session), Source)


def test_a_trace_that_is_gone_cannot_be_referred_to(tmp_path: Path) -> None:
    with pytest.raises(SchedscopeError, match="cannot be read: No such file or directory"):
        TraceRef.of(str(tmp_path / "gone.swf"))


@pytest.mark.parametrize("trace", ["x" * 300, "x" * 5000, "a/" * 3000])
def test_a_name_longer_than_any_file_may_have_is_refused_in_a_line(trace: str) -> None:
    with pytest.raises(SchedscopeError, match=r"no such file|cannot be read"):
        Source(trace).read()


@pytest.mark.parametrize("load", [10**400, 1e-308, 1e300, -1])
def test_a_number_that_no_option_takes_is_refused_in_a_short_line(load: float) -> None:
    with pytest.raises(ParameterError, match="the load factor must be between") as error:
        Source.of_options("z-figure4", {"load": load})
    assert len(str(error.value)) < 120


def test_window_of_dates_needs_a_trace_with_a_start_date() -> None:
    source = Source.of_options("z-figure4", {"window": "2026-11-21 04:30,2026-11-22"})
    assert source.options == {"window": "2026-11-21 04:30:00,2026-11-22 00:00:00"}
    assert Source.of_options("z-figure4", source.options) == source
    with pytest.raises(ParameterError, match="the trace does not say when it began"):
        source.read()


def test_what_came_through_a_pipe_has_no_hash_and_cannot_come_back(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.swf"
    os.mkfifo(pipe)
    session = session_of(Source(str(pipe)), "easy")
    assert from_line(one_line(session)).trace == session.trace == TraceRef(str(pipe), "", 0)
    problem = verify_trace(session)
    assert problem is not None
    assert "is no ordinary file" in problem.told


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
