import marshal
import struct
import subprocess
import sys
from contextlib import suppress
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path

import pytest

from sim.policies import Policy, parse_policy
from sim.policies.own import sibling_imports
from sim.policies.own.loading import changed, code_of, files_of_code, hash_now
from sim.policies.own.naming import named_code
from sim.policies.own.sibling_imports import MOST_BYTES, MOST_FILES, MOST_PLACES, MOST_TOGETHER, imported_files
from sim.policies.policy import CodeRef
from sim.session.trust import described
from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.tui.own import FCFS, HEAD

pytestmark = pytest.mark.usefixtures("own_program")


@pytest.fixture
def fair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the policy file `fair.py`, which imports `limits.py`, which imports from a package in the same
    folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "fair.py"
    head = HEAD.replace("    def", "    depth = limits.DEPTH\n\n    def")
    path.write_text("import json\nimport limits\n" + head + FCFS)
    (tmp_path / "limits.py").write_text("from shares.depths import DEPTH\n")
    (tmp_path / "shares").mkdir()
    (tmp_path / "shares" / "__init__.py").write_text("")
    (tmp_path / "shares" / "depths.py").write_text("from . import usual\nDEPTH = usual.DEPTH\n")
    (tmp_path / "shares" / "usual.py").write_text("DEPTH = 1\n")
    return path


def depth_of(policy: Policy) -> object:
    return getattr(policy, "depth", None)


def test_all_that_is_imported_from_beside_it_is_found_and_nothing_runs(fair: Path) -> None:
    (fair.parent / "shares" / "usual.py").write_text("1 / 0\n")
    named = named_code("./fair.py")
    assert named is not None
    names = [Path(path).relative_to(fair.parent).as_posix() for path in files_of_code(named)]
    assert names == ["fair.py", "limits.py", "shares/__init__.py", "shares/depths.py", "shares/usual.py"]


def test_changed_import_changes_the_hash_of_the_policy(fair: Path) -> None:
    was = parse_policy("./fair.py")
    (fair.parent / "shares" / "usual.py").write_text("DEPTH = 2\n")  # same length, within the same second
    assert was.code is not None
    assert changed(was.code)
    now = parse_policy("./fair.py")
    assert (depth_of(was), depth_of(now)) == (1, 2)
    assert type(was) is not type(now)
    assert type(parse_policy("./fair.py")) is type(now)


def test_two_folders_have_each_their_own(fair: Path) -> None:
    other = fair.parent / "other"
    other.mkdir()
    (other / "fair.py").write_text(fair.read_text())
    (other / "limits.py").write_text("DEPTH = 7\n")
    assert [depth_of(parse_policy(spec)) for spec in ("./fair.py", "other/fair.py", "./fair.py")] == [1, 7, 1]


def test_imports_are_found_and_hide_nothing(fair: Path) -> None:
    (fair.parent / "pytest.py").write_text("1 / 0\n")
    fair.write_text("import pytest\n" + fair.read_text())
    assert depth_of(parse_policy("./fair.py")) == 1
    files = {"/a/b.py": b"import c", "/a/c.py": b"import b, d, os", "/a/d.py": b"not python ("}
    assert imported_files("/a/b.py", files["/a/b.py"], files.get) == {p: files[p] for p in ("/a/c.py", "/a/d.py")}


def test_a_revision_imports_what_was_there_then(fair: Path) -> None:
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@here", *words], check=True, cwd=fair.parent)
    (fair.parent / "limits.py").write_text("DEPTH = 9\n")
    assert [depth_of(parse_policy(spec)) for spec in ("./fair.py@HEAD", "./fair.py")] == [1, 9]


def test_a_mistake_in_it_is_reported_with_its_place(fair: Path) -> None:
    (fair.parent / "limits.py").write_text("DEPTH = 1 / 0\n")
    with pytest.raises(ParameterError, match=r"limits.py:1: ZeroDivisionError: division by zero: DEPTH = 1 / 0"):
        parse_policy("./fair.py")


