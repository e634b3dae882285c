"""Reader of text files that users have written; every error names the file and the line."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

from sim.support.errors import FileError

UNPACKED, TIMES = 2**26, 100
"""Contents are refused, as a bomb, above both this size in bytes and this ratio to the packed size."""


def most_unpacked(packed: int) -> int:
    """Return the largest number of bytes that the unpacked contents of a file of `packed` bytes may take in memory."""
    return max(UNPACKED, packed * TIMES)


class TextKind(NamedTuple):
    """Kind of text file: its name in errors, its largest size in bytes, and the class of its errors."""

    name: str
    most: int
    error: type[FileError]

    def read(self, path: str | Path) -> str:
        return self.text(self.bytes_in(path), path)

    def bytes_in(self, path: str | Path) -> bytes:
        """Return the bytes of a file, up to one more than allowed, so that too large a file can be detected."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise self.error(f"is no ordinary file; expected a {self.name}", path)
            with open(path, "rb") as file:
                return file.read(self.most + 1)
        except OSError as error:
            raise self.error(f"cannot be read: {error.strerror or error}", path) from None
        except ValueError:
            raise self.error("no name of a file may hold a NUL", ascii(str(path))) from None

    def text(self, data: bytes, path: object) -> str:
        """Return the bytes of the file at `path` as text; raise an error if they are no text or too many."""
        if len(data) > self.most:
            raise self.error(f"is no {self.name}: more than {self.most:,} bytes", path)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.error("is no text: write it in UTF-8", path, 1 + data[: error.start].count(b"\n")) from None

    def toml(self, text: str, path: object) -> dict[str, Any]:
        """Return the TOML tables of a text; errors name `path` and the line."""
        import tomllib  # sessions do not need it

        if found := _LONG_KEY.search(text):
            what = f"this key has more than {MOST_PARTS} parts"
            raise self.error(what, path, 1 + text.count("\n", 0, found.start()))
        try:
            tables = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            at = re.search(r"\(at line (\d+)", str(error))
            what = re.sub(r" \(at .*", "", str(error)) or "is no TOML"
            what = what.replace("Cannot overwrite a value", "this key stands twice; keep one of them")
            raise self.error(what, path, int(at[1]) if at else len(text.splitlines())) from None
        if told := _what_is_refused(tables):
            place = (_HUGE if "number" in told else _NUL).search(text)
            raise self.error(told, path, 1 + text.count("\n", 0, place.start()) if place else None)
        return tables


MOST_PARTS, MOST_DEPTH = 12, 32
"""Most parts of a dotted key in TOML, whose reading takes their square, and deepest nesting."""
_PART = r"""(?:(?<![\w-])[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_NUL = re.compile(r"\\u0000|\\U00000000")
_HUGE = re.compile(r"[0-9a-fA-F_]{17,}+")
_LONG_KEY = re.compile(rf"(?:{_PART}\.[ \t]*+){{{MOST_PARTS}}}")


def _what_is_refused(found: object) -> str:
    """Return what in a TOML file is refused (deep nesting, a huge number, a NUL in text); "" if nothing is."""
    level = [found]
    for _ in range(MOST_DEPTH + 1):
        if any(isinstance(each, int) and each.bit_length() > 64 for each in level):
            return "a number has more than 64 bits"
        if any(isinstance(each, str) and "\0" in each for each in level):
            return "a text holds a NUL"
        tables = [each for each in level if isinstance(each, dict | list)]
        level = [part for each in tables for part in (each.values() if isinstance(each, dict) else each)]
        if not level:
            return ""
    return f"more than {MOST_DEPTH} lists or tables lie within each other"
