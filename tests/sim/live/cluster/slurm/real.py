"""A real Slurm for tests: slurmctld and several slurmd on loopback, without root, cgroups, accounting or database."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from getpass import getuser
from pathlib import Path

NODES, CPUS = 4, 4
PATIENCE = 90.0
"""Seconds after which a test fails because a daemon or an expected state has not come."""
PROGRAMS = ("slurmctld", "slurmd", "squeue", "scontrol", "sbatch", "scancel")
_CONF = """\
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1,batch_sched_delay=0,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=500
MinJobAge=300
KillWait=2
{of_version}
NodeName=n[1-{nodes}] NodeAddr=127.0.0.1 Port={first}-{last} CPUs={cpus} Boards=1 SocketsPerBoard=1 \
CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
PartitionName=batch Nodes=n[1-{nodes}] Default=YES DefaultTime=5 MaxTime=60 State=UP
PartitionName=short Nodes=n[1-2] MaxTime=5 DefaultTime=1 State=UP
"""


def missing() -> str:
    """Return the name of a Slurm program that is not installed here, "" if all are."""
    return next((program for program in PROGRAMS if not shutil.which(program)), "")


def say(*words: str) -> str:
    """Run a command and return its output; fail if the command fails."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"
    return done.stdout


def until(is_so: Callable[[], bool]) -> None:
    """Wait until `is_so` returns True; fail after `PATIENCE` seconds."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"it did not come to that in time:\n{say('squeue', '-t', 'all')}"
        time.sleep(0.05)


def submit(*options: str, seconds: float = 200, code: int = 0) -> str:
    """Submit a job that sleeps for `seconds` and ends with exit code `code`; return its number."""
    usual = ("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", "-t", "4")
    return say(*usual, *options, f"--wrap=sleep {seconds}; exit {code}").strip()


@contextmanager
def slurm(folder: Path, nodes: int = NODES) -> Iterator[None]:
    """Run a Slurm of its own in that folder; its commands answer while the context is open."""
    port = _free_ports(nodes + 1)
    version = tuple(int(part) for part in say("slurmctld", "-V").split()[-1].split(".")[:2])
    is_new = version >= (23, 2)
    conf = _CONF.format(
        host=socket.gethostname().partition(".")[0],
        user=getuser(),
        folder=folder,
        port=port,
        first=port + 1,
        last=port + nodes,
        nodes=nodes,
        cpus=CPUS,
        of_version=""
        if is_new
        else "TaskPlugin=task/none\nSwitchType=switch/none\nAccountingStorageType=accounting_storage/none",
    )
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text(conf)
    (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n" if is_new else "CgroupAutomount=no\n")
    before = os.environ.get("SLURM_CONF")
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    try:
        with ExitStack() as daemons:
            daemons.enter_context(_daemon("slurmctld", "-D"))
            until(lambda: subprocess.run(["scontrol", "ping"], capture_output=True).returncode == 0)
            for number in range(1, nodes + 1):
                (folder / f"spool-n{number}").mkdir()
                daemons.enter_context(_daemon("slurmd", "-D", "-N", f"n{number}"))
            until(lambda: say("sinfo", "-h", "-N", "-p", "batch", "-o", "%T").split() == ["idle"] * nodes)
            daemons.callback(_cancel_all)
            yield
    finally:
        if before is None:
            del os.environ["SLURM_CONF"]
        else:
            os.environ["SLURM_CONF"] = before


@contextmanager
def _daemon(*words: str) -> Iterator[None]:
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _cancel_all() -> None:
    """End every job, so that no step outlives the daemons."""
    numbers = sorted(set(say("squeue", "-h", "-o", "%A").split()))
    if numbers:
        say("scancel", *numbers)
        until(lambda: not say("squeue", "-h", "-t", "running,completing,suspended", "-o", "%A").split())


def _free_ports(count: int) -> int:
    """Return the first of `count` neighbouring ports on which nothing listens."""
    for first in range(17_000 + os.getpid() % 1000 * 20, 60_000, 20):
        try:
            with ExitStack() as opened:
                for port in range(first, first + count):
                    opened.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")
