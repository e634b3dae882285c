from pathlib import Path

from sim.session.session import write_session
from sim.session.sources import session_of
from sim.workload.source import Source
from tui.menus import sessions_left
from tui.sessions.session_conversion import last_path


def test_what_can_be_read_is_offered_the_last_one_first(tmp_path: Path) -> None:
    kept = tmp_path / "kept.session"
    write_session(session_of(Source("z-figure4"), "fcfs"), kept)
    (tmp_path / "damaged").write_text("no session")
    saved = [str(tmp_path / "damaged"), str(tmp_path / "gone"), str(kept)]
    (only,) = sessions_left(saved)
    assert (only.title, only.value) == ("kept.session", str(kept))
    assert only.what.startswith("z-figure4 under fcfs, step 0 · ")
    last_path().parent.mkdir(parents=True, exist_ok=True)
    write_session(session_of(Source("w-figure1"), "easy"), last_path())
    assert [entry.value for entry in sessions_left(saved)] == ["last", str(kept)]
