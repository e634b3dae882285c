"""Forecasts of starts from the state of a cluster at one time, with models that take more or less of the cluster into
account.

Also tests sim.live.forecast.limits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.live.cluster.values import Cluster, ClusterJob, Cores, Limit, Node, Partition, Reservation
from sim.live.forecast.expected import SHORT as SHORTER
from sim.live.forecast.expected import expected_in, why_unknown
from sim.live.forecast.forecast import BETWEEN, LEARNT, LIMITS, MODELS, Foresight, FromNow, Model, forecast
from sim.live.forecast.past import ENOUGH, PastJobs
from tests.sim.live.cluster.busy import busy

NOW = 1_795_469_000.0
NODES_ = (Node("n1", 4, 1000), Node("n2", 4, 1000, gpus=1))
BATCH, SHORT = Partition("batch", ("n1", "n2"), 3600.0), Partition("short", ("n2",), 600.0)
RUNS = ClusterJob(
    "1", "1", "RUNNING", user="anna", account="physics", partition="batch", cpus=3, limit=600.0, submit=NOW - 300,
    start=NOW - 300, end=NOW + 300, nodes=("n1",), tres="cpu=3,mem=900M,node=1",
)  # fmt: skip
WAITS = ClusterJob(
    "2", "2", "PENDING", reason="Priority", user="anna", account="physics", partition="batch", cpus=1, limit=600.0,
    submit=NOW - 60, priority=50, tres="cpu=1,mem=100M,node=1",
)  # fmt: skip


def said(model: Model, *jobs: ClusterJob, past: PastJobs | None = None, **more: Any) -> dict[str, float]:
    """Return the forecasts for a cluster with these jobs: mapping from job id to seconds until its start."""
    told = {"nodes": NODES_, "partitions": (BATCH, SHORT), **more}
    found = forecast(Cluster(NOW, jobs=jobs, **told), model, past)
    return {job: start - NOW for job, start in found.items()}


def test_a_job_waits_for_the_cores_of_one_that_runs_to_its_limit() -> None:
    wide = replace(WAITS, cpus=8, tres="cpu=8,mem=80M,node=2")
    for model in MODELS:
        assert said(model, RUNS, wide) == {"2": 300}


def test_memory_and_gpus_hold_up_a_start() -> None:
    memory = replace(WAITS, tres="cpu=1,mem=1000M,node=1")
    on_n2 = replace(RUNS, id="3", cpus=1, nodes=("n2",), end=NOW + 400, tres="cpu=1,mem=10M,gres/gpu=1,node=1")
    gpu = replace(WAITS, id="4", priority=9, gpus=1, tres="cpu=1,mem=1M,gres/gpu=1,node=1")
    assert said(LIMITS, RUNS, on_n2, memory, gpu) == {"2": 300, "4": 400}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [({}, 0), ({"required": ("n1",)}, 300), ({"excluded": ("n2",)}, 300), ({"features": "big&fast"}, 300)],
)
def test_a_job_waits_for_the_nodes_that_its_constraints_leave(asked: dict[str, Any], expected: float) -> None:
    nodes = (replace(NODES_[0], features=("big", "fast")), replace(NODES_[1], features=("big",)))
    job = replace(WAITS, cpus=2, tres="cpu=2,node=1", **asked)
    assert said(LIMITS, RUNS, job, nodes=nodes) == {"2": expected}


def test_no_forecast_names_a_start_on_a_node_that_is_down() -> None:
    nodes = (NODES_[0], replace(NODES_[1], states=frozenset({"DOWN"})))
    job = replace(WAITS, required=("n2",))
    assert said(LIMITS, RUNS, job, nodes=nodes) == {}
    assert why_unknown(Cluster(NOW, nodes=nodes, jobs=(job,)), job) == "it asks for n2, where no job can start now"


def test_a_running_job_that_has_more_than_its_nodes_leaves_no_forecast() -> None:
    """Nodes can be given more jobs than they have memory for, and can shrink while a job runs."""
    wide, heavy = replace(RUNS, cpus=40, tres="cpu=40,node=1"), replace(RUNS, tres="cpu=3,mem=2000M,node=1")
    assert said(LIMITS, wide, WAITS) == said(LIMITS, heavy, WAITS) == {}


@pytest.mark.parametrize("model", [LIMITS, LEARNT])
def test_running_job_on_a_drained_node_leaves_a_forecast(model: Model) -> None:
    drained = (replace(NODES_[0], states=frozenset({"DRAIN"})), NODES_[1])
    wide = replace(RUNS, cpus=8, nodes=("n1", "n2"), tres="cpu=8,node=2")
    assert said(model, wide, WAITS, nodes=drained, past=PastJobs()) == {"2": 300}


@pytest.mark.parametrize("model", [LIMITS, LEARNT])
def test_whole_nodes_of_a_running_job_are_taken_with_their_gpus(model: Model) -> None:
    """It got the GPU of one of its nodes without asking for it."""
    whole = replace(RUNS, cpus=8, nodes=("n1", "n2"), tres="cpu=8,mem=80M,node=2,gres/gpu=1", is_exclusive=True)
    assert said(model, whole, WAITS, past=PastJobs()) == {"2": 300}
    assert said(model, replace(whole, tres="cpu=8,node=2,gres/gpu=2"), WAITS, past=PastJobs()) == {"2": 300}


def test_jobs_start_in_the_order_of_their_priorities() -> None:
    first = replace(WAITS, id="5", priority=90, cpus=8, tres="cpu=8,node=2")
    late = replace(WAITS, cpus=5, tres="cpu=5,node=2")
    assert said(LIMITS, RUNS, late, first) == {"5": 300, "2": 900}


def test_a_partition_has_its_own_nodes() -> None:
    on_n2 = replace(RUNS, id="3", cpus=4, nodes=("n2",), end=NOW + 120, tres="cpu=4,mem=9M,node=1")
    assert said(LIMITS, on_n2, replace(WAITS, partition="short")) == {"2": 120}
    assert said(LIMITS, on_n2, replace(WAITS, partition="short,batch")) == {"2": 0}
    assert said(LIMITS, on_n2, replace(WAITS, partition="short", limit=601.0)) == {}, "longer than it allows"


@pytest.mark.parametrize("model", [LIMITS, LEARNT])
def test_jobs_of_a_higher_tier_start_first(model: Model) -> None:
    """Tiers come before priorities, also of a job that names several partitions."""
    high, low = replace(SHORT, nodes=("n1", "n2"), tier=2), replace(BATCH, max_time=9000.0)
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2")
    first = replace(wide, id="5", number="5", partition="short", priority=1)
    assert said(model, RUNS, wide, first, partitions=(low, high), past=PastJobs()) == {"5": 300, "2": 900}
    both, settings = replace(first, partition="short,batch"), SETTINGS.replace("1000", "10")
    found = said(model, RUNS, wide, both, partitions=(low, high), settings=settings, past=PastJobs())
    assert found == {"5": 300, "2": 900}


SETTINGS = "PriorityType = priority/multifactor\nPriorityWeightPartition = 1000\n"
POINTS = {"4": {"age": 50.0, "partition": 100.0}, "8": {"partition": 1000.0}, "9": {"partition": 100.0}}
HELD = replace(WAITS, reason="JobHeldUser", partition="short", id="8", number="8")


@pytest.mark.parametrize("known", [{"settings": SETTINGS}, {"parts": POINTS}, {}])
@pytest.mark.parametrize("model", [LIMITS, LEARNT])
def test_a_job_with_several_partitions_has_its_own_priority_in_each(model: Model, known: dict[str, Any]) -> None:
    """The recorded priority is that of the partition tried last, so in the other one the job is ahead of all others."""
    partitions = (replace(BATCH, factor=10), replace(SHORT, factor=100))
    full = tuple(
        replace(RUNS, id=name, cpus=4, nodes=(name,), end=NOW + end, tres="cpu=4,node=1")
        for name, end in (("n1", 300), ("n2", 100))
    )
    ahead = replace(WAITS, number="9", priority=200, cpus=8, tres="cpu=8,node=2", limit=500.0)
    several = replace(WAITS, id="4", number="4", partition="short,batch", priority=150, cpus=4, tres="cpu=4,node=1")
    jobs = (*full, ahead, several, HELD, replace(HELD, id="9", number="9", partition="batch"))
    found = said(model, *jobs, partitions=partitions, past=PastJobs(), **known)
    assert found == ({"2": 700, "4": 100} if known else {"2": 300, "4": 800})


def test_a_job_with_several_partitions_takes_its_limit_once() -> None:
    limit = Limit("account", "physics", "GrpTRES=cpu", 6, 3)
    several = replace(WAITS, id="4", number="4", partition="short,batch", priority=150)
    jobs = (RUNS, several, replace(WAITS, priority=9, cpus=2, tres="cpu=2,node=1"), HELD)
    assert said(LIMITS, *jobs, limits=(limit,), settings=SETTINGS) == {"4": 0, "2": 0}


def test_nodes_that_are_drained_or_reserved_take_no_job() -> None:
    drained = (NODES_[0], replace(NODES_[1], states=frozenset({"IDLE", "DRAIN"})))
    wide = replace(WAITS, cpus=2, tres="cpu=2,node=1")
    assert said(LIMITS, RUNS, wide, nodes=drained) == {"2": 300}
    reserved = Reservation("maint", NOW - 10, NOW + 9000, ("n2",))
    assert said(LIMITS, RUNS, wide, reservations=(reserved,)) == {"2": 300}
    assert said(LIMITS, RUNS, wide) == {"2": 0}


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (Limit("account", "physics", "GrpTRES=cpu", 3, 3), "AssocGrpCpuLimit"),
        (Limit("user", "anna of physics", "MaxJobs", 1, 1), "AssocMaxJobsLimit"),
        (Limit("qos of a user", "anna in high", "MaxTRESPU=cpu", 3, 3), "QOSMaxCpuPerUserLimit"),
    ],
)
def test_a_limit_holds_a_job_until_another_ends(limit: Limit, reason: str) -> None:
    runs, waits = replace(RUNS, qos="high"), replace(WAITS, qos="high", reason=reason)
    assert said(LIMITS, runs, waits, limits=(limit,)) == {"2": 300}
    assert said(LIMITS, runs, replace(waits, account="other", user="bert", qos="low"), limits=(limit,)) == {}
    assert said(LIMITS, runs, replace(waits, cpus=4), limits=(replace(limit, most=0),)) == {}, "never"


MATLAB = Limit("license", "matlab", "license", 3, 2)


@pytest.mark.parametrize("reason", ["Licenses", "Priority"])
@pytest.mark.parametrize("model", [LIMITS, LEARNT])
def test_a_license_holds_a_job_until_its_holder_ends(model: Model, reason: str) -> None:
    runs, waits = replace(RUNS, licenses="matlab:2"), replace(WAITS, licenses="matlab:2", reason=reason)
    assert said(model, runs, waits, limits=(MATLAB,), past=PastJobs()) == {"2": 300}
    assert said(model, runs, replace(waits, licenses="matlab"), limits=(MATLAB,), past=PastJobs()) == {"2": 0}
    assert said(model, runs, replace(waits, licenses="matlab:4"), limits=(MATLAB,), past=PastJobs()) == {}, "never"


def test_a_license_of_unknown_number_leaves_no_forecast() -> None:
    waits = replace(WAITS, licenses="matlab|other", reason="Licenses", account="physics")
    limits = (MATLAB, Limit("account", "physics", "GrpTRES=cpu", 9, 3))
    assert said(LIMITS, RUNS, waits, limits=limits) == {}
    told = why_unknown(Cluster(NOW, nodes=NODES_, limits=limits, jobs=(waits,)), waits)
    assert told == "it waits for Licenses, and that limit is not known"


def test_a_job_at_a_limit_takes_no_place_before_others() -> None:
    """Slurm's backfill passes over it, whatever its priority."""
    limit = Limit("account", "physics", "GrpTRES=cpu", 8, 3)
    held = replace(WAITS, id="9", priority=90, cpus=8, tres="cpu=8,node=2", reason="AssocGrpCpuLimit")
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2", account="biology", user="bert")
    assert said(LIMITS, RUNS, held, wide, limits=(limit,)) == {"2": 300, "9": 900}


