import gzip
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.scenario import run
from sim.workload import transforms as t
from sim.workload.job_changes import JobChanges
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.models.generated import offered
from sim.workload.options import parse_window
from sim.workload.replay import read
from sim.workload.samples import sample_path
from sim.workload.transforms import KINDS, WEEK, Estimates, Transforms, parse_estimates, users, weeks
from tests.sim.conftest import Lab


def jobs(
    submit: list[float], run: list[float], estimate: list[float] | None = None, queue: list[int] | None = None
) -> Workload:
    table = np.full((len(submit), len(Field)), -1.0)
    table[:, Field.SUBMIT] = submit
    table[:, Field.RUN] = run
    table[:, Field.PROCS_ASKED] = 1
    table[:, Field.ESTIMATE] = run if estimate is None else estimate
    table[:, Field.QUEUE] = -1 if queue is None else queue
    ids = tuple(str(i + 1) for i in range(len(submit)))
    return Workload.of(Trace("small.swf", "swf", ids, table), procs=4)


@pytest.fixture
def five() -> Workload:
    return jobs([100, 110, 130, 130, 200], [10, 20, 30, 40, 50], [20, 20, 60, 30, 500])


@pytest.fixture
def many() -> Workload:
    return jobs(list(range(10_000)), [100.0] * 10_000)


def test_window_and_first_keep_the_right_jobs(five: Workload) -> None:
    kept = t.window(five, 110, 200)
    assert kept.ids == ("2", "3", "4")
    assert kept.submit.tolist() == [110, 130, 130]
    assert t.first(five, 2).ids == ("1", "2")
    assert t.first(five, 99).ids == five.ids
    assert len(t.first(five, 0)) == 0


def test_load_stretch_and_offline_move_the_jobs(five: Workload) -> None:
    assert t.load(five, 2).submit.tolist() == [100, 105, 115, 115, 150]
    assert t.load(five, 2).runtime.tolist() == five.runtime.tolist()
    longer = t.stretch(five, 3)
    assert longer.runtime.tolist() == [30, 60, 90, 120, 150]
    assert longer.estimate.tolist() == [60, 60, 180, 90, 1500]
    assert t.offline(five).submit.tolist() == [0] * 5
    assert t.offline(five).ids == five.ids
    booked = t.reserve(five, 1.0, lead=50)
    ahead = booked.reserve - booked.submit
    assert np.allclose(t.offline(booked).reserve, ahead)


def test_estimates_follow_the_run_time(five: Workload, many: Workload) -> None:
    assert t.exact(five).estimate.tolist() == [10, 20, 30, 40, 50]
    assert t.factor(five, 2.5).estimate.tolist() == [25, 50, 75, 100, 125]
    assert t.recorded(five) is five
    estimate = t.random(many, 3, seed=1).estimate
    assert estimate.min() >= 100
    assert estimate.max() <= 600
    assert abs(estimate.mean() - 350) < 5 * 500 / math.sqrt(12 * len(many))
    drawn = np.random.default_rng(7).random(5)
    assert np.allclose(t.random(five, 2, seed=7).estimate, five.runtime * (1 + 3 * drawn))
    used = many.runtime / t.phi(many, 0.2, seed=3).estimate
    assert abs((used == 1).mean() - 0.2) < 5 * math.sqrt(0.2 * 0.8 / len(many))
    spread = used[used < 1]
    assert abs(spread.mean() - 0.5) < 5 / math.sqrt(12 * len(spread))
    assert used.max() == 1


def test_fractions_of_jobs_have_priorities_and_reservations(many: Workload, five: Workload) -> None:
    chosen = t.high(many, 0.75, seed=5).high
    assert abs(chosen.mean() - 0.75) < 5 * math.sqrt(0.75 * 0.25 / len(many))
    assert t.high(many, 1.0).high.all()
    assert not t.high(many, 0.0).high.any()
    few, more = t.high(many, 0.2, seed=5).high, t.high(many, 0.4, seed=5).high
    assert (more | ~few).all()
    with pytest.raises(ParameterError, match=r"no job of small\.swf has a queue number; --high"):
        t.priority_from_queue(five)
    ahead = (asked := t.reserve(many, 0.25, lead=3600, seed=9)).reserve - asked.submit
    given = ahead[~np.isnan(ahead)]
    assert abs(len(given) / len(many) - 0.25) < 5 * math.sqrt(0.25 * 0.75 / len(many))
    assert given.min() >= 0
    assert given.max() < 3600
    assert abs(given.mean() - 1800) < 5 * 3600 / math.sqrt(12 * len(given))
    both = t.reserve(t.high(many, 0.5, seed=1), 0.5, seed=1)
    booked = ~np.isnan(both.reserve)
    assert abs((both.high & booked).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / len(many))


