from math import inf

import numpy as np
import pytest

from sim.history.stretch_queries import passers_of
from sim.metrics import fairness as module
from sim.metrics.fairness import fair_start, fair_starts, fairness, overtaken
from sim.timeline.scenario import Scenario, run
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.replay import read
from tests.sim.conftest import Lab

# Four processors. Under fcfs job 3 waits behind job 2, which needs all; under firstfit it starts at once.
JOBS = ("1 0 2 10 10", "2 1 4 10 10", "3 2 2 30 30", "4 3 1 5 5")


def test_what_those_cost_a_job_who_come_after_it(lab: Lab) -> None:
    # Under firstfit job 3 passes job 2, which would have started at 10.
    scenario = Scenario(lab.workload(4, *JOBS), "firstfit")
    assert run(scenario.workload, "firstfit").start.tolist() == [0, 32, 2, 10]
    heard: list[int] = []
    assert [fair_start(scenario, rank, heard.append) for rank in range(4)] == [0, 10, 2, 10]
    assert heard
    assert [fair_start(Scenario(scenario.workload, "easy"), rank) for rank in range(4)] == [0, 10, 20, 3]


def test_the_last_to_come_has_started_as_it_was(lab: Lab) -> None:
    workload = lab.workload(4, *JOBS)
    for spec in ("easy", "conservative", "selective", "gang"):
        assert fair_start(Scenario(workload, spec), 3) == run(workload, spec).start[3]


def fair_start_alone(scenario: Scenario, rank: int) -> float | None:
    """Return the job's start in a new run with only the jobs up to this one; None if it does not start."""
    workload = scenario.workload.take(slice(rank + 1))
    alone = Scenario(workload, scenario.policy, scenario.switches, placement=scenario.placement)
    engine = alone.at_the_beginning()
    step = alone.stepper(engine)
    while engine.moment.start_of(rank) is None and step():
        pass
    return engine.moment.start_of(rank)


CHANGING = {"machine": "3h=64;9h=128", "outage": "8h..9h;10h..12h:0-99"}


@pytest.mark.parametrize(
    "spec",
    ["easy", "conservative", "easy:order=random", "selective", "gang-migrate-backfill", "multiqueue:speculate=180",
     "adaptive", "easy++", "slack"],
)  # fmt: skip
@pytest.mark.parametrize("options", [{}, CHANGING], ids=["", "changing"])
def test_a_run_without_the_later_jobs_goes_on_from_that_of_all(spec: str, options: dict[str, str]) -> None:
    workload = read("lublin-128", jobs=60, load=2, **options)
    for switches in ((), [(float(workload.submit[30]), "conservative")]):
        scenario = Scenario(workload, spec, switches)
        ranks = range(0, len(workload), 7)
        assert list(fair_starts(scenario, ranks)) == [(rank, fair_start_alone(scenario, rank)) for rank in ranks]


def plain(workload: Workload, start: list[float]) -> list[int]:
    return [sum(start[j] < start[i] for j in range(i + 1, len(start))) for i in range(len(start))]


@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
def test_who_came_later_and_began_first_is_counted(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    workload = read("lublin-128", jobs=150, load=2)
    start = run(workload, "firstfit").start
    expected = plain(workload, start.tolist())
    assert max(expected) > 5
    assert overtaken(workload, start).tolist() == expected
    some = np.array([3, 70, 149])
    assert overtaken(workload, start, some).tolist() == [expected[rank] for rank in some]
    assert overtaken(workload, np.where(np.arange(150) == 70, np.nan, start))[70] == 79
    came = (start - 5).clip(0)  # in the run, other than in the trace
    order = [*zip(came.tolist(), range(150), strict=True)]
    passed = [sum(order[j] > order[i] and start[j] < start[i] for j in range(150)) for i in range(150)]
    assert overtaken(workload, start, some, came).tolist() == [passed[rank] for rank in some]


def test_who_passed_whom_is_the_same_by_the_history(lab: Lab) -> None:
    scenario = Scenario(read("lublin-128", jobs=150, load=2), "easy")
    engine = scenario.begun()
    engine.run()
    found = fairness(scenario, engine)
    by_history = [len(passers_of(engine.history, job.rank, job.submit)) for job in scenario.workload.jobs]
    assert found.passed.tolist() == by_history
    assert (found.in_its_way <= found.passed).all()
    values = found.values()
    assert values["max_passed"] == max(by_history)
    assert found.in_its_way.sum() / found.passed.sum() == values["passes_in_the_way"] != 0
    assert values["unfair_starts"] == (found.fair_delay > 1).sum() > 0


def test_a_job_that_is_given_up_stops_waiting_then(lab: Lab) -> None:
    # Job 2 waits for the whole machine until a processor goes down: 3 has passed it, 4 and 5 have not.
    jobs = ("1 0 2 30 30", "2 1 4 10 10", "3 2 1 90 90", "4 50 1 5 5", "5 60 1 5 5")
    scenario = Scenario(lab.workload(4, *jobs).with_outages([Outage(50, inf, 0b1000)]), "firstfit")
    engine = scenario.begun()
    engine.run()
    found = fairness(scenario, engine)
    assert found.passed.tolist() == found.in_its_way.tolist() == [0, 1, 0, 0, 0]


def test_unfairness_is_none_or_unknown() -> None:
    scenario = Scenario(read("lublin-128", jobs=100, load=2), "fcfs")
    engine = scenario.begun()
    engine.run()
    values = fairness(scenario, engine).values()
    assert (values["max_passed"], values["mean_fair_delay"], values["unfair_starts"]) == (0, 0, 0)
    scenario = Scenario(read("lublin-128", jobs=100, load=2), "gang:mpl=2")
    engine = scenario.begun()
    engine.run()
    found = fairness(scenario, engine)
    assert np.isnan(found.in_its_way[found.passed > 0]).all()
