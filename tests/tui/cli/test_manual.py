import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tui.cli.program import error, schedscope
from tui.cli.main import COMMANDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual") / "man1"
    done = schedscope("manual", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_command_has_a_page(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "schedscope.1", *(f"schedscope-{name}.1" for name in COMMANDS)
    }  # fmt: skip


def test_nothing_is_named_without_a_meaning(folder: Path) -> None:
    for path in folder.iterdir():
        _, *entries = path.read_text(encoding="utf-8").split(".TP\n")
        assert len(entries) > 1
        for entry in entries:
            _, meaning, *_ = entry.splitlines()
            assert re.match(r"(?!\.SH)\S", meaning), f"{path.name}: {entry}"


def test_man_takes_the_pages_without_a_warning(folder: Path) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("needs groff")
    for path in folder.iterdir():
        command = [groff, "-man", "-Tutf8", "-ww", "-z", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, line = error("manual", tmp_path / "file" / "man1")
    assert code == 1
    assert "cannot make the folder" in line
    assert "is a file; give the path of a folder" in error("manual", tmp_path / "file")[1]