def test_a_job_that_does_not_fit_keeps_its_nodes_from_other_partitions() -> None:
    """The first job waits for both nodes; one of another partition would start at once if only partitions closed."""
    wide = replace(WAITS, id="9", priority=90, cpus=8, tres="cpu=8,node=2")
    other = replace(WAITS, cpus=4, partition="short", tres="cpu=4,node=1")
    assert said(LEARNT, RUNS, wide, other, past=PastJobs()) == {"9": 300, "2": 900}
    assert said(LEARNT, RUNS, wide, replace(other, limit=300.0), past=PastJobs()) == {"9": 300, "2": 0}


@pytest.mark.parametrize("reason", ["Dependency", "JobHeldUser", "BeginTime", "JobArrayTaskLimit"])
def test_no_forecast_is_made_for_what_is_not_modelled(reason: str) -> None:
    assert said(LIMITS, RUNS, replace(WAITS, reason=reason)) == {}


def test_hidden_jobs_make_no_forecast() -> None:
    assert said(LIMITS, RUNS, WAITS, is_private=True) == {}
    assert said(LIMITS, RUNS, WAITS, nodes=()) == {}


def test_run_times_are_learnt_from_a_users_past() -> None:
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2")
    ended = [
        replace(RUNS, id=f"0_{n}", state="COMPLETED", start=NOW - 9000, end=NOW - 9000 + 60 * n) for n in range(6, 12)
    ]
    assert len(ended) >= ENOUGH
    assert said(LEARNT, RUNS, wide, past=PastJobs(ended[1:])) == {"2": 240}, "540 s in all, of which 300 have passed"
    assert said(LEARNT, RUNS, wide, past=PastJobs(ended[:2])) == {"2": 300}, "too few: to its limit"
    assert said(LIMITS, RUNS, wide, past=PastJobs(ended)) == {"2": 300}
    cancelled = [replace(job, state="CANCELLED") for job in ended]
    assert said(LEARNT, RUNS, wide, past=PastJobs(cancelled)) == {"2": 300}


