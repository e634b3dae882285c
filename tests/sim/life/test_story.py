from dataclasses import replace
from math import inf

import pytest

from sim.decisions.sentences import Unit
from sim.life.life import Life, life_of
from sim.life.story import figures, own_numbers, rows_of
from sim.policies import parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.timeline.scenario import Scenario
from sim.workload.follows import After, Follow
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.reading import read
from sim.workload.samples import sample_path
from tests.sim.conftest import Lab
from tests.sim.policies.test_columns import Counting, LeastUsed


def life(sample: str, policy: str, job: str) -> Life:
    of = Workload.of(read(sample_path(sample))).with_overruns()
    return life_of(of, parse_policy(policy), of.rank_of(job))


@pytest.mark.parametrize("policy", ["easy", "conservative", "firstfit", "greedy", "lookahead", "relaxed", "easy++"])
def test_story_of_a_backfilled_job_counts_the_jobs_ahead(policy: str, lab: Lab) -> None:
    """Job 4 passes jobs 2 and 3, which wait for job 1."""
    workload = lab.workload(4, "1 0 3 100 100", "2 1 4 50 50", "3 2 2 50 50", "4 3 1 10 10")
    told = [row for _, row in rows_of(life_of(workload, policy, 3), 9, 9)]
    assert told[0] == "Submitted: 2 jobs ahead of it, wanting 6."
    assert told[-2].startswith("Backfilled at once: ")


def test_story_has_the_machine_of_its_moment(lab: Lab) -> None:
    grows = lab.workload(4, "1 0 3 10 10", "2 600 3 10 10").with_outages([Outage(-inf, 500, 0b1100)])
    sizes = [figures(life_of(grows, "easy", rank)).partition(" · ")[0] for rank in (0, 1)]
    assert sizes == ["3 processors, 2 there when it came", "3 of 4 processors"]
    workload = lab.workload(4, "1 0 1 100 100", "2 5 3 10 10").with_outages([Outage(-inf, 20, 0b1100, True)])
    (told,) = [told for time, told in rows_of(life_of(workload, "easy", 1), 6, 6) if time == 20]
    assert told.endswith("and fits: needs 3, 3 free. 2 more processors had just become available.")


def test_story_follows_switches(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 4 100 100", "2 1 4 100 100")
    life = life_of(workload, "gang:mpl=2,slice=50", 1, switches=[(10, "gang:mpl=1,slice=50")])
    told = [row for time, row in rows_of(life, 9, 9) if time == 10]
    assert told[0].startswith("This run changes from gang:")
    assert told[1] == "Its row had not had a turn when the policy was switched: it returns to the queue."
    workload = lab.workload(4, "1 0 4 300 300", "2 0 2 100 1000")
    life = life_of(workload, "selective", 1, switches=[(150, "fcfs")])
    waits = [row for _, row in rows_of(life, 9, 9) if row.startswith("For ")]
    assert waits[0].startswith("For 2m30 (1 step) too few running jobs had an xfactor small enough")
    assert waits[1].startswith("For 2m30 (1 step) fewer than its 2 processors were free")


def test_however_long_a_job_waits_each_step_is_looked_at(lab: Lab) -> None:
    """Job 3 is ahead of job 2 until 1004; by then there have been over a thousand steps, each with a job of one
    second."""
    tiny = [f"{n + 3} {n} 1 1 1" for n in range(1, 1006)]
    workload = lab.workload(3, "1 0 2 1004 1004", "2 0 3 5000 5000", "3 0 2 2000 2000", *tiny)
    _, waits, *_ = [row for _, row in rows_of(life_of(workload, "firstfit:order=sjf", 1), 9, 9)]
    assert waits.startswith("For 50m04 (1,007 steps)")
    assert "1 job ahead of it, none at the end." in waits


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
