"""`schedscope new` writes policies that run, and overwrites no file."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sim import read
from sim.authoring import check_policy
from sim.engine.engine import Engine
from sim.policies import POLICIES, parse_policy
from sim.policies.own.consent import Proof
from tests.packages import install
from tests.tui.cli.program import error, schedscope
from tui.authoring.cli.new import texts

pytestmark = pytest.mark.usefixtures("folder", "own_program")


@pytest.mark.parametrize("like", ["easy", "fcfs", "conservative", "fair-share", "selective"])
def test_what_it_writes_keeps_to_what_every_policy_is_held_to(like: str) -> None:
    done = schedscope("new", "fair_share.py", "--like", like)
    assert done.returncode == 0
    assert "schedscope test ./fair_share.py" in done.stdout
    check_policy("fair_share.py:FairShare", count=5)


@pytest.mark.parametrize("like", POLICIES)
def test_policy_begins_with_the_schedule_of_the_one_it_is_like(like: str) -> None:
    schedscope("new", "own.py", "--like", like)
    workload = read("lublin-128", jobs=80)
    runs = [Engine(workload, parse_policy(*spec), curious=is_watched) for *spec, is_watched in (
        (like, False), ("./own.py", Proof.TYPED, False), ("./own.py", Proof.TYPED, True),
    )]  # fmt: skip
    for engine in runs:
        engine.run()
    ours, *own = (engine.schedule() for engine in runs)
    for schedule in own:
        assert (schedule.start == ours.start).all()
        assert (schedule.end == ours.end).all()


@pytest.mark.parametrize(
    ("like", "rule"),
    [("easy", "is_by(ends, shadow"), ("relaxed", "is_by(ends, closes"), ("greedy", "is_by(ends, shadow")],
)
def test_looser_rule_holds_in_every_run(like: str, rule: str) -> None:
    schedscope("new", "own.py", "--like", like)
    text = re.sub(r"(def promises.*?return )[^\n]+", r"\1False", Path("own.py").read_text(), flags=re.DOTALL)
    assert rule in text
    loose = text.replace(rule, f"{rule} + 3600")
    Path("loose.py").write_text(loose)
    Path("asks_all.py").write_text(loose.replace("now.candidates(head)", "now.behind(head)"))
    found = []
    for file, is_watched in (("asks_all", True), ("loose", True), ("loose", False)):
        engine = Engine(read("lublin-128", jobs=500), parse_policy(f"./{file}.py", Proof.TYPED), curious=is_watched)
        engine.run()
        found.append(engine.schedule().start.tolist())
    assert all(starts == found[0] for starts in found)
    check_policy("loose.py", count=10)


def test_written_easy_gives_the_reason_of_each_refusal() -> None:
    schedscope("new", "own.py")
    told = schedscope("explain", "z-figure4", "4", "--policy", "./own.py").stdout
    assert "For 10m00 (2 steps) starting it would have delayed J3: it needs 4, 2 extra" in " ".join(told.split())


@pytest.mark.parametrize("name", ["fair-share", "selective"])
def test_file_may_have_a_hyphen_and_the_name_of_its_policy(name: str) -> None:
    schedscope("new", f"{name}.py", "--like", "selective")
    done = schedscope("run", "z-figure4", "--policy", f"./{name}.py", "--check")
    assert done.returncode == 0
    assert f"class {name.title().replace('-', '')}(Remembering):" in Path(f"{name}.py").read_text()


@pytest.mark.parametrize("name", ["easy", "policy", "least_used"])
def test_file_may_be_called_like_a_class_that_its_policy_needs(name: str) -> None:
    schedscope("new", f"{name}.py", "--like", "fair-share")
    assert schedscope("run", "z-figure4", "--policy", f"./{name}.py").returncode == 0


def test_what_it_writes_is_as_tidy_as_ours(folder: Path) -> None:
    for place, like in enumerate([*POLICIES, "fair-share"]):
        path = folder / f"a_long_name_{place}.py"
        path.write_text(texts(path, like)[0])
    rules = ["--config", str(Path(__file__).parents[4] / "pyproject.toml"), "--no-cache"]
    found = subprocess.run([sys.executable, "-m", "ruff", "check", *rules, "."], capture_output=True, text=True)
    if "No module named ruff" in found.stderr:
        pytest.skip("ruff is not installed")
    assert found.stdout.strip() == "All checks passed!"


@pytest.mark.long
def test_the_test_beside_it_passes(folder: Path) -> None:
    schedscope("new", "fair.py")
    text = (folder / "test_fair.py").read_text()
    module: dict[str, object] = {"__file__": str(folder / "test_fair.py")}
    exec(compile(text, "test_fair.py", "exec"), module)
    tests = [what for name, what in module.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()  # type: ignore[operator]


@pytest.mark.parametrize("there", ["fair.py", "test_fair.py"])
def test_nothing_is_overwritten(folder: Path, there: str) -> None:
    (folder / there).write_text("mine")
    code, told = error("new", "fair.py")
    assert (code, told.partition(":")[0]) == (1, there)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(there, "mine")]


@pytest.mark.parametrize(
    ("words", "exits", "says"),
    [
        (("fair share.py",), 2, "fair share.py: expected the name of a file like fair_share.py"),
        (("fair",), 2, "fair: expected the name of a file"),
        (("fair.py", "--like", "eazy"), 2, "no policy 'eazy'; did you mean 'easy'?"),
        (("My-policies", "--package"), 2, "My-policies: expected the name of a package like my_policies"),
        (("easy", "--package"), 2, "easy is a policy of schedscope: choose another name"),
        (("nowhere/mine", "--package"), 1, "nowhere/mine: cannot be made: No such file or directory"),
        (("nowhere/fair.py",), 1, "nowhere/fair.py: cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_reported(words: tuple[str, ...], exits: int, says: str) -> None:
    code, told = error("new", *words)
    assert (code, says in told) == (exits, True), told


@pytest.mark.parametrize(
    ("like", "name"),
    [("easy", "a_package_of_a_test"), ("fair-share", "a_package_of_a_test"), ("selective", "a-package-of-a-test")],
)
def test_package_can_be_installed_and_used(like: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    done = schedscope("new", name, "--package", "--like", like)
    assert done.returncode == 0
    made = folder / name
    assert sorted(path.relative_to(made).as_posix() for path in made.rglob("*.*")) == [
        "README.md", "a_package_of_a_test/__init__.py", "a_package_of_a_test/policy.py", "pyproject.toml",
        "tests/test_a_package_of_a_test.py",
    ]  # fmt: skip
    project = tomllib.loads((made / "pyproject.toml").read_text())
    points = project["project"]["entry-points"]["schedscope.policies"]
    monkeypatch.syspath_prepend(str(made))
    install(folder, monkeypatch, points, package=project["project"]["name"])
    check_policy("a-package-of-a-test", count=5)
    assert error("new", name, "--package") == (1, f"{name}: already exists; choose another name")


def test_rare_wrong_comparison_breaks_the_promise_of_easy(folder: Path) -> None:
    """With this mistake in its code, 12 of 970 planned starts move later, on 8,000 jobs of KTH."""
    schedscope("new", "fair.py")
    text = (folder / "fair.py").read_text()
    wrong = text.replace("extra -= job.procs", "extra -= job.procs if job.procs < extra else 0")
    assert wrong != text
    (folder / "fair.py").write_text(wrong)
    done = schedscope("test", "fair.py")
    assert done.returncode == 1
    assert "it breaks a rule or a promise: " in done.stdout
    assert "its promised start moved from" in done.stdout
