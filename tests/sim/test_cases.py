"""The schedules that SPEC gives for the shared cases: starts, ends, and every stretch with its processors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.engine.engine import Engine
from sim.machine.processors import written
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.reading import read

TRACES = tuple(f"t{number}" for number in range(900, 912))


def lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(policy, cells) of each line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        spec, *cells = line.split()
        yield spec, cells


def played(path: Path, spec: str) -> Engine:
    engine = Engine(Workload.of(read(path)).with_overruns(), parse_policy(spec), curious=False)
    engine.run()
    return engine


def number(time: float | None) -> str:
    return f"{time:.12g}"


@pytest.mark.parametrize("trace", TRACES)
def test_every_job_starts_when_spec_says(shared: Path, trace: str) -> None:
    cases = shared / "cases"
    for spec, cells in lines(cases / f"{trace}.expected"):
        engine = played(cases / f"{trace}.swf", spec)
        starts = engine.schedule().start
        got = [f"{job}:{number(start)}" for job, start in zip(engine.workload.ids, starts, strict=True)]
        assert sorted(got) == sorted(cells), spec


@pytest.mark.parametrize("trace", TRACES)
def test_in_gang_scheduling_every_job_ends_when_spec_says(shared: Path, trace: str) -> None:
    cases = shared / "cases"
    for spec, cells in lines(cases / f"{trace}.gang"):
        engine = played(cases / f"{trace}.swf", spec)
        schedule = engine.schedule()
        for cell in cells:
            job, times = cell.split(":")
            rank = engine.workload.rank_of(job)
            wanted = [float(time) for time in times.split("-")]
            assert [schedule.start[rank], schedule.end[rank]] == pytest.approx(wanted, abs=1e-6), (spec, job)


@pytest.mark.parametrize("trace", TRACES)
def test_with_preemption_every_stretch_is_where_spec_says(shared: Path, trace: str) -> None:
    cases = shared / "cases"
    for spec, cells in lines(cases / f"{trace}.stretches"):
        engine = played(cases / f"{trace}.swf", spec)
        got = [
            f"{engine.workload.ids[s.rank]}:{number(s.start)}-{number(s.end)}:{written(s.processors).replace(' ', '+')}"
            for s in engine.history.segments()
        ]
        assert sorted(got) == sorted(cells), spec