@pytest.mark.parametrize(
    ("queue", "high"),
    [
        ([-1, 0, 1, 2, 0], [False, False, True, True, False]),
        ([1, 1, 2, 3, -1], [False, False, True, True, False]),
        ([4, 4, 4, 4, 4], [False] * 5),
    ],
    ids=["Ward's queues", "a log that counts from 1", "one queue"],
)
def test_the_queues_above_the_ordinary_one_have_priority(queue: list[int], high: list[bool]) -> None:
    assert t.priority_from_queue(jobs([0] * 5, [1] * 5, queue=queue)).high.tolist() == high


def test_transforms_repeat_and_take_no_jobs(many: Workload, five: Workload) -> None:
    all_random = Transforms(estimates="phi:0.3", high=0.5, reserve=0.1, seed=4)
    one, two = all_random.apply(many), all_random.apply(many)
    assert one.estimate.tolist() == two.estimate.tolist()
    assert one.high.tolist() == two.high.tolist()
    assert np.array_equal(one.reserve, two.reserve, equal_nan=True)
    empty = t.first(five, 0)
    everything = Transforms(
        (0, 9), 2.0, "weeks", 3, 2.0, 2.0, True, "random:2", None, priority_from="queue", reserve=0.5, overrun="grow"
    )
    assert len(everything.apply(empty)) == 0


def test_transforms_are_applied_in_one_order(five: Workload) -> None:
    plain = Transforms().apply(five)
    assert plain.submit.tolist() == five.submit.tolist()
    assert plain.runtime.tolist() == [10, 20, 30, 30, 50]
    assert plain.killed.tolist() == [False, False, False, True, False]
    assert Transforms(overrun="grow").apply(five).estimate.tolist() == [20, 20, 60, 40, 500]
    assert not Transforms(estimates="exact").apply(five).killed.any()
    assert not Transforms(estimates="factor:2").apply(five).killed.any()
    result = Transforms(load=2, jobs=2, window=(110, 200)).apply(five)
    assert result.ids == ("2", "3")
    assert result.submit.tolist() == [110, 120]
    assert Transforms(estimates="factor:2", stretch=3).apply(five).estimate.tolist() == [60, 120, 180, 240, 300]
    result = Transforms(offline=True, reserve=1.0, lead=50).apply(five)
    assert ((result.reserve >= 0) & (result.reserve < 50)).all()


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda: Transforms(window=(5, 5)), "a window needs its start before its end, got 5,5"),
        (lambda: Transforms(jobs=-1), "the number of jobs must be between 0 and 1,000,000,000,000,000, got -1"),
        (lambda: Transforms(load=0), "the load factor must be between 0.000001 and 1,000,000, got 0"),
        (lambda: Transforms(load=math.nan), "the load factor must be between 0.000001 and 1,000,000, got nan"),
        (lambda: Transforms(stretch=-2), "the stretch factor must be between 0.000001 and 1,000,000, got -2"),
        (lambda: Transforms(estimates="factor:0"), "estimates factor:R needs R above 0, at most 1,000,000, got 0.0"),
        (lambda: Transforms(estimates="random:0.4"), "estimates random:R needs R of at least 0.5, at most"),
        (lambda: Transforms(estimates="phi:1.5"), "estimates phi:P needs P between 0 and 1, got 1.5"),
        (lambda: Transforms(high=1.2), "high priority jobs must be between 0 and 1, got 1.2"),
        (lambda: Transforms(high=0.5, priority_from="queue"), "not from both"),
        (lambda: Transforms(reserve=-0.1), "fraction of reservations must be between 0 and 1, got -0.1"),
        (lambda: Transforms(lead=-1), "lead of reservations must be between 0 and 1,000,000,000,000,000 seconds, got"),
        (lambda: Transforms(seed=-1), "the seed must be between 0 and 4,611,686,018,427,387,904, got -1"),
        (lambda: Transforms(overrun="ignore"), "the overrun rule is kill or grow, got ignore"),  # type: ignore[arg-type]
        (lambda: parse_estimates("factor"), "estimates are recorded, exact, factor:R, random:R or phi:P"),
        (lambda: parse_estimates("exact:2"), "estimates are recorded, exact, factor:R, random:R or phi:P"),
        (lambda: parse_estimates("phi:x"), "with a number, got 'phi:x'"),
        (lambda: parse_estimates("fator:2"), "did you mean 'factor'?"),
        (lambda: parse_window("1d"), "a window is two times like 1d,36h, got '1d'"),
    ],
)
def test_a_bad_value_is_refused_at_once_in_one_line(wrong: Callable[[], object], line: str) -> None:
    with pytest.raises(ParameterError) as caught:
        wrong()
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "estimates"),
    [
        ("recorded", Estimates("recorded")),
        ("exact", Estimates("exact")),
        ("random:1.5", Estimates("random", 1.5)),
        (" phi:0.2 ", Estimates("phi", 0.2)),
    ],
)
def test_estimates_as_typed(text: str, estimates: Estimates) -> None:
    assert parse_estimates(text) == estimates


