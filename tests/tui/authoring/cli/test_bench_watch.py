import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from sim.policies.own.consent import Proof, agree
from sim.policies.own.naming import code_in
from sim.policies.registry import parse_policy
from sim.workload.replay import read
from tests.tui.cli.program import PROGRAM, error
from tui.authoring.cli.bench_watch import Bench
from tui.authoring.cli.test import failed

FAIR = (Path(__file__).parents[3] / "sim/authoring/literature/fair_easy.py").read_text()
OTHER = FAIR.replace("job.procs * hours", "hours")
SLOWER = FAIR.replace("Easy(order=self.order).decide(now)", "pass")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.chdir(tmp_path)
    agree(code_in("./fair.py"), Proof.TYPED)
    workloads = {"lublin-128 --jobs 100": read("lublin-128", jobs=100), "z-figure4": read("z-figure4")}
    return Bench("./fair.py", workloads, 3, 0, failed, is_over=lambda: False)


def save(bench: Bench, text: str) -> None:
    Path("fair.py").write_text(text)
    bench.show(parse_policy("./fair.py"))


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_version_is_shown_with_its_metrics_if_it_is_new(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    save(bench, FAIR)
    first, note, heads, *rows = shown(capsys)
    assert first.startswith("version 1, ")
    assert first.endswith(": passed 11 workloads")
    assert note.startswith("  a job as wide as the machine starts after ")
    assert heads.split("  ")[-1] == "fairness"
    assert [row.split()[0] for row in rows[:2]] == ["lublin-128", "z-figure4"]
    save(bench, FAIR)
    assert shown(capsys) == []
    save(bench, FAIR + "\n# a comment\n")
    assert "  no job starts, stops or ends at another time on any of 2 workloads" in shown(capsys)


def test_namesakes_show_jobs(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    workloads = {f"lublin-128 --jobs {jobs}": read("lublin-128", jobs=jobs) for jobs in (20, 30)}
    monkeypatch.setattr(bench, "_workloads", workloads)
    save(bench, FAIR)
    rows = shown(capsys)[3:5]
    assert [row.split("  ")[1] for row in rows] == ["lublin-128, 20 jobs", "lublin-128, 30 jobs"]


def test_next_version_is_compared_with_the_last_that_passed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    save(bench, FAIR)
    save(bench, SLOWER)
    bench.show("./fair.py:3: SyntaxError: invalid syntax: def (")
    shown_so_far = shown(capsys)
    assert any(": a job never starts: " in line for line in shown_so_far)
    assert shown_so_far[-2].endswith(": ./fair.py:3: SyntaxError: invalid syntax: def (")
    save(bench, OTHER)
    lines = shown(capsys)
    assert lines[0].endswith("passed 11 workloads; against version 1")
    verdicts = [line.strip() for line in lines if line.startswith(("  better: ", "  worse: "))]
    assert verdicts
    assert all(line.endswith("on lublin-128") for line in verdicts)
    at = next(index for index, line in enumerate(lines) if line.startswith("  first difference: lublin-128, d"))
    assert lines[at + 1].startswith("    before  J")
    assert any(line.startswith("    now     J") for line in lines[at:])
    command = "    schedscope watch lublin-128 --jobs 100 --policy ./fair.py --at '#"
    assert sum(line.startswith(command) for line in lines) == 1


def test_newer_save_supersedes_the_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str], bench: Bench) -> None:
    late = Bench("./fair.py", {}, 3, 0, failed, is_over=lambda: True)
    save(late, FAIR)
    assert shown(capsys)[0].endswith("saved again before its tests ended")


def test_what_is_no_file_cannot_be_watched() -> None:
    assert error("test", "easy", "--watch") == (
        2,
        "--watch needs a file, like ./fair.py, got 'easy'; see schedscope test --help",
    )


@pytest.mark.skipif(os.name == "nt", reason="an interrupt is sent to a process")
def test_program_goes_on_after_errors_and_ends_by_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "fair.py").write_text(FAIR)
    out = tmp_path / "out.txt"
    with out.open("w") as file:
        program = subprocess.Popen(
            [*PROGRAM, "test", "./fair.py", "--watch", "--count", "2"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
            stdout=file,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def wait_for(is_there: Callable[[str], bool]) -> None:
        until = monotonic() + 60
        while not is_there(out.read_text()):
            assert monotonic() < until, out.read_text()
            assert program.poll() is None, out.read_text()
            sleep(0.05)

    try:
        wait_for(lambda text: "version 1, " in text)
        (tmp_path / "fair.py").write_text(FAIR + "def (\n")
        wait_for(lambda text: "SyntaxError" in text)
        (tmp_path / "fair.py").write_text(OTHER)
        wait_for(lambda text: "against version 1" in text)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60)[1].decode().strip() == "schedscope: error: interrupted"
        assert program.returncode == 130
    finally:
        program.kill()
