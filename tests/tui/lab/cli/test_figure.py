"""Also tests tui.lab.cli.figure_file, tui.lab.cli.figure_style."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from sim.lab.plan import SweepPlan
from tests.sim.lab.test_kept import keeping, made
from tests.tui.cli.program import PROGRAM, error, schedscope
from tui.lab.cli.figure_style import COLOURS, KINDS, as_text

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs .[plot]")
OF_JOBS = [kind for kind in KINDS if kind not in ("lines", "bars")]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("figures") / "r.sqlite", keeping(seeds=3))


def lightness(colour: str) -> float:
    """Return the lightness L* (CIE) of a colour: how bright it is when printed in grey."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return float(116 * y ** (1 / 3) - 16) if y > 0.008856 else 903.3 * y


@pytest.mark.parametrize("kind", KINDS)
def test_figure_of_every_kind_is_the_same_twice_with_text_as_text(path: Path, tmp_path: Path, kind: str) -> None:
    asked: list[str | Path] = ["plot", path, "--kind", kind, "--size", "ieee", "--by", "policy"]
    asked += ["-x", "policy"] if kind in ("lines", "bars") else ["-x", "class"] if kind in ("box", "violin") else []
    asked += ["--labels", "fcfs=In order", "--log", "-y", "wait" if kind in OF_JOBS else "mean_wait"]
    for name in ("a.svg", "b.svg"):
        done = schedscope(*asked, "-o", tmp_path / name)
        assert (done.returncode, done.stderr) == (0, "")
    svg = (tmp_path / "a.svg").read_text()
    assert svg == (tmp_path / "b.svg").read_text()
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert "In order" in texts or "lublin-128, In order" in texts
    assert any("lublin-128" in text for text in texts)
    assert 'width="252pt"' in svg  # 3.5 inches


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="needs poppler-utils")
def test_fonts_of_a_pdf_are_embedded(path: Path, tmp_path: Path) -> None:
    asked = ("plot", path, "-x", "policy", "-y", "mean_wait", "-o", tmp_path / "a.pdf")
    assert schedscope(*asked).returncode == 0
    fonts = subprocess.run(["pdffonts", tmp_path / "a.pdf"], capture_output=True, text=True, check=True).stdout
    lines = fonts.splitlines()[2:]
    assert lines
    assert all("TrueType" in line and re.search(r"yes\s+yes\s+yes", line) for line in lines)


def test_figure_file_makes_the_same_figure(path: Path, tmp_path: Path) -> None:
    asked: list[str | Path] = [
        "plot", path, "--kind", "ecdf", "--where", "policy=easy", "--title", 'A "title" \\ $x$', "--order", "fcfs;easy",
    ]  # fmt: skip
    asked += ["--xlabel", "hours", "--ylabel", "part", "--legend", "right", "--style", "grey", "--size", "4x3"]
    asked += ["--labels", "easy=EASY;lublin-128=Lublin", "-o", tmp_path / "a.svg", "--save", tmp_path / "figure.toml"]
    assert schedscope(*asked).returncode == 0
    first = (tmp_path / "a.svg").read_bytes()
    for _ in range(2):
        assert schedscope("plot", tmp_path / "figure.toml").returncode == 0
        assert (tmp_path / "a.svg").read_bytes() == first
        (tmp_path / "a.svg").unlink()
    assert schedscope("plot", tmp_path / "figure.toml").returncode == 0
    assert (tmp_path / "a.svg").read_bytes() == first
    assert schedscope("plot", tmp_path / "figure.toml", "--title", "Other", "-o", tmp_path / "b.svg").returncode == 0
    assert "Other" in (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('results = "r.sqlite"\nkinds = "ecdf"', ":2: there is no 'kinds' in a figure; did you mean 'kind'?"),
        ("title = 3", ":1: title: expected words"),
        ("log = 1", ":1: log: expected true or false"),
        ('order = "easy"', ":1: order: expected a list of words"),
        ('[labels]\neasy = ["a"]', ":1: labels: expected a table of words"),
        ('kind = "ecdf"', "a figure needs a file of results"),
        ('results = "r"\nkind = "pie"', "kind 'pie': expected one of lines"),
        ("= 3", ":1:"),
    ],
)
def test_wrong_figure_files_get_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "f.toml").write_text(text)
    assert said in error("plot", tmp_path / "f.toml")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kind", "box"], "is drawn into a file"),
        (["--kind", "ecdf", "--size", "9"], "expected ieee, acm, slide or WxH"),
        (["--kind", "ecdf", "--labels", "easy"], "expected OLD=NEW"),
        (
            ["--kind", "ecdf", "--labels", "eazy=E"],
            "--labels: nothing in the figure is called 'eazy'; did you mean 'easy'?",
        ),
        (["-x", "load", "--by", "policy", "--order", "easy;sjf"], "--order: nothing in the figure is called 'sjf'"),
        (["--kind", "ecdf", "-y", "waits"], "no quantity of jobs 'waits'; did you mean 'wait'?"),
    ],
)
def test_wrong_options_get_one_line(path: Path, words: list[str], said: str) -> None:
    code, line = error("plot", path, *words)
    assert code == 2
    assert said in line


