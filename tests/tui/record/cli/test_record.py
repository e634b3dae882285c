import json
import os
from pathlib import Path

import pytest

from sim.support import optional_imports
from sim.workload import reading
from tests.sim.policies.own.test_loading import FAIR
from tests.tui.cli.program import error, schedscope


def test_a_film_is_written(tmp_path: Path) -> None:
    at = tmp_path / "x.cast"
    done = schedscope("record", "z-figure4", "--to", "#4", "--fps", "2", "--size", "60x18", "-o", at)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    header = json.loads(at.read_text(encoding="utf-8").splitlines()[0])
    assert header["term"]["cols"] == 60
    assert header["title"] == "z-figure4 under easy"


def test_a_policy_that_breaks_down_is_filmed_until_then_and_told(tmp_path: Path) -> None:
    policy, at = tmp_path / "breaks.py", tmp_path / "x.cast"
    policy.write_text(FAIR.replace("for job in", "1 / (view.now < 60)\n        for job in"))
    given = ("record", "z-figure4", "--policy", policy, "--fps", "2", "--size", "60x18", "-o", at)
    assert schedscope(*given, "--to", "#2").stderr == ""
    code, told = error(*map(str, given))
    assert (code, "breaks.py failed after step " in told, at.exists()) == (1, True, True)


def test_one_picture_is_drawn(tmp_path: Path) -> None:
    done = schedscope("record", "z-figure4", "--from", "#4", "--theme", "light", "-o", tmp_path / "x.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "#fbfbf8" in (tmp_path / "x.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "x.mp4"], "x.mp4: a film is written as .cast, .gif, .webp, .png, .svg"),
        (["-o", "x.cast", "--size", "9x9"], "from 20x8 to 400x150"),
        (["-o", "x.cast", "--size", "wide"], "expected COLUMNSxROWS"),
        (["-o", "x.cast", "--from", "J99"], "J99"),
    ],
)
def test_what_cannot_be_is_reported_in_one_line(arguments: list[str], told: str) -> None:
    assert told in error("record", "z-figure4", *arguments)[1]
    assert not Path("x.cast").exists()


def test_record_refuses_a_pipe_that_nothing_writes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.05)
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe that no process writes to" in error("record", tmp_path / "pipe", "-o", tmp_path / "x.cast")[1]


def test_without_what_makes_pictures_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(optional_imports, "import_module", missing)
    assert "pip install 'schedscope[video]'" in error("record", "z-figure4", "-o", "x.gif")[1]
