"""Jobs of a recording that run again under policies, with the limits and weights that the recording knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.cluster.recording import Recorder
from sim.cluster.values import Cluster, Limit
from sim.forecast.replay import Replay, replay_of, settled
from sim.policies.policy import written_policy
from sim.policies.registry import parse_policy
from sim.timeline.scenario import run
from sim.workload.source import Source
from tests.sim.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS

SETTINGS = "PriorityWeightAge=500\nPriorityWeightAssoc=9\nPriorityWeightQOS=3\nPriorityFlags=NO_FAIR_TREE"
LIMIT = Limit("account", "physics", "GrpTRES=cpu", 3, 0)


def recorded(path: Path, limits: tuple[Limit, ...] = (LIMIT,)) -> Source:
    """Write a recording in which a limit of three cores holds job 2 back until job 1 has ended, though it would fit;
    return its source.
    """
    recorder = Recorder(path)
    about = Cluster(NOW, nodes=NODES_, partitions=(BATCH,), limits=limits, settings=SETTINGS)
    held, start = replace(WAITS, reason="AssocGrpCpuLimit", qos="high"), NOW + 40
    recorder.add(replace(about, jobs=(replace(RUNS, qos="low"), held)))
    done = replace(RUNS, qos="low", state="COMPLETED", end=start)
    runs = replace(held, state="RUNNING", reason="", start=start, end=start + 600, nodes=("n1",))
    recorder.add(replace(about, at=NOW + 60, jobs=(done, runs)))
    recorder.close()
    return Source(str(path))


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    return replay_of(recorded(tmp_path / "week.slog"))


@pytest.mark.parametrize(("spec", "start"), [("slurm", 340), ("easy", 340), ("conservative", 240), ("recorded", 340)])
def test_jobs_keep_the_recorded_limits_under_policies_that_can(replay: Replay, spec: str, start: float) -> None:
    policy = parse_policy(spec)
    assert run(replay.under(policy), policy).start.tolist() == [0, start]
    assert replay.unlimited(policy) == (["conservative"] if spec == "conservative" else [])


def test_policies_that_run_on_the_same_jobs_have_limits_only_if_all_can_keep_them(replay: Replay) -> None:
    slurm, conservative = parse_policy("slurm"), parse_policy("conservative")
    assert replay.under(slurm).limits is not None
    assert replay.under(slurm, conservative).limits is None
    assert replay.under(slurm, parse_policy("recorded")).limits is None, "a recorded start may pass a later limit"


def test_slurm_without_parameters_has_the_recorded_weights(replay: Replay) -> None:
    weighed = "slurm:age=500,fairshare=0,size=0,qos=3,shares=accounts"
    assert replay.settled("slurm") == (weighed, ["associations"])
    assert replay.settled("slurm:size=7") == ("slurm:size=7", [])
    assert written_policy(settled(parse_policy("slurm"), replay)) == weighed
    assert settled(easy := parse_policy("easy"), replay) is easy


def test_no_note_misses_limits_that_the_recording_has(replay: Replay, tmp_path: Path) -> None:
    assert not replay.workload.fidelity.unmodelled()
    (note,) = replay_of(recorded(tmp_path / "none.slog", limits=())).workload.fidelity.unmodelled().assumed
    assert note.what.endswith("2 QOS")


def test_other_traces_are_read_as_they_are() -> None:
    read = replay_of(Source("z-figure4"))
    easy = parse_policy("easy")
    assert read.under(easy) is read.workload
    assert (read.settled("slurm"), read.unlimited(easy), len(read.workload)) == (("slurm", []), [], 5)


def test_the_share_of_pictures_that_have_been_read_is_told(tmp_path: Path) -> None:
    heard: list[float] = []
    replay_of(recorded(tmp_path / "week.slog"), heard.append)
    assert heard == [0.5, 1.0]
