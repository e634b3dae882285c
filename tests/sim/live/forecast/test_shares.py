"""Fair share in forecasts: users of an account overtake each other as their usage grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.forecast import LEARNT, LIMITS, forecast
from sim.live.forecast.past import PastJobs
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, WAITS

WIDE = replace(WAITS, cpus=8, limit=300.0, tres="cpu=8,node=2")


def wide(number: int, user: str, points: float, priority: int = 0, account: str = "physics") -> ClusterJob:
    """Return a waiting job that needs both nodes and of whose priority its user's fair share is `points`."""
    return replace(
        WIDE, id=str(number), number=str(number), user=user, account=account, priority=int(points) + 50 + priority
    )


def picture(at: float, jobs: Iterable[ClusterJob], points: dict[str, float]) -> Cluster:
    """Return a picture of the cluster in which these are the points that users get for their fair share."""
    jobs = tuple(jobs)
    parts = {job.number: {"age": 50.0, "fairshare": points[job.user]} for job in jobs if job.is_waiting}
    return Cluster(at, nodes=NODES_, partitions=(BATCH,), jobs=jobs, parts=parts)


def queue(anna: float, bert: float, account: str = "physics") -> list[ClusterJob]:
    """Return three jobs of anna and three of bert that wait, with these points for their fair share."""
    return [
        *(wide(n, "anna", anna, 3 - n) for n in (1, 2, 3)),
        *(wide(n, "bert", bert, 6 - n, account) for n in (4, 5, 6)),
    ]


def starts(past: PastJobs, at: float, points: dict[str, float], account: str = "physics") -> str:
    """Return the numbers of the waiting jobs in the order of their forecast starts."""
    cluster = picture(at, queue(points["anna"], points["bert"], account), points)
    past.see(cluster)
    found = forecast(cluster, LEARNT, past)
    return "".join(sorted(found, key=lambda job: found[job]))


def test_users_who_used_the_same_take_turns() -> None:
    """All jobs of the user with more points would come first if usage did not grow."""
    past = PastJobs()
    past.see(picture(NOW - 60, queue(900, 900), {"anna": 900, "bert": 900}))
    assert starts(past, NOW, {"anna": 1000, "bert": 500}) == "142536"


def test_a_user_who_overtook_another_one_has_used_as_much() -> None:
    past = PastJobs()
    past.see(picture(NOW - 60, queue(500, 1000), {"anna": 500, "bert": 1000}))
    assert starts(past, NOW, {"anna": 1000, "bert": 500}) == "142536"
    assert starts(PastJobs(), NOW, {"anna": 1000, "bert": 500}) == "123456", "by how much anna is ahead is not known"


def test_usage_that_was_seen_counts() -> None:
    """Bert's job has run for ten minutes since both had used the same, and two jobs of anna make up for it."""
    past = PastJobs()
    past.see(picture(NOW - 700, queue(900, 900), {"anna": 900, "bert": 900}))
    ran = replace(WIDE, id="9", user="bert", state="COMPLETED", start=NOW - 660, end=NOW - 60, nodes=("n1", "n2"))
    running = replace(ran, state="RUNNING", end=NOW)
    for at, job in ((NOW - 300, running), (NOW - 30, ran)):
        past.see(picture(at, [*queue(1000, 500), job], {"anna": 1000, "bert": 500}))
    assert starts(past, NOW, {"anna": 1000, "bert": 500}) == "124356"


def test_users_of_other_accounts_keep_their_places() -> None:
    past = PastJobs()
    past.see(picture(NOW - 60, queue(500, 1000, "biology"), {"anna": 500, "bert": 1000}))
    assert starts(past, NOW, {"anna": 1000, "bert": 500}, "biology") == "123456"


def test_points_are_what_the_other_parts_leave_of_a_priority() -> None:
    """Priorities are polled more often than their parts, and `nice` counts against a job."""
    past = PastJobs()
    for at, anna, bert in ((NOW - 60, 500, 1000), (NOW, 1000, 500)):
        shown = picture(at, queue(anna, bert), {"anna": 500, "bert": 1000})
        nice = {number: {**parts, "nice": 20.0, "qos": 20.0} for number, parts in shown.parts.items()}
        shown = replace(shown, parts=nice)
        past.see(shown)
    found = forecast(shown, LEARNT, past)
    assert "".join(sorted(found, key=lambda job: found[job])) == "142536"


def test_forecasts_with_time_limits_are_one_plan_in_the_order_of_priorities() -> None:
    past = PastJobs()
    past.see(picture(NOW - 60, queue(900, 900), {"anna": 900, "bert": 900}))
    shown = picture(NOW, queue(1000, 500), {"anna": 1000, "bert": 500})
    past.see(shown)
    found = forecast(shown, LIMITS, past)
    assert sorted(found, key=lambda job: found[job]) == [*"123456"]
