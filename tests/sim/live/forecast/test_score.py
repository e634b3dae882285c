"""The score of forecasts, and the ranges around them.

Also tests sim.live.forecast.ranges.
"""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.recording import PollRecorder, Recording
from sim.live.cluster.slurm import text
from sim.live.cluster.slurm.accounts import limits
from sim.live.cluster.values import Cluster, ClusterJob, Node
from sim.live.forecast.forecast import LEARNT, LIMITS, MODELS
from sim.live.forecast.ranges import SHARE, Range, Ranges
from sim.live.forecast.score import SLURM, Scorer, interval_of
from sim.workload.formats.sacct import duration, stamp
from tests.sim.live.cluster.captures import series
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS


def test_each_forecast_is_compared_with_the_start_that_came() -> None:
    scorer = Scorer(every=60)
    wide = replace(WAITS, cpus=8, tres="cpu=8,node=2", start=NOW + 400)
    held = replace(WAITS, id="9", reason="JobHeldUser")
    for minute in range(3):
        job = replace(wide, start=NOW + 400 + 100 * minute)
        scorer.add(Cluster(NOW + 60 * minute, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, job, held)))
        scorer.add(Cluster(NOW + 60 * minute + 30, nodes=NODES_, partitions=(BATCH,), jobs=(RUNS, job)))
    started = replace(wide, state="RUNNING", start=NOW + 310, nodes=("n1", "n2"))
    scorer.add(Cluster(NOW + 330, nodes=NODES_, partitions=(BATCH,), jobs=(started,)))
    score = scorer.score()
    assert (score.common, score.jobs, score.moments, score.horizons) == (3, 1, 4, (0, 2, 1, 0, 0))
    rows = {row.name: row for row in score.rows}
    assert (rows[SLURM].median, rows[SLURM].near, rows[SLURM].far, rows[SLURM].early) == (190, 0, 1, 0)
    assert score.slurm_horizons == (0, 0, 3, 0, 0)  # its dates are 400, 440 and 480 s ahead
    assert (rows[SLURM].by_horizon, rows[SLURM].by_slurm) == (
        (None, 240, 90, None, None),
        (None, None, 190, None, None),
    )
    for model in MODELS:
        assert (rows[model.name].median, rows[model.name].near) == (10, 1)
    assert score.missing == (("JobHeldUser", 1),)
    assert (score.ranges, score.inside) == (0, None)


def test_a_job_that_never_starts_is_not_scored() -> None:
    scorer = Scorer()
    scorer.add(Cluster(NOW, nodes=NODES_, jobs=(RUNS, replace(WAITS, start=NOW + 9))))
    scorer.add(Cluster(NOW + 60, nodes=NODES_, jobs=(RUNS, replace(WAITS, state="CANCELLED", end=NOW + 20))))
    assert scorer.score().common == 0


@pytest.mark.parametrize("spread", [30.0, 3000.0])
def test_ranges_hold_the_share_that_they_say(spread: float) -> None:
    """The forecast ranges contain the actual start in the share of cases that they state, also while errors grow."""
    random_, ranges, inside = random.Random(spread), Ranges(), []
    waiting: dict[str, tuple[float, tuple[float, float] | None]] = {}
    for step in range(3000):
        now = 60.0 * step
        for job in [job for job, (start, _) in waiting.items() if start <= now]:
            start, found = waiting.pop(job)
            ranges.start(job, start)
            if found is not None and step > 500:
                inside.append(found[0] <= start <= found[1])
        said = now + random_.uniform(0, 7200)
        width = spread * (2 if 1000 < step < 2000 else 1)
        waiting[str(step)] = max(said + random_.gauss(0, width), now + 1), ranges.around(str(step), now, said)
    assert abs(sum(inside) / len(inside) - SHARE) < 0.05


def test_ranges_are_wider_where_few_jobs_made_the_errors() -> None:
    """Forecasts of one job err alike, so those of twenty jobs say less than as many of two hundred jobs."""

    def width(jobs: int) -> float:
        ranges = Ranges()
        for number in range(200):
            ranges.around(str(number % jobs), 0, 60 + number)
        for job in range(jobs):
            ranges.start(str(job), 160)
        found = ranges.around("new", 1000, 1060)
        assert found is not None
        return found.high - found.low

    assert width(20) > width(200)


def _taught(span: tuple[float, float], jobs: int = 40) -> Ranges:
    """Return ranges that know a forecast of each job, 60 s ahead with this span; the starts came after 31 to 70 s."""
    ranges = Ranges()
    for number in range(jobs):
        ranges.around(str(number), 0, 60, Range(*span))
        ranges.start(str(number), 31 + number % 40)
    return ranges


def test_ranges_grow_with_the_root_of_the_time_ahead() -> None:
    near, far = (_taught((60, 60)).around("new", 100, start) for start in (520, 1960))
    assert near is not None
    assert far is not None
    assert far.high - far.low == pytest.approx(2 * (near.high - near.low))


