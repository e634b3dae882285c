import os
import tomllib
from pathlib import Path

import pytest

from sim.support.errors import FileError
from sim.support.text_files import _LONG_KEY, TextKind

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
