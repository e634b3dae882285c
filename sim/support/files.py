"""Writing of files that appear completely or not at all, and of CSV that is safe in spreadsheets."""

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
from typing import TextIO

from sim.support.errors import ReaderGoneError, SchedscopeError
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
