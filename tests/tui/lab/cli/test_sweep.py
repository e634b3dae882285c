"""Also tests tui.lab.cli.sweep_progress."""

from io import StringIO
from pathlib import Path
from time import monotonic

import pytest
from click.testing import CliRunner
from rich.console import Console

from sim.lab import sweep as sweeping
from sim.lab.measured import Measured
from sim.lab.plan import SweepPlan
from sim.lab.results import Results
from sim.lab.sweep import Progress
from sim.lab.work import Outcome
from sim.policies.recorded_rules import unkept, unweighed
from sim.workload.replay import read
from tests.sim.lab.examples import BREAKS, policy_file
from tests.sim.workload.test_replay import recorded
from tests.tui.cli.program import error, schedscope
from tui.lab.cli import sweep
from tui.lab.cli.sweep_progress import Filling, shown, shown_where_seen

RANGES = ("--policy", "relaxed:omega={0,1}", "--load", "{1,2}", "--estimates", "random:2", "--seeds", "2")


def test_a_sweep_from_the_command_line_and_again(tmp_path: Path) -> None:
    asked = ("sweep", "lublin-128", "--jobs", "50", *RANGES, "-o", tmp_path / "r.sqlite")
    foretold = schedscope(*asked, "--dry-run").stdout
    assert foretold.startswith("8 runs: 0 are there, 8 to be made, about ")
    assert not (tmp_path / "r.sqlite").exists()
    first = schedscope(*asked)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("8 runs: 8 made; ")
    assert schedscope(*asked).stdout == f"8 runs: 0 made, 8 were there; in {tmp_path / 'r.sqlite'}\n"
    assert schedscope(*asked, "--dry-run").stdout == "8 runs: 8 are there, 0 to be made\n"


def test_what_is_typed_beside_a_plan_takes_the_place_of_what_it_says(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'traces = ["lublin-128"]\npolicies = ["easy", "fcfs"]\nseeds = 3\n[options]\njobs = 50\nhigh = 0.5\n'
    )
    assert schedscope("sweep", plan, "--dry-run").stdout.startswith("6 runs: ")
    assert schedscope("sweep", plan, "--seeds", "2", "--load", "{1..3}", "--dry-run").stdout.startswith("12 runs: ")
    zipped = schedscope("sweep", plan, "--load", "{1,2}", "--stretch", "{1,2}", "--zip", "load,stretch", "--dry-run")
    assert zipped.stdout.startswith("12 runs: ")


def test_a_sweep_names_the_policies_that_cannot_keep_recorded_limits(tmp_path: Path) -> None:
    week = recorded(tmp_path / "week.slog").trace
    one = schedscope("sweep", week, "--policy", "slurm", "--policy", "easy", "-o", tmp_path / "one")
    assert "limits" not in one.stdout
    two = schedscope("sweep", week, "--policy", "slurm", "--policy", "conservative", "-o", tmp_path / "two")
    assert two.stdout.splitlines()[1:] == [unkept(["conservative"])]