def test_a_wait_is_the_mean_of_those_with_learnt_run_times_and_limits() -> None:
    full = replace(RUNS, cpus=8, nodes=("n1", "n2"), start=NOW - 60, end=NOW + 540, tres="cpu=8,node=2")
    ended = [replace(RUNS, id=f"e{at}", state="COMPLETED", end=NOW - 60) for at in range(ENOUGH)]
    ahead = Foresight(Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=(full, WAITS)), PastJobs(ended))
    assert (ahead.starts(LEARNT), ahead.starts(LIMITS)) == ({"2": NOW + 180}, {"2": NOW + 540}), "240 of 600 s"
    assert ahead.starts(BETWEEN) == {"2": pytest.approx(NOW + (180 * 540) ** 0.5)}
    assert expected_in(ahead)["2"].middle == ahead.starts(BETWEEN)["2"] == ahead.spans(0.8)["2"].high
    early = replace(ahead, _made={replace(LEARNT, name=""): {"2": NOW + 180}, replace(LIMITS, name=""): {"2": NOW}})
    assert early.starts(BETWEEN) == {"2": NOW + 180}, "never before the start with learnt run times"


def test_a_job_that_vanishes_from_the_list_has_ended_between_two_pictures() -> None:
    """Slurm lists ended jobs for a time that its configuration sets, and not every site keeps accounts."""
    past = PastJobs()
    jobs = [replace(RUNS, id=str(number), limit=1000.0, start=NOW, end=NOW + 1000) for number in range(ENOUGH)]
    past.see(Cluster(NOW + 300, jobs=(*jobs, WAITS)))
    past.see(Cluster(NOW + 400, jobs=(jobs[0],)))
    assert len(past) == ENOUGH - 1, "a job that waited did not end"
    past.see(Cluster(NOW + 9000))
    assert (past.length(WAITS, 0.0), past.length(WAITS, 0.99)) == (0.35 * 600, 600), "none ran beyond its limit"


