"""Also tests sim.session.syntax, sim.session.trace_ref."""

import os
import zlib
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.history.past import Switch
from sim.policies import parse_policy
from sim.session.session import (
    PREFIX,
    Bookmark,
    BranchRecord,
    Session,
    from_line,
    one_line,
    parsed,
    read_session,
    session_text,
    verify_trace,
    write_session,
)
from sim.session.syntax import MAX_BYTES, SessionError
from sim.session.trace_ref import TraceRef
from sim.workload.samples import REWORDED

NO_HASH = "0" * 64
CONSERVATIVE_AT_600 = Switch(5, 600, parse_policy("conservative"))
SPECS = ("easy", "conservative:compress=queue", "gang:mpl=3", "fcfs:order=sjf")

names = st.text(min_size=1, max_size=12)
steps = st.integers(0, 10**9)
times = st.floats(-1e12, 1e12) | st.integers(-(10**9), 10**12)
values = st.text(max_size=20) | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
switches = st.lists(
    st.builds(Switch, steps, times, st.sampled_from(SPECS).map(parse_policy), st.just("")), max_size=3
).map(tuple)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    called = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    branches = [BranchRecord(called[0], switches=draw(switches))]
    for index, name in enumerate(called[1:], 1):
        branches.append(BranchRecord(name, draw(st.sampled_from(called[:index])), draw(steps), draw(switches)))
    bookmark = st.builds(Bookmark, names, st.sampled_from(called), steps, st.text(max_size=20))
    return Session(
        trace=TraceRef(draw(st.text()), draw(st.text("0123456789abcdef", min_size=64, max_size=64)), draw(steps)),
        options=draw(st.dictionaries(names, values, max_size=3)),
        policy=draw(st.sampled_from(SPECS)),
        placement=draw(st.sampled_from(["lowest", "together"])),
        partner=draw(st.none() | st.text(max_size=12)),
        branches=tuple(branches),
        branch=draw(st.sampled_from(called)),
        step=draw(steps),
        bookmarks=tuple(draw(st.lists(bookmark, max_size=3))),
        stops=tuple(draw(st.lists(st.text(max_size=20), max_size=3))),
        view=draw(st.dictionaries(st.text(max_size=12), values, max_size=4)),
    )


def small(**changes: object) -> Session:
    return replace(Session(TraceRef("z-figure4", NO_HASH, 7, True)), **changes)  # type: ignore[arg-type]


def refused(text: str) -> str:
    with pytest.raises(SessionError) as error:
        parsed(text.encode(), "my.session")
    assert "\n" not in str(error.value)
    return str(error.value)


def changed(old: str, new: str) -> str:
    text = session_text(small())
    assert old in text
    return text.replace(old, new)


# Round trips
@given(sessions())
def test_any_session_survives_a_file(tmp_path_factory: pytest.TempPathFactory, session: Session) -> None:
    path = tmp_path_factory.getbasetemp() / "any.session"
    write_session(session, path)
    assert read_session(path) == session


@given(sessions())
def test_any_session_survives_one_line(session: Session) -> None:
    line = one_line(session)
    assert line.isascii()
    assert len(line.split()) == 1
    assert from_line(line) == session


@given(sessions())
def test_the_text_shows_on_any_terminal(session: Session) -> None:
    assert all(line.isprintable() for line in session_text(session).split("\n"))


def test_a_session_reads_like_a_note() -> None:
    session = small(
        options={"load": 1.2},
        branches=(BranchRecord("main"), BranchRecord("what if", "main", 5, (CONSERVATIVE_AT_600,))),
        branch="what if",
        step=6,
        bookmarks=(Bookmark("here", "main", 4, "J5 passes"),),
        stops=("queue > 50",),
        view={"colour": "user", "matrix": True},
    )
    assert session_text(session) == (
        "schedscope session 1\n"
        "\n"
        "[trace]\n"
        'sample = "z-figure4"\n'
        f'sha256 = "{NO_HASH}"\n'
        "size = 7\n"
        "\n"
        "[options]\n"
        "load = 1.2\n"
        "\n"
        "[run]\n"
        'policy = "easy"\n'
        'placement = "lowest"\n'
        'branch = "what if"\n'
        "step = 6\n"
        'stops = ["queue > 50"]\n'
        "\n"
        "[branch]\n"
        'name = "main"\n'
        "\n"
        "[branch]\n"
        'name = "what if"\n'
        'parent = "main"\n'
        "forked = 5\n"
        "\n"
        "[switch]\n"
        'branch = "what if"\n'
        "step = 5\n"
        "time = 600\n"
        'policy = "conservative"\n'
        "\n"
        "[bookmark]\n"
        'name = "here"\n'
        'branch = "main"\n'
        "step = 4\n"
        'note = "J5 passes"\n'
        "\n"
        "[view]\n"
        'colour = "user"\n'
        "matrix = true\n"
    )


