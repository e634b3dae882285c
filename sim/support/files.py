"""Writing of files that appear completely or not at all, and of CSV that is safe in spreadsheets. Reading of text files
that users have written; every error names the file and the line.
"""

from __future__ import annotations

import csv
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from sim.support.errors import FileError, ReaderGoneError, SchedscopeError
from sim.support.formatting import printable, printable_lines

STDOUT = "/dev/stdout"


@contextmanager
def write_whole(path: str | Path) -> Iterator[TextIO]:
    """Open a text file that replaces `path` when the context ends without an error; a device is written at once."""
    if "\0" in str(path):
        raise SchedscopeError(f"cannot write {str(path)!r}: no name of a file may hold a NUL")
    try:
        with _straight(path) if _is_special(path) else _replacing(path) as file:
            yield file
    except BrokenPipeError:
        raise ReaderGoneError(f"cannot write {path}: its reader has closed it") from None
    except OSError as error:
        raise SchedscopeError(f"cannot write {path}: {error.strerror or error}") from None


def _is_special(path: str | Path) -> bool:
    """Return True for a device, a pipe or an open file like /dev/stdout, which cannot be replaced."""
    if str(path) == STDOUT or os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


class _Straight(TextIOWrapper):
    """Text file for a device or a pipe, written directly. On a terminal, control characters are replaced by `?`."""

    def write(self, text: str) -> int:
        return super().write(printable_lines(text) if self.isatty() else text)


def _straight(path: str | Path) -> TextIO:
    # Appending: /dev/stdout may be a file that others write to as well. Windows has no such name.
    target = os.dup(1) if str(path) == STDOUT and sys.platform == "win32" else path
    return _Straight(open(target, "ab"), encoding="utf-8", errors="backslashreplace", newline="")


@contextmanager
def _replacing(path: str | Path) -> Iterator[TextIO]:
    """Open a new file in the target's folder that replaces it at the end; a link leads to its target."""
    target = Path(os.path.realpath(path))
    kept_mode = _checked_mode(target)
    draft = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        # os.open, not mkstemp: the permissions are those of open()
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(opened, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            if kept_mode is not None:
                os.chmod(opened if os.chmod in os.supports_fd else draft, kept_mode)
            yield file
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _checked_mode(target: Path) -> int | None:
    """Return the target's permissions, None if it does not exist; raise an error if it cannot be written."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "Is a directory")
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied")
    return stat.S_IMODE(mode)


# Tables for spreadsheets

_MARKED = re.compile(r"'+[=+\-@]")
_FORMULA = re.compile(r"'*[=+\-@]")


def write_rows(file: TextIO, rows: Iterable[Sequence[object]]) -> None:
    """Write CSV: texts with `?` for control characters, and marked if they look like formulas; numbers stay."""
    written = ([marked(printable(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(file, lineterminator="\n").writerows(written)


def marked(text: str) -> str:
    """Return the text with an apostrophe before it if it looks like a formula; `unmarked` removes it.

    >>> [marked(text) for text in ("=1+1", "-5", "@me", "'=x", "'s", "low")]
    ["'=1+1", '-5', "'@me", "''=x", "'s", 'low']
    """
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unmarked(text: str) -> str:
    return text[1:] if _MARKED.match(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_database(path: str | Path) -> bool:
    """Return True if the file begins like an SQLite database, as results files do."""
    try:
        if not os.path.isfile(path):  # a pipe is read once
            return False
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except (OSError, ValueError):
        return False


def _leads_away(path: str | Path) -> bool:
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    return os.path.islink(path) and os.path.dirname(os.path.realpath(path)) != folder


def refuse_replacing(path: str | Path, what: str, *begins: bytes) -> None:
    """Raise `SchedscopeError` if something at `path` must not be overwritten. A device may be, and a file of the kind
    `what`, which begins with one of `begins`.

    A link that leads nowhere or to another folder is refused, because a stranger may have chosen its target. A folder
    is not checked here.
    """
    try:
        if not os.path.lexists(path) or os.path.isdir(path):
            return
        mode = os.stat(path).st_mode if os.path.exists(path) else 0
        is_one = stat.S_ISCHR(mode)
        if stat.S_ISREG(mode):
            with open(path, "rb") as file:
                is_one = file.read(max(map(len, begins))).startswith(begins)
    except (OSError, ValueError):
        return  # writing it says what is wrong
    if stat.S_ISREG(mode) and _leads_away(path):
        raise SchedscopeError(f"{path}: is a link to a file of another folder, which stays; choose another name")
    if not is_one:
        raise SchedscopeError(f"{path}: this file is no {what}, and stays; choose another name")


# Text files of users

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
