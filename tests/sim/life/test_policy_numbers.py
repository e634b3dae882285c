from dataclasses import replace

from sim.decisions.sentences import Unit
from sim.life.summary import own_numbers
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.timeline.scenario import Scenario
from sim.workload.follows import After, Follow
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.sim.policies.test_columns import Counting, LeastUsed

JOBS = ("1 0 4 50 60", "2 5 4 9 9", "3 6 4 9 9")


def test_numbers_are_told_of_whoever_keeps_them(lab: Lab) -> None:
    numbers = own_numbers(Scenario(lab.workload(4, *JOBS), Counting()), 2)
    assert {column.name: values for column, values in numbers.items()} == {
        "looks": [(6, 1), (50, 2), (59, 3)],
        "here": [(6, 3)],
    }
    numbers = own_numbers(Scenario(lab.workload(4, *JOBS), Easy(order=LeastUsed())), 1)
    assert list(numbers.values()) == [[(5, 20), (6, 24), (50, 200)]]
    numbers = own_numbers(Scenario(lab.workload(4, *JOBS), "easy", [(20.0, Counting())]), 2)
    assert numbers[Counting.columns[0]] == [(20, 1), (50, 2), (59, 3)]
    scenario = Scenario(lab.workload(4, *JOBS), "adaptive:below=easypp,above=fcfs,by=queue,at=9,over=0")
    assert list(own_numbers(scenario, 1).values()) == [[(5, 9)]]
    # Job 1 does not fail, so job 3 is cancelled when it ends.
    jobs = replace(lab.workload(4, *JOBS), follows=(None, None, Follow((After(0, "not ok"),))))
    assert own_numbers(Scenario(jobs.with_outages([Outage(90, 95, 1)]), Counting()), 2) == {}
    assert own_numbers(Scenario(lab.workload(4, *JOBS), "easy"), 2) == {}


def test_a_number_is_written_as_what_it_is() -> None:
    def written(unit: Unit | None, value: float | None) -> str:
        return Column("it", unit=unit).written(value)

    assert [written(None, 1234.5), written(None, 2.0), written(None, None)] == ["1,234.5", "2", "–"]
    assert [written(Unit.SPAN, 7500), written(Unit.MOMENT, 7500)] == ["2h05", "d0 02:05:00"]
    assert written(None, 1e300) == "1e+300"