def test_window_has_dates_or_open_ends(five: Workload) -> None:
    began = replace(five, header=Header(unix_start=1795219200))
    window = parse_window("2026-11-21 00:01:50,200")
    assert Transforms(window=window).apply(began).submit.tolist() == t.window(five, 110, 200).submit.tolist()
    assert parse_window("1d,36h") == (86400, 129600)
    assert parse_window(",2h") == (-math.inf, 7200)
    assert parse_window("2h,") == (7200, math.inf)


def test_on_a_real_log_priorities_come_from_its_queues(shared: Path) -> None:
    log = shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz"
    with gzip.open(log, "rt", errors="replace") as lines:
        rows = [line.split() for line in lines if not line.startswith(";")][:2000]
    table = np.array(rows, dtype=float)
    workload = Workload.of(Trace("sdsc", "swf", tuple(row[0] for row in rows), table), procs=128)
    ranked = t.priority_from_queue(workload)
    assert 0 < ranked.high.sum() < len(ranked)


def test_odd_times_are_bounded() -> None:
    table = np.full((2, len(Field)), -1.0)
    table[:, Field.SUBMIT], table[:, Field.PROCS_ASKED], table[:, Field.RUN] = 0, 1, [0, 0.25]
    assert Workload.of(Trace("short", "swf", ("1", "2"), table)).runtimes == (1, 0.25)
    workload = Lab().workload(4, "1 0 1 10 10", f"2 {10**14} 1 10 10")
    with pytest.raises(ParameterError, match="times must stay within"):
        Transforms(load=1e-6).apply(workload)


# Jobs changed


def outcome(path: Path, policy: str, **options: str) -> dict[str, tuple[float, float]]:
    schedule = run(read(path, **options), policy, check=True)
    return dict(
        zip(schedule.workload.ids, zip(schedule.start.tolist(), schedule.end.tolist(), strict=True), strict=True)
    )


@pytest.mark.parametrize("policy", ["easy", "conservative", "multiqueue", "selective", "gang-backfill"])
@pytest.mark.parametrize(
    ("options", "edits"),
    [
        ({"without": "J7; 30"}, {7: "", 30: ""}),
        ({"change": "J9:procs=64,estimate=10h,run=9h"}, {9: "9 {1} -1 32400 64 -1 -1 64 36000"}),
        ({"change": "J8:estimate=5m"}, {8: "8 {1} -1 {3} {4} -1 -1 {7} 300"}),
        ({"add": "100x2h/3h@1d"}, {0: "61 86400 -1 7200 100 -1 -1 100 10800"}),
        ({"add": "5x10m@1h; 6x1h@2h", "without": "61"}, {0: "62 7200 -1 3600 6 -1 -1 6 3600"}),
    ],
)
def test_changed_jobs_run_as_if_the_trace_were_edited(
    policy: str, options: dict[str, str], edits: dict[int, str], tmp_path: Path
) -> None:
    lines = sample_path("lublin-128").read_text().splitlines()
    head = [line for line in lines if line.startswith(";")]
    jobs = [line.split() for line in lines if line[:1] not in ("", ";")][:60]
    filled = {number: text.format(*jobs[number - 1]) + " -1" * 9 for number, text in edits.items() if text}
    rows = [filled.get(int(job[0]), " ".join(job)) for job in jobs if edits.get(int(job[0])) != ""]
    (whole := tmp_path / "whole.swf").write_text("\n".join([*head, *map(" ".join, jobs)]))
    (edited := tmp_path / "edited.swf").write_text("\n".join([*head, *rows, *([filled[0]] if 0 in filled else [])]))
    assert outcome(whole, policy, **options) == outcome(edited, policy)


THREE = "10 procs; 10x10m@0; 10x10m@1m; 10x1m@2m"


def test_job_submitted_at_another_time_gets_another_rank() -> None:
    changed = read(THREE, change="J3:submit=30s", add="1x1m@1m")
    assert ([*changed.ids], changed.changed_since, read(THREE).changed_since) == (["1", "3", "2", "4"], 30, math.inf)


