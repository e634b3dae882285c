from dataclasses import replace
from itertools import pairwise
from math import exp, inf, log

import numpy as np
import pytest

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.policies import parse_policy, written_policy
from sim.policies.multifactor import Multifactor
from sim.timeline.timeline import Timeline
from sim.workload.outages import Outage
from sim.workload.replay import read
from tests.sim.conftest import Lab

HALF = 86400.0


def had(engine: Engine, user: int, now: float) -> float:
    """Return the user's processor-hours until `now`; each second's share decays with its age, with half-life `HALF`."""
    hours, fades = 0.0, log(2) / HALF
    for stretch in engine.history.stretches():
        if engine.workload.user[stretch.rank] == user:
            until = now if stretch.end is None else min(stretch.end, now)
            width = engine.workload.width[stretch.rank]
            hours += width * (exp(-fades * (now - until)) - exp(-fades * (now - stretch.start))) / fades / 3600
    return hours


def test_usage_and_order_match_a_recount_of_stretches() -> None:
    workload = read("lublin-128", jobs=250, load=1.5)
    engine = Engine(workload, "easy:order=multifactor,halflife=1d,maxage=12h,size=500", watchers=[Checker])
    looked = 0
    while engine.advance(37):
        usage, now = engine.present.notes["usage"], engine.now
        found = {user: had(engine, user, now) for user in usage}
        assert usage == pytest.approx(found, abs=1e-9)
        total = sum(found.values())

        def priority(rank: int, now: float = now, found: dict[int, float] = found, total: float = total) -> float:
            user, waited = int(workload.user[rank]), now - workload.submit[rank]
            fair = 2 ** -(found[user] / total * len(found))
            return float(1000 * min(waited / 43200, 1) + 10000 * fair + 500 * workload.width[rank] / 128)

        stand = [priority(job.rank) for job in engine.moment.waiting]
        assert all(one >= other - 1e-6 for one, other in pairwise(stand))
        looked += len(stand)
    assert looked > 50


def test_what_was_lost_with_its_processors_was_had_as_well(lab: Lab) -> None:
    """Usage of lost runs counts: job 1's processors fail for good and it is cancelled; job 2's fail and it returns to
    the queue."""
    workload = lab.workload(4, "1 0 4 100 100", "2 0 1 100 100", "3 50 1 9 9")
    fails = [Outage(20, inf, 0b0001), Outage(30, 40, 0b1110)]
    workload = replace(workload, user=np.array([0, 1, 2])).with_outages(fails)
    engine = Engine(workload, "fcfs:order=multifactor,halflife=1d", watchers=[Checker])
    engine.run(until=50)
    assert engine.present.notes["usage"] == pytest.approx({user: had(engine, user, 50) for user in range(3)}, abs=1e-9)


def test_whoever_takes_over_knows_the_users_of_those_who_wait(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 4 50 50", "2 5 4 9 9", "3 6 4 9 9")
    engine = Engine(replace(workload, user=np.array([0, 1, 2])), "fcfs")
    engine.run(until=6)
    engine.switch("fcfs:order=multifactor")
    assert engine.present.notes["usage"].keys() == {0, 1, 2}


def test_times_may_be_typed_as_such() -> None:
    policy = parse_policy("easy:order=multifactor,halflife=2d,age=0,favour=small")
    assert policy.queue_order() == Multifactor(halflife=2 * 86400, age=0, favour="small")
    assert parse_policy(written_policy(policy)) == policy


def test_whose_user_has_had_more_waits_and_the_wider_goes_first(lab: Lab) -> None:
    lines = ("1 0 4 10 10", "2 1 4 10 10", "3 2 4 10 10", "4 3 2 10 10", "5 3 4 10 10")
    users = np.array([0, 0, 1, 1, 1])
    workload = replace(lab.workload(4, *lines), user=users)
    engine = Engine(workload, "fcfs:order=multifactor,age=0,size=1", watchers=[Checker])
    engine.run()
    assert np.argsort(engine.schedule().start, kind="stable").tolist() == [0, 2, 1, 4, 3]


def test_it_can_be_gone_back_under_it() -> None:
    timeline = Timeline(read("lublin-128", jobs=120, load=2), "easy:order=multifactor,halflife=3h")
    timeline.compute(10_000)
    timeline.seek(150)
    before = [queued.job.id for queued in timeline.snapshot().queue]
    timeline.seek(20)
    timeline.seek(150)
    assert [queued.job.id for queued in timeline.snapshot().queue] == before


def test_users_are_ranked_by_the_tree_of_accounts_at_intervals(lab: Lab) -> None:
    """Account y used less for its shares than x, so its user 3 comes first, and of x the user who used less."""
    lines = ("1 0 4 10 10", "2 10 4 20 20", "3 30 4 5 5", "4 31 4 10 10", "5 31 4 10 10", "6 31 4 10 10")
    jobs = replace(lab.workload(4, *lines), user=np.array([1, 2, 3, 2, 1, 3]), accounts=(*"xxyxxy",))
    starts, notes = {}, {}
    for period in (0, 20, 1000):
        engine = Engine(jobs, f"fcfs:order=multifactor,age=0,size=0,shares=tree,period={period}", watchers=[Checker])
        engine.run()
        starts[period], notes[period] = engine.schedule().start.tolist(), engine.present.notes
    assert starts[0] == [0, 10, 30, 55, 45, 35]
    assert starts[20] == [0, 10, 30, 55, 45, 35], "summed up at 35 again, not at 31"
    assert starts[1000] == [0, 10, 30, 35, 45, 55], "all are equal, as in the beginning"
    used, tree = notes[0]["tree_usage"], notes[0]["share_tree"]
    assert sorted(used[leaf] for leaf in tree.leaf[:3]) == pytest.approx([15 * 4, 20 * 4, 30 * 4], rel=1e-3)


def test_usage_over_many_half_lives_stays_finite(lab: Lab) -> None:
    jobs = replace(lab.workload(4, "1 0 4 10 10", "2 540000 4 10 10", "3 540000 4 10 10"), user=np.array([1, 1, 2]))
    engine = Engine(jobs, "fcfs:order=multifactor,shares=tree,period=0,halflife=600", watchers=[Checker])
    engine.run()
    assert all(used < inf for used in engine.present.notes["tree_usage"].values())
    assert engine.schedule().start.tolist() == [0, 540010, 540000], (
        "what was used long ago still counts more than nothing"
    )


def test_users_of_an_account_share_what_it_has_on_equal_processors_too(lab: Lab) -> None:
    """Users 1 and 2 of the account x have used as much as user 3 of y: both together count for x."""
    jobs = lab.workload(4, "1 0 4 10 10", "2 0 4 10 10", "3 0 4 10 10", "4 25 4 10 10", "5 25 4 10 10")
    owned = replace(jobs, user=np.array([1, 2, 3, 2, 3]), accounts=("x", "x", "y", "x", "y"))
    starts = {}
    for shares in ("users", "accounts"):
        engine = Engine(owned, f"fcfs:order=multifactor,age=0,size=0,shares={shares}", watchers=[Checker])
        engine.run()
        starts[shares] = engine.schedule().start.tolist()
    assert starts == {"users": [0, 10, 20, 30, 40], "accounts": [0, 20, 10, 40, 30]}
