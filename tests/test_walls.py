"""Architecture of the project: which packages ("rooms") may import which, and what a policy must declare."""

import ast
import dataclasses
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from sim.engine.moment import Moment
from sim.policies import POLICIES
from sim.policies.orders import Order
from sim.policies.parameters import parameters_of
from sim.policies.policy import Policy

ROOT = Path(__file__).resolve().parents[1]
SIM = ROOT / "sim"
FILES = sorted(SIM.rglob("*.py"))
ENGINE_FACE = {"blind_run", "check", "checkpoint", "engine", "moment", "policy_calls", "schedule", "snapshot", "view"}
"""Modules of `sim.engine` for other rooms; what they ask of a run, a view of it answers."""
FOR_TYPES = {"sim.engine.moment", "sim.engine.stay", "tui.screens.replay.screen"}
"""Modules whose objects are given to what they import, which names them in its types only: a moment to a policy, the
replay screen to its controllers
"""
FLOORS = (
    ("sim.annexes", "sim.support", "sim.compiled", "sim.build_hook"),
    ("sim.workload",),
    ("sim.machine",),
    ("sim.decisions",),
    ("sim.policies",),
    ("sim.history",),
    ("sim.live.cluster",),
    ("sim.engine",),
    ("sim.code",),
    ("sim.timeline", "sim.metrics", "sim.why"),
    ("sim.stops", "sim.life", "sim.session"),
    ("sim.comparison", "sim.live"),
    ("sim.authoring", "sim.lab", "sim.classroom"),
    ("sim",),
    ("tui.annexes", "tui.memory", "tui.thread_results", "tui.look"),
    ("tui.chart",),
    ("tui.replay",),
    ("tui.panels", "tui.widgets"),
    ("tui.screens",),
    ("tui.sessions",),
    ("tui.app", "tui.crash_report", "tui.shutdown", "tui.menus"),
    ("tui.cli", "tui.__main__", "tui.authoring", "tui.classroom", "tui.lab", "tui.live", "tui.record"),
)
"""Layers of packages and modules, lowest first: each may import only from its own layer and lower ones."""
_FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ANNEXES = {
    **{name: (f"sim.{name}", f"tui.{name}") for name in ("authoring", "classroom", "lab", "live")},
    "record": ("tui.record",),
}
"""Annexes, each with its packages and modules; all other files are the main building, which imports none of them."""
_ANNEXE_OF = {room: annexe for annexe, rooms in ANNEXES.items() for room in rooms}
BETWEEN_ANNEXES = {("live", "lab"), ("record", "classroom")} | {
    ("classroom", annexe) for annexe in ("authoring", "lab", "live")
}
"""Pairs of annexes of which the first imports the second."""
MOST_LINES = 700
WRITTEN = {".py", ".pyx", ".js", ".css", ".tcss", ".html", ".md", ".toml"}
"""Suffixes of files that people edit, unlike drawings and generated output"""
POLICY_FILES = [path for path in FILES if "policies" in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(SIM).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


class Seen(NamedTuple):
    """What the tests ask of a file, found in one walk through it."""

    imports: tuple[tuple[str, str], ...]
    """(module, name) for every import, also inside functions and for type checkers"""
    for_types: frozenset[str]
    """Modules that are imported for type checkers only"""
    assigned: tuple[str, ...]
    """`thing.attribute` wherever the file writes to or deletes an attribute of something other than `self`"""
    asked: frozenset[str]
    """Names of all attributes of `now` and `view`, the moment that a policy is given"""
    reached: frozenset[str]
    """`owner.attribute` for every attribute that is read"""
    running: frozenset[str]
    """Names by which code could run"""


@cache
def seen(path: Path) -> Seen:
    imports, assigned, asked = list[tuple[str, str]](), list[str](), set[str]()
    reached, running, for_types = set[str](), set[str](), set[str]()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            imports += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)} imports relatively"
            imports += ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for_types |= {each.module or "" for each in node.body if isinstance(each, ast.ImportFrom)}
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store | ast.Del) and (owner := ast.unparse(node.value)) != "self":
                assigned.append(f"{owner}.{node.attr}")
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            reached.add(f"{owner}.{node.attr}")
            if owner in ("now", "view") and isinstance(node.value, ast.Name):
                asked.add(node.attr)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Name | ast.Attribute | ast.Call):
            running |= code_running_names(node)
    return Seen(tuple(imports), frozenset(for_types), tuple(assigned), *map(frozenset, (asked, reached, running)))


