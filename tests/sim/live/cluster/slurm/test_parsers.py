"""The JSON of squeue in every data parser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.live.cluster.slurm import parsers
from sim.live.cluster.values import ClusterJob
from sim.support.errors import TraceError
from tests.sim.live.cluster.captures import VERSIONS, series, snap


def _jobs(told: str) -> tuple[ClusterJob, ...]:
    return parsers.jobs_in(json.loads(told), "squeue --json")


def test_every_parser_tells_the_same(shared: Path) -> None:
    captures = shared / "slurm" / "captures" / "v24.11"
    told = [_jobs((captures / f"squeue-v0.0.{number}.json").read_text()) for number in (40, 41, 42)]
    assert told[0] == told[1] == told[2]
    assert len(told[0]) > 30


@pytest.mark.parametrize("version", VERSIONS)
def test_json_tells_what_text_tells(shared: Path, version: str) -> None:
    by_text = snap(shared, version).job_of
    by_json = {job.id: job for job in _jobs((_snap(shared, version) / "squeue.json").read_text())}
    both = by_text.keys() & by_json.keys()
    assert len(both) >= 0.9 * len(by_text)

    def shown(job: ClusterJob) -> tuple[object, ...]:
        return (
            job.id, job.cpus, job.partition, job.user, job.limit, job.submit, job.nodes, job.cores, job.memory,
            job.tres,
        )  # fmt: skip

    assert [shown(by_text[id]) for id in both] == [shown(by_json[id]) for id in both]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_moment_is_read(shared: Path, version: str) -> None:
    moments = list(series(shared, version))
    assert len(moments) > 30
    assert all(moment.cpus == 32 for moment in moments)
    assert all(moment.jobs and moment.queue for moment in moments[2:])
    assert any(moment.reservations for moment in moments)
    assert any(node.is_gone and "disk" in node.reason for moment in moments for node in moment.nodes)


@pytest.mark.parametrize("told", ["[]", "{}", '{"jobs": 3}', '{"jobs": null}'])
def test_what_is_no_list_of_jobs_is_refused(told: str) -> None:
    with pytest.raises(TraceError, match="squeue"):
        _jobs(told)


def test_wrong_types_are_as_good_as_nothing() -> None:
    told = '{"jobs": [{"job_id": 1, "cpus": "x", "nodes": 7, "job_state": {}, "job_resources": {"nodes": [1]}}, {}, 3]}'
    (job,) = _jobs(told)
    assert (job.id, job.cpus, job.nodes, job.cores, job.state) == ("1", 0, (), (), "")


def _snap(shared: Path, version: str) -> Path:
    return shared / "slurm" / "captures" / version / "snap1"
