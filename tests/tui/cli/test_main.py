"""Also tests tui.__main__, tui.cli.policies, tui.cli.terminal."""

import csv
import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import click
import pytest

from sim.session.session import session_text
from sim.session.sources import session_of
from sim.workload.source import Source
from tests.tui.cli.program import PROGRAM, error, schedscope, write
from tui.cli import terminal
from tui.cli.main import COMMANDS, commands


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "z-figure4", "--policy", "eazy"], 2, "no policy 'eazy'; did you mean 'easy'"),
        (["completion"], 2, "Choose from: bash, zsh, fish"),
        (["inspect", __file__], 1, "is Python, no trace: schedscope watch TRACE --policy FILE runs a policy"),
        (["run", "z-figure4", "--policy", "easy:depth=0"], 2, "depth=0: expected whole number >= 1"),
        (["run", "z-figure4", "--policy", "easy:depht=2"], 2, "easy has no parameter 'depht'; did you mean 'depth'?"),
        (["run", "z-figure4", "--policy", "easy:order=sfj"], 2, "no order 'sfj'; did you mean 'sjf'"),
        (["run", "nothing.swf"], 1, "nothing.swf: no such file"),
        (["run", "z-figure4", "--load", "0"], 2, "load factor must be between 0.000001 and 1,000,000"),
        (["run", "z-figure4", "--procs", "0"], 2, "--procs"),
        (["run", "z-figure4", "--by", "colour"], 2, "--by 'colour': expected one of category"),
        (["run"], 2, "Missing argument 'TRACE'"),
        (["run", "z-figure4", "--polisy", "easy"], 2, "No such option"),
        (["policies", "eazy"], 2, "did you mean 'easy'"),
        (["explain", "z-figure4", "99"], 1, "no job '99'"),
    ],
)
def test_wrong_words_get_one_line_that_helps(arguments: list[str], code: int, said: str) -> None:
    got, line = error(*arguments)
    assert got == code
    assert said in line


def test_error_with_long_names_is_bounded(tmp_path: Path) -> None:
    long, path = "x" * 5000, tmp_path / "it.session"
    kept = session_text(session_of(Source("z-figure4"), "easy", []))
    path.write_text(kept.replace('branch = "main"', f'branch = "{long}"'))
    for arguments in (("record", str(path), "-o", "out.cast"), ("run", "z-figure4", f"--{long}")):
        _, line = error(*arguments)
        assert "xxx...xxx" in line
        assert len(line) < 1100


@pytest.mark.parametrize("command", [["run", "z-figure4"], ["explain", "z-figure4", "5"]], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("switch", "code", "said"),
    [
        ("600", 2, "'600': expected T=SPEC, like 12d4h=easy:order=sjf"),
        ("600=", 2, "expected T=SPEC"),
        ("soon=easy", 2, "a time is seconds or like 12d4h30m"),
        ("600=eazy", 2, "no policy 'eazy'; did you mean 'easy'?"),
    ],
)
def test_what_is_no_switch(command: list[str], switch: str, code: int, said: str) -> None:
    got, line = error(*command, "--switch", switch)
    assert got == code
    assert said in line


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "z-figure4", "--policy", "fcfs"], 2, "compare takes two --policy SPEC, got 1"),
        (["compare", "z-figure4", *["--policy", "fcfs"] * 3], 2, "compare takes two --policy SPEC, got 3"),
        (["compare", "z-figure4", *["--policy", "fcfs"] * 2, "--at", "noon"], 2, "a time is seconds or like"),
        (["draw", "z-figure4"], 2, "Missing option '-o'"),
        (["draw", "z-figure4", "-o", "chart.gif"], 2, "chart.gif: a picture is written as .svg or .png"),
        (["draw", "z-figure4", "-o", "no/chart.svg"], 1, "cannot write no/chart.svg"),
        (["draw", "z-figure4", "-o", "chart.svg", "--theme", "pink"], 2, "no theme 'pink'; there is contrast"),
        (["draw", "z-figure4", "-o", "chart.svg", "--colour", "pink"], 2, "no colour 'pink'; there is estimate"),
        (["draw", "z-figure4", "-o", "chart.svg", "--from", "10d"], 1, "there is nothing to draw from d10 00:00:00"),
    ],
)
def test_misuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    got, line = error(*arguments)
    assert (got, list(tmp_path.iterdir())) == (code, [])
    assert said in line


