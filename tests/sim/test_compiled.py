import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from sim import compiled


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder as a build leaves it, made of one source."""
    monkeypatch.delenv(compiled.SETTING, raising=False)
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    monkeypatch.setattr(compiled, "_why_not", "")
    monkeypatch.setattr(sys, "meta_path", [])
    (tmp_path / "line.py").write_text("free = 1\n")
    made = tmp_path / "made"
    made.mkdir()
    (made / compiled.MADE_OF).write_text(compiled.made_of(["line.py"]))
    return made


def found(name: str) -> str | None:
    specs = [finder.find_spec(name, None) for finder in sys.meta_path]
    return next((spec.origin for spec in specs if spec is not None), None)


def test_compiled_modules_are_found_before_their_sources(folder: Path) -> None:
    compiled.use(folder)
    assert compiled.described() == "compiled"
    assert (found("line"), found("other")) == (str(folder / f"line{EXTENSION_SUFFIXES[0]}"), None)


def test_setting_off_imports_the_sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.SETTING, "off")
    compiled.use(folder)
    assert (compiled.described(), found("line")) == ("off", None)


def test_builds_are_described(folder: Path) -> None:
    (folder.parent / "line.py").write_text("free = 2\n")
    compiled.use(folder)
    assert "made from other sources" in compiled.described()
    assert found("line") is None
    (folder / compiled.MADE_OF).unlink()
    (folder / compiled.FAILURE).write_text("building 'line'\nerror: command 'gcc' failed: No such file\n\n")
    compiled.use(folder)
    assert compiled.described() == "not compiled: error: command 'gcc' failed: No such file"


def test_sources_that_were_never_built_are_described(folder: Path) -> None:
    compiled.use(folder / "missing")
    assert compiled.described() == "not compiled: not built"
