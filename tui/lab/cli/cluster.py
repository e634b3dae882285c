"""Workers of a sweep on other machines: in a running Dask cluster, or in jobs submitted to Slurm."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import click

from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import count, quoted
from sim.support.optional_imports import extra

PATIENCE = 10
"""Seconds within which the Dask scheduler must answer."""
UNKNOWN_WORKERS = "{} can run code as you, and so can anyone who reaches it without TLS: use a cluster that you trust"
COUNTED = 1.0
"""Seconds after which the cluster is asked again for its number of workers."""
ROLES = ("client", "scheduler", "worker")
NO_PAGES = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
"""Options of a Dask worker that keep its web page off the network."""
_WORDS = {"account": "account", "cores": "cores", "interface": "interface", "jobs": "jobs", "memory": "memory",
          "partition": "queue", "processes": "processes", "walltime": "walltime"}  # fmt: skip
"""Parameters of dask-jobqueue's `SLURMCluster` by their names in --slurm; other names are options of sbatch."""


@contextmanager
def cluster(address: str | None, slurm: str | None) -> Iterator[tuple[Callable[[], Executor], Callable[[], int]]]:
    """Connect to a Dask cluster or start one in Slurm; yield functions for executors and for the number of workers."""
    distributed = extra("distributed", "a cluster", "cluster")
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # the messages that matter are shown here
    if slurm is not None:
        with _slurm(parse_slurm(slurm)) as started, _client(distributed, started, "Slurm") as client:
            yield _workers(client)
    else:
        click.echo(f"schedscope: {UNKNOWN_WORKERS.format(quoted(str(address)))}", err=True)
        with _client(distributed, address, str(address)) as client:
            yield _workers(client)


def parse_slurm(text: str) -> dict[str, Any]:
    """Return the parameters for dask-jobqueue that the text of the option --slurm means, with defaults.

    >>> parse_slurm("account=a1,cores=4,walltime=01:00:00,jobs=20,gres=disk:1")["job_extra_directives"]
    ['--gres=disk:1']
    """
    asked: dict[str, Any] = {"cores": 1, "jobs": 1, "walltime": "01:00:00", "job_extra_directives": []}
    for part in filter(None, text.split(",")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name or not value:
            raise ParameterError(f"--slurm is like account=NAME,cores=4,walltime=01:00:00,jobs=20, got {quoted(part)}")
        if name not in _WORDS:
            asked["job_extra_directives"].append(f"--{name}={value}")
        elif name not in ("cores", "jobs", "processes"):
            asked[_WORDS[name]] = value
        elif value.isdecimal() and int(value):
            asked[name] = int(value)
        else:
            raise ParameterError(f"--slurm: {name} are counted from 1, got {quoted(value)}")
    asked.setdefault("processes", asked["cores"])
    asked.setdefault("memory", f"{2 * asked['cores']} GB")
    return asked


@contextmanager
def _slurm(asked: dict[str, Any]) -> Iterator[Any]:
    """Run a Dask scheduler whose workers are jobs of Slurm while the context lasts. Its connections are encrypted, on
    one network interface, and it has no web pages on the network.
    """
    jobqueue = extra("dask_jobqueue", "a cluster of Slurm", "cluster")
    extra("cryptography", "a cluster of Slurm with keys of its own", "cluster")
    jobs = asked.pop("jobs")
    where = {"interface": asked["interface"]} if "interface" in asked else {"host": own_address()}
    with _keys() as security:
        try:
            started = jobqueue.SLURMCluster(
                **asked,
                protocol="tls://",
                security=security,
                scheduler_options={**where, "dashboard": False, "dashboard_address": "127.0.0.1:0"},
                worker_extra_args=NO_PAGES,
                job_script_prologue=["export PYTHONSAFEPATH=1"],  # modules of the present folder are foreign
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise SchedscopeError(f"no scheduler for Slurm: {' '.join(str(error).split())}") from None
        with started:
            started.scale(jobs=jobs)
            click.echo(
                f"schedscope: Slurm is asked for {count(jobs, 'job')} of {count(asked['processes'], 'worker')}",
                err=True,
            )
            yield started


@contextmanager
def _keys() -> Iterator[Any]:
    """Yield TLS keys in files of the current folder, where workers read them, that only the user can read."""
    from tui.lab.cli import tls  # needs Dask

    keys: Any = tls.Keys
    made = keys.temporary().get_tls_config_for_role("scheduler")
    try:
        folder = TemporaryDirectory(prefix=".schedscope-keys-", dir=os.getcwd())
    except OSError as error:
        told = f"the keys of the run cannot be written to the present folder: {error.strerror}"
        raise SchedscopeError(told) from None
    with folder as name:
        paths = {kind: os.path.join(name, kind) for kind in ("ca_file", "cert", "key")}
        for kind, path in paths.items():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(made[kind])
        of_roles = {f"tls_{role}_{kind}": paths[kind] for role in ROLES for kind in ("cert", "key")}
        yield keys(tls_ca_file=paths["ca_file"], require_encryption=True, **of_roles)


def own_address() -> str:
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        address = "127.0.0.1"
    if address.startswith("127."):
        raise SchedscopeError("the name of this machine is no address for others; name one: --slurm interface=eth0,...")
    return address


@contextmanager
def _client(distributed: Any, cluster: Any, called: str) -> Iterator[Any]:
    try:
        client = distributed.Client(cluster, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split()) or type(error).__name__
        raise SchedscopeError(f"no scheduler of Dask answers at {called}: {told}") from None
    with client:
        if not client.nthreads():
            click.echo("schedscope: waiting for a worker", err=True)
            client.wait_for_workers(1)
        yield client


def _workers(client: Any) -> tuple[Callable[[], Executor], Callable[[], int]]:
    counted, asked = 0, -COUNTED

    def many() -> int:
        nonlocal counted, asked
        if monotonic() - asked >= COUNTED:
            try:
                counted, asked = sum(client.nthreads().values()), monotonic()
            except (OSError, RuntimeError):
                raise SchedscopeError("the Dask scheduler no longer answers; repeat the command to continue") from None
        return counted

    return partial(client.get_executor, pure=False), many