def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "poem.swf").write_text("Shall I compare thee\nto a summer's day?\n", encoding="utf-8")
    code, line = error("run", tmp_path / "poem.swf")
    assert (code, "poem.swf:1: " in line) == (1, True)


def test_a_reader_that_goes_away_is_no_error() -> None:
    program = subprocess.Popen([*PROGRAM, "policies"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    assert (program.wait(30), program.stderr.read()) == (0, b"")
    program.stderr.close()


def test_without_a_place_for_errors_the_result_is_the_same() -> None:
    line = [*PROGRAM, "run", "z-figure4", "--format", "json"]
    asked = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *line], capture_output=True)
    assert (asked.returncode, asked.stdout) == (0, subprocess.run(line, capture_output=True).stdout)


@pytest.mark.parametrize("command", ["learn", "present --notes", "policies"])
def test_without_a_place_for_results_that_is_said_in_a_line(command: str) -> None:
    asked = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *PROGRAM, *command.split()], capture_output=True, text=True)
    told = "schedscope: error: cannot write the result: there is no standard output\n"
    assert (asked.returncode, asked.stderr) == (1, told)


@pytest.mark.parametrize("words", ["run {} --policy gang", "record {} -o x.svg"])
def test_an_interrupt_ends_it_with_a_word(words: str, tmp_path: Path) -> None:
    # a pipe opens for writing when the program reads it: then the program is at work, and waits
    os.mkfifo(tmp_path / "pipe.swf")
    program = subprocess.Popen(
        [*PROGRAM, *words.format(tmp_path / "pipe.swf").split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # tests in the background of a shell would pass on that interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with (tmp_path / "pipe.swf").open("w"):
        program.send_signal(signal.SIGINT)
        out, said = program.communicate(timeout=30)
    assert (program.returncode, out, said.strip()) == (130, b"", b"schedscope: error: interrupted")


def test_without_unicode_it_is_plain_ascii() -> None:
    for arguments in (["inspect", "lublin-128"], ["explain", "z-figure4", "3"]):
        done = schedscope(*arguments, encoding="ascii")
        assert done.returncode == 0
        assert done.stdout.isascii()
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    own = subprocess.run([*PROGRAM, "run", "z-figure4"], capture_output=True, encoding="utf-8", env=environ)
    assert own.returncode == 0
    assert own.stdout.isascii()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_all_says_what_help_of_each_begins_with(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command.name == name
    assert command.help.partition("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_help_and_errors_name_commands() -> None:
    text = schedscope("--help").stdout.partition("Commands:")[2]
    names = re.findall(r"^  ([a-z]+)", text, flags=re.MULTILINE)
    assert "..." not in text
    assert names == sorted(COMMANDS)
    assert error("exlpain", "z-figure4", "3") == (2, "no command, file or sample 'exlpain'; did you mean 'explain'?")
    assert "needs a terminal" in error("lies")[1], "a sample, though its name is similar to a command's"


def test_the_package_imports_nothing_from_the_present_folder(tmp_path: Path) -> None:
    for name in ("click", "textual", "numpy"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n")
    command = [sys.executable, "-m", "tui", "run", "z-figure4", "--policy", "easy"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "easy" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_program_starts_without_its_engine() -> None:
    code = "import sys, tui.cli.main as m\ntry: m.main()\nexcept SystemExit: sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True).returncode == 0
    heavy = "('numpy', 'textual', 'sim.engine.engine')"
    code = f"import sys, tui.cli.main; sys.exit(any(m.startswith({heavy}) for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    done = subprocess.run([sys.executable, "-m", "tui", "policies", "easy"], capture_output=True, text=True)
    assert done.stdout == schedscope("policies", "easy").stdout != ""


def test_the_screen_imports_nothing_that_its_first_frame_does_not_need() -> None:
    later = (
        "'sim.classroom', 'sim.stops', 'sim.comparison', 'sim.metrics', 'numpy.random', 'importlib.metadata', 'html'"
    )
    # an older numpy imports numpy.random itself, an older rich html
    code = "import sys, numpy, rich.console; own = {*sys.modules}; import tui.app; "
    code += f"sys.exit(any(m.startswith(({later})) for m in {{*sys.modules}} - own))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("command", ["run", "explain", "compare", "draw"])
def test_where_nothing_can_be_simulated_one_line_says_why(tmp_path: Path, command: str) -> None:
    trace = write(tmp_path / "empty.swf", "7 0 -1 -1 4 -1 -1 4 10")
    more: dict[str, list[str | Path]] = {
        "explain": ["7"],
        "compare": ["--policy", "fcfs", "--policy", "easy"],
        "draw": ["-o", tmp_path / "x.svg"],
    }
    code, line = error(command, trace, *more.get(command, []))
    assert code == 1
    assert "nothing to simulate: 0 of 1 job left (never ran (run time < 0): 1)" in line
    assert not (tmp_path / "x.svg").exists()


def test_the_trace_is_not_overwritten(tmp_path: Path) -> None:
    trace = write(tmp_path / "t.swf", "1 0 -1 10 4 -1 -1 4 10")
    before, beside = trace.read_text(), tmp_path / "beside.svg"
    beside.symlink_to(trace)
    for command, option, name in (("run", "--schedule", trace), ("run", "--segments", beside), ("draw", "-o", beside)):
        code, line = error(command, trace, option, name)
        assert code == 2
        assert "would overwrite the trace" in line
    assert trace.read_text() == before


def test_jobs_are_known_by_their_users(tmp_path: Path) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text("job,submit,run,procs,user\n1,0,50,1,ann\n2,0,50,1,bob\n3,9,5,1,ann\n", encoding="utf-8")
    by_user = schedscope("run", table, "--by", "user", "--format", "csv").stdout
    assert "ann,jobs,2" in by_user
    assert "By user" in schedscope("run", table, "--by", "user").stdout
    told = schedscope("explain", table, "user:ann")
    assert (told.returncode, told.stdout.splitlines()[0]) == (
        0, "the 2 jobs of ann that waited longest under easy, of 2",
    )  # fmt: skip
    code, line = error("explain", table, "user:anna")
    assert code == 1
    assert "no job of a user 'anna'; did you mean 'ann'?" in line
    schedscope("run", table, "--schedule", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:7] == ["job", "submit", "start", "end", "procs", "estimate", "runtime"]
    assert [row["user"] for row in rows] == ["ann", "bob", "ann"]


def test_times_as_printed_are_taken(tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    assert schedscope("draw", "z-figure4", "--from", "d0 00:00:05", "--to", "#3", "-o", out).returncode == 0
    both = ("--policy", "easy", "--policy", "fcfs")
    assert schedscope("compare", "z-figure4", *both, "--at", "d0 00:10").returncode == 0


def test_the_policy_of_a_configuration_of_slurm(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("PriorityWeightAge=500\nPriorityWeightQOS=2000\nPriorityWeightAssoc=9\n", encoding="utf-8")
    done = schedscope("policies", "--slurm-conf", path)
    assert done.stdout.strip() == "slurm:age=500,fairshare=0,size=0,qos=2000,shares=tree"
    assert "weights that are not modelled: associations" in done.stderr
    assert "no weight of priorities" not in done.stderr
    path.write_text("PriorityType=priority/multifactor\nPriorityMaxAge=1-0\n", encoding="utf-8")
    assert "slurm.conf: it has no weight of priorities, so jobs" in schedscope("policies", "--slurm-conf", path).stderr
    assert "cannot be read" in error("policies", "--slurm-conf", tmp_path / "none.conf")[1]


class Screen(StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


def test_reading_a_large_file_has_a_bar_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.swf"
    path.write_text("".join(f"{at} {at} 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n" for at in range(1, 100)))
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with terminal.shown_reading(str(path)) as heard:
        assert heard is None  # it is small
    monkeypatch.setattr(terminal, "_LARGE", 1)
    with terminal.shown_reading(str(path)) as heard:
        Source(str(path)).read(heard=heard)
    assert "reading log.swf" in screen.getvalue()
    assert "100%" in screen.getvalue()
    with terminal.shown_reading("lublin-128") as heard:
        assert heard is None  # it is no file
    monkeypatch.setattr(sys, "stderr", StringIO())
    with terminal.shown_reading(str(path)) as heard:
        assert heard is None
