"""Names from files in the output of commands: none is taken as a control sequence by a terminal, or as a formula by a
spreadsheet."""

import csv
from pathlib import Path

import pytest

from sim.workload.reading import read
from tests.tui.cli.program import schedscope
from tests.tui.terminals import terminal

OBEYED = {
    "osc": "\x1b]52;c;aGFja2Vk\x07",
    "title": "\x1b]0;mine\x07",
    "colour": "\x1b[31m",
    "turn": "\u202e",
    "c1": "\x9b2J",
}
FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@sum", "'=x", "'s", "-5", "1e5")


def obeyed(text: str) -> set[str]:
    return {c for c in text if not c.isprintable() and c != "\n"}


def log(path: Path, word: str) -> Path:
    jobs = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 -1 -1 -1\n2 5 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n"
    path.write_text(f"; MaxProcs: 4\n; Computer: {word}\n; Note: {word}\n; Queue: 1 {word}batch\n{jobs}", "utf-8")
    return path


@pytest.mark.parametrize("command", [("run",), ("sweep", "-o", "x.sqlite", "--workers", "1")], ids=" ".join)
def test_progress_leaves_the_cursor_there_for_who_is_killed(command: tuple[str, ...], tmp_path: Path) -> None:
    with terminal(command[0], "z-figure4", "--policy", "easy", *command[1:], cwd=tmp_path) as at:
        assert at.wait() == 0
        at.wait_for(lambda: b"\x1b[?25h" in at.written)
    hidden = at.written.find(b"\x1b[?25l")
    assert hidden < 0 or at.written.startswith(b"\x1b[?25l\x1b[?25h", hidden)


@pytest.mark.parametrize("word", OBEYED.values(), ids=OBEYED)
@pytest.mark.parametrize("command", [
    ("run", "--by", "queue"), ("run",), ("inspect",), ("explain", "2"),
    ("compare", "--policy", "easy", "--policy", "fcfs"),
], ids=" ".join)  # fmt: skip
def test_nothing_that_a_terminal_obeys_is_printed(command: tuple[str, ...], word: str, tmp_path: Path) -> None:
    name, *options = command
    trace = log(tmp_path / f"t{word.replace('/', '')}.swf", word)
    done = schedscope(name, trace, *options)
    assert done.returncode == 0
    assert obeyed(done.stdout) == set()


@pytest.mark.parametrize("word", OBEYED.values(), ids=OBEYED)
def test_errors_quote_names_without_what_a_terminal_obeys(word: str, tmp_path: Path) -> None:
    for arguments in (("run", f"{word}.swf"), ("run", "z-figure4", "--policy", word), (word,), ("run", f"--{word}")):
        done = schedscope(*arguments)
        assert done.returncode
        assert obeyed(done.stderr) == set()


def test_csv_has_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    word = "".join(OBEYED.values())
    trace, results = tmp_path / "t.csv", tmp_path / "r.sqlite"
    trace.write_text(f"job,submit,runtime,procs,queue\n{word}1,0,10,4,{word}low\n{word}2,0,10,4,{word}low\n", "utf-8")
    swept = schedscope("sweep", trace, "--policy", "easy", "--groups", "queue", "--workers", "1", "-o", results)
    assert swept.returncode == 0
    for arguments in (
        ("run", trace, "--by", "queue", "--format", "csv"),
        *(("run", trace, option, "/dev/stdout") for option in ("--schedule", "--segments", "--decisions")),
        ("results", results, "--rows", "policy", "--by", "queue", "--format", "csv"),
    ):
        done = schedscope(*arguments)
        assert done.returncode == 0
        assert "?" in done.stdout
        assert obeyed(done.stdout) == set()


def test_formula_like_text_is_quoted_and_read_back(tmp_path: Path) -> None:
    trace, out = tmp_path / "t.csv", tmp_path / "out.csv"
    with trace.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("job", "submit", "runtime", "procs"), *((word, at, 10, 1) for at, word in enumerate(FORMULAS))]
        )
    ids = read(str(trace)).ids
    assert schedscope("run", trace, "--procs", "4", "--schedule", out, "--segments", tmp_path / "s.csv").returncode == 0
    with out.open(newline="") as file:
        written = [row[0] for row in csv.reader(file)][1:]
    assert not [word for word in written if word[0] in "=+@" or word.startswith("-2")]
    assert "-5" in written
    assert read(str(out)).ids == ids
    assert {row.split(",")[0] for row in (tmp_path / "s.csv").read_text().splitlines()[1:]} >= {"'=1+1", "-5"}


def test_long_names_are_cut_on_a_page_and_whole_for_programs(tmp_path: Path) -> None:
    trace, word = tmp_path / "t.csv", "x" * 10_000
    trace.write_text(
        f"job,submit,runtime,procs,user,queue,account\n{word},0,10,4,{word},{word},{word}\n{word},0,10,4,{word},,\n"
    )
    for words in (("run", "--by", "account"), ("run", "--by", "queue"), ("inspect",), ("explain", f"user:{word}")):
        assert max(map(len, schedscope(words[0], trace, *words[1:]).stdout.splitlines())) < 400
    assert word in schedscope("run", trace, "--by", "account", "--format", "csv").stdout
