import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sim.lab import sweep as sweeping
from sim.lab.sweep import Progress, sweep
from sim.lab.work import Outcome
from sim.support.errors import ParameterError, SchedscopeError
from tests.sim.lab.dumped import dump
from tests.sim.lab.examples import policy_file, small
from tests.sim.lab.test_plan import FAIR
from tests.tui.cli.program import error, schedscope
from tui.lab.cli import cluster as cluster_command
from tui.lab.cli.cluster import cluster, own_address, parse_slurm

pytestmark = pytest.mark.usefixtures("own_program")

WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"]


@contextmanager
def loopback(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Run a Dask scheduler, and two workers in processes and folders of their own; yield (address of the scheduler,
    processes of the workers)."""
    distributed = pytest.importorskip("distributed")
    none = subprocess.DEVNULL
    with ExitStack() as stack:
        local = {
            "n_workers": 0,
            "protocol": "tcp",
            "dashboard_address": "127.0.0.1:0",
            "host": "127.0.0.1",
            "scheduler_port": 0,
        }
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


@pytest.mark.long
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


def test_where_nobody_answers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tui.lab.cli.cluster.PATIENCE", 0.2)
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


LOOPBACK = "0100007F"
"""The address 127.0.0.1 as the system writes it in its tables of sockets."""
SBATCH = """#!/bin/sh
cp "$1" "$JOBS/script-$$"
sh "$JOBS/script-$$" >"$JOBS/log-$$" 2>&1 &
echo $! >>"$JOBS/pids"
echo "Submitted batch job $!"
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Imitate Slurm by scripts whose jobs are processes of this machine; yield the folder of the scripts and jobs."""
    for name in ("distributed", "dask_jobqueue", "cryptography"):
        pytest.importorskip(name)
    jobs, keys = tmp_path / "jobs", tmp_path / "keys"
    jobs.mkdir()
    keys.mkdir()
    for name, script in (("sbatch", SBATCH), ("scancel", "#!/bin/sh\nkill $1\n")):
        (jobs / name).write_text(script)
        (jobs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{jobs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JOBS", str(jobs))
    monkeypatch.chdir(keys)
    yield jobs
    for pid in (jobs / "pids").read_text().split() if (jobs / "pids").exists() else ():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGTERM)


@pytest.mark.filterwarnings("ignore")
def test_slurm_workers_are_encrypted_and_serve_no_pages(slurm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client: Any = import_module("distributed").Client
    with cluster(None, "cores=1,memory=1 GB,interface=lo") as (executor, many):
        assert many() >= 1
        keys = list(Path.cwd().glob(".schedscope-keys-*/*"))
        assert len(keys) == 3
        assert all(key.stat().st_mode & 0o077 == 0 for key in keys)
        script = next(slurm.glob("script-*")).read_text()
        assert "tls://127.0.0.1:" in script
        assert "BEGIN" not in script  # all users can read a job's script
        with executor() as pool:
            assert pool.submit(sum, (1, 2)).result(60) == 3
        address = script[script.index("tls://") :].split()[0]
        for plain in (address, address.replace("tls", "tcp")):
            with pytest.raises((OSError, TypeError, ValueError)):
                client(plain, timeout=2, set_as_default=False)
        assert listening(slurm) == {LOOPBACK}
    assert not list(Path.cwd().iterdir())
    assert "1 job of 1 worker" in capsys.readouterr().err


def listening(jobs: Path) -> set[str]:
    """Return the addresses on which this process and the processes of the jobs in folder `jobs` accept connections."""
    mine = [Path(f"/proc/{os.getpid()}"), *(path.parent for path in Path("/proc").glob("[0-9]*/environ"))]
    inodes = set[str]()
    for process in mine:
        with suppress(OSError):
            if process is mine[0] or f"JOBS={jobs}".encode() in (process / "environ").read_bytes():
                inodes |= {os.readlink(fd) for fd in (process / "fd").iterdir()}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                found.add(words[1].partition(":")[0])
    return found


@pytest.mark.parametrize("found", ["127.0.1.1", OSError("no such name")])
def test_a_machine_without_an_address_asks_for_one(found: str | OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(name: str) -> str:
        if isinstance(found, OSError):
            raise found
        return found

    monkeypatch.setattr(socket, "gethostbyname", looked_up)
    with pytest.raises(SchedscopeError, match="--slurm interface=eth0"):
        own_address()


def test_a_foreign_cluster_is_said_to_run_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster_command, "PATIENCE", 0.5)  # nobody is there
    done = schedscope("sweep", "z-figure4", "--cluster", "tcp://127.0.0.1:1", "-o", "r")
    assert "run code as you" in done.stderr


def test_workers_are_of_one_kind() -> None:
    code, line = error("sweep", "z-figure4", "--workers", "2", "--cluster", "tcp://127.0.0.1:1", "-o", "r")
    assert (code, "give one of them" in line) == (2, True)