def test_a_sweep_says_that_slurm_lacks_the_weights_of_the_site(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(
        "JobID|Submit|Start|End|NCPUS|Timelimit|State\n"
        + "".join(
            f"{job}|2026-11-23T10:00:0{job}|2026-11-23T10:00:09|2026-11-23T10:01:00|2|5|COMPLETED\n"
            for job in range(1, 4)
        )
    )
    told = schedscope("sweep", path, "--policy", "slurm", "--policy", "easy", "-o", tmp_path / "one").stdout
    assert told.splitlines()[1:] == [unweighed("sacct", read(str(path)), ["slurm"])]
    assert "weights" not in schedscope("sweep", path, "--policy", "easy", "-o", tmp_path / "two").stdout


def test_failed_runs_are_reported_and_the_code_is_1(tmp_path: Path) -> None:
    own = policy_file(tmp_path, BREAKS)
    done = schedscope("sweep", "z-figure4", "--policy", own, "--policy", "easy", "-o", tmp_path / "r")
    assert done.returncode == 1
    line, failed = done.stdout.splitlines()
    assert line.startswith("2 runs: 1 made, 1 failed")
    assert failed.startswith("failed: z-figure4 ")
    assert "division by zero" in failed


def test_seeds_that_change_nothing_are_reported(tmp_path: Path) -> None:
    done = schedscope("sweep", "z-figure4", "--seeds", "2", "-o", tmp_path / "r")
    assert done.stderr == "schedscope: no option is random: every seed gives the same run\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["z-figure4", "--load", "0.8", "0.9", "-o", "r"], 2, "0.9 is no trace; quote a range"),
        (["z-figure4"], 2, "where to? give the file of results with -o"),
        (["-o", "r"], 2, "a plan needs a trace"),
        (["z-figure4", "--seeds", "2", "--seed", "{3,4}", "-o", "r"], 2, "--seeds counts seeds from 0"),
        (["z-figure4", "--load", "{1..1000000000}", "-o", "r"], 2, "stands for 1,000,000,000 values"),
        (["z-figure4", "--groups", "colour", "-o", "r"], 2, "no groups 'colour'"),
        (["z-figure4", "--cut", "200%", "-o", "r"], 2, "a cut is like 10%,5%"),
        (["a.toml", "b.toml", "-o", "r"], 2, "one plan at a time"),
        (["a.toml", "-o", "r"], 1, "a.toml: cannot be read"),
        (["z-figure4", "--zip", "load,trace", "-o", "r"], 2, "'load' has no values"),
    ],
)
def test_wrong_words_get_one_line_that_helps(
    arguments: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    got, line = error("sweep", *arguments)
    assert got == code
    assert said in line
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("a letter\n" * 100)
    assert "is no file of results" in error("sweep", "z-figure4", "-o", tmp_path / "r")[1]
    assert (tmp_path / "r").read_text() == "a letter\n" * 100


def test_a_bar_and_a_table_fill() -> None:
    plan = SweepPlan.of({"trace": ["z-figure4"], "load": ["{1,2}"], "policy": ["easy", "fcfs"], "seed": ["{0..1}"]})
    runs = list(plan.runs())
    out = StringIO()
    console = Console(file=out, width=80, height=24, force_terminal=True, color_system=None)
    with shown(Filling.of(plan), console) as told:
        progress = Progress(asked=8, there=1, workers=2, reading=("ten.swf", 0.25))
        told(progress, [])
        assert "reading ten.swf, 25%, " in out.getvalue()
        progress.reading = None
        for at, run in enumerate(runs[:6]):
            progress.made, progress.failed, progress.running = at + 1, 1, 2
            found = Measured({"mean_bounded_slowdown": 10.0 + at}) if at != 5 else None
            told(progress, [Outcome(run, found)])
    last = out.getvalue().rpartition("7 of 8 runs")[2]
    assert last.startswith(", 2 with workers, 1 failed, ")
    rows = [line.split() for line in last.splitlines()[1:4]]
    assert rows == [
        ["mean", "bounded", "slowdown", "by", "load", "1", "2"],
        ["easy", "11.00", "14.00"],
        ["fcfs", "12.00", "·"],
    ]


def test_without_a_terminal_a_long_sweep_writes_lines(capsys: pytest.CaptureFixture[str]) -> None:
    plan = SweepPlan.of({"trace": ["z-figure4"], "policy": ["easy"]})
    outcomes = [Outcome(run, None) for run in plan.runs()]
    with shown_where_seen(Filling.of(plan)) as told:
        told(Progress(1, 0, 1), outcomes)
        told(Progress(1, 0, 1, begun=monotonic() - 60), outcomes)
    assert capsys.readouterr().err == "schedscope: 1 of 1 runs after 1m00: easy on z-figure4\n"


def test_results_are_written_where_told(tmp_path: Path) -> None:
    schedscope("sweep", "z-figure4", "--groups", "coarse-category", "-o", tmp_path / "r")
    with Results(tmp_path / "r") as results:
        assert results.groupings() == ["coarse_category"]


def test_warmup_is_the_first_part_of_a_cut(tmp_path: Path) -> None:
    asked = ("sweep", "lublin-128", "--jobs", "50", "-o", tmp_path / "r")
    assert schedscope(*asked, "--warmup", "10%").returncode == 0
    assert "were there" in schedscope(*asked, "--cut", "10%").stdout
    shown = schedscope("results", tmp_path / "r", "--rows", "policy").stdout
    assert shown.splitlines()[-1] == "measured: without the first 10 % of the jobs"
    assert schedscope(*asked, "--warmup", "10%", "--cut", ",5%").returncode == 0
    assert "give one of them" in error(*asked, "--warmup", "10%", "--cut", "5%,5%")[1]


def test_fewer_workers_for_lack_of_memory_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sweeping, "cores", lambda: 2)
    monkeypatch.setattr(sweeping, "free_memory", lambda: 1 << 20)
    done = CliRunner().invoke(sweep.command, ["z-figure4", "-o", str(tmp_path / "r")])
    assert done.output.splitlines()[1] == "with 1 worker: each takes up to 0.1 GiB for 5 jobs"
