from pathlib import Path

import pytest

from sim.policies import parse_policy
from sim.policies.own.consent import OwnCodeError, Proof, agree, ask_for_consent, open_to_program
from sim.policies.own.naming import code_in
from sim.support.errors import SchedscopeError

POLICY = """
from pathlib import Path
from sim.policies.backfill.firstfit import FirstFit
from sim.policies.orders import Order
Path("RAN").write_text("imported")
class Mine(FirstFit): pass
class Foo(Order): pass
"""
SPECS = ["./evil.py", "evil:Mine", "easy:order=evil:Foo", "easy:order=evil.py@=x", "adaptive:below=./evil.py", "a.evil"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, with policy files that leave a mark if their code runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(POLICY)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "__init__.py").write_text(POLICY)
    (tmp_path / "a" / "evil.py").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("spec", SPECS)
def test_code_is_refused_without_a_proof(folder: Path, spec: str) -> None:
    with pytest.raises(SchedscopeError):
        parse_policy(spec)
    assert not (folder / "RAN").exists()


@pytest.mark.parametrize("proof", Proof)
def test_code_runs_with_a_proof_and_after_it(folder: Path, proof: Proof) -> None:
    with pytest.raises(OwnCodeError, match="only when a person has named it"):
        parse_policy("./evil.py:Mine")
    parse_policy("./evil.py:Mine", proof)
    assert (folder / "RAN").exists()
    parse_policy("./evil.py:Mine")


def test_consent_to_one_file_is_none_to_another(folder: Path) -> None:
    (folder / "other.py").write_text(POLICY)
    agree(code_in("./other.py"), Proof.TYPED)
    with pytest.raises(OwnCodeError):
        parse_policy("./evil.py:Mine")
    with pytest.raises(OwnCodeError):
        parse_policy("./other.py@HEAD")


def test_a_program_of_the_users_own_names_code_freely(folder: Path) -> None:
    open_to_program()
    parse_policy("./evil.py:Mine")
    ask_for_consent()
    (folder / "other.py").write_text(POLICY)
    with pytest.raises(OwnCodeError):
        parse_policy("./other.py:Mine")


def test_code_that_imports_the_library_opens_nothing(folder: Path) -> None:
    (folder / "mine.py").write_text("from sim import parse_policy\n" + POLICY.replace("RAN", "MINE"))
    parse_policy("./mine.py:Mine", Proof.TYPED)
    assert (folder / "MINE").exists()
    with pytest.raises(OwnCodeError):
        parse_policy("./evil.py:Mine")
    assert not (folder / "RAN").exists()


def test_asking_the_front_door_opens_the_library_to_code(folder: Path) -> None:
    import sim

    assert sim.parse_policy("./evil.py:Mine").name == "./evil.py"


def test_a_long_foreign_name_is_cut_where_it_is_quoted() -> None:
    with pytest.raises(OwnCodeError) as refused:
        parse_policy(f"./{'x' * 5000}.py")
    assert len(str(refused.value)) < 400