@pytest.mark.parametrize(
    ("trace", "options", "said"),
    [
        (THREE, {"without": "J9"}, "no job 'J9' among the 3 jobs"),
        (THREE, {"change": "J2:procs=11"}, "J2 needs 1 to 10 processors, got 11"),
        (THREE, {"add": "11x1m"}, "J4 needs 1 to 10 processors, got 11"),
        ("full-memory", {"change": "J3:procs=1"}, "withdraw it and add one of other processors"),
    ],
)
def test_change_that_cannot_be_is_refused_in_a_line(trace: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(SchedscopeError, match=said):
        read(trace, **options)


def test_added_job_asks_for_tasks_of_a_core_on_nodes() -> None:
    schedule = run(read("full-memory", add="2x10m@0", without="J1"), "easy", check=True)
    assert not np.isnan(schedule.end).any()
    assert schedule.workload.shape is not None
    assert schedule.workload.shape.requests[schedule.workload.rank_of("8")].tasks == 2


def test_job_killed_at_its_estimate_runs_longer_with_a_longer_estimate() -> None:
    short = read("2 procs; 1x10m/5m@0; 1x1m@0")
    longer = short.with_changes(JobChanges.of_options(change="J1:estimate=1h"))
    assert (short.runtime[0], longer.runtime[0], longer.killed[0]) == (300, 600, False)


WEEKS = 6


def log(jobs: int = 400, users_known: bool = True) -> Workload:
    """Return a made-up log of jobs of twenty users over six weeks and a day; `users_known`: False leaves the users
    out."""
    rng = np.random.default_rng(7)
    table = np.full((jobs, len(Field)), -1.0)
    table[:, Field.SUBMIT] = 1000 + np.sort(rng.integers(int(WEEKS * WEEK + 86400), size=jobs))
    table[:, Field.RUN] = rng.integers(1, 9999, size=jobs)
    table[:, Field.PROCS_ASKED] = rng.integers(1, 64, size=jobs)
    table[:, Field.USER] = rng.integers(20, size=jobs) if users_known else -1
    return Workload.of(Trace("log", "test", tuple(map(str, range(jobs))), table, Header(max_procs=64)))


def test_weeks_change_places_and_the_last_one_stays() -> None:
    before = log()
    after = weeks(before, seed=3)
    assert sorted(after.ids) == sorted(before.ids)
    assert (np.diff(after.submit) >= 0).all()
    was = dict(zip(before.ids, before.submit.tolist(), strict=True))
    moved = {name: (at - was[name]) / WEEK for name, at in zip(after.ids, after.submit.tolist(), strict=True)}
    assert all(by == int(by) for by in moved.values())
    of_week: dict[int, set[float]] = {}
    for name, by in moved.items():
        of_week.setdefault(int(was[name] // WEEK), set()).add(was[name] // WEEK + by)
    assert [len(to) for to in of_week.values()] == [1] * (WEEKS + 1)
    assert of_week[WEEKS] == {WEEKS}
    assert {week for to in of_week.values() for week in to} == set(range(WEEKS + 1))
    assert any(by for by in moved.values())


def test_users_are_drawn_with_all_that_they_did_some_weeks_apart() -> None:
    before = log()
    after = users(before, seed=1)
    assert len(set(after.ids)) == len(after)
    jobs = {name: (user, at) for name, user, at in zip(before.ids, before.user, before.submit, strict=True)}
    done: dict[int, set[str]] = {}
    for name, user, at in zip(after.ids, after.user.tolist(), after.submit.tolist(), strict=True):
        base = name.partition("~")[0]
        assert user % 20 == jobs[base][0]
        assert (at - jobs[base][1]) % WEEK == 0
        done.setdefault(user, set()).add(base)
    for user, names in done.items():
        assert names == {name for name, (whose, _) in jobs.items() if whose == user % 20}
    assert len(done) == 20
    assert len({user % 20 for user in done}) < 20
    assert after.submit.max() <= before.submit.max()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_jobs_and_another_seed_others(kind: str) -> None:
    one, again, other = (KINDS[kind](log(), seed) for seed in (1, 1, 2))
    assert one.ids == again.ids
    assert (one.submit == again.submit).all()
    assert one.ids != other.ids or (one.submit != other.submit).any()


@pytest.mark.parametrize("kind", KINDS)
def test_of_no_jobs_there_are_none(kind: str) -> None:
    assert not len(KINDS[kind](log(0)))


@pytest.mark.parametrize("kind", ["hyper-erlang", "lublin", "sud"])
def test_a_model_has_as_many_jobs_on_the_same_machine(kind: str) -> None:
    made = KINDS[kind](log(), 0)
    assert (len(made), made.procs) == (400, 64)
    assert made.width.max() <= 64


def test_resampled_jobs_fit_the_log() -> None:
    assert offered(KINDS["sud"](log(), 0)) == pytest.approx(offered(log()), rel=0.01)
    with pytest.raises(ParameterError, match="says whose it is"):
        users(log(users_known=False))
    some = read("lublin-128", jobs=50, resample="weeks", seed=2)
    assert list(some.ids) != list(read("lublin-128", jobs=50).ids)
    assert set(read("lublin-128", jobs=50, widen=100).width.tolist()) <= {100, 128}