def imports(path: Path) -> tuple[tuple[str, str], ...]:
    return seen(path).imports


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def floor_of(module: str) -> int:
    return _FLOOR_OF[max((room for room in _FLOOR_OF if f"{module}.".startswith(f"{room}.")), key=len)]


@cache
def arrows() -> dict[str, set[str]]:
    """Return for each file of the project the set of files that it imports."""
    files = {dotted(path): path for top in ("sim", "tui") for path in (ROOT / top).rglob("*.py")}
    known: dict[str, set[str]] = {}
    for name, path in files.items():
        named = {f"{module}.{what}" if f"{module}.{what}" in files else module for module, what in imports(path)}
        known[name] = (named & files.keys()) - {name} - (FOR_TYPES & seen(path).for_types)
    return known


def reached_from(name: str) -> set[str]:
    """Return all files that a file imports, directly or not."""
    seen: set[str] = set()
    ahead = [*arrows()[name]]
    while ahead:
        if (module := ahead.pop()) not in seen:
            seen.add(module)
            ahead += arrows()[module]
    return seen


def test_every_room_has_its_floor() -> None:
    rooms = {room for rooms in FLOORS for room in rooms}
    assert {".".join(name.split(".")[:2]) for name in arrows()} - {"tui"} <= rooms


def test_no_arrow_points_upwards() -> None:
    upwards = {
        f"{name} -> {module}"
        for name, known in arrows().items()
        for module in known
        if name != "tui" and floor_of(module) > floor_of(name)
    }
    assert sorted(upwards) == []


def annexe_of(module: str) -> str | None:
    """Return the annexe of a module; None for the main building."""
    return next((annexe for room, annexe in _ANNEXE_OF.items() if f"{module}.".startswith(f"{room}.")), None)


def test_every_room_of_an_annexe_is_there() -> None:
    assert [room for room in _ANNEXE_OF if not any(f"{name}.".startswith(f"{room}.") for name in arrows())] == []


def test_the_main_building_imports_no_annexe() -> None:
    crossing = {
        f"{name} -> {module}"
        for name, known in arrows().items()
        for module in known
        if annexe_of(name) is None and annexe_of(module) is not None
    }
    assert sorted(crossing) == []


def test_annexes_import_each_other_as_listed() -> None:
    pairs = {(annexe_of(name), annexe_of(module)) for name, known in arrows().items() for module in known}
    assert {(a, b) for a, b in pairs if a != b and a and b} == BETWEEN_ANNEXES


def test_no_file_knows_itself_by_way_of_others() -> None:
    assert sorted(name for name in arrows() if name in reached_from(name)) == []


def test_questions_about_paths_never_fail() -> None:
    """`os.path` answers False where `Path` raises: for names that are too long, and in folders that cannot be read."""
    asking = re.compile(r"(?<!entry)\.(exists|is_file|is_dir|is_symlink)\(\)")
    files = [path for top in ("sim", "tui") for path in (ROOT / top).rglob("*.py")]
    assert [path.name for path in files if asking.search(path.read_text(encoding="utf-8"))] == []


def test_no_file_is_too_long_to_be_read() -> None:
    written = [path for top in ("sim", "tui", "tests") for path in (ROOT / top).rglob("*.*") if path.suffix in WRITTEN]
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in written}
    assert {name for name, count in lines.items() if count > MOST_LINES} == set()


def test_the_files_are_found() -> None:
    assert {"engine/engine.py", "policies/backfill/easy.py", "workload/model.py"} <= {name_of(path) for path in FILES}


def test_sim_imports_numpy_the_standard_library_and_itself() -> None:
    files = [path for path in FILES if path.name != "build_hook.py"]  # of the build only, which wheels leave out
    roots = {(name_of(path), module.partition(".")[0]) for path in files for module, _ in imports(path)}
    known = {"sim", "numpy", "librt", "mypy_extensions"} | sys.stdlib_module_names
    assert {found for found in roots if found[1] not in known} == set()