def test_what_it_prints_is_kept_with_the_step(fair: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (fair.parent / "limits.py").write_text("DEPTH = 1\n\ndef say() -> None:\n    print('here')\n")
    fair.write_text(fair.read_text().replace("        for job", "        limits.say()\n        for job"))
    run(read("z-figure4"), "./fair.py")
    assert capfd.readouterr() == ("", "")


def test_an_order_out_of_a_file_is_known_by_its_content(fair: Path) -> None:
    late = "class Late(Order):\n    def key(self, job, now): return -now\n"
    fair.write_text("from sim.policies.orders import Order\n" + late)
    policy = parse_policy("easy:order=./fair.py:Late")
    ((cls, ref),) = code_of(policy).items()
    assert (cls.__name__, ref.name) == ("Late", str(fair))
    assert code_of(parse_policy("easy")) == {}


@pytest.mark.parametrize("kind", ["one file", "an imported file", "files together", "many files", "many places"])
def test_too_much_is_reported_and_not_looked_through(fair: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()
    imports = sibling_imports._imports

    def looked_through(content: bytes, package: str) -> tuple[str, ...]:
        read.append(len(content))
        return imports(content, package)

    monkeypatch.setattr(sibling_imports, "_imports", looked_through)
    folder = fair.parent
    large = "import limits\n" + "1\n" * (MOST_BYTES // 2)
    match kind:
        case "one file":
            fair.write_text(large)
        case "an imported file":
            (folder / "limits.py").write_text(large)
        case "files together":
            for name in ("limits", "one", "two"):
                (folder / f"{name}.py").write_text("import one, two\n" + "#" * (MOST_TOGETHER // 3))
        case "many files":
            for number in range(MOST_FILES + 1):
                (folder / f"one{number}.py").write_text(f"import one{number + 1}\n")
            (folder / "limits.py").write_text("import one0\n")
        case "many places":
            (folder / "limits.py").write_text("import " + ", ".join(f"a{number}" for number in range(MOST_PLACES)))
    ref = CodeRef(str(fair), "0" * 64)
    assert "too large to look through: " in described(ref)
    assert changed(ref)
    with pytest.raises(ParameterError, match=r"^\S*\.py: too large to look through: "):
        parse_policy("./fair.py")
    assert max(read, default=0) <= MOST_BYTES
    assert sum(read) <= 3 * (MOST_TOGETHER + 2 * MOST_BYTES)


def test_a_name_of_endless_packages_is_not_followed(fair: Path) -> None:
    fair.write_text(f"import {'a.' * (MOST_BYTES // 16)}a\n")
    assert imported_files(str(fair), fair.read_bytes(), lambda path: pytest.fail(path)) == {}


HARM = "from pathlib import Path\nPath('RAN').write_text('it ran')\n"


def compiled(source: str, harmless: str = "") -> bytes:
    """Return compiled code of `source`. With `harmless`, Python takes it for the compiled code of that other source,
    without a check."""
    if harmless:
        hashed = source_hash(harmless.encode())
        return MAGIC_NUMBER + struct.pack("<I", 1) + hashed + marshal.dumps(compile(source, "x", "exec"))
    return MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "x", "exec"))


@pytest.mark.parametrize(
    "kind", ["alone", "in a package", "of the package", "of the file", "a name of Python elsewhere", "library"]
)
@pytest.mark.parametrize("named", ["file", "module"])
def test_only_what_was_read_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, named: str) -> None:
    """Python may prefer a compiled file to the source next to it, but only the source that the program has read may
    run."""
    monkeypatch.chdir(tmp_path)
    tag, plain = sys.implementation.cache_tag, "x = 1\n"
    imported = {"a name of Python elsewhere": "winreg", "in a package": "helper.sub"}.get(kind, "helper")
    (tmp_path / "own_policy_of_a_test.py").write_text(HEAD + FCFS + f"\nimport {imported}\n")
    match kind:
        case "alone":
            (tmp_path / "helper.pyc").write_bytes(compiled(HARM))
        case "in a package":
            (tmp_path / "helper").mkdir()
            (tmp_path / "helper" / "__init__.py").write_text(plain)
            (tmp_path / "helper" / "sub.pyc").write_bytes(compiled(HARM))
        case "of the package":
            (tmp_path / "helper" / "__pycache__").mkdir(parents=True)
            for path in ("helper.py", "helper/__init__.py"):
                (tmp_path / path).write_text(plain)
            (tmp_path / "helper" / "__pycache__" / f"__init__.{tag}.pyc").write_bytes(compiled(HARM, plain))
        case "of the file":
            (tmp_path / "__pycache__").mkdir()
            (tmp_path / "helper.py").write_text(plain)
            own = (tmp_path / "own_policy_of_a_test.py").read_text()
            for name, text in (("helper", plain), ("own_policy_of_a_test", own)):
                (tmp_path / "__pycache__" / f"{name}.{tag}.pyc").write_bytes(compiled(HARM, text))
        case "library":
            (tmp_path / f"helper.{tag}.so").write_bytes(b"\x7fELF")
        case _:
            (tmp_path / "winreg.py").write_text(HARM)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    with suppress(SchedscopeError):
        parse_policy("./own_policy_of_a_test.py" if named == "file" else "own_policy_of_a_test:Fair")
    assert not (tmp_path / "RAN").exists()


def test_a_link_to_the_folder_on_the_path_is_that_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "real"
    (folder / "tools_of_a_link").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(tmp_path / "link"))
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    (folder / "tools_of_a_link" / "__init__.py").touch()
    (folder / "tools_of_a_link" / "own.py").write_text("from tools_of_a_link import fast\n" + HEAD + FCFS)
    (folder / "tools_of_a_link" / "fast.pyc").write_bytes(compiled(HARM))
    with suppress(SchedscopeError):
        parse_policy("tools_of_a_link.own:Fair")
    assert not (folder / "RAN").exists()


def test_module_and_packages_are_identified_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    (tmp_path / "tools_of_a_test" / "deep").mkdir(parents=True)
    (tmp_path / "tools_of_a_test" / "deep" / "own.py").write_text(HEAD + FCFS + "\nfrom tools_of_a_test import more\n")
    (tmp_path / "tools_of_a_test" / "more.py").write_text("x = 1\n")
    first = parse_policy("tools_of_a_test.deep.own:Fair")
    assert parse_policy("tools_of_a_test.deep.own:Fair") == first
    was = hash_now("tools_of_a_test.deep.own")
    (tmp_path / "tools_of_a_test" / "more.py").write_text("x = 2\n")
    assert hash_now("tools_of_a_test.deep.own") != was
    assert type(parse_policy("tools_of_a_test.deep.own:Fair")) is not type(first)
