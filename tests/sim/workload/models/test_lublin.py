import math

import numpy as np
import pytest

from sim.support.errors import ParameterError
from sim.workload.model import Bools, Field, Trace, Workload
from sim.workload.models import lublin

MANY = 50_000


def near(share: Bools, expected: float) -> bool:
    return bool(abs(share.mean() - expected) < 5 * math.sqrt(expected * (1 - expected) / len(share)))


def offered_load(trace: Trace, procs: int) -> float:
    submit = trace.column(Field.SUBMIT)
    area = (trace.column(Field.PROCS_ASKED) * trace.column(Field.RUN)).sum()
    return float(area / (procs * np.ptp(submit)))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_traces_are_reproducible_and_can_run() -> None:
    one, two, other = (lublin.generate(200, 128, seed) for seed in (5, 5, 6))
    assert np.array_equal(one.table, two.table)
    assert not np.array_equal(one.table, other.table)
    workload = Workload.of(lublin.generate(500, 100, seed=2))
    assert len(workload) == 500
    assert workload.procs == 100
    assert not workload.fidelity
    light, heavy = lublin.generate(300, 64, 8, load=0.2), lublin.generate(300, 64, 8, load=0.9)
    same = [field for field in Field if field is not Field.SUBMIT]
    assert np.array_equal(light.table[:, same], heavy.table[:, same])
    assert light.table[-1, Field.SUBMIT] > heavy.table[-1, Field.SUBMIT]
    assert lublin.generate(0, 4, 1, load=0.5).table.shape == (0, 18)
    assert len(Workload.of(lublin.generate(1, 4, 1, load=0.5))) == 1
    with pytest.raises(ParameterError, match="the seed must be 0 or more, got -3"):
        lublin.generate(5, 4, -3)


def test_distributions_are_as_published(rng: np.random.Generator) -> None:
    width = lublin.sizes(MANY, 128, rng)
    powers = np.isin(width, 2 ** np.arange(1, 8))
    assert near(width == 1, lublin.BATCH.serial)
    assert powers.mean() > lublin.BATCH.power_of_two
    assert near(width > 48, (1 - lublin.BATCH.serial) * 0.125 * (1 - 0.5 / 2))
    for procs in (1, 64, 128, 320):
        log = np.log(lublin.run_times(np.full(MANY, procs), rng))
        short = max(0.0, 0.6986 - 0.003 * procs)
        expected = short * 6.57 * 0.823 + (1 - short) * 639.1 * 0.0156
        assert abs(log.mean() - expected) < 5 * log.std() / math.sqrt(MANY) + 0.005
    assert lublin.run_times(np.ones(MANY, dtype=np.int64), rng).max() <= math.exp(lublin.BATCH.longest_run)


@pytest.mark.parametrize("procs", [1, 2, 3, 100, 128, 320, 9216])
def test_sizes_fit_machines_of_any_size(procs: int, rng: np.random.Generator) -> None:
    width = lublin.sizes(2000, procs, rng)
    assert width.min() == 1
    assert width.max() <= procs
    assert width.max() > procs / 2.01


def test_arrivals_follow_the_daily_cycle(rng: np.random.Generator) -> None:
    submit = lublin.in_daily_cycle(lublin.even_arrivals(MANY, rng))
    counts = np.bincount((submit // 1800).astype(int) % lublin.BUCKETS, minlength=lublin.BUCKETS)
    assert np.corrcoef(counts, lublin.daily_cycle())[0, 1] > 0.98
    assert (np.diff(submit) >= 0).all()
    even = np.array([0.0, 86400.0, 5 * 86400.0, 5.5 * 86400.0])
    cycled = lublin.in_daily_cycle(even)
    assert cycled[:3].tolist() == even[:3].tolist()
    assert 5 < cycled[3] / 86400 < 6


@pytest.mark.parametrize("load", [0.3, 0.75, 1.1])
def test_a_trace_has_the_load_that_is_wanted(load: float) -> None:
    for seed in range(5):
        assert offered_load(lublin.generate(800, 128, seed, load=load), 128) == pytest.approx(load, rel=1e-3)


def test_estimates_are_round_and_long_enough(rng: np.random.Generator) -> None:
    run = np.exp(rng.uniform(0, 12, MANY))
    estimate = lublin.round_estimates(run, rng)
    assert (estimate >= run).all()
    assert np.isin(estimate, lublin.ROUND_TIMES).all()
    estimate = lublin.round_estimates(np.full(MANY, 3500.0), rng, exact=0.2)
    assert near(estimate == 3600, 0.2 + 0.8 * (1 - 3500 / 3600))


@pytest.mark.parametrize(
    ("jobs", "procs", "load", "line"),
    [
        (-1, 4, None, "a model needs 0 or more jobs and 1 or more processors, got -1 and 4"),
        (5, 0, None, "a model needs 0 or more jobs and 1 or more processors, got 5 and 0"),
        (5, 4, 0.0, "the offered load must be a number above 0, got 0.0"),
    ],
)
def test_impossible_wishes_are_refused(jobs: int, procs: int, load: float | None, line: str) -> None:
    with pytest.raises(ParameterError, match=line):
        lublin.generate(jobs, procs, 1, load=load)