def test_big_queues_are_planned_once_with_learnt_run_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both jobs end before their limits. A new plan at the end of J1 lets J3 begin before J2; one plan does not."""
    ended = [replace(RUNS, id=f"0_{n}", state="COMPLETED", start=NOW - 9000, end=NOW - 9000 + 400) for n in range(9)]
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2")
    narrow = replace(WAITS, id="3", priority=9, cpus=4, tres="cpu=4,node=1", limit=150.0)
    jobs, past = (RUNS, wide, narrow), PastJobs(ended)
    replanned = said(LEARNT, *jobs, past=past)
    monkeypatch.setattr("sim.live.forecast.forecast.MOST_REPLANNED", 0)
    assert said(LEARNT, *jobs, past=past) == {"2": 100, "3": 0} == replanned
    longer = (RUNS, wide, replace(narrow, limit=250.0))
    assert said(LEARNT, *longer, past=past)["3"] > 100, "its expected 167 s do not end before J2 may start"
    monkeypatch.setattr("sim.live.forecast.forecast.MOST_REPLANNED", 10**9)
    assert said(LEARNT, *longer, past=past) == {"2": pytest.approx(166.7, abs=0.1), "3": 0}, (
        "by limits it would end first"
    )


def test_a_job_on_a_node_that_gave_too_much_still_runs() -> None:
    twin = replace(RUNS, id="3", cpus=3)
    assert said(LIMITS, RUNS, twin, replace(WAITS, cpus=8, tres="cpu=8,node=2"))["2"] >= 300


def test_plan_that_ends_early_gives_the_same_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = list(busy(3, queued=30, starts=3))
    past = PastJobs(replace(job, id=f"e{job.id}", state="COMPLETED") for job in pictures[0].running)
    models = (LIMITS, LEARNT)
    short = [forecast(pictures[at], model, past) for at in (2,) for model in models]
    monkeypatch.delattr(FromNow, "to_plan")
    assert [forecast(pictures[at], model, past) for at in (2,) for model in models] == short


def test_forecasts_of_one_picture_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[Model]()

    def make(cluster: Cluster, model: Model, past: PastJobs) -> dict[str, float]:
        made.append(model)
        return {"2": NOW}

    monkeypatch.setattr("sim.live.forecast.forecast.forecast", make)
    ahead = Foresight(Cluster(NOW), PastJobs())
    assert ahead.spans(0.8) == {"2": (NOW, NOW)}
    assert expected_in(Foresight(ahead.cluster, ahead.past))["2"].high == NOW
    many = len(made)
    assert ahead.starts(SHORTER) == {"2": NOW}
    assert len(made) == many, "the early end of the span is the model of short jobs"


def test_drained_nodes_take_no_jobs_where_only_the_nodes_name_their_partitions() -> None:
    """Captures of single commands may lack the list of partitions."""
    drained = (replace(NODES_[0], partitions=("batch",)), replace(NODES_[1], partitions=("batch", "short")))
    gone = replace(drained[1], states=frozenset({"IDLE", "DRAIN"}))
    for partition, start in (("batch", 300), ("short", None), ("other", 300)):
        own = replace(WAITS, partition=partition, cpus=2, tres="cpu=2,node=1")
        found = said(LIMITS, RUNS, own, nodes=(drained[0], gone), partitions=())
        assert found == ({} if start is None else {"2": start})
        assert said(LIMITS, RUNS, own, nodes=drained, partitions=()) == {"2": 0}


def test_running_job_holds_its_memory_for_each_node_whatever_its_cores_there() -> None:
    cores = (Cores("n1", 0b11), Cores("n2", 0b1))
    wide = replace(RUNS, nodes=("n1", "n2"), cores=cores, memory=550, nodes_wanted=2, tres="cpu=3,mem=1100M,node=2")
    first = replace(RUNS, id="3", cpus=2, tres="cpu=2,mem=300M,node=1", end=NOW + 500)
    second = replace(RUNS, id="4", cpus=3, nodes=("n2",), tres="cpu=3,mem=100M,node=1", end=NOW + 500)
    assert said(LEARNT, first, second, wide, WAITS, past=PastJobs()) == {"2": 300}


def test_a_job_that_accepts_one_node_waits_for_a_node_with_all_its_cores() -> None:
    wide = replace(WAITS, cpus=4, tres="cpu=4,node=1")
    on_n2 = replace(RUNS, id="3", cpus=1, nodes=("n2",), end=NOW + 400, tres="cpu=1,node=1")
    assert said(LIMITS, replace(RUNS, cpus=1), on_n2, replace(wide, most_nodes=0)) == {"2": 0}
    assert said(LIMITS, replace(RUNS, cpus=1), on_n2, replace(wide, most_nodes=1)) == {"2": 300}


@pytest.mark.parametrize(("memory", "total", "expected"), [(1000, "2000M,node=2", 400), (250, "1000M,node=1", 0)])
def test_memory_for_each_node_needs_so_much_on_every_node(memory: int, total: str, expected: int) -> None:
    """Slurm tells the total and the amount, but not whether that is for each node or for each core."""
    runs = replace(RUNS, cpus=1, tres="cpu=1,mem=10M,node=1", memory=10)
    on_n2 = replace(runs, id="3", nodes=("n2",), end=NOW + 400, tres="cpu=1,mem=400M,node=1", memory=400)
    waits = replace(WAITS, cpus=4, nodes_wanted=2 if "2" in total[6:] else 1, memory=memory, tres=f"cpu=4,mem={total}")
    assert said(LIMITS, runs, on_n2, waits) == {"2": expected}


def test_a_job_some_of_whose_nodes_are_away_waits_for_room_on_the_others() -> None:
    """Slurm gives this reason also where the nodes are only planned for jobs of a higher tier."""
    away = replace(WAITS, cpus=8, tres="cpu=8,node=2", reason="ReqNodeNotAvail, UnavailableNodes:n[1-2]")
    for model in MODELS:
        assert said(model, RUNS, away) == {"2": 300}
    never = replace(away, cpus=9)
    assert why_unknown(Cluster(NOW, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, never)), never).endswith(
        "does not fit the nodes or the limits that are known"
    )