def test_range_of_a_narrow_span_is_in_order_when_spans_were_too_wide() -> None:
    found = _taught((0, 2000)).around("new", 1000, 1100, Range(1090, 1110))
    assert found is not None
    assert 1000 <= found.low < found.high


def test_range_contains_its_forecast_when_all_starts_came_later() -> None:
    found = _taught((0, 0)).around("new", 1000, 1060)
    assert found is not None
    assert found.low == 1060 < found.high


def test_late_forecasts_of_one_job_widen_ranges_less_than_those_of_many_jobs() -> None:
    def width(jobs: int) -> float:
        ranges = _taught((60, 60), 400)
        for number in range(12):
            ranges.around(f"late{number % jobs}", 100, 160)
        for number in range(jobs):
            ranges.start(f"late{number}", 300)
        found = ranges.around("new", 1000, 1060)
        assert found is not None
        return found.high - found.low

    assert width(1) < width(12)


def test_a_job_that_waits_beyond_its_range_widens_the_next_ranges_before_it_starts() -> None:
    def width(late: int) -> float:
        ranges = Ranges()
        for number in range(100):
            ranges.around(str(number), 0, 60)
            ranges.start(str(number), 50 + number % 40 / 2)
        for number in range(late):
            assert ranges.around(f"late{number}", 100, 160) is not None
        found = ranges.around("new", 1000, 1060)
        assert found is not None
        return found.high - found.low

    assert width(0) < width(1) < width(20)


def test_what_waits_no_more_is_forgotten() -> None:
    ranges = Ranges()
    ranges.around("1", 0, 60)
    ranges.forget({"2"})
    ranges.start("1", 60)
    for number in range(2, 21):
        ranges.around(str(number), 0, 60)
        ranges.start(str(number), 60)
    assert ranges.around("30", 5, 60) is None, "19 errors are too few"


@pytest.mark.long
@pytest.mark.parametrize(("version", "every", "most", "learnt"), [("v22.05", 120, 1.0, 0.7), ("v24.11", 60, 1.3, 1.0)])
def test_forecasts_of_a_recorded_day_are_about_as_good_as_slurms(
    shared: Path, version: str, every: float, most: float, learnt: float
) -> None:
    """With learnt run times, the forecasts are better than Slurm's on both machines; on the overloaded one (v22.05)
    even without.
    """
    folder = shared / "slurm" / "captures" / version
    partitions = text.partitions((folder / "snap1" / "scontrol-partition.txt").read_text())
    bounds = limits((folder / "snap1" / "assoc_mgr.txt").read_text())
    header, *lines = (folder / "final.sacct").read_text().splitlines()
    rows = [dict(zip(header.split("|"), line.split("|"), strict=False)) for line in lines]
    ended = [done for row in rows if (done := _ended(row)) is not None]
    tres = {row["JobID"]: row["ReqTRES"] for row in rows}
    scorer = Scorer(every=every)
    for cluster in series(shared, version):
        jobs = tuple(replace(job, tres=tres.get(job.id, "") if job.is_waiting else "") for job in cluster.jobs)
        known = {job.id for job in jobs}
        gone = tuple(job for job in ended if (job.end or 0) <= cluster.at and job.id not in known)
        scorer.add(replace(cluster, partitions=partitions, limits=bounds, jobs=(*jobs, *gone)))
    scored = scorer.score()
    inside, score = scored.inside, {row.name: row for row in scored.rows}
    assert inside is not None
    assert inside >= SHARE - 0.05, "ranges hold what they say"
    assert score[LIMITS.name].median <= most * score[SLURM].median
    assert score[LEARNT.name].median <= learnt * score[SLURM].median
    assert score[LEARNT.name].mean <= 0.75 * score[SLURM].mean


def _ended(row: dict[str, str]) -> ClusterJob | None:
    start, end = stamp(row["Start"]), stamp(row["End"])
    if start is None or end is None:
        return None
    state, limit = row["State"].split()[0], duration(row["Timelimit"])
    return ClusterJob(row["JobID"], row["JobIDRaw"], state, user=row["User"], limit=limit, start=start, end=end)


def test_moments_of_a_long_recording_of_a_large_cluster_are_farther_apart(tmp_path: Path) -> None:
    for waiting, hours, every in ((1, 2, 60.0), (400, 2, 60.0), (400, 100, 60.0 * 6)):
        path = tmp_path / f"{waiting} {hours}.slog"
        jobs = tuple(replace(WAITS, id=f"{number}", number=f"{number}") for number in range(waiting))
        nodes = tuple(Node(f"n{number}", 4) for number in range(1000))
        with closing(PollRecorder(path)) as recorder:
            for at in (NOW, NOW + 3600.0 * hours):
                recorder.add(Cluster(at, nodes=nodes, jobs=jobs))
        assert interval_of(Recording(path)) == every
    with closing(PollRecorder(tmp_path / "empty.slog")):
        pass
    assert interval_of(Recording(tmp_path / "empty.slog")) == 60.0
