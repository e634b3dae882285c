import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sim.engine.engine import Engine
from sim.policies import POLICIES, parse_policy, written_policy
from sim.policies.orders import ORDERS
from sim.policies.own import loading as loader
from sim.policies.own.consent import OwnCodeError
from sim.policies.own.loading import changed, file_of_module, hash_now, newest
from sim.policies.own.naming import PLUGINS, code_in, full_spec
from sim.policies.policy import CodeRef, full_policy
from sim.support.errors import ParameterError
from sim.timeline.timeline import Timeline
from sim.workload.replay import read

pytestmark = pytest.mark.usefixtures("own_program")

FAIR = """
from __future__ import annotations
from collections.abc import Iterator
from dataclasses import dataclass
from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.policies.backfill.easy import Easy
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.engine.moment import Moment
from sim.workload.model import Job

@dataclass(frozen=True)
class Fair(Policy):
    '''Fair to all.'''
    halflife: float = parameter(7.0, "days", low=0.5)

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in view.queue:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
"""
ORDER = """
@dataclass(frozen=True)
class Twice(Order):
    '''The widest first.'''
    name = "twice"
    by: float = parameter(2.0, "how much", low=0)

    def key(self, job: Job, now: float) -> float:
        return -job.procs * self.by
"""


@pytest.fixture
def fair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "fair.py"
    path.write_text(FAIR)
    return path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("fair.py", "./fair.py"),
        (" ./fair.py:halflife=3 ", "./fair.py:halflife=3"),
        ("./fair.py:Fair", "./fair.py"),
        ("./fair.py:Fair:halflife=7,halflife=2", "./fair.py:halflife=2"),
    ],
)
def test_a_file_is_named_by_its_path(fair: Path, typed: str, meant: str) -> None:
    policy = parse_policy(typed)
    assert written_policy(policy) == meant
    assert parse_policy(meant) == policy
    assert full_policy(policy).startswith("./fair.py:halflife=")


