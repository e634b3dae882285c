import json
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from sim import Engine, read, run
from tests.tui.cli.program import error, schedscope
from tui.cli.trace_events import Event, trace_events

KEYS = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "i": {"name", "cat", "s", "ts", "pid", "tid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}
"""For each kind of event of the Trace Event Format: the keys that the program writes"""


def events_of(tmp_path: Path, trace: str, policy: str) -> list[Event]:
    path = tmp_path / "x.json"
    done = schedscope("run", trace, "--policy", policy, "--jobs", "60", "--trace-events", path)
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert list(content) == ["displayTimeUnit", "otherData", "traceEvents"]
    assert (content["otherData"]["trace"], content["otherData"]["options"]["jobs"]) == (trace, 60)
    assert content["otherData"]["parameters"].startswith(policy)
    return list(content["traceEvents"])


@cache
def made_of(policy: str) -> tuple[Event, ...]:
    engine = Engine(read("lublin-128", jobs=60), policy)
    while engine.step():
        pass
    return tuple(json.loads(json.dumps(event, allow_nan=False)) for event in trace_events(engine))


EVERY = pytest.mark.parametrize("policy", ["easy", "gang-backfill", "selective", "multiqueue:speculate=180"])


@EVERY
def test_every_event_has_what_the_format_wants(policy: str) -> None:
    for event in made_of(policy):
        assert event.keys() - {"ph"} == KEYS[event["ph"]]
        assert all(type(event[key]) is int and event[key] >= 0 for key in ("pid", "tid", "ts", "id") if key in event)
        assert event.get("dur", 1) >= 1
        assert event.get("bp", "e") == "e"
        if event["ph"] == "M":
            names = {"process_name": {"name"}, "thread_name": {"name"}, "process_sort_index": {"sort_index"}}
            assert event["args"].keys() == names[event["name"]]
        if event["ph"] == "C":
            assert all(type(value) in (int, float) for value in event["args"].values())


@EVERY
def test_events_come_by_time_after_all_titles(policy: str) -> None:
    times = [event.get("ts", -1) for event in made_of(policy)]
    assert times == sorted(times)


@EVERY
def test_every_slice_has_the_reason_of_the_decision_that_began_it(policy: str) -> None:
    said = {event["args"]["sentence"] for event in made_of(policy) if event["ph"] == "i"}
    reasons = {e["args"]["reason"] for e in made_of(policy) if e["ph"] == "X" and e["cat"] != "plan"}
    assert reasons <= said
    assert len(reasons) >= 60
    tracks = {e["tid"]: e["args"]["name"] for e in made_of(policy) if e["name"] == "thread_name"}
    assert all(tracks[event["tid"]] == event["cat"] for event in made_of(policy) if event["ph"] == "i")


def test_planned_starts_stand_until_they_move_or_are_reached() -> None:
    engine = Engine(read("w-figure1"), "relaxed:omega=2")
    while engine.step():
        pass
    plans = [event for event in trace_events(engine) if event.get("cat") == "plan"]
    assert [(e["name"], e["ts"] // 10**6, e["dur"] // 10**6, e["args"]["sentence"]) for e in plans] == [
        ("J2 at d0 00:16:40", 10, 10, "J2 is planned for d0 00:16:40: needs 8 > 5 free now; 10 free then"),
        ("J2 at d0 00:20:20", 20, 1200, "J2 is planned for d0 00:20:20: needs 8 > 2 free now; 10 free then"),
    ]


@EVERY
def test_each_arrow_has_two_ends_in_slices_that_stand_before_them(policy: str) -> None:
    """A reader that sorts the events by time, and keeps the order of those of the same time, must find each arrow's end
    within an open slice."""
    open_at: dict[tuple[int, int], Event] = {}
    arrows: dict[int, list[Event]] = defaultdict(list)
    for event in sorted((e for e in made_of(policy) if e["ph"] in "Xsf"), key=lambda event: event["ts"]):
        track = event["pid"], event["tid"]
        if event["ph"] == "X":
            open_at[track] = event
            continue
        slice_there = open_at[track]
        assert slice_there["ts"] <= event["ts"] < slice_there["ts"] + slice_there["dur"]
        assert (event["cat"], event["name"]) == ("wait", "start")
        arrows[event["id"]].append({**event, "job": slice_there["name"]})
    assert len(arrows) == 60
    for begin, end in arrows.values():
        assert (begin["ph"], end["ph"], begin["job"]) == ("s", "f", end["job"])


@EVERY
def test_every_process_has_a_name(policy: str) -> None:
    named = Counter(e["pid"] for e in made_of(policy) if e["name"] == "process_name")
    assert named.keys() == {e["pid"] for e in made_of(policy)}
    assert set(named.values()) == {1}


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


def test_slices_are_those_of_the_schedule(tmp_path: Path) -> None:
    ends = {e["id"]: e["ts"] for e in events_of(tmp_path, "z-figure4", "easy") if e["ph"] == "f"}
    schedule = run(read("z-figure4"), "easy")
    assert [ends[rank] / 1e6 for rank in sorted(ends)] == schedule.start.tolist()
    made = events_of(tmp_path, "lublin-128", "multiqueue")
    titles = [e["args"]["name"] for e in made if e["name"] == "process_name"]
    assert titles == ["waiting", "planned starts", "decisions", "< 1000 s", "1000 to 10000 s", ">= 10000 s"]
    names = {event["args"]["name"] for event in made_of("multiqueue:classes=none") if event["name"] == "process_name"}
    assert {name.split()[0] for name in names} == {"waiting", "planned", "decisions", "processors"}


def test_each_file_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert "--schedule and --trace-events would overwrite each other" in str(
        error("run", "z-figure4", "--schedule", path, "--trace-events", path)
    )
    assert "give one --policy" in str(
        error("run", "z-figure4", "--policy", "easy", "--policy", "fcfs", "--trace-events", path)
    )
