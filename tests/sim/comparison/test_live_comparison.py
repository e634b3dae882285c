from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pytest

from sim.comparison import live_comparison
from sim.comparison.differences import compare
from sim.comparison.divergence import Side, part
from sim.comparison.live_comparison import LiveComparison, later_or_earlier, shared_steps
from sim.decisions.decisions import Decision
from sim.history.past import Past
from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.follows import After, Follow
from sim.workload.job_changes import JobChanges
from sim.workload.model import Workload
from sim.workload.source import Source

PAIRS = [
    ("lublin-128", "easy", "conservative", 0), ("lublin-128", "easy", "conservative", 1000),
    ("lublin-128", "easy", "easy:depth=2", 300), ("lublin-128", "multiqueue", "multiqueue:speculate=180", 500),
    ("lublin-128", "gang", "easy", 700), ("lublin-128", "selective", "gang", 900),
    ("z-figure7", "gang", "gang-migrate", 0),
]  # fmt: skip


@cache
def workload(name: str) -> Workload:
    return Source(name).read()[1]


def timelines(of: Workload, first: str, second: str, step: int = 0, computed: bool = True) -> tuple[Timeline, Timeline]:
    """Return a run under `first`, and a copy in which the policy changes to `second` after `step` steps. `computed`:
    both are computed to the end."""
    one = Timeline(of, first)
    one.seek(step)
    other = one.twin()
    other.switch(second)
    if computed:
        one.compute_all()
        other.compute_all()
    return one, other


def advanced(one: Timeline, other: Timeline) -> LiveComparison:
    """Return the comparison of the two runs after all its work is done."""
    made = LiveComparison(one, other)
    while not made.is_done:
        made.advance()
    return made


def sides(one: Timeline, other: Timeline) -> tuple[Side, Side]:
    return Side.of(one.branch.engine), Side.of(other.branch.engine)


# The first difference
@pytest.mark.parametrize(("name", "first", "second", "step"), PAIRS)
def test_the_runs_part_where_a_reading_from_the_beginning_says(name: str, first: str, second: str, step: int) -> None:
    both = timelines(workload(name), first, second, step)
    assert advanced(*both).parting == part(*sides(*both)) is not None


@pytest.mark.parametrize(("name", "first", "second", "step"), PAIRS)
def test_it_is_found_while_the_runs_are_computed(name: str, first: str, second: str, step: int) -> None:
    one, other = timelines(workload(name), first, second, step, computed=False)
    made = LiveComparison(one, other)
    while not made.is_done:
        one.compute(7)
        other.compute(11)
        made.advance()
    assert made.parting == part(*sides(one, other))


@pytest.mark.parametrize("step", [0, 600])
def test_a_policy_never_parts_from_itself(step: int) -> None:
    made = advanced(*timelines(workload("lublin-128"), "easy", "easy", step))
    assert made.parting is None
    assert made.never


def test_whether_they_part_is_open_as_long_as_one_is_not_computed() -> None:
    one, other = timelines(workload("lublin-128"), "easy", "easy", computed=False)
    one.compute_all()
    made = LiveComparison(one, other)
    made.advance()
    assert not made.is_done
    assert not made.never


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record reads of decisions from now on; return the list to which the number of each read step is added."""
    read: list[int] = []
    decisions = Past.decisions

    def noted(past: Past, step: int) -> Sequence[Decision]:
        read.append(step)
        return decisions(past, step)

    monkeypatch.setattr(Past, "decisions", noted)
    return read


def test_a_piece_of_work_reads_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of `advance` reads a limited number of steps, so that drawing never waits until a whole history is
    read."""
    both = timelines(workload("lublin-128"), "easy", "easy")
    read = watched(monkeypatch)
    made = LiveComparison(*both)
    made.advance()
    assert 0 < len(read) <= 2 * live_comparison.WINDOW + 2


def test_what_is_shared_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    both = timelines(workload("lublin-128"), "easy", "fcfs", 1000)
    read = watched(monkeypatch)
    LiveComparison(*both).advance()
    assert min(read) >= 1000


