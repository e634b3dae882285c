import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sim import compiled

ROOT = Path(compiled.__file__).parent.parent
LIST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
    "wheel"
]["hooks"]["custom"]["compiled"]


def test_failed_build_installs_sources_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = pytest.importorskip("sim.build_hook", exc_type=ImportError)

    def fail(*args: Any, **options: Any) -> None:
        raise subprocess.CalledProcessError(1, ["gcc"], output="line.c:7: error: no Python.h\n")

    monkeypatch.setattr(subprocess, "run", fail)
    monkeypatch.delenv("SCHEDSCOPE_COMPILE", raising=False)
    warned: list[str] = []
    app = SimpleNamespace(display_warning=warned.append)
    its: Any = hook.CompileHook(str(ROOT), {"compiled": LIST}, None, None, "", "wheel", app)
    data: dict[str, Any] = {"force_include": {}}
    its.initialize("standard", data)
    made = {place: Path(folder) for folder, place in data["force_include"].items()}[f"sim/{compiled.FOLDER.name}"]
    assert compiled.failure(made) == "line.c:7: error: no Python.h"
    its.finalize("standard", data, "")
    assert "no Python.h" in warned[-1]
    assert "pure_python" not in data


def test_every_module_to_compile_exists() -> None:
    assert [source for source in LIST if not (ROOT / source).read_bytes()] == []
