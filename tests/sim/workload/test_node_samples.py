"""Samples on machines of nodes: they are as the program generates them, and show what their notes claim.

Also tests sim.workload.showing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sim import measure, run
from sim.workload.formats.nodes import MOST_LETTERS
from sim.workload.node_samples import NODES_SAMPLES, NodesSample
from sim.workload.replay import read
from sim.workload.samples import sample_path, showing_of, text_of

FOLDER = Path(__file__).resolve().parents[3] / "sample_traces"


def starts(name: str, policy: str) -> list[float]:
    found: list[float] = run(read(name), policy, check=True).start.tolist()
    return found


@pytest.mark.parametrize("sample", NODES_SAMPLES, ids=lambda sample: sample.name)
def test_file_is_what_the_program_makes(sample: NodesSample) -> None:
    assert sample_path(sample.name).read_text(encoding="utf-8") == text_of(sample)
    assert sample_path(f"{sample.name}.json") == FOLDER / f"{sample.name}.json"
    assert showing_of(sample.name) is sample.showing


@pytest.mark.parametrize("sample", NODES_SAMPLES, ids=lambda sample: sample.name)
def test_notes_are_read_with_the_caption_first(sample: NodesSample) -> None:
    comments = sample.trace().header.comments
    assert comments == tuple(f" Note: {note}" for note in (sample.caption, *sample.notes))
    assert max(map(len, comments)) <= MOST_LETTERS


@pytest.mark.parametrize("sample", NODES_SAMPLES, ids=lambda sample: sample.name)
def test_every_job_is_simulated_and_something_happens_at_the_view(sample: NodesSample) -> None:
    workload = read(sample.name)
    assert len(workload) == len(sample.jobs)
    assert not workload.fidelity
    schedule = run(workload, sample.showing.policy, check=True)
    assert sample.showing.at in schedule.start.tolist()


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
