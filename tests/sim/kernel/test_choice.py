"""The environment chooses whether the loop runs, and the program says why a loop is not compiled.

Also tests sim.kernel.parts.
"""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sim.kernel import choice


def test_the_environment_says_which_loop_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.SETTING, raising=False)
    assert choice.chosen() is choice.compiled()
    assert choice.described().startswith("compiled" if choice.compiled() else "not compiled: ")
    monkeypatch.setenv(choice.SETTING, "off")
    assert (choice.chosen(), choice.described()) == (None, "off")


def test_where_nothing_is_compiled_the_engine_makes_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.SETTING, raising=False)
    monkeypatch.setattr(choice, "compiled", lambda: None)
    assert choice.chosen() is None


def test_what_was_compiled_of_other_files_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "import_module", lambda name: SimpleNamespace(MADE_OF="others"))
    assert choice.compiled.__wrapped__() is None


GCC = (
    "In file included from compiled.c:16:\ncompiled.c:25:10: fatal error: Python.h: No such file\ncompilation ended.\n"
)


def test_version_names_the_error_of_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(choice.SETTING, raising=False)
    monkeypatch.setattr(choice, "compiled", lambda: None)
    monkeypatch.setattr(choice, "FOLDER", tmp_path)
    monkeypatch.setattr(choice, "import_module", lambda name: SimpleNamespace(MADE_OF="others"))
    assert choice.described() == "not compiled: it was built from other sources; install schedscope again"
    (tmp_path / choice.FAILURE).write_text(GCC)
    assert choice.described() == "not compiled: compiled.c:25:10: fatal error: Python.h: No such file"


CLASS = """
class Line:
    def __init__(self, jobs: int) -> None:
        self.at, self.count = times(jobs), 0
        self.named: list[str] = []

    def _is_longer(self, other: Times) -> bool:
        longer = len(other) > self.count
        return longer

    def _name(self, rank: int) -> None:
        self.named.append(str(rank))


def times(count: int) -> Times:
    return []
"""


def c_types() -> dict[str, Any]:
    """Return the functions of `.ci/c_types.py`, which writes the C types for Cython: mapping from name to function."""
    return runpy.run_path(str(Path(choice.__file__).parents[2] / ".ci" / "c_types.py"))


def test_module_for_cython_has_the_types_of_the_annotations(tmp_path: Path) -> None:
    (tmp_path / "line.py").write_text(CLASS)
    (tmp_path / "user.py").write_text("line.at[0] = 1.0\nsetattr(line, 'named', [])")
    text = c_types()["module_of"]([tmp_path / "line.py"], [tmp_path / "user.py"])
    assert "    at = cython.declare(cython.double[::1], visibility='readonly')" in text, "only its content is set"
    assert "    count = cython.declare(cython.Py_ssize_t)\n" in text, "Python does not ask for it"
    assert "    named = cython.declare(list, visibility='public')" in text
    longer, named = text.index("def _is_longer"), text.index("def _name")
    assert "@cython.locals(other=cython.double[::1], longer=cython.bint)" in text[:longer]
    assert "@cython.exceptval(check=False)" in text[:longer]
    assert "exceptval" not in text[longer:named], "an error in a list would be lost"
    assert "def _name(self, rank) -> cython.void:" in text


def test_policy_is_compiled_with_numbers_for_jobs_and_reasons() -> None:
    text = c_types()["module_of"]([Path(choice.__file__).parents[1] / "policies" / "backfill" / "easy.py"], [])
    assert "START_ENDSBEFORE = cython.declare(cython.Py_ssize_t, form_of(Start, EndsBefore))" in text
    assert "now._start_job(job, START_ENDSBEFORE, head, shadow, ends)" in text
    assert "extra -= now.procs[job]" in text
    assert "depth = cython.declare(cython.Py_ssize_t, visibility='public')" in text
    assert "keep" not in text, "nobody watches the compiled loop"


ORDERS = """
class Order:
    pass

class {name}(Order):
    name: ClassVar[str] = "late"
    by_clock: ClassVar[bool] = True
    grace: int = parameter(60, "seconds that do not count")

    def key(self, job: Job, now: float) -> float:
        return {key}

    def twice(self, seconds: float) -> float:
        return 2 * seconds
"""


@pytest.mark.parametrize(
    ("key", "compiled"),
    [
        ("self.grace - max(now - job.submit, 0)", "self.grace - max(now - float(run.submit[job]), 0)"),
        ("power(job.queue, self.grace)", "pow(float(cython.cast(OrderedLoop, run).queue_number[job]), self.grace)"),
        ("self.twice(job.estimate) - self.twice(now)", "self.kept_0[job] - self.twice(now)"),
        ("self.usage - now", None),
        ("now - job.user", None),
        ("now // 60", None),
        ("exp2(now)", None),
        ("WEEK - now", None),
    ],
)
def test_order_by_the_clock_is_compiled_if_columns_and_c_have_all(
    tmp_path: Path, key: str, compiled: str | None
) -> None:
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "orders.py").write_text(ORDERS.format(name="Late", key=key))
    text = c_types()["module_of"]([tmp_path / "sim" / "orders.py"], [])
    assert ("class LateKeys" in text, f"return {compiled}" in text) == (compiled is not None, compiled is not None)


def test_attribute_of_unknown_type_is_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "line.py").write_text(
        CLASS.replace("self.count = times(jobs), 0", "self.count = times(jobs), jobs.real")
    )
    with pytest.raises(TypeError, match="Line: no type is known of count"):
        c_types()["module_of"]([tmp_path / "line.py"], [])


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return `.ci/compile.py`, which compiles the loop at installation."""
    interface = "hatchling.builders.hooks.plugin.interface"
    monkeypatch.setitem(sys.modules, interface, SimpleNamespace(BuildHookInterface=object))
    spec = spec_from_file_location("compile_hook", Path(choice.__file__).parents[2] / ".ci" / "compile.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_failed_build_keeps_what_the_compiler_printed(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(made: Path) -> None:
        raise subprocess.CalledProcessError(1, ["gcc"], stderr=GCC.encode())

    monkeypatch.setattr(hook, "compile_to", fail)
    monkeypatch.setattr(hook, "KERNEL", tmp_path)
    warned: list[str] = []
    compiling = hook.Compile()
    compiling.app = SimpleNamespace(display_warning=warned.append)
    compiling.initialize("editable", {})
    compiling._folder.cleanup()
    assert (tmp_path / choice.FAILURE).read_text() == GCC
    assert GCC in warned[0]


COMPILED = """
import cython

@cython.cclass
class Line:
    at = cython.declare(cython.double[::1], visibility="public")

    def __init__(self):
        self.at = None
"""


def test_each_kind_of_rare_function_is_found_in_what_cython_writes(hook: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "line.py").write_text(f"# cython: language_level=3, {hook.OPTIONS}\n{COMPILED}")
    hook.run(str(tmp_path), sys.executable, "-c", hook.TRANSLATE, "line.py")
    text = (tmp_path / "line.c").read_text()
    marked = hook.marked(text)  # a warning, which fails the test, names a kind that is not found
    assert "\nRARELY static int __pyx_pf_4line_4Line___init__(" in marked
    with pytest.warns(UserWarning, match="no function in C for: constructors"):
        hook.marked(text.replace("__init__", "__begin__").replace("__cinit__", "__begin__"))
