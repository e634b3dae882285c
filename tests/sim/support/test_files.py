import os
import stat
import threading
import tomllib
from pathlib import Path

import pytest

from sim.support.errors import FileError, ReaderGoneError, SchedscopeError
from sim.support.files import _LONG_KEY, TextKind, refuse_replacing, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_all_of_it_is_written(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with write_whole(target) as file:
        file.write("job,start\n")
        file.flush()
        assert not target.exists()
    assert target.read_bytes() == b"job,start\n"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("what", [ValueError, KeyboardInterrupt])
def test_after_an_interruption_the_old_file_stands_alone(tmp_path: Path, what: type[BaseException]) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def interrupted() -> None:
        with write_whole(target) as file:
            file.write("half")
            raise what

    with pytest.raises(what):
        interrupted()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with write_whole(tmp_path / "new") as file:
            file.write("x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "old"
    target.touch()
    target.chmod(0o604)
    with write_whole(target) as file:
        file.write("x")
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


def test_a_symlink_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_text("old")
    (tmp_path / "link").symlink_to("folder/real")
    with write_whole(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_text() == "new"


def test_devices_are_written_straight() -> None:
    with write_whole("/dev/null") as file:
        file.write("gone")
    assert Path("/dev/null").is_char_device()
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with pytest.raises(SchedscopeError, match="cannot write /dev/full: No space left"):  # noqa: SIM117
        with write_whole("/dev/full") as file:
            file.write("x")


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    with write_whole(pipe) as file:
        file.write("through")
    reader.join()
    assert got == ["through"]


def test_stdout_is_written_straight(capfd: pytest.CaptureFixture[str]) -> None:
    with write_whole("/dev/stdout") as file:
        file.write("seen\n")
    assert capfd.readouterr().out == "seen\n"


def test_what_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "no" / "out.csv"
    with (
        pytest.raises(SchedscopeError, match=f"^cannot write {target}: No such file or directory$"),
        write_whole(target),
    ):
        pass
    with pytest.raises(SchedscopeError, match=r"Is a directory$"), write_whole(tmp_path):
        pass
    with pytest.raises(SchedscopeError, match="cannot write"), write_whole("a\0b"):
        pass
    assert names(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "fixed"
    target.touch(mode=0o444)
    with pytest.raises(SchedscopeError, match=r"Permission denied$"), write_whole(target):
        pass


def test_that_a_reader_has_gone_is_no_fault_of_the_file(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(ReaderGoneError), write_whole(f"/proc/self/fd/{writer}") as file:
        file.write("x" * 100_000)
    os.close(writer)


def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x"
    refuse_replacing(path, "picture", b"<svg", b"\x89PNG")
    path.write_text("<svg>")
    refuse_replacing(path, "picture", b"<svg", b"\x89PNG")
    (tmp_path / "link").symlink_to("x")
    path.write_text("precious")
    with pytest.raises(SchedscopeError, match="link: this file is no picture, and stays; choose another name"):
        refuse_replacing(tmp_path / "link", "picture", b"<svg", b"\x89PNG")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "away").symlink_to(path)
    path.write_text("<svg>")
    with pytest.raises(SchedscopeError, match="away: is a link to a file of another folder, which stays"):
        refuse_replacing(tmp_path / "folder" / "away", "picture", b"<svg", b"\x89PNG")
    (tmp_path / "nowhere").symlink_to("missing")
    os.mkfifo(tmp_path / "pipe")
    for name in ("nowhere", "pipe"):
        with pytest.raises(SchedscopeError, match=f"{name}: this file is no picture"):
            refuse_replacing(tmp_path / name, "picture", b"<svg")
    refuse_replacing("/dev/null", "picture", b"<svg")


POEM = TextKind("poem", 20, FileError)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a = 1\nb = \xff", ":2: is no text: write it in UTF-8"),
        (b"a = 1\na = 1\n", ":2: this key stands twice; keep one of them"),
        (b"a = 1\nb", ":2: Expected '=' after a key in a key/value pair"),
        (b"#" * 21, ": is no poem: more than 20 bytes"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "a.poem"
    path.write_bytes(data)
    with pytest.raises(FileError) as error:
        POEM.toml(POEM.read(path), path)
    assert str(error.value) == f"{path}{told}"


@pytest.mark.parametrize(
    ("name", "told"),
    [(".", "is no ordinary file; expected a poem"), ("pipe", "is no ordinary file"), ("none", "cannot be read: No"),
     ("a\0b", "no name of a file may hold a NUL")],
)  # fmt: skip
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, told: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match=told):
        POEM.read(tmp_path / name)


@pytest.mark.parametrize(
    "key", ["a" + ".a" * 100_000, "[" + "a . " * 13 + "a]", "'b' ." * 13 + "a", "{a=1," + '"\\"".c.' * 13 + "a=1}"]
)
def test_a_key_of_endless_parts_is_not_parsed(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("parsed"))
    with pytest.raises(FileError, match=r"^it:2: this key has more than 12 parts$"):
        POEM.toml(f"a = 1\n{key} = 1", "it")


@pytest.mark.parametrize(
    "text", ["wait = 'ab' # one. two. three\n" * 30, 'say = "So ... it is. Why? ' + "It is. " * 50 + '"']
)
def test_prose_with_dots_is_no_key(text: str) -> None:
    assert not _LONG_KEY.search(text)


@pytest.mark.parametrize("text", ["a = " + "[" * 40 + "]" * 40, "a = " + "{a=" * 40 + "1" + "}" * 40, "[" * 10_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FileError, match=r"^it(:1)?: "):
        POEM.toml(text, "it")


def test_a_mark_of_utf_8_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.poem").write_bytes(b"\xef\xbb\xbfroses")
    assert POEM.read(tmp_path / "a.poem") == "roses"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = [{b = 0x" + "F" * 5000 + "}]", "it:1: a number has more than 64 bits"),
        ('a = 1\nb = "\\u0000"', "it:2: a text holds a NUL"),
    ],
)
def test_what_no_program_can_take_is_refused(text: str, told: str) -> None:
    with pytest.raises(FileError, match=f"^{told}$"):
        TextKind("poem", 10_000, FileError).toml(text, "it")
