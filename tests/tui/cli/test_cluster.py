"""Sweeps by workers of a Dask cluster, here two on the loopback, and what Slurm is asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from sim.errors import ParameterError, SchedscopeError
from sim.experiments import sweep as sweeping
from sim.experiments.results import dump
from sim.experiments.sweep import Progress, sweep
from sim.experiments.work import Outcome
from tests.sim.experiments.examples import policy_file, small
from tests.sim.experiments.test_plan import FAIR
from tests.tui.cli.program import error
from tui.cli.cluster import cluster, parse_slurm

pytestmark = pytest.mark.usefixtures("own_program")

WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]


@contextmanager
def loopback(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler here, and two workers in processes and folders of their own."""
    distributed = pytest.importorskip("distributed")
    none = subprocess.DEVNULL
    with ExitStack() as stack:
        local = {"n_workers": 0, "protocol": "tcp", "dashboard_address": None, "host": "127.0.0.1", "scheduler_port": 0}
        started = stack.enter_context(distributed.LocalCluster(**local))
        workers = []
        for name in ("one", "two"):
            (folder / name).mkdir()
            command = [*WORKER, started.scheduler_address]
            process = subprocess.Popen(command, cwd=folder / name, stdout=none, stderr=none)
            stack.callback(process.wait)
            stack.callback(process.kill)
            workers.append(process)
        yield started.scheduler_address, workers


def test_one_of_two_workers_dies_and_the_results_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small("easy", policy_file(tmp_path, FAIR))
    sweep(plan, tmp_path / "here", executor=lambda: ThreadPoolExecutor(1), workers=1)
    monkeypatch.setattr(sweeping, "PATIENCE", 0.0)
    outcomes: list[Outcome] = []

    def told(progress: Progress, more: list[Outcome]) -> None:
        outcomes.extend(more)
        if progress.made:
            workers[0].kill()

    with loopback(tmp_path) as (address, workers), cluster(address, None) as (executor, many):
        progress = sweep(plan, tmp_path / "there", executor=executor, workers=many, told=told)
    assert (progress.made, progress.failed) == (12, 0)
    assert sorted(outcome.run.key for outcome in outcomes) == sorted(run.key for run in plan.runs())
    assert dump(tmp_path / "there") == dump(tmp_path / "here")


def test_where_nobody_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tui.cli.cluster.PATIENCE", 0.2)
    with (
        pytest.raises(SchedscopeError, match=r"no scheduler of Dask answers at tcp://127.0.0.1:1"),
        cluster("tcp://127.0.0.1:1", None),
    ):
        pass


def test_what_slurm_is_asked() -> None:
    asked = parse_slurm("account=a1, cores=4,partition=long,jobs=20,exclude=node[7-9]")
    assert asked == {
        "account": "a1", "cores": 4, "jobs": 20, "queue": "long", "walltime": "01:00:00", "processes": 4,
        "memory": "8 GB", "job_extra_directives": ["--exclude=node[7-9]"],
    }  # fmt: skip
    for wrong in ("cores", "cores=0", "jobs=many", "=4"):
        with pytest.raises(ParameterError, match="--slurm"):
            parse_slurm(wrong)


def test_workers_are_of_one_kind() -> None:
    code, line = error("sweep", "z-figure4", "--workers", "2", "--cluster", "tcp://127.0.0.1:1", "-o", "r")
    assert (code, "give one of them" in line) == (2, True)