def test_branches_share_what_the_least_of_their_forks_left_them() -> None:
    timeline = Timeline(workload("lublin-128"), parse_policy("easy"))
    timeline.seek(500)
    timeline.fork()
    timeline.seek(800)
    other = timeline.twin()
    other.seek(300)
    other.switch(parse_policy("fcfs"))
    timeline.seek(800)
    timeline.switch(parse_policy("conservative"))
    assert shared_steps(timeline, other) == 300


def test_another_branch_is_compared_anew() -> None:
    one, other = timelines(workload("z-figure4"), "fcfs", "easy")
    made = advanced(one, other)
    assert made.parting is not None
    one.switch(parse_policy("easy"), at_step=0)
    one.compute_all()
    assert not made.is_done
    made.follow()
    assert made.parting is None
    while not made.is_done:
        made.advance()
    assert made.parting is None


# Jobs that start earlier
def test_jobs_that_come_earlier_are_counted_as_they_start() -> None:
    """Job 5 starts at 600 s under EASY, at 1,800 s under FCFS."""
    made = LiveComparison(*timelines(workload("z-figure4"), "fcfs", "easy"))
    assert made.shifts(599) == (0, 2, 0)
    assert made.shifts(600) == (1, 2, 0)
    assert made.shifts(1e6) == (1, 4, 0)


def test_in_the_end_both_schedules_are_compared() -> None:
    one, other = timelines(workload("z-figure4"), "fcfs", "easy")
    assert advanced(one, other).comparison == compare(one.schedule(), other.schedule())


@pytest.mark.parametrize(
    ("own", "there", "found"),
    [(5, 5, 0), (5, 9, -1), (9, 5, 1), (5, nan, -1), (nan, 5, 1), (nan, nan, 0), (30, nan, 0), (30, 25, 0)],
)
def test_earlier_and_later_as_far_as_it_shows_by_a_moment(own: float, there: float, found: int) -> None:
    assert later_or_earlier(np.array([own]), np.array([there]), 20).tolist() == [found]


def test_waits_count_from_the_submissions_of_each_run() -> None:
    log = workload("z-figure4")
    chained = replace(log, follows=(*[None] * (len(log) - 1), Follow((After(0), After(1)), 7.0)))
    one, other = timelines(chained, "fcfs", "easy")
    waits = tuple(timeline.schedule().wait.mean() for timeline in (one, other))
    assert LiveComparison(one, other).level(1e9).mean_wait == pytest.approx(waits)


def test_runs_are_compared_by_the_jobs_that_have_ended_in_both() -> None:
    both = LiveComparison(*timelines(workload("z-figure4"), "fcfs", "easy"))
    early, late = both.level(1200), both.level(1e9)
    assert (early.jobs, early.only, early.is_level) == (2, (0, 1), False)
    assert early.mean_wait[0] == early.mean_wait[1]
    assert (late.jobs, late.only, late.is_level) == (5, (0, 0), True)
    assert late.mean_wait == (942, 702)
    assert both.level(-1).jobs == 0


@pytest.mark.parametrize("options", [{"without": "J90"}, {"change": "J9:submit=5h"}, {"add": "64x5h@1h"}])
def test_live_comparison_agrees_with_that_of_whole_runs_when_jobs_change(options: dict[str, str]) -> None:
    one = Timeline(workload("lublin-128"), "easy")
    other = one.twin()
    other.change_jobs(JobChanges.of_options(**options))
    one.compute_all()
    other.compute_all()
    live, whole = advanced(one, other), compare(one.schedule(), other.schedule())
    level, means = live.level(np.inf), {each.metric.name: (each.first, each.second) for each in whole.metrics}
    assert (level.jobs, level.only) == (whole.jobs, (0, 0))
    assert level.mean_wait == pytest.approx(means["mean_wait"])
    assert live.shifts(np.inf) == (whole.starts.earlier.jobs, whole.starts.same, whole.starts.later.jobs)
    for side, first in enumerate((True, False)):
        starts = dict(zip(live.branches[side].engine.workload.ids, live.shift(first, np.inf).tolist(), strict=True))
        assert sum(by > 0 for by in starts.values()) == (
            whole.starts.earlier.jobs if first else whole.starts.later.jobs
        )
    assert live.parting is not None
    assert live.parting.time >= other.workload.changed_since
    ids = one.workload.ids
    for account, rank in zip(live.accounts[1], live.parting.ranks, strict=True):
        assert account.job.id == ids[rank]
