"""A run as trace events."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from sim import run
from tests.tui.cli.program import error, schedscope
from tui.cli.trace_events import Event


def events_of(tmp_path: Path, trace: str, policy: str) -> list[Event]:
    path = tmp_path / "x.json"
    done = schedscope("run", trace, "--policy", policy, "--jobs", "60", "--trace-events", path)
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert list(content) == ["displayTimeUnit", "traceEvents"]
    return list(content["traceEvents"])


@pytest.mark.parametrize("policy", ["easy", "gang-backfill", "selective", "multiqueue"])
def test_slices_of_a_track_never_overlap(tmp_path: Path, policy: str) -> None:
    tracks = defaultdict(list)
    for event in events_of(tmp_path, "lublin-128", policy):
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert tracks
    for slices in tracks.values():
        slices.sort()
        assert all(end <= start for (_, end), (start, _) in pairwise(slices))


@pytest.mark.parametrize("policy", ["easy", "gang-backfill", "multiqueue"])
def test_an_arrow_leads_from_each_submission_to_the_first_start(tmp_path: Path, policy: str) -> None:
    made = events_of(tmp_path, "z-figure4", policy)
    arrows = {sign: {e["id"]: e for e in made if e["ph"] == sign} for sign in "sf"}
    assert arrows["s"].keys() == arrows["f"].keys() == set(range(5))
    slices = [(e["pid"], e["tid"], e["ts"], e["ts"] + e["dur"]) for e in made if e["ph"] == "X"]
    for end in (*arrows["s"].values(), *arrows["f"].values()):
        track = end["pid"], end["tid"]
        assert any(slice[:2] == track and slice[2] <= end["ts"] < slice[3] for slice in slices)
    assert len([e for e in made if e["ph"] == "f"]) == 5


def test_starts_are_those_of_the_schedule(tmp_path: Path) -> None:
    from sim import read

    made = {e["id"]: e["ts"] for e in events_of(tmp_path, "z-figure4", "easy") if e["ph"] == "f"}
    schedule = run(read("z-figure4"), "easy")
    assert [made[rank] / 1e6 for rank in sorted(made)] == schedule.start.tolist()


def test_partitions_have_tracks_of_their_own(tmp_path: Path) -> None:
    made = events_of(tmp_path, "lublin-128", "multiqueue")
    titles = [e["args"]["name"] for e in made if e["name"] == "process_name"]
    assert titles == ["waiting", "< 1000 s", "1000 to 10000 s", ">= 10000 s"]


def test_each_file_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert "--schedule and --trace-events would overwrite each other" in str(
        error("run", "z-figure4", "--schedule", path, "--trace-events", path)
    )
    assert "give one --policy" in str(
        error("run", "z-figure4", "--policy", "easy", "--policy", "fcfs", "--trace-events", path)
    )
