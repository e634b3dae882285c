import numpy as np
import pytest

from sim.support.errors import ParameterError
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.models.generated import offered
from sim.workload.replay import read
from sim.workload.transforms import KINDS, WEEK, users, weeks

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
