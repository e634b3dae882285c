"""The policies' results on a real log, to the digit: the table next to ZKP's in the README."""

from functools import lru_cache
from pathlib import Path

import pytest

from sim.engine.engine import Engine
from sim.metrics.aggregates import aggregates
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.samples import sample_path
from sim.workload.transforms import Transforms
from tests.benchmarks.bare_loop import easy


@lru_cache(maxsize=1)
def kth(folder: Path) -> Workload:
    return Workload.of(read(folder / "traces" / "KTH-SP2-1996-2.swf.gz"))


def run(workload: Workload, spec: str) -> Engine:
    engine = Engine(workload, parse_policy(spec), curious=False)
    engine.run()
    return engine


@pytest.mark.parametrize(("spec", "factor", "slowdown", "wait"), [
    ("easy", 1, 72.55, 6379.2), ("easy", 5, 65.13, 5567.1), ("easy:order=sjf", 1, 22.85, 3872.6),
    ("fcfs", 1, 7515.07, 389661.1), ("fcfs:order=sjf", 1, 44.12, 12749.2), ("conservative", 1, 67.88, 7056.6),
    ("conservative:compress=queue,order=sjf", 5, 28.94, 4289.5),
])  # fmt: skip
def test_kth(shared: Path, spec: str, factor: int, slowdown: float, wait: float) -> None:
    workload = Transforms(estimates=f"factor:{factor}").apply(kth(shared))
    numbers = aggregates(run(workload, spec).schedule())
    assert (f"{numbers['mean_bounded_slowdown']:.2f}", f"{numbers['mean_wait']:.1f}") == (
        f"{slowdown:.2f}",
        f"{wait:.1f}",
    )


def test_ten_thousand_jobs_under_easy_start_when_a_bare_loop_starts_them() -> None:
    workload = Workload.of(read(sample_path("lublin-320"))).with_overruns()
    columns = (workload.submit, workload.width, workload.runtime, workload.estimate)
    expected = easy(workload.procs, *(column.tolist() for column in columns))
    assert run(workload, "easy").schedule().start.tolist() == expected
