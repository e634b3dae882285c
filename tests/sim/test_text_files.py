"""Foreign text is refused with its file and line; reading it never hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sim.errors import FileError
from sim.text_files import TextKind

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


def test_a_mark_of_utf_8_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.poem").write_bytes(b"\xef\xbb\xbfroses")
    assert POEM.read(tmp_path / "a.poem") == "roses"
