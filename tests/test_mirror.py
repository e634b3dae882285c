"""Every module of the project has its test at the same place in `tests`, or a test that names it in its docstring.

`sim/why/last_change.py` is tested by `tests/sim/why/test_last_change.py`, or by a test whose docstring has a line
`Also tests sim.why.last_change, sim.why.facts.`
"""

import ast
import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent


def says_something(path: Path) -> bool:
    return path.name != "__init__.py" or any(
        not isinstance(node, ast.Expr) for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def mirrored(path: Path) -> str:
    return ".".join((*path.parent.relative_to(TESTS).parts, path.stem.removeprefix("test_")))


def also_tested(path: Path) -> list[str]:
    """Return the modules that the test's docstring lists after "Also tests"."""
    text = path.read_text(encoding="utf-8")
    said = ("Also tests " in text and ast.get_docstring(ast.parse(text))) or ""
    return [
        name for line in re.findall(r"^Also tests ((?:[^.]|\.\w)*)\.$", said, re.M) for name in re.split(r",\s+", line)
    ]


FILES = {dotted(path) for top in ("sim", "tui") for path in (ROOT / top).rglob("*.py") if says_something(path)}
HOUSE = [path for top in ("sim", "tui") for path in (TESTS / top).rglob("test_*.py")]


def test_every_file_has_one_test() -> None:
    tested = {mirrored(path) for path in HOUSE} | {name for path in HOUSE for name in also_tested(path)}
    assert sorted(FILES - tested) == []
    assert sorted({name for path in HOUSE for name in also_tested(path)} - FILES) == []
    said = Counter(name for path in HOUSE for name in {mirrored(path), *also_tested(path)} if name in FILES)
    assert [name for name, places in said.items() if places > 1] == []


def test_no_two_tests_have_one_name() -> None:
    """A module and a folder of the same name would hide each other, because tests are imported by their paths."""
    names = Counter(dotted(path) for path in TESTS.rglob("*.py"))
    folders = {dotted(path.parent) for path in TESTS.rglob("*.py")}
    assert not [name for name, count in names.items() if count > 1 or name in folders]
