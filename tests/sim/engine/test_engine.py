"""Order of events within an instant and between instants, for any policy (sim/RULES.md).

Also tests sim.engine.clock, sim.engine.future, sim.engine.passes, sim.engine.stay, sim.history.running_totals.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sim.decisions.decisions import Reserve, Start
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.history.history import History
from sim.machine.processors import written
from sim.policies import parse_policy
from sim.support.errors import ParameterError

if TYPE_CHECKING:
    from tests.sim.conftest import Lab


def places(engine: Engine) -> dict[str, str]:
    """Return the processors of each job as text: mapping from job id."""
    return {engine.workload.ids[s.rank]: written(s.processors) for s in engine.history.stretches()}


def test_a_job_takes_the_processors_of_one_that_ends_as_it_arrives(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 10 1 5 5")
    assert engine.schedule().start.tolist() == [0, 10]
    assert lab.instants(engine) == [0, 10, 15]


def test_everything_at_one_instant_is_one_step_and_one_pass(lab: Lab) -> None:
    # At 10 two jobs end and two arrive: the policy sees all four processors and both jobs at once.
    engine = lab.run("easy", 4, "1 0 2 10 10", "2 0 2 10 10", "3 10 4 5 5", "4 10 1 5 5", until=10)
    snapshot = engine.snapshot()
    assert [job.id for job in snapshot.completed] == ["1", "2"]
    assert [job.id for job in snapshot.arrived] == ["3", "4"]
    assert [type(d) for d in engine.history.decisions(1)] == [Start, Reserve]
    assert engine.step_count == 2


def test_an_end_that_will_not_be_makes_no_instant_later(lab: Lab) -> None:
    """Job 2 is suspended at 10; without that it would have ended half a microsecond after job 1."""
    engine = lab.run("immediate:slice=1", 2, "1 0 1 100 100", "2 0 1 100.0000005 200", "3 10 1 5 5")
    assert lab.instants(engine) == [0, 10, 15, 100, 105.0000005]


def test_jobs_of_the_same_second_keep_the_order_of_the_file(lab: Lab) -> None:
    assert lab.starts("fcfs", 1, "7 0 1 5 5", "3 0 1 5 5", "5 0 1 5 5") == {"7": 0, "3": 5, "5": 10}


def test_a_file_out_of_order_is_served_by_submit_time(lab: Lab) -> None:
    assert lab.starts("fcfs", 1, "1 9 1 5 5", "2 0 1 20 20") == {"2": 0, "1": 20}


def test_rank_breaks_the_ties_of_an_order(lab: Lab) -> None:
    starts = lab.starts("fcfs:order=sjf", 1, "1 0 1 9 9", "2 1 1 5 5", "3 2 1 5 5", "4 3 1 5 5")
    assert starts == {"1": 0, "2": 9, "3": 14, "4": 19}


def test_a_job_gets_the_lowest_numbered_free_processors(lab: Lab) -> None:
    # At 10 processors 0, 1 and 3 to 7 are free.
    jobs = ("1 0 2 10 10", "2 0 1 99 99", "3 10 3 5 5")
    assert places(lab.run("fcfs", 8, *jobs)) == {"1": "0-1", "2": "2", "3": "0-1 3"}


def test_together_keeps_a_job_in_one_piece(lab: Lab) -> None:
    jobs = ("1 0 2 10 10", "2 0 1 99 99", "3 10 3 5 5")
    assert places(lab.run("fcfs", 8, *jobs, placement="together")) == {"1": "0-1", "2": "2", "3": "3-5"}


def test_a_job_without_a_run_time_takes_a_second(lab: Lab) -> None:
    assert lab.starts("fcfs", 1, "1 0 1 0 5", "2 0 1 5 5") == {"1": 0, "2": 1}


def test_a_job_is_killed_at_its_estimate_and_counted(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 20 10", "2 0 1 5 5")
    assert engine.schedule().end.tolist() == [10, 15]
    assert engine.snapshot().totals.killed == 1


def test_or_its_estimate_grows(lab: Lab) -> None:
    engine = Engine(lab.workload(1, "1 0 1 20 10", overrun="grow"), parse_policy("fcfs"), watchers=[Checker])
    engine.run()
    assert engine.schedule().end.tolist() == [20]
    assert engine.snapshot().totals.killed == 0


def test_a_workload_without_an_overrun_rule_is_refused(lab: Lab) -> None:
    workload = lab.workload(1, "1 0 1 10 10")
    with pytest.raises(ParameterError, match="runs longer than its estimate"):
        Engine(replace(workload, runtime=workload.runtime + 1), parse_policy("fcfs"))


def test_a_run_stops_after_the_last_instant_that_was_asked_for(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 1 1 10 10", until=10)
    assert (engine.now, engine.next_time()) == (10, 20)
    assert engine.schedule().start.tolist() == [0, 10]


def test_a_run_that_stops_between_two_instants_stays_at_the_earlier(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 1 1 10 10", until=9.5)
    assert (engine.now, engine.next_time()) == (1, 10)


def test_at_the_end_nothing_more_happens(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10")
    assert engine.next_time() is None
    assert engine.step() is False
    assert engine.step_count == engine.history.steps == 2


def test_no_jobs_make_no_steps(lab: Lab) -> None:
    engine = lab.run("easy", 4)
    assert engine.next_time() is None
    assert engine.step_count == 0
    assert engine.snapshot().time is None


def test_a_job_that_has_not_started_has_no_start(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 1 1 10 10", until=1)
    assert (engine.moment.start_of(0), engine.moment.start_of(1)) == (0, None)


@pytest.mark.parametrize("policy", ["easy", "selective", "multiqueue", "gang-migrate-backfill"])
def test_unused_engine_is_freed_without_the_garbage_collector(policy: str, lab: Lab) -> None:
    def alive() -> int:
        return sum(isinstance(each, Engine | Moment | History) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = alive()
        engine = lab.run(policy, 8, "1 0 9 4", "2 1 9 6", "3 1 5 2")
        assert alive() == before + 3
        del engine
        assert alive() == before  # other tests' threads may leave garbage meanwhile
    finally:
        gc.enable()
