"""The first difference of two runs: the first event of a job that happens in only one of them, and why it does not in
the other.

Also tests sim.why.wait_reasons.
"""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.comparison.divergence import Account, Act, Divergence, Side, account, different, part
from sim.decisions.decisions import Backfill
from sim.decisions.reasons import EndsBefore
from sim.decisions.reasons_inferred import NotConsidered
from sim.decisions.reasons_to_wait import PlannedLater
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.timeline.scenario import Scenario
from sim.why.wait_reasons import Delayed
from sim.workload import replay
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.samples import sample_path
from tests.examples import examples
from tests.sim.conftest import Lab

RUNS = {"fcfs", "firstfit", "easy", "conservative", "selective", "gang", "multiqueue:speculate=5"}


def sample(name: str) -> Workload:
    return Workload.of(read(sample_path(name))).with_overruns()


def side(scenario: Scenario, until: float = inf) -> Side:
    engine = scenario.begun()
    engine.run(until)
    return Side.of(engine)


def parted(workload: Workload, first: str, second: str) -> Divergence | None:
    return part(*(side(Scenario(workload, parse_policy(spec))) for spec in (first, second)))


def account_of(workload: Workload, spec: str, time: float, rank: int) -> Account:
    return account(Scenario(workload, parse_policy(spec)).watched(time), rank, time)


def test_fcfs_and_easy_part_where_the_first_job_passes() -> None:
    """Zhang's figure 4: at 600 s EASY lets job 5 pass job 3."""
    of = sample("z-figure4")
    found = parted(of, "fcfs", "easy")
    assert found == Divergence(600, (6, 6), ((), (Act("starts", 4),)))
    assert found is not None
    assert found.ranks == (4,)

    kept = account_of(of, "fcfs", 600, 4)
    assert kept.waits == NotConsidered(of.jobs[2], 6)
    passed = account_of(of, "easy", 600, 4)
    assert passed.act == Backfill(of.jobs[4], EndsBefore(of.jobs[2], 1200, 1100))


def test_the_job_that_would_be_delayed_and_by_how_much(lab: Lab) -> None:
    """Job 5 could start at 3, but job 4 is planned for 10 and would not fit before job 3, the head, has ended."""
    of = lab.workload(
        6,
        "1 0 3 100 100",  # half of the machine until 100
        "2 0 1 10 10",
        "3 1 6 50 50",  # the head: all of the machine from 100 on
        "4 2 3 60 60",  # fits when job 2 ends
        "5 3 2 80 80",  # fits now and ends before the head starts
    )
    found = parted(of, "easy", "conservative")
    assert found is not None
    assert (found.time, found.only) == (3, ((Act("starts", 4),), ()))
    kept = account_of(of, "conservative", 3, 4)
    assert isinstance(kept.waits, PlannedLater)
    assert kept.delays == Delayed(of.jobs[3], 10, 150 - 10)


def test_runs_part_as_far_as_they_have_come(lab: Lab) -> None:
    of = lab.workload(1, "1 0 1 100 100", "2 0 1 30 30")
    found = parted(of, "gang:slice=10", "gang:slice=50")
    assert found is not None
    assert {act.verb for acts in found.only for act in acts} == {"ends"}
    of = sample("z-figure4")
    fcfs, easy = (Scenario(of, parse_policy(spec)) for spec in ("fcfs", "easy"))
    assert part(side(fcfs, 599), side(easy)) is None
    assert part(side(fcfs), side(easy, 599)) is None
    assert part(side(fcfs), side(easy, 600)) is not None
    engine = Engine(sample("z-figure4"), parse_policy("easy"))
    assert part(Side.of(engine), Side.of(engine)) is None


def test_a_switch_that_stops_the_rows_is_a_parting() -> None:
    """The switch of the policy suspends the jobs in inactive rows, without a decision of a policy."""
    of = sample("z-figure7")
    gang = Scenario(of, parse_policy("gang"))
    switched = Scenario(of, parse_policy("gang"), ((360, parse_policy("fcfs")),))
    found = part(side(gang), side(switched))
    assert found is not None
    assert found.time == 360
    assert found.only[0] == ()
    engine = switched.watched(360)
    assert {act.rank for act in found.only[1] if act.verb == "suspended"} == {
        halted.job.rank for halted in engine.moment.suspended
    }
    assert {act.rank for act in found.only[1] if act.verb == "queued"} == {job.rank for job in engine.moment.waiting}


def brute_force(first: Side, second: Side) -> float | None:
    """Return the first time at which a job starts or ends in only one of the schedules; None if the schedules are
    equal."""
    times = []
    for a, b in ((first.schedule.start, second.schedule.start), (first.schedule.end, second.schedule.end)):
        times += [min(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True) if x != y]
    return min(times, default=None)


@examples(60)
@given(st.data())
def test_space_sharing_runs_part_where_their_schedules_do(lab: Lab, data: st.DataObject) -> None:
    of = data.draw(lab.workloads())
    first, second = data.draw(st.tuples(*[st.sampled_from(["fcfs", "firstfit", "easy", "conservative", "replan"])] * 2))
    sides = [side(Scenario(of, parse_policy(spec))) for spec in (first, second)]
    found = part(*sides)
    assert (None if found is None else found.time) == brute_force(*sides)


@examples(60)
@given(st.data())
def test_every_run_can_account_for_every_job_it_parted_over(lab: Lab, data: st.DataObject) -> None:
    of = data.draw(lab.workloads(whole_seconds=True))
    specs = data.draw(st.tuples(st.sampled_from(sorted(RUNS)), st.sampled_from(sorted(RUNS))))
    found = parted(of, *specs)
    if found is None:
        return
    for spec, only in zip(specs, found.only, strict=True):
        for rank in found.ranks:
            one = account_of(of, spec, found.time, rank)
            assert one.act is not None or one.waits is not None or one.where != "queue"
            assert (one.where == "finished") == (Act("ends", rank) in only)


@pytest.mark.parametrize("spec", sorted(RUNS))
def test_a_run_does_not_part_from_itself(spec: str) -> None:
    assert parted(sample("z-figure7"), spec, spec) is None


def side_of(policy: str, trace: str = "z-figure4") -> Side:
    engine = Engine(replay.read(trace), policy, curious=False)
    engine.run()
    return Side.of(engine)


def test_each_job_is_told_once_with_what_both_did_and_why() -> None:
    fcfs, easy = side_of("fcfs"), side_of("easy")
    found = different(fcfs, easy)
    assert [each.job.id for each in found] == ["5"]
    (only,) = found
    assert only.first is not None
    assert only.second is not None
    assert (only.time, only.first.time, only.second.time) == (600, 1800, 600)
    assert only.second.told() == (
        "d0 00:10:00: J5 is backfilled on 5 processors: ends at d0 00:18:20, before J3's start at d0 00:20:00"
    )
    parting = part(fcfs, easy)
    assert parting is not None
    assert parting.time == only.time


def test_differences_are_told_of_each_job() -> None:
    assert different(side_of("easy"), side_of("easy")) == []
    assert different(side_of("fcfs"), side_of("firstfit", "k-figure2.1-2.2"))
    assert {each.job.id for each in different(side_of("fcfs"), side_of("conservative"))} == {"5"}
    found = different(side_of("easy", "k-figure2.1-2.2"), side_of("immediate", "k-figure2.1-2.2"))
    assert any(each.first is None for each in found) or any(each.second is None for each in found)
    assert [each.time for each in found] == sorted(each.time for each in found)
    assert different(side_of("easy"), side_of("gang"))
