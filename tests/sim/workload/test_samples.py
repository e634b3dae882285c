"""The sample traces are whole, and show what their notes claim."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim import measure, run
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.support.errors import ParameterError, TraceError
from sim.workload import samples
from sim.workload.formats import swf
from sim.workload.formats.nodes import MOST_LETTERS
from sim.workload.model import Field, Trace, Workload
from sim.workload.replay import read
from sim.workload.samples import ALSO, FOR_LESSONS, SAMPLES, Sample, captions, sample_of, sample_path

FOLDER = Path(__file__).resolve().parents[3] / "sample_traces"
EVERY = (*SAMPLES, *ALSO, *FOR_LESSONS)
ON_NODES = [sample.name for sample in EVERY if sample.ending == "json"]
NAMES = [sample.name for sample in SAMPLES]


def trace_of(name: str) -> Trace:
    path = sample_path(name)
    return swf.read(path.read_text(encoding="utf-8"), name, path)


def workload_of(name: str) -> Workload:
    return Workload.of(trace_of(name))


def starts(name: str, policy: str) -> list[float]:
    found: list[float] = run(read(name), policy, check=True).start.tolist()
    return found


def test_the_folder_holds_the_samples_and_nothing_else() -> None:
    assert sorted(sample_path(sample.name) for sample in EVERY) == sorted(FOLDER.iterdir())


def test_samples_are_found_by_name_and_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
    assert sample_path("lublin-128") == sample_path("lublin-128.swf") == FOLDER / "lublin-128.swf"
    assert sample_of("my-job.json") == sample_of("my-job") == FOR_LESSONS[-1]
    with pytest.raises(ParameterError, match="no sample 'lublin-182'; did you mean 'lublin-128'"):
        sample_path("lublin-182")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_note_of_the_header_is_the_caption(name: str) -> None:
    notes = [line for line in trace_of(name).header.comments if line.startswith(" Note: ")]
    assert notes[0] == f" Note: {dict(captions())[name]}"
    assert notes[1].startswith(" Note: Try ")
    assert len(notes) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_every_job_of_a_sample_is_simulated_and_nothing_is_assumed(name: str) -> None:
    trace = trace_of(name)
    workload = Workload.of(trace)
    assert len(workload) == len(trace.ids)
    assert workload.procs == trace.header.max_procs
    assert not workload.fidelity


def test_an_installed_program_finds_its_samples_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDER, tmp_path / "sim" / "sample_traces")
    monkeypatch.setattr(samples, "__file__", str(tmp_path / "sim" / "workload" / "samples.py"))
    assert sample_path("z-figure4") == tmp_path / "sim" / "sample_traces" / "z-figure4.swf"


def test_where_the_samples_are_missing_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "__file__", str(tmp_path / "sim" / "workload" / "samples.py"))
    with pytest.raises(TraceError, match="sample_traces: the sample traces are not installed"):
        sample_path("z-figure4")


def test_backfilling_starts_job_5_in_the_hole_and_leaves_job_3_alone() -> None:
    assert starts("z-figure4", "fcfs") == [0, 10, 1200, 1800, 1800]
    assert starts("z-figure4", "easy") == [0, 10, 1200, 1800, 600]
    assert starts("k-figure2.1-2.2", "conservative") == [0, 0, 1200, 1800, 2400]
    assert starts("k-figure2.1-2.2", "easy") == [0, 0, 1200, 2030, 30]
    assert starts("w-figure1", "fcfs") == [0, 1000, 1600, 1600, 1600]
    assert starts("w-figure1", "easy") == [0, 1000, 1600, 30, 1600]
    assert starts("w-figure1", "relaxed:omega=1.25") == [0, 1220, 20, 30, 1000]
    assert starts("ls-figure1", "easy") == [0, 0, 0, 2000, 5000, 8000, 20000, 7500, 12000, 17000, 20800, 23000]
    assert starts("ls-figure1", "multiqueue") == [0, 0, 0, 2000, 5000, 8000, 12000, 12800, 8000, 17000, 20000, 23000]
    assert starts("z-figure7", "fcfs")[-1] == 5200
    assert (run(read("lublin-128"), "easy").wait > 0).mean() > 0.3


@pytest.mark.parametrize("name", ["lublin-128", "lublin-320"])
def test_the_realistic_samples_are_loaded_and_have_people(name: str) -> None:
    workload = workload_of(name)
    load = (workload.width * workload.runtime).sum() / (workload.procs * np.ptp(workload.submit))
    assert load == pytest.approx(0.75, rel=0.01)
    jobs_of = np.bincount(workload.user)[1:]
    assert jobs_of[0] == jobs_of.max()
    assert jobs_of.min() > 0
    assert set(workload.group) == {1, 2, 3, 4, 5, 6}
    assert workload.header.queues == {0: "primary", 1: "challenge", 2: "urgent"}
    assert set(workload.queue) == {0, 1, 2}
    assert (workload.estimate >= workload.runtime).all()


@pytest.mark.parametrize("name", [name for name in NAMES if "-figure" in name])
def test_jobs_of_a_figure_know_how_long_they_run(name: str) -> None:
    table = trace_of(name).table
    assert np.array_equal(table[:, Field.RUN], table[:, Field.ESTIMATE])


@pytest.mark.parametrize("sample", EVERY, ids=lambda sample: sample.name)
def test_texts_of_samples_have_times_as_the_screen_has_them(sample: Sample) -> None:
    told = " ".join((sample.note, *read(sample.name).header.comments))
    assert not re.findall(r"\b\d{3,} ?s\b|\bseconds?\b|\bat \d{3,}\b", told)


@pytest.mark.parametrize("sample", EVERY, ids=lambda sample: sample.name)
def test_a_sample_is_shown_where_something_is_decided(sample: Sample) -> None:
    engine = Engine(read(sample.name), parse_policy(sample.policy))
    while engine.step() and (engine.snapshot().time or 0) < sample.at:
        pass
    assert engine.snapshot().time == sample.at
    assert engine.snapshot().decisions
    assert len(sample.note) <= 100


def test_with_doubled_estimates_jobs_wait_less_in_the_uniform_sample() -> None:
    trace = trace_of("zkp-uniform")
    doubled = trace.table.copy()
    doubled[:, Field.ESTIMATE] *= 2
    waits = []
    for shown, policy in ((trace, "easy"), (replace(trace, table=doubled), "easy"), (trace, "easy:order=sjf")):
        engine = Engine(Workload.of(shown), parse_policy(policy))
        engine.run()
        waits.append(round(engine.snapshot().totals.mean_wait or 0))
    assert waits == [2106, 1348, 1370]


@pytest.mark.parametrize("name", ON_NODES)
def test_notes_of_a_sample_on_nodes_fit_their_format(name: str) -> None:
    workload = read(name)
    assert all(note.startswith(" Note: ") for note in workload.header.comments)
    assert max(map(len, workload.header.comments)) <= MOST_LETTERS
    assert not workload.fidelity


def test_small_job_passes_one_that_waits_for_memory() -> None:
    assert starts("full-memory", "easy") == [0, 0, 1200, 120, 1920, 240, 1800]
    assert starts("full-memory", "fcfs")[5] == 3000


def test_equal_jobs_start_by_their_limits() -> None:
    found = starts("my-job", "slurm")
    assert (found[5], found[6], found[7], found[8]) == (7200, 3600, 10800, 9000)


def test_memory_and_gpus_cost_a_part_of_the_machine() -> None:
    values = measure(run(read("full-memory"), "easy")).values
    assert values["fragmentation_memory"]
    assert values["fragmentation_gpus"]
