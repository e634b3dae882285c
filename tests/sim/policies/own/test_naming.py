import os
import sys
from pathlib import Path

import pytest

from sim.lab.plan import identity
from sim.policies import POLICIES, parse_policy, written_policy
from sim.policies.own.consent import Proof, ask_for_consent
from sim.policies.own.loading import changed, newest
from sim.policies.own.naming import code_in, full_spec, named_code, origin, plugins
from sim.policies.policy import CodeRef, is_own
from sim.session.trust import described
from sim.support.errors import ParameterError, SchedscopeError
from tests.packages import POLICY, install
from tui.cli.completion import traces
from tui.cli.policies import listing


def test_named_code_tells_the_parts_of_a_spec() -> None:
    named = named_code("./a/fair.py@HEAD~1:Fair:halflife=2,x=y")
    assert named is not None
    assert named[:5] == ("./a/fair.py", "HEAD~1", True, "Fair", "halflife=2,x=y")


@pytest.mark.parametrize(("spec", "sources"), [
    ("easy:order=sjf,depth=2", []), ("easy:order=evil:Foo", ["evil"]), ("easy:depth=2,order=evil:Foo:by=3", ["evil"]),
    ("easy:order=evil.py@=x", ["evil.py"]), ("relaxed:order=./evil.py", ["./evil.py"]),
    ("adaptive:below=./evil.py", ["./evil.py"]), ("adaptive:above=easy:order=evil:Foo+depth=2", ["evil"]),
    ("adaptive:below=adaptive:below=a.b", ["a.b"]), ("./fair.py:order=evil:Foo", ["./fair.py", "evil"]),
    ("./fair.py:Fair:order=evil:Foo", ["./fair.py", "evil"]),
])  # fmt: skip
def test_code_is_found_in_every_parameter(spec: str, sources: list[str]) -> None:
    assert [named.source for named in code_in(spec)] == sources


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("./a.py:order=./b.py:C", "{}/a.py:order={}/b.py:C"),
        ("adaptive:below=./x.py,above=fcfs", "adaptive:below={}/x.py,above=fcfs"),
        (
            "adaptive:above=easy:order=x.py+depth=2,below=./y.py@HEAD",
            "adaptive:above=easy:order={}/x.py+depth=2,below={}/y.py@HEAD",
        ),
        ("easy:order=sjf,depth=2", "easy:order=sjf,depth=2"),
    ],
)
def test_whole_spec_names_every_file_by_its_whole_path(spec: str, made: str) -> None:
    assert full_spec(spec) == made.replace("{}", os.getcwd())


def test_a_spec_whose_folder_would_name_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py:x").mkdir()
    monkeypatch.chdir(tmp_path / "evil.py:x")
    with pytest.raises(ParameterError, match="cannot be named from here"):
        full_spec("./good.py")


POINTS = {"packed": "packed_by_a_test:Packed"}
pytestmark = pytest.mark.usefixtures("consent")


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    return install(tmp_path, monkeypatch, POINTS)


def test_packages_are_listed_and_identified(ran: Path) -> None:
    assert origin("packed") == "packed-policies 0.1"
    assert "packed  of packed-policies 0.1" in listing()
    assert "packed" in POLICIES.near("paked")
    assert "packed-policies 0.1" in described(CodeRef("packed", ""))
    assert list(traces("z-f"))
    assert not ran.exists()
    assert is_own(parse_policy("packed", Proof.TYPED))
    policy = parse_policy("packed", Proof.TYPED)
    ref = newest("packed")
    assert ref is not None
    assert ref.sha256 in identity(policy)


def test_code_of_a_package_runs_only_with_consent(ran: Path) -> None:
    ask_for_consent()
    with pytest.raises(SchedscopeError, match="packed: code runs only when a person has named it or agreed to it"):
        parse_policy("packed")
    assert not ran.exists()
    assert written_policy(parse_policy("packed:depth=2", Proof.TYPED)) == "packed:depth=2"
    assert ran.exists()
    ran.unlink()
    assert written_policy(parse_policy("packed")) == "packed"  # agreed once


def test_new_version_or_text_is_other_code(ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parse_policy("packed", Proof.TYPED)
    ref = newest("packed")
    assert ref is not None
    assert changed(ref) is False
    (tmp_path / "packed_by_a_test.py").write_text(POLICY + "# more\n")
    assert changed(ref) is True
    (tmp_path / "packed_by_a_test.py").write_text(POLICY)
    install(tmp_path, monkeypatch, POINTS, version="0.2")
    assert origin("packed") == "packed-policies 0.2"
    assert changed(ref) is True


def test_names_that_cannot_be_typed_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, {"a b": "m:A", "x" * 61: "m:A", "fine-1.0": "m:A"})
    assert "fine-1.0" in plugins()
    assert not {"a b", "x" * 61} & plugins().keys()


def test_name_of_a_built_in_policy_stays_built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = install(tmp_path, monkeypatch, {"easy": "packed_by_a_test:Packed"})
    assert type(parse_policy("easy", Proof.TYPED)) is POLICIES["easy"]
    assert not ran.exists()
    assert "Of installed packages" not in listing()


def test_of_two_packages_the_first_by_name_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("bbb", "aaa", "ccc"):
        install(tmp_path, monkeypatch, POINTS, package=package)
    assert origin("packed") == "aaa 0.1"


@pytest.mark.parametrize(
    ("value", "text", "said"),
    [
        ("packed_by_a_test:Missing", POLICY, "AttributeError"),
        ("packed_by_a_test:Path", POLICY, "is expected to name a policy"),
        ("packed_by_a_test:Packed", "1/0", "ZeroDivisionError"),
        ("not_there_at_all:Packed", POLICY, "No module named"),
    ],
)
def test_what_gives_no_policy_is_an_error_in_a_line(
    value: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    install(tmp_path, monkeypatch, {"packed": value}, text=text)
    with pytest.raises(SchedscopeError, match=said) as told:
        parse_policy("packed", Proof.TYPED)
    assert "\n" not in str(told.value)