def test_policies_import_no_engine_machine_or_history() -> None:
    names = {"Engine", "Machine", "History", "Past"}
    known = [(name_of(path), name) for path in POLICY_FILES for _, name in imports(path)]
    assert known
    assert [found for found in known if found[1] in names] == []


def test_policies_use_only_public_names_of_their_moment() -> None:
    asked = {(name_of(path), name) for path in POLICY_FILES for name in seen(path).asked}
    assert asked
    assert {found for found in asked if found[1].startswith("_") or not hasattr(Moment, found[1])} == set()


def test_only_the_core_changes_the_state_of_a_simulation() -> None:
    # whether reasons are wanted (`curious`) is no state of the simulation
    state = re.compile(r"\b(engine|machine|history|moment|present|view|waiting)\b(?!\.curious$)")
    changing = {name_of(path) for path in FILES if any(map(state.search, seen(path).assigned))}
    assert changing
    assert {name for name in changing if not name.startswith("engine/")} == set()


def outside_the_engine() -> list[Path]:
    rooms = (SIM / "engine",)
    files = [path for top in ("sim", "tui") for path in (ROOT / top).rglob("*.py")]
    return [path for path in files if not any(map(path.is_relative_to, rooms))]


def test_other_rooms_import_only_the_face_of_the_engine() -> None:
    names = set(map(dotted, outside_the_engine()))
    known = {(name, module) for name, modules in arrows().items() if name in names for module in modules}
    asked = {found for found in known if found[1].startswith("sim.engine.")}
    assert asked
    assert {found for found in asked if found[1].removeprefix("sim.engine.") not in ENGINE_FACE} == set()


def test_other_rooms_reach_no_state_of_an_engine() -> None:
    state = re.compile(r"\w*(engine|cursor)\.(present|_\w+)|(present|moment|now|view)\._(?!replace$)\w+")
    reached = {(dotted(path), name) for path in outside_the_engine() for name in seen(path).reached}
    assert {found for found in reached if state.fullmatch(found[1])} == set()


def test_the_engine_imports_no_policy() -> None:
    modules = {module for module, _ in imports(SIM / "engine" / "engine.py") if module.startswith("sim.policies")}
    assert modules <= {"sim.policies.policy", "sim.policies.registry"}


def test_the_engine_names_no_policy() -> None:
    classes = {cls.__name__ for cls in POLICIES.values()}
    for node in ast.walk(parsed(SIM / "engine" / "engine.py")):
        if isinstance(node, ast.Constant):
            assert node.value not in POLICIES.names
        elif isinstance(node, ast.Name):
            assert node.id not in classes


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_policy_is_documented(name: str) -> None:
    cls = POLICIES[name]
    assert cls.__doc__
    assert cls.__doc__ != Policy.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")
    assert cls.paper


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_field_of_a_policy_is_a_parameter_with_a_meaning(name: str) -> None:
    cls = POLICIES[name]
    known = parameters_of(cls)
    assert all(parameter.meaning and parameter.range for parameter in known.values())
    for field in dataclasses.fields(cls):
        assert field.name in known or isinstance(field.default, Order)


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_policy_is_frozen_and_holds_no_state(name: str) -> None:
    made = POLICIES[name]()
    assert hash(made) == hash(POLICIES[name]())
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.remembered = 1  # type: ignore[attr-defined]


# Code that runs

