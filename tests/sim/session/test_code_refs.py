"""A session that names user-defined code is read without running it.

Also tests sim.session.trust.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from sim.history.past import Switch
from sim.policies import parse_policy
from sim.policies.own.consent import Proof
from sim.policies.policy import CodeRef
from sim.session import trust
from sim.session.session import BranchRecord, NotRun, Session, parsed, session_text
from sim.session.sources import session_of
from sim.session.trust import NeedsTrustError, described, needs_trust, trusted
from sim.support.errors import PolicyError, SchedscopeError
from sim.timeline.scenario import run
from sim.workload.replay import read
from sim.workload.source import Source
from tests.sim.policies.own.test_loading import FAIR
from tui.sessions.session_conversion import reopened
from tui.sessions.trust_dialog import RUN, answered, question

pytestmark = pytest.mark.usefixtures("own_program")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a session written in another folder; the file of its policy leaves a mark if it runs."""
    folder = tmp_path / "lab"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "fair.py").write_text(FAIR)
    later = parse_policy("easy:order=sjf")
    made = session_of(Source("z-figure4"), "./fair.py:halflife=2", [(600.0, later), (700.0, parse_policy("fair.py"))])
    assert not needs_trust(made)
    text = session_text(made)
    monkeypatch.chdir(tmp_path)
    (folder / "fair.py").write_text(FAIR + f"\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n")
    return parsed(text.encode(), "it")


def test_nothing_of_it_runs(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "lab" / "fair.py"
    assert session.policy == f"{file}:halflife=2"
    assert [switch.spec for switch in session.branches[0].switches] == ["easy:order=sjf", str(file)]
    assert session_text(parsed(session_text(session).encode(), "again")) == session_text(session)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(PolicyError, match="decides nothing"):
        run(read("z-figure4"), session.branches[0].switches[1].policy)


def test_session_with_changed_code_asks_for_trust_and_says_so(session: Session, tmp_path: Path) -> None:
    with pytest.raises(
        NeedsTrustError, match=r"fair.py \(.*, changed since the session was made\); .* --trust"
    ) as refused:
        reopened(session)
    assert [ref.name for ref in refused.value.code] == [str(tmp_path / "lab" / "fair.py")]
    assert not (tmp_path / "ran").exists()
    opening = reopened(session, Proof.OPTION)
    assert (tmp_path / "ran").exists()
    assert opening.policy == parse_policy(session.policy)
    assert opening.session is not None
    assert "changed since the session was made" in opening.session.warnings[-1]
    assert opening.prepare().timeline.seek(3)


def test_a_session_without_code_needs_no_trust() -> None:
    session = parsed(session_text(session_of(Source("z-figure4"), "easy")).encode(), "it")
    assert not needs_trust(session)
    assert reopened(session).session == session


@pytest.mark.parametrize("spec", ["./fair.py", "not.there:Fair", "easy:order=./fair.py"])
def test_code_is_found_wherever_it_is_named(spec: str) -> None:
    plain = session_of(Source("z-figure4"), "easy")
    branches = (BranchRecord("main", switches=(Switch(0, 5, NotRun(spec)),)),)
    for session in (replace(plain, policy=spec), replace(plain, partner=spec), replace(plain, branches=branches)):
        assert needs_trust(replace(session, is_trusted=False))
    assert not needs_trust(replace(plain, partner="main", is_trusted=False))


def test_code_that_is_gone_is_reported(session: Session, tmp_path: Path) -> None:
    (tmp_path / "lab" / "fair.py").unlink()
    with pytest.raises(NeedsTrustError, match="it is not there any more"):
        reopened(session)
    with pytest.raises(Exception, match="no such file"):
        trusted(session, Proof.OPTION)


@pytest.mark.parametrize("kind", ["changed", "made only then", "imports another file"])
def test_what_runs_is_what_the_user_was_shown(session: Session, tmp_path: Path, kind: str) -> None:
    """Others may change the file while the user is being asked to agree to it."""
    file = tmp_path / "lab" / "fair.py"
    text = file.read_text()
    if kind == "made only then":
        file.unlink()
    with pytest.raises(NeedsTrustError) as asked:
        reopened(session)
    file.write_text(text + ("import harm\n" if kind == "imports another file" else "x = 1\n"))
    (file.parent / "harm.py").write_text("x = 1\n")
    for _ in range(2):
        with pytest.raises(SchedscopeError, match="has changed since you agreed to it; open the session again"):
            answered(asked.value, RUN)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(NeedsTrustError) as again:
        reopened(session)
    answered(again.value, RUN)
    assert (tmp_path / "ran").exists()


def test_of_many_pieces_of_code_only_the_first_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    looked = list[str]()

    def described(ref: CodeRef) -> str:
        looked.append(ref.name)
        return ref.name

    monkeypatch.setattr(trust, "described", described)
    plain = session_of(Source("z-figure4"), "easy")
    switches = tuple(Switch(0, moment, NotRun(f"./f{moment}.py")) for moment in range(40))
    session = replace(plain, branches=(BranchRecord("main", switches=switches),), is_trusted=False)
    with pytest.raises(NeedsTrustError, match=r"f3\.py and 36 more; ") as refused:
        reopened(session)
    assert len(looked) == trust.SHOWN
    assert "and 32 more" in question(refused.value)._told
    for moment in range(trust.SHOWN + 1):
        (tmp_path / f"f{moment}.py").write_text(
            "from sim.policies.backfill.easy import Easy\nclass Own(Easy):\n    pass\n"
        )
    with pytest.raises(NeedsTrustError) as refused:
        reopened(session)
    with pytest.raises(SchedscopeError, match=r"f8\.py: was not shown when you agreed; open the session with --trust"):
        answered(refused.value, RUN)


def test_a_module_is_described_by_its_file_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack").mkdir()
    for name in ("__init__", "evil"):
        (tmp_path / "pack" / f"{name}.py").write_text("open('ran', 'w').close()\n")
    told = described(CodeRef("pack.evil", ""))
    assert f"(a module: {tmp_path / 'pack' / 'evil.py'}, 25 bytes, last changed on " in told
    assert "it imports 1 file from its folder" in told
    assert described(CodeRef("pack.gone", "")) == "pack.gone (a module)"
    assert not (tmp_path / "ran").exists()
