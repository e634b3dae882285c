"""States of Slurm 22.05, 24.11 and 26.05 under load, read by the adapter, explained, and written to a recording."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.live.cluster.observed import Observed
from sim.live.cluster.reasons import MOST_LETTERS, paragraph, say
from sim.live.cluster.recording import PollRecorder, Recording
from sim.live.cluster.slurm.adapter import SlurmSource
from sim.live.cluster.values import Cluster
from sim.support.errors import ClusterError
from tests.sim.live.cluster.captures import VERSIONS as SHARED_VERSIONS
from tests.sim.live.cluster.captures import series, snap
from tests.sim.live.cluster.slurm.answers import FOLDER, VERSIONS, Captured, parts

CODES = tuple((FOLDER / "reasons.txt").read_text().splitlines())
"""Every reason to wait whose name the libraries of the three versions of Slurm contain."""


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def cluster(version: str) -> Cluster:
    commands = Captured(version)
    return replace(SlurmSource(commands).snapshot(), at=commands.at, cost=0.0)


def test_a_moment_is_read_whole(cluster: Cluster, version: str) -> None:
    assert cluster.version.startswith(f"Slurm {version}.")
    assert (cluster.name, cluster.me, cluster.cpus, cluster.is_private) == ("testbed", "games", 32, False)
    assert {partition.name for partition in cluster.partitions} == {"batch", "gpu", "short", "whole"}
    rows = [line for line in parts(version)["squeue"].splitlines() if line.count("|") > 20]
    assert len(cluster.job_of) == len(cluster.jobs) == len(rows) > 70
    assert {job.number for job in cluster.queue if job.reason == "Priority"} <= set(cluster.parts)
    assert Counter(limit.kind for limit in cluster.limits)["qos of a user"] >= 5
    assert not cluster.unread


def test_the_history_is_what_ended(version: str) -> None:
    past = SlurmSource(Captured(version)).history(0.0)
    assert len(past) > 15
    assert all(job.has_ended and job.end is not None and job.submit <= job.end for job in past)
    assert {"COMPLETED", "CANCELLED", "FAILED"} <= {job.state for job in past}


def test_running_jobs_hold_the_cores_that_nodes_say_are_taken(cluster: Cluster) -> None:
    assert cluster.running
    assert all(sum(held.mask.bit_count() for held in job.cores) == job.cpus for job in cluster.running)
    assert cluster.taken == {node.name: node.cpus_taken for node in cluster.nodes}


def test_every_waiting_job_has_a_reason_in_words(cluster: Cluster) -> None:
    told = {job.reason: say(cluster, job) for job in cluster.queue}
    assert len(told) >= 9
    for reason, words in told.items():
        assert words.startswith(("waits", "can never start: ", "cannot start: ")), reason
        assert "Slurm says" not in words
        assert reason in ("", "Reservation") or reason not in words


def test_reasons_have_the_numbers_of_the_moment(cluster: Cluster) -> None:
    told = " ".join(say(cluster, job) for job in cluster.queue)
    assert "asks for 10m00 > 5m00, the limit of partition short; batch, gpu and whole would allow it" in told
    assert " has priority " in told
    assert "success of J" in told
    assert "held" not in told


def test_a_limit_says_how_full_it_is_and_who_fills_it(version: str, cluster: Cluster) -> None:
    expected = {
        "22.05": "QOS normal is at its limit of nodes: 6 used + 2 asked for > 7; J",
        "24.11": "account biology is at its limit of cores: 2",
        "26.05": "in QOS urgent is at its limit of cores: 2 used + 8 asked for > 8; J",
    }
    assert any(expected[version] in say(cluster, job) for job in cluster.queue)


def test_every_reason_of_slurm_has_words() -> None:
    commands = Captured("24.11")
    cluster = replace(SlurmSource(commands).snapshot(), at=commands.at)
    for code in CODES:
        job = replace(cluster.queue[0], reason="" if code == "None" else code)
        lines = (say(cluster, job), *paragraph(cluster, job))
        assert "Slurm says" not in lines[0], code
        assert all(line and len(line) <= MOST_LETTERS + 1 for line in lines), code


def test_a_recording_gives_the_moment_back(cluster: Cluster, tmp_path: Path) -> None:
    recorder = PollRecorder(tmp_path / "week.slog")
    recorder.add(cluster)
    recorder.close()
    assert Recording(tmp_path / "week.slog").at(cluster.at) == cluster


def test_a_job_with_a_hostile_name_is_one_job() -> None:
    jobs = SlurmSource(Captured("22.05")).snapshot().jobs
    (found,) = [job for job in jobs if "[red]" in job.name]
    assert found.name.startswith("a|b [red]x")
    assert found.user == "games"


def all_moments(shared: Path, name: str) -> Iterator[Cluster]:
    """Yield every captured state of a version: those in the repository and those in the shared folder."""
    if name in VERSIONS:
        commands = Captured(name)
        yield replace(SlurmSource(commands).snapshot(), at=commands.at)
    else:
        yield snap(shared, name)
        yield from series(shared, name)


@pytest.mark.parametrize("name", [*VERSIONS, *SHARED_VERSIONS])
def test_no_moment_gives_a_core_to_two_jobs(shared: Path, name: str) -> None:
    for cluster in all_moments(shared, name):
        observed = Observed()
        observed.add(cluster)
        running = [stretch for stretch in observed.stretches(1e18) if stretch.end is None and stretch.kind == "run"]
        taken = 0
        for stretch in running:
            if not observed.doubled:
                assert not stretch.processors & taken
            taken |= stretch.processors
        assert taken.bit_length() <= cluster.cpus
        assert observed.doubled == sum(stretch.processors.bit_count() for stretch in running) - taken.bit_count()


class Damaged(Captured):
    """Captured outputs with random damage: lines that are cut, doubled or missing, and wrong letters."""

    def __init__(self, version: str, seed: int) -> None:
        super().__init__(version)
        lot = random.Random(seed)
        self._parts = {name: "\n".join(_damaged(text, lot)) for name, text in self._parts.items()}


def _damaged(text: str, lot: random.Random) -> Iterator[str]:
    for line in text.split("\n"):
        kind = lot.randrange(12)
        at = lot.randrange(len(line) + 1)
        if kind == 0:
            yield line[:at]
        elif kind == 1:
            yield from (line, line)
        elif kind == 2:
            yield (
                line[:at]
                + lot.choice(("|", "=", "\x1b[31m", "[", "9" * 400, ",", "-", "(null)", "\ud800", "²", ""))
                + line[at:]
            )
        elif kind != 3:
            yield line


@given(seed=st.integers(0, 1_000_000), name=st.sampled_from(VERSIONS))
@settings(max_examples=10)
def test_damaged_answers_are_read_as_far_as_they_go(seed: int, name: str) -> None:
    commands = Damaged(name, seed)
    slurm = SlurmSource(commands)
    try:
        cluster = replace(slurm.snapshot(), at=1_795_549_751.0)
    except ClusterError:
        return  # too few lines can be read
    assert cluster.unread
    slurm.history(0.0)
    observed = Observed()
    observed.add(cluster)
    for job in cluster.jobs:
        for line in (say(cluster, job), *paragraph(cluster, job)):
            assert len(line) <= MOST_LETTERS + 1
            assert line.isprintable()