RUNS_CODE = {"import_module", "__import__", "find_spec", "spec_from_file_location", "exec_module", "load_module"} | {
    "module_from_spec", "run_path", "run_module", "entry_points", "SourceFileLoader", "create_subprocess_exec",
    "create_subprocess_shell", "startfile", "fork", "forkpty", "popen", "posix_spawn", "posix_spawnp",
}  # fmt: skip
"""Names by which Python finds, imports or executes code, or starts a program."""
RUNS_CODE_ALONE = {"exec", "eval", "compile", "system", "breakpoint"}
"""More names of this kind, which count only as plain names: as attributes they can be harmless, such as
`re.compile`."""
RUNS_CODE_MODULES = {
    "subprocess", "pickle", "marshal", "shelve", "runpy", "multiprocessing", "pdb", "code", "pty", "imp",
}  # fmt: skip
ITS_ROOM = "sim/policies/own/"
"""The package in which user-defined code is found and, with consent, run"""
HARMLESS = {
    "sim/__init__.py": "its own rooms, from a table",
    "sim/annexes.py": "its own annexes, from a table",
    "sim/compiled.py": "its own modules, compiled",
    "sim/build_hook.py": "the compilers, during an installation",
    "sim/live/cluster/slurm/commands.py": "Slurm's commands and ssh, each written there; no file chooses a word",
    "sim/support/notebook.py": "the drawing code of this program, by the entry point of its own installation",
    "sim/support/optional_imports.py": "libraries of extras, each named where it is asked for",
    "sim/classroom/grading/outside.py": "this program, in which only the code of submissions runs, behind walls",
    "sim/classroom/grading/walls.py": "nothing: a fork that must be impossible is tried",
    "tui/classroom/graded_tests.py": "pytest, with the tests that the teacher names",
    "sim/lab/copies.py": "traces that this program has packed for its workers",
    "sim/lab/pool.py": "workers of this program",
    "sim/support/captured_output.py": "the debugger, when a policy that runs asks for it",
    "sim/session/sources.py": "a branch of a timeline is called a fork",
    "sim/timeline/timeline.py": "a branch of a timeline is called a fork",
    "tui/chart/svg/drawing.py": "resvg_py, by its name",
    "tui/cli/main.py": "its own commands, from a table",
    "tui/cli/user_policies.py": "the debugger, when a policy that runs asks for it",
    "tui/replay/controller.py": "a branch of a timeline is called a fork",
    "tui/screens/dialogs/__init__.py": "its own dialogs, from a table",
    "tui/classroom/web/podium.py": "the server of a presentation, forked from this program",
    "tui/classroom/web/fork_server.py": "processes of this program, one a visitor",
}
"""For each file that uses such a name for code that no file, session or visitor can choose: what the code is."""


def code_running_names(node: ast.AST) -> set[str]:
    """Return the names in a part of a file's syntax, without the parts inside it, by which code could run."""
    match node:
        case ast.Import(names=names):
            return {alias.name for alias in names if alias.name.partition(".")[0] in RUNS_CODE_MODULES}
        case ast.ImportFrom(module=module, names=names):
            found = {alias.name for alias in names if alias.name in RUNS_CODE}
            return found | ({module} if module and module.partition(".")[0] in RUNS_CODE_MODULES else set())
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in RUNS_CODE or name[:6] in (
            "execv",
            "execve",
            "execvp",
            "spawnv",
            "spawnl",
        ):
            return {name}
        case ast.Call(func=ast.Name(id=name)) if name in RUNS_CODE_ALONE:
            return {name}
        case ast.Attribute(value=ast.Name(id="os" | "builtins"), attr=name) if name in RUNS_CODE_ALONE:
            return {name}
    return set()


def test_code_runs_in_one_room_only() -> None:
    files = [path for top in ("sim", "tui") for path in (ROOT / top).rglob("*.py")]
    running = {path.relative_to(ROOT).as_posix() for path in files if seen(path).running}
    assert {name for name in running if not name.startswith(ITS_ROOM)} == set(HARMLESS)


def test_nothing_runs_in_that_room_before_consent_is_asked_for() -> None:
    """Every function of `loading.py` that runs something asks for consent first; functions that only find a file are
    listed."""
    looks_only = {"file_of_module"}
    functions = [n for n in ast.walk(parsed(ROOT / ITS_ROOM / "loading.py")) if isinstance(n, ast.FunctionDef)]
    running = {"import_module", "exec", "subprocess.run", "point.load"}
    asking = set()
    for function in functions:
        calls = [ast.unparse(n.func) for n in ast.walk(function) if isinstance(n, ast.Call)]
        if running & set(calls):
            assert "heed_consent" in calls, function.name
            asking.add(function.name)
    assert asking == {"_load_module", "plugin", "_from_git", "_module_of"}
    names = {f.name for f in functions if {"find_spec"} & {getattr(n, "attr", "") for n in ast.walk(f)}}
    assert names == looks_only
