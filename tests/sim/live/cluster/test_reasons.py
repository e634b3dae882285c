"""Reasons in words: each has its numbers, and names the job or limit that holds the job back.

Also tests sim.live.cluster.limit_reasons, sim.live.cluster.dates, sim.live.cluster.pace.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.live.cluster.dates import date
from sim.live.cluster.pace import LEAST, MOST, Pace
from sim.live.cluster.reasons import _PLAIN, _TOLD, MOST_LETTERS, paragraph, say
from sim.live.cluster.values import Cluster, ClusterJob, Limit, Node, Partition, Reservation

NOW = 1_795_469_000.0
BATCH = Partition("batch", ("n1", "n2"), max_time=3600)
SHORT = Partition("short", ("n1",), max_time=300, state="DOWN")
RUNNING = ClusterJob(
    "1", "1", "RUNNING", user="anna", account="physics", partition="batch", qos="high", cpus=4, start=NOW - 60,
    end=NOW + 120, nodes=("n1",), array="1",
)  # fmt: skip
JOB = replace(RUNNING, id="9", number="9", state="PENDING", nodes=(), start=None, end=None, limit=600.0, priority=50)
CLUSTER = Cluster(
    NOW,
    nodes=(Node("n1", 4, cpus_taken=4), Node("n2", 4, cpus_taken=1, states=frozenset({"DRAIN"}), reason="disk")),
    partitions=(BATCH, SHORT),
    reservations=(Reservation("maint", NOW + 300, NOW + 900, ("n2",)),),
    jobs=(RUNNING, replace(JOB, id="8", number="8", priority=70, reason="Resources"), JOB),
    parts={"8": {"age": 30, "qos": 40}, "9": {"age": 10, "qos": 40}},
)


def said(reason: str, cluster: Cluster = CLUSTER, **more: Any) -> str:
    return say(cluster, replace(JOB, reason=reason, **more))


@pytest.mark.parametrize(
    ("reason", "more", "expected"),
    [
        ("", {}, "waits: Slurm gives no reason now"),
        ("Priority", {}, "waits behind 1 job for nodes of batch: J8 has priority 70 > 50 (age 30 > 10)"),
        (
            "Resources",
            {"cpus": 6},
            f"waits: needs 6 cores > 0 free on 1 usable node of batch; J1 holds 4 cores until "
            f"{date(NOW + 120, NOW)} at most",
        ),
        (
            "Dependency",
            {"dependency": "afterok:1(unfulfilled),afterany:77(unfulfilled)"},
            f"waits for success of J1, which runs until {date(NOW + 120, NOW)} at most and the end of J77, which is no "
            "longer known",
        ),
        (
            "Dependency",
            {"dependency": "singleton(unfulfilled)", "user": "anna"},
            "waits for the end of all earlier jobs of user anna with the same name",
        ),
        (
            "BeginTime",
            {"start": NOW + 60, "restarts": 0},
            f"waits: its user asked for a start not before {date(NOW + 60, NOW)}",
        ),
        (
            "BeginTime",
            {"start": NOW + 60, "restarts": 2},
            f"waits: it was requeued 2 times, and starts not before {date(NOW + 60, NOW)}",
        ),
        (
            "BeginTime",
            {"start": NOW + 60},
            f"waits: it starts not before {date(NOW + 60, NOW)}, as its user asked, or because it was requeued",
        ),
        ("BeginTime", {}, "waits: its begin time has come, and Slurm has not considered it since"),
        (
            "PartitionTimeLimit",
            {"partition": "short"},
            "can never start: asks for 10m00 > 5m00, the limit of partition short; batch would allow it",
        ),
        ("PartitionNodeLimit", {"nodes_wanted": 5}, "can never start: asks for 5 nodes > 2 of partition batch"),
        ("PartitionDown", {"partition": "short"}, "waits: partition short is down"),
        ("JobArrayTaskLimit", {}, "waits: its array may run only so many tasks at once, and 1 task of it runs"),
        ("JobArrayTaskLimit", {"at_once": 1}, "waits: its array may run only 1 task at once, and 1 task of it runs"),
        (
            "JobArrayTaskLimit",
            {"at_once": 4, "array": "5"},
            "waits: its array may run only 4 tasks at once, which ran at Slurm's last pass; now 0 run",
        ),
        ("Reservation", {"reservation": "maint"}, "waits for its reservation maint, which begins at "),
        (
            "ReqNodeNotAvail, UnavailableNodes:n2",
            {},
            f"waits: not all of its nodes are available: n2 is drained and reservation maint keeps n2 from "
            f"{date(NOW + 300, NOW)} until {date(NOW + 900, NOW)}",
        ),
        (
            "ReqNodeNotAvail, UnavailableNodes:n1",
            {},
            "waits: Slurm counted n1 as unavailable, but none of its nodes is down or reserved now; it waits behind",
        ),
        ("ReqNodeNotAvail, UnavailableNodes:n2", {"required": ("n2",)}, "waits: it asks for n2, which is drained"),
        ("Resources", {"required": ("n2",)}, "waits: it asks for n2, which is drained"),
        ("Licenses", {}, "waits: too few of the licenses that it asks for are free"),
        ("JobHeldUser", {}, "waits: its user holds it (scontrol release JOB lets it go)"),
        ("job requeued in held state", {}, "waits: it was requeued, and is held now"),
        ("SomethingNew", {}, "waits: Slurm says SomethingNew"),
    ],
)
def test_a_reason(reason: str, more: dict[str, Any], expected: str) -> None:
    assert said(reason, **more).startswith(expected)


@pytest.mark.parametrize(
    ("reason", "limit", "expected"),
    [
        ("AssocGrpCpuLimit", Limit("account", "physics", "GrpTRES=cpu", 6, 4),
         "waits: account physics is at its limit of cores: 4 used + 4 asked for > 6; J1 (4 cores until"),
        ("QOSMaxJobsPerUserLimit", Limit("qos of a user", "anna in high", "MaxJobsPU", 1, 1),
         "waits: user anna in QOS high is at its limit of running jobs: 1 used + 1 asked for > 1; J1 (4 cores"),
        ("QOSMaxCpuPerUserLimit", Limit("qos of a user", "anna in high", "MaxTRESPU=cpu", 7, 4),
         "waits: user anna in QOS high is at its limit of cores: 4 used + 4 asked for > 7"),
        ("AssocGrpCPURunMinutesLimit", Limit("account", "physics", "GrpTRESRunMins=cpu", 90, 88),
         "waits: account physics is at its limit of cores x minutes: 88 used + 40 asked for > 90; J1 (4 cores until"),
        ("QOSGrpNodeLimit", None, "waits: QOS high is at its limit of nodes"),
        ("AssocMaxWallDurationPerJobLimit", Limit("user", "anna of physics", "MaxWallPJ", 5, 0),
         "cannot start: asks for 10m00 > 5m00, the most time that user anna of account physics allows for a job"),
    ],
)  # fmt: skip
def test_a_limit(reason: str, limit: Limit | None, expected: str) -> None:
    assert said(reason, replace(CLUSTER, limits=(limit,) if limit else ())).startswith(expected)


def test_a_limit_that_has_room_again_is_of_the_last_pass() -> None:
    told = said("AssocGrpCpuLimit", replace(CLUSTER, limits=(Limit("account", "physics", "GrpTRES=cpu", 8, 4),)))
    assert told.startswith(
        "waits: account physics was at its limit of cores at Slurm's last pass; now 4 used + 4 asked for of 8; J1 (4"
    )


def test_a_job_beyond_its_limit_is_overdue() -> None:
    late = replace(RUNNING, end=NOW - 5)
    assert say(CLUSTER, late).endswith(f" on n1, overdue since {date(NOW - 5, NOW)}")
    told = said("Resources", replace(CLUSTER, jobs=(late,)), cpus=6)
    assert told.endswith(f"J1 holds 4 cores, overdue since {date(NOW - 5, NOW)}")


def test_job_that_failed_is_said_to_have_ended() -> None:
    failed = replace(CLUSTER, jobs=(replace(RUNNING, state="NODE_FAIL"),))
    told = said("Dependency", failed, dependency="afterok:1(unfulfilled)")
    assert told == "waits for success of J1, which ended: node fail"


def test_nodes_kept_for_jobs_ahead_are_not_said_to_be_down() -> None:
    up = replace(CLUSTER, nodes=(CLUSTER.nodes[0],), reservations=())
    reason = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    told = "waits behind 1 job for nodes of batch: J8 has priority 70 > 50 (age 30 > 10); Slurm keeps nodes for them"
    assert said(reason, up) == told
    drained = said(reason, replace(CLUSTER, reservations=()))
    assert drained.startswith("waits: not all of its nodes are available: n2 is drained; it waits behind 1 job")


def test_reservation_that_lets_a_job_end_before_it_and_start_after_it_keeps_no_nodes_from_it() -> None:
    up = replace(CLUSTER, nodes=(CLUSTER.nodes[0], Node("n2", 4)))
    reason = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    keeps = "reservation maint keeps n2 from "
    assert keeps not in said(reason, up, limit=200.0, start=NOW + 1000)
    assert keeps in said(reason, up, limit=200.0, start=NOW + 200)
    assert keeps in said(reason, up, limit=600.0, start=NOW + 1000)


def test_reservation_of_the_planned_nodes_is_named_before_jobs_on_others() -> None:
    now = replace(CLUSTER.reservations[0], start=NOW - 60)
    up = replace(CLUSTER, nodes=(CLUSTER.nodes[0], Node("n2", 4)), reservations=(now,))
    told = said("Resources", up, planned_nodes=("n2",))
    assert told.endswith(
        f" > 0 free on 1 usable node of batch; reservation maint keeps n2 until {date(NOW + 900, NOW)}"
    )


def test_job_that_completes_has_ended_and_holds_nothing() -> None:
    cleaned = replace(RUNNING, state="COMPLETING", end=NOW - 5)
    now = replace(CLUSTER, jobs=(cleaned,), limits=(Limit("account", "physics", "GrpTRES=cpu", 6, 0),))
    assert say(now, cleaned) == f"ended at {date(NOW - 5, NOW)}: completing on n1"
    assert (
        said("Dependency", now, dependency="afterany:1(unfulfilled)") == "waits for the end of J1, which is completing"
    )
    assert "now 0 used + 4 asked for of 6" in said("AssocGrpCpuLimit", now)
    assert "; 4 cores are free on 1 usable node" in said("Resources", now)


def test_node_that_does_not_respond_takes_no_job() -> None:
    silent = replace(CLUSTER, nodes=(replace(CLUSTER.nodes[0], states=frozenset({"IDLE", "NOT_RESPONDING"})),))
    assert said("Resources", silent, required=("n1",)) == "waits: it asks for n1, which is not responding"


def test_node_on_which_a_job_still_runs_is_draining() -> None:
    used = replace(CLUSTER, jobs=(replace(RUNNING, nodes=("n2",)),))
    assert said("Resources", used, required=("n2",)) == "waits: it asks for n2, which is draining"


def test_reservation_keeps_only_nodes_that_the_job_can_use() -> None:
    both = replace(CLUSTER, reservations=(replace(CLUSTER.reservations[0], nodes=("n1", "n2")),))
    told = said("ReqNodeNotAvail, May be reserved for other job", both, excluded=("n2",))
    assert told.startswith("waits: not all of its nodes are available: reservation maint keeps n1 from ")


def test_running_jobs_are_newer_than_the_use_of_a_limit() -> None:
    old = Limit("account", "physics", "GrpTRES=cpu", 6, 0)
    told = said("AssocGrpCpuLimit", replace(CLUSTER, limits=(old,)))
    assert told.startswith("waits: account physics is at its limit of cores: 4 used + 4 asked for > 6; J1")


def test_every_code_has_words_of_its_own() -> None:
    for code in [*_TOLD, *_PLAIN]:
        told = said(code)
        assert told.startswith(("waits", "can", "cannot")), code
        assert "Slurm says" not in told, code
        assert all(paragraph(CLUSTER, replace(JOB, reason=code))), code


def test_reason_of_unavailable_nodes_stands_once() -> None:
    down = Node("n3", 4, states=frozenset({"DRAIN"}), reason="fan [root@2026-11-26T07:00:00]")
    nodes = tuple(replace(down, name=f"n{number}", reason=f"fan [a@{number}]") for number in range(3, 9))
    named = tuple(node.name for node in nodes)
    batch = replace(BATCH, nodes=(*BATCH.nodes, *named))
    wide = replace(CLUSTER, nodes=(*CLUSTER.nodes, *nodes), partitions=(batch, SHORT))
    told = paragraph(wide, replace(JOB, reason="Resources"))
    assert "Not available: n2 (drain: disk); n3, n4, n5 and 3 more (drain: fan)." in told
    short = paragraph(wide, replace(JOB, reason="Resources", partition="short"))
    assert not any(line.startswith("Not available") for line in short)


def test_a_date_that_is_no_plan_is_not_said_to_be_one() -> None:
    waiting = replace(JOB, start=NOW + 600)
    assert "plans its start" in paragraph(CLUSTER, replace(waiting, reason="Resources"))[-1]
    assert "starts not before" in paragraph(CLUSTER, replace(waiting, reason="BeginTime"))[-1]
    limited = paragraph(CLUSTER, replace(waiting, reason="AssocGrpCpuLimit"))[-1]
    assert limited.startswith("Slurm's date for it is ")
    assert limited.endswith("; while its reason holds, that is no plan.")
    none = paragraph(CLUSTER, replace(waiting, reason="None"))[-1]
    assert none.endswith("; while Slurm gives no reason, that is no plan.")
    away = replace(waiting, reason="ReqNodeNotAvail, UnavailableNodes:n2", planned_nodes=("n1",))
    expected = paragraph(CLUSTER, away)[-1]
    assert expected.startswith("Slurm expects its start at ")
    assert expected.endswith(" on n1; while Slurm counts nodes as unavailable, that date is no plan.")
    gone = paragraph(CLUSTER, replace(away, planned_nodes=("n2",)))[-1]
    assert gone.endswith(" on n2, but n2 is drained.")
    late = replace(waiting, reason="Resources", deadline=NOW + 900)
    assert paragraph(CLUSTER, late)[-1].endswith(f"; it would then end after its deadline, {date(NOW + 900, NOW)}.")
    passed = replace(waiting, reason="Resources", start=NOW - 3)
    assert paragraph(CLUSTER, passed)[-1].endswith(" (3s ago).")
    hidden = replace(CLUSTER, is_private=True)
    assert "hidden" in paragraph(hidden, replace(waiting, reason="Resources"))[-1]


def test_other_states() -> None:
    assert say(CLUSTER, RUNNING).startswith("runs since ")
    assert say(CLUSTER, replace(RUNNING, state="TIMEOUT")).endswith(": timeout")
    assert say(CLUSTER, replace(RUNNING, state="SUSPENDED")).startswith("is suspended")


def test_hostile_names_stay_short_plain_text() -> None:
    hostile = "\x1b[31m[bold]" + "x" * 5000
    for line in paragraph(CLUSTER, replace(JOB, reason=hostile, user=hostile, partition=hostile, dependency=hostile)):
        assert "\x1b" not in line
        assert len(line) <= MOST_LETTERS + 1


def test_the_pace_is_polite() -> None:
    assert Pace.of(1).wait == LEAST
    slow = Pace.of(60)
    for _ in range(10):
        slow = slow.after(None)
    assert slow.wait == MOST
    assert slow.after(0.1).wait == 60