def test_a_policy_has_one_colour_and_the_title_of_an_axis_its_lines(path: Path, tmp_path: Path) -> None:
    def drawn(*more: str) -> str:
        asked = ["-x", "seed", "--by", "policy", "-y", "mean_bounded_slowdown", "--size", "ieee"]
        assert schedscope("plot", path, *asked, *more, "-o", tmp_path / "f.svg").returncode == 0
        return (tmp_path / "f.svg").read_text()

    both, alone, against = drawn(), drawn("--where", "policy=fcfs"), drawn("--against", "easy", "--ratio")
    easy, fcfs = (colour.lower() for colour in COLOURS[:2])
    assert easy in both
    assert all(fcfs in svg for svg in (both, drawn("--order", "fcfs;easy"), alone, against))
    assert not any(easy in svg for svg in (alone, against))
    assert "mean bounded slowdown" in both
    assert "mean bounded slowdown over easy's" not in against  # in two lines


def test_means_over_what_a_figure_does_not_name_are_said(tmp_path: Path) -> None:
    plan = SweepPlan.of({"trace": ["z-figure4"], "policy": ["easy", "fcfs"], "load": ["{1,2}"]})
    file = made(tmp_path / "r.sqlite", plan)
    told = schedscope("plot", file, "-x", "policy", "-y", "mean_wait", "-o", tmp_path / "f.svg").stdout
    assert told == "each mean is over 2 values of load: choose one with --where, or name it with -x or --by\n"


def test_times_of_a_distribution_are_round(path: Path, tmp_path: Path) -> None:
    assert schedscope("plot", path, "--kind", "ecdf", "-o", tmp_path / "f.svg").returncode == 0
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", (tmp_path / "f.svg").read_text())
    assert {"1 s", "1 h"} <= {*texts}


def test_figure_without_room_for_its_words_is_not_drawn(path: Path, tmp_path: Path) -> None:
    code, line = error("plot", path, "--kind", "heat", "--size", "1x1", "-o", tmp_path / "f.pdf")
    assert code == 2
    assert "a figure of 1 inches has no room for its words: give a larger --size, or fewer panels by --where" in line
    assert not list(tmp_path.iterdir())


def test_foreign_names_are_no_formulas() -> None:
    assert as_text("_$x$\x1b[31m") == "\u200b_\\$x\\$?[31m"


def test_settings_of_matplotlib_in_the_present_folder_are_not_used(path: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: module://evil\n")
    (tmp_path / "evil.py").write_text("open('RAN', 'w').close()")
    (tmp_path / "latex").write_text("#!/bin/sh\ntouch RAN\n")
    (tmp_path / "latex").chmod(0o755)
    command = [*PROGRAM, "plot", str(path), "-x", "load", "-o", "figure.svg"]
    root = str(Path(__file__).resolve().parents[4])
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": root, "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "figure.svg").exists()
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("output", ["../figure.svg", "/tmp/figure.svg", "link.svg"])
def test_a_figure_file_writes_beside_itself_only(path: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "victim").touch()
    (tmp_path / "mine" / "link.svg").symlink_to(tmp_path / "victim")
    made = tmp_path / "mine" / "figure.toml"
    made.write_text(f'results = "{path}"\nx = "load"\noutput = "{output}"\n')
    code, line = error("plot", made)
    assert (code, "name another with -o" in line) == (1, True)
    assert (tmp_path / "victim").read_bytes() == b""


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_a_figure_file_replaces_its_own_figure_only(path: Path, tmp_path: Path, form: str) -> None:
    made, figure = tmp_path / "one.toml", tmp_path / f"figure.{form}"
    made.write_text(f'results = "{path}"\nx = "load"\noutput = "figure.{form}"\n')
    figure.write_bytes(b"of another program")
    code, line = error("plot", made)
    said = f"figure.{form}' exists and was not made by this file; replace it with -o {figure}"
    assert (code, said in line) == (1, True)
    assert figure.read_bytes() == b"of another program"
    assert schedscope("plot", made, "-o", figure).returncode == 0
    assert schedscope("plot", made).returncode == 0
    other = made.rename(tmp_path / "other.toml")
    assert "was not made by this file" in error("plot", other)[1]


def test_settings_in_the_present_folder_are_not_read(path: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_bytes(b"\xff\xfe\x00 \x1b]0;x\x07: 1")
    command = [*PROGRAM, "plot", str(path), "-x", "load", "-o", "figure.svg"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[4]), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