def test_damaged_text_is_refused_with_its_line() -> None:
    broken = '[switch]\nbranch = "main"\nstep = 0\ntime = 0\npolicy = "easy"\nbreaks = "0-9999999"\n'
    assert len(parsed((session_text(small()) + broken * 10).encode(), "it").branches[0].switches) == 10
    with pytest.raises(SessionError, match="the processors that break are more than the 100,000,000 in all"):
        parsed((session_text(small()) + broken * 11).encode(), "it")
    text = session_text(small()) + '\n[branch]\nname = "loop"\nparent = "loop"\nforked = 3\n'
    assert "no branch 'loop'" in refused(text)
    assert refused("schedscope session 1\n") == "my.session: has no table [trace]; it may have been cut short"
    for value in ("[" * 100_000, "9" * 100_000, '{"a": 1}', "[[1]]"):
        assert ":12: " in refused(changed("step = 0", f"step = {value}"))


def test_odd_text_is_read() -> None:
    session = small(trace=TraceRef(os.fsdecode(b"/tmp/tr\xe4ce.swf"), NO_HASH, 7))
    assert parsed(session_text(session).encode(), "it") == session
    text = changed("[trace]", "# the small one\n\n  [trace]  ")
    assert parsed(text.replace("\n", "\r\n").encode(), "it") == small()
    line = one_line(small())
    assert from_line(f"  {line[:40]}\n{line[40:]}\n") == small()


def test_what_is_not_known_is_left_out_and_said() -> None:
    text = changed("step = 0\n", "step = 0\nsound = true\n") + "\n[plugin]\nname = 1\n"
    session = parsed(text.encode(), "my.session")
    assert session == small()
    assert session.warnings == (
        "my.session:13: sound: not known in [run], left out",
        "my.session:18: [plugin]: not known, left out",
    )


# Refusals
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "session 1",
            "session 2",
            "1: is a session of version 2, this program reads version 1; use a newer schedscope",
        ),
        ("schedscope", "; Version", "1: is no session; the first line of one is: schedscope session 1"),
        ("step = 0", "step = -1", "12: step: expected a whole number of 0 or more, got -1"),
        ("step = 0", "step = 1e999", "12: step: expected a number, words in quotes or true, got inf"),
        ("step = 0", "step = true", "12: step: expected a whole number of 0 or more, got True"),
        ("step = 0", "step = 7\nstep = 8", "13: step: stands twice in [run]; keep one of them"),
        ("step = 0\n", "", "8: [run] has no step; give it a whole number of 0 or more"),
        ("step = 0", "step", "12: expected key = value, words in quotes like \"easy\", got 'step'"),
        ("step = 0", "step = nan", "12: expected key = value, words in quotes like \"easy\", got 'step = nan'"),
        ('"easy"', '"eazy"', "9: policy: no policy 'eazy'; did you mean 'easy'?"),
        ('"lowest"', '"low"', "10: placement: no placement 'low'; did you mean 'lowest'?"),
        ('branch = "main"', 'branch = "man"', "11: branch: no branch 'man'; did you mean 'main'?"),
        ("sample =", 'path = "a"\nsample =', "3: [trace] needs either a path or the name of a sample"),
        (NO_HASH, "abc", "5: sha256: expected 64 digits 0-9 a-f"),
        ("[run]", "[trace]\n[run]", "8: [trace] stands there twice; keep one of them"),
        ('[branch]\nname = "main"', "", "8: there is no [branch]; one named main is the least"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, said: str) -> None:
    assert refused(changed(old, new)) == f"my.session:{said}"


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda tail: b"schedscope session 1\n[trace]\n" + tail))
def test_any_other_bytes_are_refused_as_no_session(data: bytes) -> None:
    with pytest.raises(SessionError):
        parsed(data, "it")


