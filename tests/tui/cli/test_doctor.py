import json
from pathlib import Path

import pytest

from tests.tui.cli.program import schedscope
from tui.cli.doctor import Finding, Terminal, folders, installation, report, requirements, terminal

XTERM = {"TERM": "xterm-256color"}


def by_name(findings: object) -> dict[str, Finding]:
    assert not isinstance(findings, str)
    return {finding.name: finding for finding in findings}  # type: ignore[attr-defined]


def test_this_machine_is_described_as_json() -> None:
    done = schedscope("doctor", "--format", "json")
    found = json.loads(done.stdout)
    assert {"installation", "extras", "terminal", "folders", "programs"} == {each["group"] for each in found}
    assert all(set(each) == {"group", "name", "state", "what", "mend"} for each in found)
    assert done.returncode == int(any(each["state"] == "wrong" for each in found))


def test_report_says_what_to_mend_and_stays_text() -> None:
    lines = report([Finding("terminal", "size", "wrong", "40x10", "make it at least 60x18")])
    assert lines == ["terminal", "  wrong  size  40x10", "         make it at least 60x18", "", "1 wrong"]
    found = requirements()
    assert {"numpy", "librt", "click", "textual", "rich", "platformdirs"} == set(found[""])
    assert "pyarrow" in found["parquet"]
    finding = by_name(terminal(Terminal({"TERM": "x\x1b[31m"}, "utf-8", (80, 24), 8)))["colours"]
    assert "\x1b" not in finding.what


@pytest.mark.parametrize(
    ("what", "mend"), [("compiled", ""), ("not compiled: no cc", "install a C compiler and Python's headers, ")]
)
def test_doctor_says_how_to_compile(monkeypatch: pytest.MonkeyPatch, what: str, mend: str) -> None:
    monkeypatch.setattr("sim.compiled.described", lambda: what)
    finding = by_name(installation())["compiled"]
    assert finding.what == what
    assert finding.mend.startswith(mend)
    assert (finding.state == "ok") == (not finding.mend) == (not mend)


@pytest.mark.parametrize(
    ("environ", "encoding", "size", "depth", "name", "state", "mend"),
    [
        (XTERM, "utf-8", (80, 24), 24, "size", "ok", ""),
        (XTERM, "utf-8", (59, 24), 24, "size", "wrong", "at least 60x18"),
        (XTERM, "utf-8", (80, 17), 24, "size", "wrong", "at least 60x18"),
        (XTERM, "utf-8", None, 4, "size", "note", "in a terminal"),
        (XTERM, "ascii", (80, 24), 24, "encoding", "note", "LANG"),
        (XTERM, "UTF-8", (80, 24), 24, "encoding", "ok", ""),
        (XTERM, "utf-8", (80, 24), 24, "colours", "ok", ""),
        (XTERM, "utf-8", (80, 24), 8, "colours", "note", "COLORTERM=truecolor"),
        ({**XTERM, "TMUX": "/tmp/tmux"}, "utf-8", (80, 24), 8, "colours", "note", "tmux.conf"),
        ({**XTERM, "NO_COLOR": "1"}, "utf-8", (80, 24), 24, "colours", "note", "unset NO_COLOR"),
    ],
)
def test_a_terminal(
    environ: dict[str, str], encoding: str, size: tuple[int, int] | None, depth: int, name: str, state: str, mend: str
) -> None:
    finding = by_name(terminal(Terminal(environ, encoding, size, depth)))[name]
    assert finding.state == state
    assert mend in finding.mend
    assert bool(finding.mend) == bool(mend)


@pytest.mark.parametrize("text", ["{", "[]", '{"fps": "many"}', "[" * 20000])
def test_wrong_settings_are_named_and_stay_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SCHEDSCOPE_CONFIG", str(tmp_path))
    (tmp_path / "settings.json").write_text(text)
    assert by_name(terminal(Terminal(XTERM, "utf-8", (80, 24), 24)))["look"].state == "ok"
    finding = by_name(folders())["settings"]
    assert finding.state == "wrong"
    assert "remove it" in finding.mend
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_folder_that_cannot_be_made_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCHEDSCOPE_STATE", str(tmp_path / "file" / "below"))
    finding = by_name(folders())["autosaves"]
    assert (finding.state, finding.mend) == ("wrong", "export SCHEDSCOPE_STATE=FOLDER names another")