def test_elsewhere_it_is_called_by_its_whole_path(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fair.parent / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert written_policy(parse_policy(f"{fair}:halflife=2")) == f"{fair}:halflife=2"
    assert full_spec(f"easy:order={fair}:Twice,by=3") == f"easy:order={fair}:Twice,by=3"


def test_a_spec_that_means_the_same_everywhere(fair: Path) -> None:
    assert full_spec("./fair.py:halflife=2") == f"{fair}:halflife=2"
    assert full_spec("easy:order=fair.py:Twice,by=3") == f"easy:order={fair}:Twice,by=3"
    assert full_spec("easy:order=sjf") == "easy:order=sjf"
    assert full_spec("fair.py@HEAD:order=fair.py:Twice,by=3") == f"{fair}@HEAD:order={fair}:Twice,by=3"
    assert full_spec("a.b:C:order=fair.py") == f"a.b:C:order={fair}"


@pytest.mark.parametrize("spec", ["easy", "easy:order=sjf", "eazy", "multiqueue:classes=1000/10000", "", ":", "this"])
def test_a_name_is_no_code(spec: str) -> None:
    assert not code_in(spec)


def test_the_same_content_is_the_same_class_and_another_content_another(fair: Path) -> None:
    first, again = parse_policy("./fair.py"), parse_policy("fair.py")
    assert (first, type(first)) == (again, type(again))
    ref = type(first).code
    assert ref is not None
    assert ref == newest(str(fair))
    assert changed(ref) is False
    fair.write_text(FAIR.replace("7.0", "9.0"))
    assert changed(ref) is True
    second = parse_policy("./fair.py")
    assert (second.halflife, first.halflife) == (9.0, 7.0)  # type: ignore[attr-defined]
    assert second != first
    assert POLICIES["./fair.py"] is type(second)
    assert "./fair.py" not in list(POLICIES)
    fair.unlink()
    assert changed(ref) is None


def test_a_run_under_it_can_be_rewound_and_another_content_compared(fair: Path) -> None:
    timeline = Timeline(read("z-figure4"), "./fair.py")
    timeline.seek(4)
    before = timeline.snapshot()
    fair.write_text(FAIR.replace("<= view.free", "< view.free"))
    timeline.switch("./fair.py")
    timeline.look_at("main")
    timeline.seek(2)
    timeline.seek(4)
    assert timeline.snapshot() == before


def test_an_order_of_a_file_is_one_like_ours(fair: Path) -> None:
    fair.write_text(FAIR + ORDER)
    policy = parse_policy("easy:order=./fair.py:Twice,by=3")
    assert written_policy(policy) == "easy:order=./fair.py:Twice,by=3"
    assert "twice" not in ORDERS
    engine = Engine(read("z-figure4"), policy)
    engine.run()
    assert engine.schedule().start[2] > 0


def test_it_may_be_registered_in_its_file_and_be_loaded_again(fair: Path) -> None:
    own = FAIR.replace("@dataclass", "@policy('fair', 'me')\n@dataclass")
    own = own.replace("from sim import Policy", "from sim import Policy\nfrom sim.policies.registry import policy")
    for text in (own, own + "\n"):
        fair.write_text(text)
        assert written_policy(parse_policy("./fair.py")) == "./fair.py"
    assert "fair" not in POLICIES


TWO = FAIR + FAIR[FAIR.index("@dataclass") :].replace("Fair", "Other")


@pytest.mark.parametrize(
    ("text", "spec", "says"),
    [
        ("x = (", "./fair.py", "./fair.py:1: SyntaxError: '(' was never closed: x = ("),
        ("import nothere", "./fair.py", "./fair.py:1: ModuleNotFoundError: No module named 'nothere': import nothere"),
        ("\n1 / 0  # \x1b[2J", "./fair.py", "./fair.py:2: ZeroDivisionError: division by zero: 1 / 0  # ?[2J"),
        ("raise BaseException('x')", "./fair.py", "./fair.py:1: BaseException: x: raise BaseException('x')"),
        ("import sys; sys.exit()", "./fair.py", "./fair.py:1: SystemExit: : import sys; sys.exit()"),
        ("x = 1", "./fair.py", "./fair.py: there is no policy in it; one begins like: class Fair(Policy)"),
        (TWO, "./fair.py", "there are 2 policies in it, Fair and Other: say which, like ./fair.py:Fair"),
        (FAIR, "./fair.py:Fare", "./fair.py: no policy 'Fare' in it; did you mean 'Fair'?"),
        (FAIR, "./fair.py:halflife=0", "halflife=0: expected number >= 0.5"),
        (FAIR, "./fair.py:halflive=1", "./fair.py has no parameter 'halflive'; did you mean 'halflife'?"),
        (
            FAIR + "    def __post_init__(self): 1 / 0",
            "./fair.py",
            "./fair.py:23: ZeroDivisionError: division by zero: ",
        ),
        (FAIR, "./fare.py", "./fare.py: no such file; one that runs is written by: schedscope new ./fare.py"),
        (FAIR, "./fair.py@HEAD", "./fair.py@HEAD: git does not have it: "),
        (FAIR, "./fair.py@--version", "./fair.py@--version: --version is no revision"),
        (FAIR, "easy:order=./fair.py:Twice", "./fair.py: no order of the queue 'Twice' in it"),
        (FAIR, "not.there", "not.there: ModuleNotFoundError: No module named 'not.there'"),
        (FAIR, "fair.txt", "fair.txt: no policy: the name of its file must end in .py"),
        (FAIR, "./fair.txt", "no policy './fair.txt'; the name of a file with a policy ends in .py"),
    ],
)
def test_what_is_wrong_is_reported_in_one_line_with_its_place(fair: Path, text: str, spec: str, says: str) -> None:
    fair.write_text(text)
    fair.with_suffix(".txt").write_bytes(b"\xff\x00")
    with pytest.raises(ParameterError) as refused:
        parse_policy(spec)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_does_not_come_back_is_stopped(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "PATIENCE", 0.1)
    fair.write_text("while True:\n    pass\n")
    with pytest.raises(OwnCodeError, match=r"fair.py:\d: stopped, it did not come back for 0 s"):
        parse_policy("./fair.py")


def test_code_is_found_while_a_thread_loads_another_file(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Loaded:
        @property
        def __name__(self) -> str:
            loaded[CodeRef(f"{len(loaded)}.py", "")] = ModuleType("other")  # what the other thread does meanwhile
            return "loaded"

    policy = parse_policy("./fair.py")
    loaded: dict[CodeRef, Any] = {CodeRef("loaded.py", ""): Loaded(), **loader._LOADED}
    monkeypatch.setattr(loader, "_LOADED", loaded)
    assert [ref.name for ref in loader.code_of(policy).values()] == [str(fair)]


def committed(file: Path) -> Path:
    for words in (("init", "-q"), ("add", file.name), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@here", *words], check=True, cwd=file.parent)
    return file.parent


def test_git_starts_no_program_that_a_repository_names(fair: Path) -> None:
    """The repository's settings name a program that git would run to fetch a missing file."""
    folder = committed(fair)
    (folder / ".git" / "config").write_text(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\tpromisor = true\n\turl = {folder}\n'
        f'\tuploadpack = "touch {folder}/RAN; git-upload-pack"\n'
    )
    named = ["git", "rev-parse", "HEAD:fair.py"]
    blob = subprocess.run(named, check=True, cwd=folder, capture_output=True, text=True).stdout.strip()
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(OwnCodeError, match="git does not have it"):
        parse_policy("./fair.py@HEAD")
    assert not (folder / "RAN").exists()


def test_a_commit_in_the_place_of_a_file_is_not_drawn(fair: Path) -> None:
    """In the index of git, a commit is in the place of a file. Git could show its changes with a program that the
    repository's settings name."""
    folder = committed(fair)

    def git(*words: str) -> str:
        asked = ["git", "-c", "user.name=me", "-c", "user.email=me@here", *words]
        return subprocess.run(asked, check=True, cwd=folder, capture_output=True, text=True).stdout.strip()

    (folder / ".gitattributes").write_text("fair.py diff=evil\n")
    git("config", "diff.evil.textconv", f"touch {folder}/RAN; cat")
    git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD')},link.py")
    git("commit", "-q", "-m", "second")
    with pytest.raises(OwnCodeError, match="git does not have it"):
        parse_policy("./link.py@HEAD")
    assert not (folder / "RAN").exists()


def test_a_revision_is_read_from_git(fair: Path) -> None:
    committed(fair)
    fair.write_text(FAIR.replace("7.0", "9.0"))
    old, new = parse_policy("./fair.py@HEAD"), parse_policy("./fair.py")
    assert (old.halflife, new.halflife) == (7.0, 9.0)  # type: ignore[attr-defined]
    assert parse_policy(written_policy(old)) == old
    assert written_policy(old) == "./fair.py@HEAD"


def test_a_module_is_named_as_python_does(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fair.rename(fair.parent / "own_module_of_a_test.py")
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    policy = parse_policy("own_module_of_a_test:Fair:halflife=2")
    assert written_policy(policy) == "own_module_of_a_test:Fair:halflife=2"
    assert parse_policy(written_policy(policy)) == policy


def test_the_file_that_is_described_is_the_one_that_runs(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder has a package of the same name, which Python's own importer would prefer to the file."""
    monkeypatch.chdir(fair.parent)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    (fair.parent / "two_of_a_test").mkdir()
    (fair.parent / "two_of_a_test" / "__init__.py").write_text(FAIR.replace("7.0", "9.0"))
    fair.rename(fair.parent / "two_of_a_test.py")
    assert file_of_module("two_of_a_test") == str(fair.parent / "two_of_a_test.py")
    assert parse_policy("two_of_a_test:Fair").halflife == 7.0  # type: ignore[attr-defined]


def test_a_plug_in_goes_by_its_name(fair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fair.rename(fair.parent / "plugged_in_by_a_test.py")
    monkeypatch.syspath_prepend(str(fair.parent))
    point = metadata.EntryPoint("fairest", "plugged_in_by_a_test:Fair", PLUGINS)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point])
    assert written_policy(parse_policy("fairest:halflife=2")) == "fairest:halflife=2"
    with pytest.raises(ParameterError, match="no policy 'fairesd'; did you mean 'fairest'"):
        parse_policy("fairesd")


def test_asking_whether_a_module_changed_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "__init__.py").write_text("from pathlib import Path\nPath('RAN').write_text('imported')\n")
    (tmp_path / "evil" / "mod.py").write_text("X = 1\n")
    digest = hash_now("evil.mod")
    assert digest
    assert changed(CodeRef("evil.mod", digest)) is False
    assert changed(CodeRef("evil.mod", "0" * 64)) is True
    assert changed(CodeRef("evil.none", "0" * 64)) is None
    assert not (tmp_path / "RAN").exists()


def test_asking_whether_a_revision_changed_starts_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git could start programs that the repository's settings name."""
    monkeypatch.setattr(subprocess, "run", lambda *given, **named: pytest.fail("git was started"))
    assert changed(CodeRef(f"{tmp_path}/pol.py@HEAD", "0" * 64)) is False
