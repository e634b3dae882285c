import math
from pathlib import Path

import numpy as np
import pytest

from sim.support.errors import ParameterError
from sim.workload.model import Field, Floats, Trace, Workload
from sim.workload.models.hyper_erlang import HyperErlang, class_bounds, fit, fit_distribution
from sim.workload.models.lublin import generate
from sim.workload.reading import read

SAMPLES = 200_000


def observed(values: Floats, k: int) -> float:
    return float(np.mean(values**k))


def workload_of(submit: list[float], width: list[int], run: list[float], procs: int = 8) -> Workload:
    table = np.full((len(submit), len(Field)), -1.0)
    table[:, Field.SUBMIT] = submit
    table[:, Field.PROCS_ASKED] = width
    table[:, Field.RUN] = run
    return Workload.of(Trace("small", "swf", tuple(map(str, range(len(submit)))), table), procs)


@pytest.fixture(scope="module")
def batch() -> Workload:
    return Workload.of(generate(3000, 64, seed=1))


@pytest.mark.parametrize("values", [
    np.random.default_rng(1).exponential(600, 500), np.random.default_rng(2).lognormal(6, 2, 500),
    np.random.default_rng(3).uniform(100, 200, 500), np.random.default_rng(4).normal(1000, 50, 500),
    np.array([1.0, 2.0, 3.0, 30.0]), np.array([0.0] * 50 + [1.0] * 25 + [7.0] * 25),
], ids=["exponential", "long tail", "even", "narrow", "four values", "many zeros"])  # fmt: skip
def test_a_fit_has_the_first_three_moments(values: Floats) -> None:
    fitted = fit_distribution(values)
    assert fitted.fitted == "three moments"
    assert 0 <= fitted.p <= 1
    assert min(fitted.scales) >= 0
    for k in (1, 2, 3):
        assert fitted.moment(k) == pytest.approx(observed(values, k), rel=1e-6)


def test_mixtures_and_classes_are_fitted(batch: Workload) -> None:
    assert fit_distribution(np.random.default_rng(2).lognormal(6, 2, 500)).order == 1
    even = np.random.default_rng(3).uniform(0, 1, 5000)
    spread = float(even.var() / even.mean() ** 2)
    assert fit_distribution(even).order >= 1 / spread
    assert fit_distribution(even).order <= 9
    truth = HyperErlang(order=3, p=0.4, scales=(10.0, 500.0))
    values = truth.sample(SAMPLES, np.random.default_rng(9))
    for k in (1, 2, 3):
        error = math.sqrt((truth.moment(2 * k) - truth.moment(k) ** 2) / SAMPLES)
        assert abs(observed(values, k) - truth.moment(k)) < 5 * error
    assert class_bounds(np.array([1, 2, 3, 5, 64, 65])).tolist() == [1, 2, 4, 8, 64, 128]
    model = fit(batch)
    assert [c.upper for c in model.classes] == [1, 2, 4, 8, 16, 32, 64]
    assert sum(c.jobs for c in model.classes) == len(batch)


def test_fit_of_odd_values_is_a_simpler_distribution() -> None:
    same = fit_distribution(np.full(10, 60.0))
    assert same.fitted == "Erlang"
    assert same.moment(1) == pytest.approx(60)
    assert same.sample(1000, np.random.default_rng(1)).std() < 3
    few = fit_distribution(np.array([10.0, 50.0]))
    assert (few.fitted, few.order, few.moment(1)) == ("exponential", 1, 30.0)
    values = np.array([0.0] * 60 + [100.0] * 40)
    fitted = fit_distribution(values)
    assert fitted.fitted == "two moments"
    for k in (1, 2):
        assert fitted.moment(k) == pytest.approx(observed(values, k), rel=1e-6)


