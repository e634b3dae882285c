from dataclasses import replace
from pathlib import Path

from sim.live.cluster.recording import PollRecorder
from sim.live.cluster.values import Cluster, Limit
from sim.timeline.scenario import run
from sim.workload.job_changes import JobChanges
from sim.workload.model import RecordedWorkload, Workload
from sim.workload.replay import read, replay_of, trace_of
from sim.workload.source import Source
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS

SETTINGS = "PriorityWeightAge=500\nPriorityWeightAssoc=9\nPriorityWeightQOS=3\nPriorityFlags=NO_FAIR_TREE"
LIMIT = Limit("account", "physics", "GrpTRES=cpu", 3, 0)


def recorded(path: Path, limits: tuple[Limit, ...] = (LIMIT,)) -> Source:
    """Write a recording in which a limit of three cores holds job 2 back until job 1 has ended, though it would fit;
    return its source."""
    recorder = PollRecorder(path)
    about = Cluster(NOW, nodes=NODES_, partitions=(BATCH,), limits=limits, settings=SETTINGS)
    held, start = replace(WAITS, reason="AssocGrpCpuLimit", qos="high"), NOW + 40
    recorder.add(replace(about, jobs=(replace(RUNS, qos="low"), held)))
    done = replace(RUNS, qos="low", state="COMPLETED", end=start)
    runs = replace(held, state="RUNNING", reason="", start=start, end=start + 600, nodes=("n1",))
    recorder.add(replace(about, at=NOW + 60, jobs=(done, runs)))
    recorder.close()
    return Source(str(path))


def test_the_library_reads_recordings_as_the_command_line_does(tmp_path: Path) -> None:
    source = recorded(tmp_path / "week.slog")
    workload = read(source.trace)
    assert isinstance(workload, RecordedWorkload)
    assert workload.settings == SETTINGS
    assert run(workload, "slurm").start.tolist() == [0, 340]
    assert run(workload, "conservative").start.tolist() == [0, 240]
    assert read(source.trace, procs=2).procs == 2


def test_recordings_know_what_is_modelled(tmp_path: Path) -> None:
    week, none = recorded(tmp_path / "week.slog"), recorded(tmp_path / "none.slog", limits=())
    assert not replay_of(week).workload.fidelity.unmodelled()
    (note,) = replay_of(none).workload.fidelity.unmodelled().assumed
    assert note.what.endswith("2 QOS")
    assert not trace_of(week).fidelity.unmodelled()
    assert trace_of(none).fidelity.unmodelled()
    assert len(trace_of(Source("z-figure4")).ids) == 5
    found = replay_of(Source("z-figure4"))
    assert (type(found.workload), found.seen, len(found.workload)) == (Workload, None, 5)


def test_the_share_of_pictures_that_have_been_read_is_told(tmp_path: Path) -> None:
    heard: list[float] = []
    replay_of(recorded(tmp_path / "week.slog"), heard.append)
    assert heard == [0.5, 1.0]


def test_changed_jobs_of_a_recording_keep_its_limits(tmp_path: Path) -> None:
    changed = read(recorded(tmp_path / "week.slog").trace).with_changes(JobChanges.of_options(add="1x1m@0"))
    changed = changed.with_changes(changed.changes + JobChanges.of_options(change="1:run=2m"))
    assert isinstance(changed, RecordedWorkload)
    assert changed.recorded is not None
    assert [bool(taken) for taken in changed.recorded.demands] == [True, False, True]
    assert run(changed, "slurm").start.tolist() == [0, 0, 240]
