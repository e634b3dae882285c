"""A policy file compiled by Cython: the result, what prevents compiling, and when a compiled file is out of date.

Also tests sim.policies.own.content, sim.testing.compiled_check, tui.cli.compile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from sim.errors import SchedscopeError
from sim.policies import parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.own import compiling
from sim.policies.own.compiling import compile_file
from sim.policies.own.consent import Proof
from sim.policies.own.naming import Named, named_code
from sim.testing.compiled_check import Speed, different, measured_speed
from tests.packages import POLICY
from tests.tui.cli.program import error, schedscope

pytestmark = pytest.mark.usefixtures("consent")
COMPILER = find_spec("Cython") is not None and find_spec("setuptools") is not None and shutil.which("cc") is not None
needs_compiler = pytest.mark.skipif(not COMPILER, reason="needs Cython, setuptools and a C compiler")
TALKING = POLICY.replace(
    '"""EASY out of a package."""',
    "@by_calls\n    def decide(self, now: Pass):\n        if now.time < 9:\n            print('now', now.time)\n"
    "        Easy.decide(self, now)",
).replace("import Easy\n", "import Easy\nfrom sim.policies.calls import Pass, by_calls\n")


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Named:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    (tmp_path / "fast.py").write_text(TALKING)
    found = named_code("./fast.py")
    assert found is not None
    return found


@pytest.mark.long
@needs_compiler
def test_compiled_policy_makes_the_same_schedules(named: Named, tmp_path: Path) -> None:
    done = schedscope("compile", "./fast.py")
    assert done.returncode == 0, done.stderr
    first, gain, command = done.stdout.splitlines()
    assert first.startswith("fast_compiled.")
    assert first.endswith(": the same schedules as ./fast.py on 108 workloads")
    assert gain.startswith("lublin-320: ")
    run = schedscope(*command.split()[1:], "--jobs", "5")
    assert run.returncode == 0
    assert "step 1, d0 00:00:06: now 6.0" in run.stderr  # what it prints is kept with its step
    (tmp_path / "fast.py").write_text(TALKING + "# changed\n")
    assert error("run", "z-figure4", "--policy", "fast_compiled:Packed") == (
        1,
        "fast_compiled: it was compiled from another content of fast.py; compile it again: schedscope compile fast.py",
    )


@needs_compiler
def test_line_that_cython_refuses_is_named(named: Named, tmp_path: Path) -> None:
    (tmp_path / "fast.py").write_text(TALKING.replace("now.time)", "now.time, unknown_name)"))
    with pytest.raises(SchedscopeError, match=r"^\./fast\.py:\d+: Cython refuses it: undeclared name not builtin: "):
        compile_file(named, tmp_path)
    assert not list(tmp_path.glob("*compiled*"))


def test_compiling_runs_no_code_of_the_file(named: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def built(command: list[str], **given: object) -> subprocess.CompletedProcess[str]:
        out = tmp_path / "built.so"
        out.write_bytes(b"module")
        return subprocess.CompletedProcess(command, 0, f"building\n{out}\n", "")

    monkeypatch.setattr(compiling, "find_spec", lambda name: True)
    monkeypatch.setattr(subprocess, "run", built)
    assert compile_file(named, tmp_path).read_bytes() == b"module"
    assert not (tmp_path / "RAN").exists()


def test_missing_compiler_is_a_line(named: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    with pytest.raises(SchedscopeError, match=r"^compiling needs Cython: pip install 'schedscope\[compile\]'$"):
        compile_file(named, tmp_path)
    monkeypatch.setattr(compiling, "find_spec", lambda name: True)
    failed = subprocess.CompletedProcess([], 1, "", "error: command 'gcc' failed: No such file or directory\n")
    monkeypatch.setattr(subprocess, "run", lambda *given, **named: failed)
    with pytest.raises(SchedscopeError, match=r"^\./fast\.py: the compiler fails: error: command 'gcc' failed"):
        compile_file(named, tmp_path)


@pytest.mark.parametrize("spec", ["easy", "./fast.py@HEAD", "a.b:C"])
def test_only_a_file_can_be_compiled(spec: str) -> None:
    code, told = error("compile", spec)
    assert (code, told.startswith("expected a policy file")) == (2, True)


@dataclass(frozen=True)
class Other(Easy):
    """A subclass of EASY that decides the same."""


def test_different_schedules_are_found() -> None:
    assert different(Easy(), Other()) is None
    told = different(Easy(), FirstComeFirstServed())
    assert told is not None
    assert " d0 00:" in told


def test_speed_is_measured() -> None:
    assert Speed(3.0, 1.5).gain == 2
    assert min(measured_speed(FirstComeFirstServed(), FirstComeFirstServed())) > 0


def test_module_of_another_origin_is_never_outdated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    gone = f"COMPILED_FROM = ({str(tmp_path / 'gone.py')!r}, 'x')\n"
    (tmp_path / "a_moved_module.py").write_text(POLICY + gone)
    assert parse_policy("a_moved_module:Packed", Proof.TYPED)