def test_odd_workloads_are_fitted() -> None:
    model = fit(workload_of([0.0] * 9, [1] * 9, [float(n) for n in range(1, 10)]))
    assert [(c.upper, c.gap.fitted, c.run.fitted) for c in model.classes] == [(1, "Erlang", "three moments")]
    assert set(model.generate(20, seed=1).column(Field.SUBMIT)) == {0.0}
    submit = [0.0, 10.0, 25.0, 27.0, 90.0, 95.0, 97.0]
    model = fit(workload_of(submit, [1, 1, 1, 1, 1, 1, 8], [5, 8, 900, 20, 3, 7, 50]))
    small, wide = model.classes
    assert (small.gap.fitted, small.run.fitted) == ("three moments", "three moments")
    assert (wide.upper, wide.gap.fitted, wide.run.fitted) == (8, "exponential", "exponential")
    assert wide.gap.moment(1) == 97
    model = fit(workload_of([], [], []))
    assert model.classes == ()
    assert len(model.generate(5, seed=1).ids) == 0


def test_generated_traces_follow_model_and_seed(batch: Workload) -> None:
    trace = fit(batch).generate(2000, seed=3)
    assert set(trace.column(Field.PROCS_ASKED)) <= set(batch.width.tolist())
    model = fit(batch)
    assert np.array_equal(model.generate(300, 4).table, model.generate(300, 4).table)
    assert not np.array_equal(model.generate(300, 4).table, model.generate(300, 5).table)
    model = fit(batch)
    plain, scaled = model.generate(500, 4), model.generate(500, 4, arrival_factor=2, service_factor=3)
    assert np.abs(scaled.column(Field.SUBMIT) * 2 - plain.column(Field.SUBMIT)).max() <= 1.5
    assert np.abs(scaled.column(Field.RUN) - plain.column(Field.RUN) * 3).max() <= 2
    assert np.array_equal(scaled.column(Field.PROCS_ASKED), plain.column(Field.PROCS_ASKED))
    model = fit(batch)
    assert model.generate(10, 1, procs=320).header.max_procs == 320
    with pytest.raises(ParameterError, match="the model has jobs of 64 processors, got a machine of 32"):
        model.generate(10, 1, procs=32)
    model = fit(batch)
    with pytest.raises(ParameterError, match="0 or more jobs and a seed of 0 or more, got -1 and 2"):
        model.generate(-1, 2)
    with pytest.raises(ParameterError, match=r"factors must be numbers above 0, got 0 and 1\.0"):
        model.generate(1, 2, arrival_factor=0)


def test_a_generated_trace_has_the_moments_of_its_model(batch: Workload) -> None:
    model = fit(batch)
    trace = model.generate(60_000, seed=5)
    upper = class_bounds(trace.column(Field.PROCS_ASKED).astype(np.int64))
    for job_class in model.classes:
        members = upper == job_class.upper
        for values, fitted in (
            (np.diff(trace.column(Field.SUBMIT)[members]), job_class.gap),
            (trace.column(Field.RUN)[members], job_class.run),
        ):
            for k in (1, 2):
                error = math.sqrt((fitted.moment(2 * k) - fitted.moment(k) ** 2) / len(values))
                rounding = 1.0 if k == 1 else 2 * fitted.moment(1)
                assert abs(observed(values, k) - fitted.moment(k)) < 5 * error + rounding


def test_every_class_of_kth_is_fitted_by_three_moments(shared: Path) -> None:
    kth = Workload.of(read(shared / "traces" / "KTH-SP2-1996-2.swf.gz"))
    model = fit(kth)
    assert {fitted for c in model.classes for fitted in (c.gap.fitted, c.run.fitted)} == {"three moments"}
    upper = class_bounds(kth.width)
    for job_class in model.classes:
        members = upper == job_class.upper
        for k in (1, 2, 3):
            gaps = np.diff(kth.submit[members])
            assert job_class.gap.moment(k) == pytest.approx(observed(gaps, k), rel=1e-6)
            assert job_class.run.moment(k) == pytest.approx(observed(kth.runtime[members], k), rel=1e-6)
    assert len(Workload.of(model.generate(1000, seed=1))) == 1000
