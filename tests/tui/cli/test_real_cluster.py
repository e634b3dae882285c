"""The commands for clusters against a real Slurm: queries, recording, a killed recorder, reading while it writes, and a
cluster that has gone."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sim.lab.results import Results, ResultsError
from sim.live.cluster.recording import Recording
from sim.support.errors import FileError
from tests.sim.lab.dumped import dump
from tests.sim.live.cluster.slurm.real import CPUS, PATIENCE, missing, say, slurm, submit, until
from tests.tui.cli.program import PROGRAM, error, schedscope

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=f"needs Slurm on this machine: {missing()} is not installed"),
]
NODES = 8


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A Slurm of eight nodes with a job that runs, one that is held, and one that asks for too much time."""
    with slurm(tmp_path_factory.mktemp("slurm"), NODES):
        made = {
            "runs": submit("-n", "3"),
            "held": submit("-H"),
            "long": submit("-p", "short", "-t", "10", "-J", "\x1b[31m[red]"),
        }
        until(lambda: say("squeue", "-h", "-t", "running", "-o", "%A").split() == [made["runs"]])
        yield made


@contextmanager
def recorder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Record the cluster into the file at `path`, in a process of its own; wait for the first poll, then yield the
    process."""
    command = [*PROGRAM, "live", "--headless", "-o", str(path), "--every", "10"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until(lambda: polls(path) > 0)
        yield process
    finally:
        process.kill()
        process.communicate()


def polls(path: Path) -> int:
    """Return how many polls the recording at `path` has; 0 if it cannot be read yet."""
    try:
        return len(Recording(path).times())
    except FileError:
        return 0


def test_why_asks_the_cluster(jobs: dict[str, str]) -> None:
    assert schedscope("why", jobs["held"]).stdout.startswith(f"J{jobs['held']} waits: its user holds it")
    assert (
        "asks for 10m00 > 5m00, the limit of partition short; batch would allow it"
        in schedscope("why", jobs["long"]).stdout
    )
    told = json.loads(schedscope("why", jobs["runs"], "--format", "json").stdout)
    assert told["state"] == "RUNNING"
    assert told["text"].startswith(f"J{jobs['runs']} runs since ")
    assert error("why", "999999")[0] == 1


def test_when_says_that_there_is_no_date(jobs: dict[str, str]) -> None:
    assert "Slurm has no expected start for it" in schedscope("when", jobs["held"]).stdout


def test_a_killed_recording_has_its_polls_and_goes_on(jobs: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "week.slog"
    with recorder(path) as process:
        seen = Recording(path).at(1e12)  # read while it is written
        assert {job.id for job in seen.jobs} >= set(jobs.values())
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert Recording(path).at(1e12).job_of == seen.job_of
    assert schedscope("live", "--headless", "-o", str(path), "--polls", "1").returncode == 0
    assert polls(path) == 2
    assert (
        f"J{jobs['held']} waits: its user holds it"
        in schedscope("why", jobs["held"], "--from", str(path), "--at", "#2").stdout
    )
    ran = schedscope("run", str(path), "--policy", "easy")
    assert "runs on to its limit" in ran.stdout
    assert "partitions" not in ran.stderr  # they are modelled: the recording has its machine


def test_an_interrupted_recorder_ends_at_once(jobs: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "week.slog"
    with recorder(path) as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert "Traceback" not in out
    assert not path.with_name("week.slog-wal").exists()  # all in one file


@pytest.mark.usefixtures("jobs")
def test_pseudonyms_hide_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "week.slog"
    schedscope("live", "--headless", "-o", str(path), "--polls", "1", "--anonymise")
    cluster = Recording(path).at(1e12)
    me = say("id", "-un").strip()
    assert cluster.jobs
    assert me not in {cluster.me, *(job.user for job in cluster.jobs)}
    assert {job.user for job in cluster.jobs} == {cluster.me}
    assert "[red]" not in " ".join(job.name for job in cluster.jobs)


def test_a_cluster_that_is_gone_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=gone\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nAuthType=auth/none\n"
                    "MessageTimeout=2\nNodeName=n1 CPUs=1\nPartitionName=p Nodes=n1\n")  # fmt: skip
    monkeypatch.setenv("SLURM_CONF", str(conf))
    code, line = error("why", "1")
    assert code == 1
    assert "Unable to contact slurm controller" in line
    path = tmp_path / "week.slog"
    done = schedscope("live", "--headless", "-o", str(path), "--polls", "1")
    assert "no answer: " in done.stdout
    assert polls(path) == 0


def test_a_sweep_survives_a_drained_node_and_a_cancelled_job(jobs: dict[str, str], tmp_path: Path) -> None:
    for name in ("distributed", "dask_jobqueue", "cryptography"):
        pytest.importorskip(name)
    plan = ["lublin-320", "--jobs", "600", "--policy", "easy", "--policy", "conservative", "--load", "{0.8,1,1.2}"]
    plan += ["--resample", "weeks", "--seeds", "10"]
    here, there = tmp_path / "here.sqlite", tmp_path / "there.sqlite"
    assert schedscope("sweep", *plan, "-o", here).returncode == 0
    say("scancel", *jobs.values())
    asked = f"interface=lo,cores=1,memory=600MB,walltime=00:04:00,jobs={NODES},mincpus={CPUS},job-name=sweep"
    command = [*PROGRAM, "sweep", *plan, "-o", str(there), "--slurm", asked]
    sweep = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
    try:
        until(lambda: len({node for _, node in workers()}) == NODES and 0 < made(there) < 50)
        (cancelled, _), (_, drained), *_ = workers()
        say("scontrol", "update", f"nodename={drained}", "state=drain", "reason=tried")
        say("scancel", cancelled)
        told, _ = sweep.communicate(timeout=PATIENCE)
        say("scontrol", "update", f"nodename={drained}", "state=resume")
    finally:
        sweep.kill()
        sweep.communicate()
    assert sweep.returncode == 0, told
    assert dump(there) == dump(here)


def workers() -> list[tuple[str, str]]:
    found = say("squeue", "-h", "-t", "running", "-n", "sweep", "-o", "%A %N").split("\n")
    return [(number, node) for number, _, node in (line.partition(" ") for line in found if line)]


def made(path: Path) -> int:
    """Return how many runs the file of results at `path` has."""
    try:
        with Results(path) as results:
            return len(list(results.rows(["key"])))
    except ResultsError:
        return 0