@given(st.data())
def test_a_damaged_session_is_a_session_or_refused(data: st.DataObject) -> None:
    whole = bytearray(session_text(data.draw(sessions())).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place : place + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
        if not whole:
            break
    with suppress(SessionError):
        assert isinstance(parsed(bytes(whole), "it"), Session)


def test_sessions_are_bounded_files(tmp_path: Path) -> None:
    path = tmp_path / "large.session"
    path.write_bytes(session_text(small()).encode() + b"\n" * MAX_BYTES)
    with pytest.raises(SessionError, match="is no session: more than"):
        read_session(path)
    for session in (small(view={"zoom": float("nan")}), small(branch="nowhere"), small(view={"x": "y" * MAX_BYTES})):
        with pytest.raises(SessionError):
            write_session(session, tmp_path / "it.session")
    assert list(tmp_path.iterdir()) == [path]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SessionError, match="is no ordinary file"):
        read_session(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["missing.session", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SessionError):
        read_session(tmp_path / name)


# One line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line[:-8], "is cut short; copy all of it again"),
        (lambda line: line.replace(line[30:34], "äöü", 1), "is damaged; copy all of it again"),
        (lambda line: "hello", f"is no session; one in a line begins with {PREFIX}"),
    ],
)
def test_a_line_that_is_not_whole_is_refused(change: object, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        from_line(change(one_line(small())))  # type: ignore[operator]


def test_a_line_that_unpacks_without_end_is_refused() -> None:
    bomb = urlsafe_b64encode(zlib.compress(bytes(200 * MAX_BYTES), 9)).decode()
    with pytest.raises(SessionError, match="is no session: more than"):
        from_line(PREFIX + bomb.rstrip("="))


@given(st.text() | st.text("ABCDEFabc012-_").map(PREFIX.__add__))
def test_any_other_line_is_refused(text: str) -> None:
    with pytest.raises(SessionError):
        from_line(text)


# The trace
def test_a_trace_that_is_as_it_was_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.swf"
    path.write_text("one job\n", encoding="utf-8")
    assert verify_trace(small(trace=TraceRef.of(str(path)))) is None
    assert verify_trace(small(trace=TraceRef.of("z-figure4", is_sample=True))) is None


@pytest.mark.parametrize(("name", "sha256"), [(name, each) for name in REWORDED for each in REWORDED[name]])
def test_a_session_stays_valid_when_only_the_notes_of_its_sample_change(name: str, sha256: str) -> None:
    now = TraceRef.of(name, is_sample=True)
    assert now.sha256 != sha256
    assert verify_trace(small(trace=now._replace(sha256=sha256, size=1))) is None
    assert verify_trace(small(trace=now._replace(sha256=sha256[::-1]))) is not None


def test_what_is_different_about_a_trace_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.swf"
    path.write_text("one job\n", encoding="utf-8")
    session = small(trace=TraceRef.of(str(path)))

    path.write_text("two job\n", encoding="utf-8")
    other = verify_trace(session)
    assert other is not None
    assert other.kind == "hash"
    assert "has changed since the session was made: SHA-256" in other.told

    path.write_text("three jobs\n", encoding="utf-8")
    longer = verify_trace(session)
    assert longer is not None
    assert longer.told == f"{path}: has changed since the session was made: 11 bytes, then 8"

    path.unlink()
    gone = verify_trace(session)
    assert gone is not None
    assert gone.told == f"{path}: no such file or directory; the session was made from it"


@pytest.mark.parametrize("name", ["/dev/zero", "/", "a\0b"])
def test_a_trace_that_is_no_file_is_missing(name: str) -> None:
    problem = verify_trace(small(trace=TraceRef(name, NO_HASH, 7)))
    assert problem is not None
    assert problem.kind == "missing"


def test_a_sample_that_there_is_no_more_is_missing() -> None:
    problem = verify_trace(small(trace=TraceRef("z-figure44", NO_HASH, 7, True)))
    assert problem is not None
    assert "did you mean" in problem.told
