from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from sim.live.cluster.recording import PollRecorder, Recording
from tests.sim.live.cluster.captures import series
from tests.tui.cli.program import error
from tests.tui.terminals import terminal
from tui.app import Schedscope
from tui.cli import options
from tui.cli.main import commands
from tui.live.watch import Watch
from tui.replay.opening import Opening


@pytest.mark.parametrize("arguments", [[], ["w-figure1"], ["watch", "w-figure1"], ["--policy", "fcfs"]], ids=str)
def test_without_a_terminal_nothing_can_be_watched(arguments: list[str]) -> None:
    code, line = error(*arguments)
    assert code == 1
    assert line.startswith("the replay screen needs a terminal; without one use schedscope run, explain")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["z-figure4", "--session", "last"], "TRACE"),
        (["--session", "last", "--policy", "easy", "--jobs", "3"], "--policy, --jobs"),
        (["--session", "last", "--at", "#3"], "--at"),
    ],
)
def test_a_session_brings_everything_with_it(arguments: list[str], named: str) -> None:
    code, line = error(*arguments)
    assert code == 2
    assert line.startswith(f"--session brings its own trace and options back: leave out {named}; see ")


@pytest.mark.parametrize(
    ("arguments", "exits", "said"),
    [
        (["--session", "last"], 1, "there is no last session: none has been left yet"),
        (["--session", "no.session"], 1, "no.session: cannot be read: No such file or directory"),
        (["--session", "schedscope1:AAAA"], 1, "the line: is damaged; copy all of it again"),
        (["no.swf"], 1, "no.swf: no such file"),
        (["z-figure4", "--at", "soon"], 2, "cannot go to 'soon'"),
        (["z-figure4", "--policy", "eazy"], 2, "no policy 'eazy'; did you mean 'easy'?"),
    ],
)
def test_what_cannot_be_watched_is_said_before_the_screen(
    arguments: list[str], exits: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "needs_terminal", lambda *_: None)
    monkeypatch.setattr(Schedscope, "run", None)
    code, line = error(*arguments)
    assert code == exits
    assert said in line


def test_it_is_said_in_a_terminal_as_well() -> None:
    with terminal("no.swf") as at:
        assert at.wait() == 1
        at.wait_for(lambda: at.written.endswith(b"\n"))
    (line,) = at.written.decode().splitlines()
    assert line.startswith("schedscope: error: no.swf: no such file")


def test_recording_opens_as_seen_or_is_replayed(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "week.slog"
    recorder = PollRecorder(file)
    for cluster in islice(series(shared, "v24.11"), 5):
        recorder.add(cluster)
    recorder.close()
    opened: list[tuple[str, float | None]] = []

    def open_live(watch: Watch, state: object = None, at: float | None = None) -> int:
        opened.append((watch.state.title, at))
        return 0

    monkeypatch.setattr("tui.live.program.open_live", open_live)

    def open_replay(opening: Opening, **given: object) -> int:
        opened.append((opening.source.trace, None))
        return 0

    monkeypatch.setattr("tui.app.open_replay", open_replay)
    monkeypatch.setattr(options, "needs_terminal", lambda what, without: None)
    moments = Recording(file).times()
    for arguments in ([str(file)], ["watch", str(file), "--at", "#2"], ["watch", str(file), "--policy", "easy"]):
        assert CliRunner().invoke(commands, arguments, standalone_mode=False).exception is None
    assert opened == [("week.slog", None), ("week.slog", moments[1]), (str(file), None)]
