import os
from pathlib import Path

import pytest

from sim.policies.policy import CodeRef
from sim.session.session import session_text
from sim.session.sources import session_of
from sim.session.trust import NeedsTrustError, described
from sim.workload.source import Source
from tests.tui.cli.program import error
from tests.tui.replays import finished, painted, replay
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.messages import OpenEntry
from tui.sessions.session_conversion import found_session, reopened
from tui.sessions.trust_record import remember_trust, since_trusted, trust_path

POLICY = "import other\nfrom sim.policies.backfill.firstfit import FirstFit\nclass Mine(FirstFit): pass\n"


@pytest.fixture
def ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodeRef:
    """Return a reference to the code of a policy's file that imports another file from its folder."""
    monkeypatch.chdir(tmp_path)
    Path("fair.py").write_text(POLICY)
    Path("other.py").write_text("x = 1\n")
    return CodeRef(str(tmp_path / "fair.py"), "")


def session_of_it() -> None:
    text = session_text(session_of(Source("z-figure4"), "easy"))
    Path("s.session").write_text(text.replace('policy = "easy"', 'policy = "./fair.py"'))


def test_the_record_names_the_files_that_changed(ref: CodeRef) -> None:
    assert since_trusted(ref) == "fair.py: you have not trusted it before"
    remember_trust([ref])
    assert "fair.py: unchanged since you trusted it on 2" in since_trusted(ref)
    Path("other.py").write_text("x = 2\n")
    assert since_trusted(ref).endswith(": other.py")
    Path("fair.py").write_text(POLICY.replace("other", "third"))
    Path("third.py").touch()
    assert since_trusted(ref).endswith(": fair.py, third.py (new) and other.py (gone)")


@pytest.mark.parametrize("damage", [b"", b"[]", b"\xff", b'{"a": 1}', b"[" * 99999])
def test_a_damaged_record_is_as_good_as_none(ref: CodeRef, damage: bytes) -> None:
    trust_path().write_bytes(damage)
    assert since_trusted(ref) == "fair.py: you have not trusted it before"
    remember_trust([ref])
    assert "unchanged" in since_trusted(ref)


async def test_the_dialog_shows_what_changed(ref: CodeRef) -> None:
    session_of_it()
    async with replay(policy="fcfs") as run:
        for answer, told in (
            ("n", "not trusted it before"),
            ("y", "not trusted it before"),
            ("y", "fair.py: unchanged"),
        ):
            run.app.post_message(OpenEntry("s.session", is_session=True))
            await run.wait_for(lambda: isinstance(run.app.screen, ChoiceDialog))
            await run.wait_for(lambda told=told: told in " ".join(run.text.split()))  # type: ignore[misc]
            await run.pilot.press(answer)
            await run.wait_for(lambda: not isinstance(run.app.screen, ChoiceDialog))
            await painted(run.pilot)  # the answer has begun what the worker ends
            await finished(run.app)


def test_the_refusal_without_a_terminal_names_the_file(ref: CodeRef) -> None:
    session_of_it()
    code, line = error("record", "s.session", "-o", "x.cast")
    assert code == 1
    assert "the session runs code: " in line
    assert "fair.py (" in line


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "huge", "network"])
def test_asking_reads_only_regular_files_from_here(ref: CodeRef, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(ref.name)
    path.unlink()
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "huge":
            with open(path, "wb") as file:
                file.truncate(1 << 40)
        case "network":
            ref = CodeRef("//host.invalid/share/fair.py", "0" * 64)
            monkeypatch.setattr(os, "stat", lambda *given, **more: pytest.fail("the network is asked"))
    assert ref.name in described(ref)
    if kind != "network":
        session_of_it()
        with pytest.raises(NeedsTrustError, match=r"fair\.py"):
            reopened(found_session("s.session"))
    since_trusted(ref)
