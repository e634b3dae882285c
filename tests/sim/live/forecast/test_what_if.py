"""What-if questions about a waiting job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.live.cluster.dates import date
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.expected import Expected, expected, trimmed, why_unknown
from sim.live.forecast.past import PastJobs
from sim.live.forecast.what_if import Answer, answers, in_words, parse_change, questions, what_if
from sim.live.forecast.words import answer_lines
from sim.support.errors import ParameterError
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, SHORT, WAITS

WIDE = replace(WAITS, cpus=8, tres="cpu=8,mem=80M,node=2", nodes_wanted=2, priority=90)
NARROW = replace(WAITS, id="3", priority=10, limit=600.0, cpus=4, tres="cpu=4,mem=40M,node=1")


def cluster(*jobs: ClusterJob) -> Cluster:
    return Cluster(NOW, nodes=NODES_, partitions=(BATCH, SHORT), jobs=jobs)


def asked(now: Cluster, job: ClusterJob, change: str) -> Answer:
    return what_if(now, job, change, PastJobs(), expected(now, PastJobs()))


def test_change_is_a_changed_request() -> None:
    changed = parse_change("time=30m cpus=4", WIDE)
    assert (changed.limit, changed.cpus, changed.tres) == (1800, 4, "mem=40M,cpu=4,node=2")
    assert parse_change("mem=1g", WIDE).tres == "mem=2048M,cpu=8,node=2"
    assert parse_change("gpus=1, nodes=1", WIDE).nodes_wanted == 1
    assert parse_change("partition=short", WIDE).partition == "short"
    assert parse_change("cpus=4", replace(WIDE, tres=f"cpu=8,mem={'9' * 5000}M")).cpus == 4


def test_fewer_cores_need_fewer_nodes_unless_the_user_named_their_number() -> None:
    """Slurm shows the fewest nodes that the cores fill also for a job that may have cores of any nodes."""
    anywhere, exact = replace(WIDE, most_nodes=0), replace(WIDE, most_nodes=2)
    assert [parse_change("cpus=4", job).nodes_wanted for job in (anywhere, exact, WIDE)] == [1, 2, 2]
    assert parse_change("cpus=4", anywhere).tres == "node=1,mem=40M,cpu=4"
    assert parse_change("cpus=4 nodes=2", anywhere).nodes_wanted == 2
    one = replace(anywhere, cpus=1, nodes_wanted=1, tres="cpu=1,node=1")
    assert parse_change("cpus=8", one, widest=4).nodes_wanted == 2
    assert asked(cluster(RUNS, one), one, "cpus=8").after is not None  # as many nodes as cores would not fit
    listed = [list(questions(cluster(job), job, PastJobs())) for job in (anywhere, exact)]
    assert ["cpus=2" in each for each in listed] == [True, True]
    small = replace(anywhere, cpus=2, tres="cpu=2,node=2")
    assert "cpus=1" in questions(cluster(small), small, PastJobs())
    assert "cpus=1" not in questions(cluster(small), replace(small, most_nodes=2), PastJobs())


def test_jobs_of_higher_tiers_are_kept_first() -> None:
    rush = replace(NARROW, id="4", partition="short")
    now = replace(cluster(RUNS, WIDE, rush), partitions=(BATCH, replace(SHORT, tier=20)))
    assert trimmed(now, most=1).queue == (rush,)


def test_job_with_whole_nodes_may_share_them() -> None:
    alone = replace(NARROW, is_exclusive=True, cpus=1, tres="cpu=1,mem=10M,node=1")
    taken = replace(RUNS, id="4", cpus=1, nodes=("n2",), tres="cpu=1,mem=10M,node=1", end=NOW + 400)
    now = cluster(RUNS, taken, alone)
    assert "exclusive=no" in questions(now, alone, PastJobs())
    assert "exclusive=no" not in questions(now, NARROW, PastJobs())
    found = asked(now, alone, "exclusive=no")
    assert found.before is not None
    assert found.after is not None
    assert (found.before.high - NOW, found.after.high - NOW) == (300, 0)
    assert next(answer_lines(now, found)).startswith("With shared nodes (no --exclusive) it would start now instead")
    whole = replace(now, partitions=(replace(BATCH, is_exclusive=True), SHORT))
    assert "exclusive=no" not in questions(whole, alone, PastJobs()), "its partition gives whole nodes to all"
    assert parse_change("exclusive=yes", NARROW).is_exclusive
    assert "exclusive=no" in {each.change for each in answers(now, alone, PastJobs(), expected(now, PastJobs()))}


@pytest.mark.parametrize(
    "text", ["exclusive=maybe", "", "cores=4", "cpus=0", "cpus=x", "time=0", "time=later", "mem=much", "nodes"]
)
def test_wrong_changes_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_change(text, WIDE)


def test_narrower_job_starts_at_once_and_another_pays() -> None:
    found = asked(cluster(RUNS, WIDE, NARROW), WIDE, "cpus=4 nodes=1")
    assert found.before is not None
    assert found.after is not None
    assert (found.before.high - NOW, found.after.high - NOW) == (300, 0)
    assert found.later == ()
    lines = list(answer_lines(cluster(RUNS, WIDE, NARROW), found))
    assert lines[0].startswith("With 4 cores, 1 node it would start now instead of ")


def test_jobs_that_would_start_later_are_named() -> None:
    behind = replace(NARROW, cpus=1, limit=300.0, tres="cpu=1,mem=4M,node=1")
    now = cluster(RUNS, replace(RUNS, id="4", cpus=4, nodes=("n2",), end=NOW + 300), WIDE, behind)
    found = asked(now, WIDE, "time=50m cpus=1 nodes=1")
    assert found.later == (("3", 300.0),)
    assert list(answer_lines(now, found))[1] == "1 other job would start later: J3 by 5m00."


def test_answer_as_before_has_the_same_time_as_the_forecast() -> None:
    def said(middle: float, high: float) -> str:
        before, after = Expected(NOW, NOW + 300, NOW + 600), Expected(NOW, NOW + middle, NOW + high)
        return next(answer_lines(cluster(WIDE), Answer("cpus=4", before, after, (), 0)))

    same, at = "With 4 cores it would start as before, about ", [date(NOW + each, NOW) for each in (300, 212, 600)]
    assert said(250, 600) == f"{same}{at[0]}."
    assert said(212, 680) == f"With 4 cores it would start about {at[1]} instead of about {at[0]}."
    assert said(300, 450) == f"{same}{at[0]}; if jobs run long, about {date(NOW + 450, NOW)} instead of about {at[2]}."


def test_misfit_is_told_instead_of_a_start() -> None:
    found = asked(cluster(RUNS, WIDE), WIDE, "partition=short")
    assert found.after is None
    assert "asks for" in next(answer_lines(cluster(RUNS, WIDE), found))


def test_another_partition_helps_if_a_partition_is_down() -> None:
    down = replace(SHORT, state="DOWN")
    closed, waits = replace(NARROW, partition="short", reason="PartitionDown"), replace(NARROW, partition="batch")
    now = replace(cluster(RUNS, closed), partitions=(BATCH, down))
    assert asked(now, closed, "partition=batch").after is not None
    now = replace(cluster(RUNS, waits), partitions=(BATCH, down))
    assert list(answer_lines(now, asked(now, waits, "partition=short"))) == [
        "With partition short: partition short is down."
    ]


def test_unknown_partition_is_an_error() -> None:
    with pytest.raises(ParameterError, match="there is no partition 'nowhere'; there are batch and short"):
        asked(cluster(RUNS, WIDE), WIDE, "partition=nowhere")


def test_job_that_can_never_start_has_no_forecast() -> None:
    never = replace(WIDE, reason="PartitionTimeLimit")
    assert why_unknown(cluster(RUNS, never), never) == "as it is, it can never start"


def test_change_does_not_help_a_job_whose_dependency_cannot_be_met() -> None:
    never = replace(NARROW, reason="DependencyNeverSatisfied")
    now = cluster(RUNS, never)
    assert list(answer_lines(now, asked(now, never, "cpus=1"))) == ["With 1 core: it could still never start."]


def test_changes_with_which_a_job_could_start_are_found() -> None:
    never = replace(NARROW, partition="short", limit=1800.0, reason="PartitionTimeLimit")
    now = cluster(RUNS, never)
    found = {each.change: each for each in answers(now, never, PastJobs(), expected(now, PastJobs()))}
    assert "partition=batch" in found
    told = next(answer_lines(now, found["partition=batch"]))
    assert told.startswith("With partition batch it would start ")
    assert told.endswith("; as it is, there is no forecast.")


def test_useful_changes_are_found_with_the_largest_gain_first() -> None:
    found = answers(cluster(RUNS, WIDE), WIDE, PastJobs(), expected(cluster(RUNS, WIDE), PastJobs()))
    assert [(each.change, each.gain) for each in found] == [("cpus=4", 300.0)]  # two cores would gain no more


def test_questions_include_the_users_usual_length() -> None:
    past = PastJobs(replace(RUNS, id=f"e{n}", state="COMPLETED", end=NOW - 300 + 120) for n in range(6))
    assert "time=120" in list(questions(cluster(RUNS, WIDE), WIDE, past))


def test_changes_in_words() -> None:
    assert in_words("time=1800 cpus=1 gpus=2 mem=4g nodes=3") == (
        "a limit of 30m00, 1 core, 2 GPUs, 4g of memory, 3 nodes"
    )
