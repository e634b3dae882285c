"""Also tests sim.lab.pool."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from sim.lab import sweep as forecasting
from sim.lab import sweep as sweeping
from sim.lab.measured import Measured
from sim.lab.plan import SweepPlan
from sim.lab.pool import LocalPool, free_memory, size_of_worker
from sim.lab.results import Results
from sim.lab.sweep import Progress, forecast, sweep
from sim.lab.work import Outcome
from sim.metrics.measure import measure
from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.scenario import run as simulate
from sim.workload.replay import read
from tests.sim.lab.dumped import dump
from tests.sim.lab.examples import BREAKS, KILLS, policy_file, small
from tests.sim.workload.test_replay import recorded

pytestmark = pytest.mark.usefixtures("own_program")


def one_thread() -> Executor:
    return ThreadPoolExecutor(1)


def made(path: Path, plan: SweepPlan | None = None, executor: Callable[[], Executor] | None = one_thread) -> Progress:
    return sweep(plan or small(), path, executor=executor, workers=1 if executor else 2)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    path = tmp_path_factory.mktemp("undisturbed") / "results.sqlite"
    assert made(path).made == 18
    return dump(path)


def test_a_run_in_a_sweep_is_the_run_that_one_makes_alone(tmp_path: Path) -> None:
    plan = small("easy", seeds=1, groups=("class", "user"))
    made(tmp_path / "r", plan)
    with Results(tmp_path / "r") as results:
        found = dict(results.rows(["key"], also=["mean_bounded_slowdown"]))
        by_class = list(results.rows(["key"], "class", ["label", "mean_wait"]))
        assert results.groupings() == ["class", "user"]
    for run in plan.runs():
        schedule = simulate(run.source.read()[1], run.policy)
        alone = measure(schedule)
        assert found[run.key] == alone.values["mean_bounded_slowdown"]
        rows = [(run.key, row.label, row.values["mean_wait"]) for row in alone.groups["class"]]
        assert [row for row in by_class if row[0] == run.key] == rows


def test_a_switch_and_a_placement_make_the_run_that_they_make_alone(tmp_path: Path) -> None:
    base = {"trace": ["lublin-128"], "jobs": ["60"], "switch": ["none", "1h=fcfs"], "placement": ["together"]}
    made(tmp_path / "r", plan := SweepPlan.of(base))
    with Results(tmp_path / "r") as results:
        found = dict(results.rows(["switch"], also=["mean_bounded_slowdown"]))
    (_, run) = plan.runs()
    schedule = simulate(run.source.read()[1], "easy", switches=[(3600.0, "fcfs")], placement="together")
    assert found["3600=fcfs"] == measure(schedule).values["mean_bounded_slowdown"] != found["none"]


def test_runs_of_a_recording_have_its_limits_and_weights(tmp_path: Path) -> None:
    trace = recorded(tmp_path / "week.slog").trace
    policies = ["slurm", "easy", "conservative"]
    made(tmp_path / "r", SweepPlan.of({"trace": [trace], "policy": policies}))
    with Results(tmp_path / "r") as results:
        found = dict(results.rows(["policy"], also=["max_wait"]))
    assert found == {"slurm": 100, "easy": 100, "conservative": 0}
    assert found == {spec: measure(simulate(read(trace), spec)).values["max_wait"] for spec in policies}


def test_processes_threads_and_a_given_executor_agree(tmp_path: Path, undisturbed: list[tuple[object, ...]]) -> None:
    assert made(tmp_path / "processes", executor=None).made == 18
    made(tmp_path / "threads", executor=lambda: ThreadPoolExecutor(3))
    assert dump(tmp_path / "processes") == dump(tmp_path / "threads") == undisturbed


def test_asking_again_starts_no_worker_and_reads_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "r")
    monkeypatch.setattr(sweeping, "Copies", None)
    again = made(tmp_path / "r", executor=lambda: pytest.fail("a worker was started"))
    assert (again.asked, again.there, again.made) == (18, 18, 0)


def test_larger_plan_adds_missing_runs_and_groups(tmp_path: Path) -> None:
    made(tmp_path / "r", small("easy", seeds=1))
    larger = made(tmp_path / "r", small("easy", "fcfs", seeds=2))
    assert (larger.there, larger.made) == (2, 6)
    grouped = made(tmp_path / "r", small("easy", seeds=1, groups=("class",)))
    assert (grouped.there, grouped.made) == (0, 2)
    assert made(tmp_path / "r", small("easy", seeds=1)).made == 0
    assert len(dump(tmp_path / "r")) == 8 + 2 * 3


def test_a_run_that_fails_keeps_its_error_and_the_others_go_on(tmp_path: Path) -> None:
    plan = small("easy", policy_file(tmp_path, BREAKS), seeds=1)
    progress = made(tmp_path / "r", plan)
    assert (progress.made, progress.failed) == (4, 2)
    with Results(tmp_path / "r") as results:
        errors = dict(results.rows(["policy", "error"]))
    assert errors["easy"] == ""
    assert "division by zero" in next(error for policy, error in errors.items() if "own.py" in policy)
    assert made(tmp_path / "r", plan).made == 0
    assert sweep(plan, tmp_path / "r", executor=one_thread, retry=True).made == 2


def test_policy_that_kills_its_worker_fails_alone(tmp_path: Path) -> None:
    plan = small("easy", policy_file(tmp_path, KILLS), "fcfs", seeds=2)
    outcomes: list[Outcome] = []
    progress = sweep(plan, tmp_path / "r", workers=2, told=lambda _, more: outcomes.extend(more))
    assert (progress.made, progress.failed) == (12, 4)
    assert sorted(outcome.run.key for outcome in outcomes) == sorted(run.key for run in plan.runs())
    assert {o.error for o in outcomes if "own.py" in o.run.policy} == {"its worker died, again and again"}


def test_where_no_worker_can_live_the_sweep_ends(tmp_path: Path) -> None:
    class Dead(LocalPool):
        def __init__(self) -> None:
            super().__init__(1)
            self._initializer = partial(os._exit, 1)

    with pytest.raises(SchedscopeError, match="no worker stays alive"):
        made(tmp_path / "r", executor=Dead)


def test_a_worker_that_is_killed_from_outside_loses_nothing(
    tmp_path: Path, undisturbed: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[LocalPool] = []
    killed: list[int] = []

    def pool() -> LocalPool:
        pools.append(LocalPool(2))
        return pools[-1]

    def kill(progress: Progress, outcomes: list[Outcome]) -> None:
        if progress.made and not killed:
            killed.append(pools[0].submit(os.getpid).result())
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(sweeping, "PATIENCE", 0.0)
    assert sweep(small(), tmp_path / "r", workers=2, executor=pool, told=kill).made == 18
    assert len(pools) > 1
    assert dump(tmp_path / "r") == undisturbed


SWEEP = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what goes on behind with it ignored
from sim.lab import sweep as sweeping
from tests.sim.lab.examples import small
sweeping.PATIENCE = 0.0
def told(progress, outcomes):
    print(progress.made, flush=True)
    time.sleep(60 if progress.made >= 4 else 0)
sweeping.sweep(small(), sys.argv[1], workers=2, told=told)
"""


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_sweep_goes_on(tmp_path: Path, how: signal.Signals, undisturbed: list[tuple[object, ...]]) -> None:
    path = tmp_path / "r"
    process = subprocess.Popen(
        [sys.executable, "-c", SWEEP, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout
    while int(process.stdout.readline()) < 4:
        pass
    process.send_signal(how)
    assert process.wait() not in (0, None)
    process.stdout.close()
    for _ in range(500):  # its workers end as well
        if not alive(process.pid):
            break
        time.sleep(0.02)
    assert not alive(process.pid)
    there = len(dump(path))
    assert 4 <= there < 18
    assert dump(path) == [row for row in undisturbed if row in dump(path)]
    assert made(path).there == there
    assert dump(path) == undisturbed


def test_two_sweeps_do_not_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.lab.results.sleep", lambda _: None)
    with (
        Results(tmp_path / "r", write=True),
        pytest.raises(SchedscopeError, match="or table writes it: name another file with -o"),
    ):
        made(tmp_path / "r")


def test_a_trace_that_cannot_be_read_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        made(tmp_path / "r", SweepPlan.of({"trace": ["nothing"]}))
    assert not (tmp_path / "r").exists()


def test_workers_are_as_many_as_have_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = len(next(small().runs()).source.read_trace().ids)
    monkeypatch.setattr(sweeping, "cores", lambda: 4)
    monkeypatch.setattr(sweeping, "free_memory", lambda: 3 * size_of_worker(jobs) - 1)
    done = sweep(small(), tmp_path / "few")
    assert (done.made, done.workers, done.jobs) == (18, 2, jobs)
    assert sweep(small(), tmp_path / "as asked", workers=3).workers == 3
    monkeypatch.setattr(sweeping, "free_memory", lambda: 0)
    assert sweep(small(), tmp_path / "one").workers == 1
    monkeypatch.setattr(sweeping, "free_memory", lambda: None)
    assert (last := sweep(small(), tmp_path / "unknown")).workers == 4
    assert not last.jobs


def test_free_memory_is_that_of_the_control_group(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None
    for folder in ("proc/self", "sys/fs/cgroup/job"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:  4000 kB\n")
    assert free_memory(tmp_path) == 4_096_000
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "sys/fs/cgroup/job/memory.max").write_text("max\n")
    assert free_memory(tmp_path) == 4_096_000
    (tmp_path / "sys/fs/cgroup/job/memory.max").write_text("3000000\n")
    (tmp_path / "sys/fs/cgroup/job/memory.stat").write_text("anon 1000000\nfile 5000000\n")
    assert free_memory(tmp_path) == 2_000_000


def test_progress_says_how_much_of_a_trace_is_read(tmp_path: Path) -> None:
    heard = list[tuple[str, float] | None]()
    sweep(small(), tmp_path / "r", executor=one_thread, told=lambda progress, _: heard.append(progress.reading))
    assert [reading for reading in heard if reading] == [("lublin-128", 1.0)]
    assert heard[-1] is None


def test_like_runs_cost_what_they_have_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "Copies", None)  # nothing is tried
    runs = list(small("easy", "fcfs").runs())
    with Results(tmp_path / "r", write=True) as results:
        results.add([Outcome(run, Measured({}), {"easy": 3.0, "fcfs": 1.0}[run.policy]) for run in runs[:4]])
    assert forecast(runs, tmp_path / "r", workers=2) == (6 * 3.0 + 6 * 1.0) / 2


def test_what_has_no_like_is_tried_on_its_first_jobs(tmp_path: Path) -> None:
    runs = list(small("easy", jobs=10_000, seeds=1).runs())
    found = forecast(runs, tmp_path / "none", workers=1)
    assert found is not None
    assert found > 0


def test_of_nothing_nobody_knows(tmp_path: Path) -> None:
    assert forecast([], tmp_path / "none", workers=1) is None
