"""Reader of trace files. Compression and format are recognised by the content, not by the name."""

from __future__ import annotations

import gzip
import os
import re
import select
import stat
import zlib
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sim.support.errors import TraceError
from sim.support.files import TIMES, is_database, most_unpacked
from sim.workload.formats import batsim, nodes, parquet, sacct, slog, swf, table
from sim.workload.formats.puzzle import is_puzzle, parse_puzzle
from sim.workload.model import Trace
from sim.workload.shape import Shape

Heard = Callable[[float], object]
"""Function that is called with the share of a file that has been read, from 0 to 1"""
FilePath: TypeAlias = str | Path


class Format(NamedTuple):
    """Test of the first line that is no comment, and reader (text, name, path, options for a dump of sacct)."""

    begins_with: Callable[[str], bool]
    read: Callable[[str, str, FilePath, sacct.Reading], Trace]


def _read_json(text: str, name: str, path: FilePath, how: sacct.Reading) -> Trace:
    return nodes.read(text, name, path) if nodes.is_machine(text) else batsim.read(text, name, path)


FORMATS = {
    "batsim": Format(lambda first: first.startswith(("{", "[")), _read_json),
    "puzzle": Format(is_puzzle, lambda text, name, path, _: replace(parse_puzzle(text, path).trace, name=name)),
    "sacct": Format(sacct.is_header, sacct.read),
    "evalys": Format(table.is_of_evalys, lambda text, name, path, _: table.read(text, name, path, format="evalys")),
    "csv": Format(table.is_header, lambda text, name, path, _: table.read(text, name, path)),
}
"""Formats of text files in the order in which they are tried; a text of none of them is SWF"""

MAX_BYTES, MAX_SWF = 2**30, 2**36
"""Largest decompressed sizes in bytes: for most formats, and for SWF, of which only the jobs take memory."""
PART = 2**26
"""Smallest number of characters of the parts in which a file is processed; the last part may be smaller."""
PATIENCE = 3.0
"""Seconds to wait until another program begins to write to a pipe."""

CHUNK = 2**20
GZIP = b"\x1f\x8b"
ENDINGS = (
    ".swf", ".parquet", ".json", ".csv", ".tsv", ".psv", ".txt", ".log", ".out", ".dat", ".sacct", ".slog",
)  # fmt: skip


def read(path: str | Path, how: sacct.Reading = sacct.AS_USUAL, heard: Heard | None = None) -> Trace:
    """Return the trace in a file of any format; wrong content is a `TraceError` of one line."""
    try:
        if is_database(path):
            return slog.read(path, _stem(path), how)
        if parquet.is_parquet(path):
            return parquet.read(path, _stem(path), heard)
        return _parsed(_as_text(_chunks(path, heard)), path, how)
    except MemoryError:
        raise TraceError("does not fit into this machine's memory; split it", path) from None
    except RecursionError:
        raise TraceError("is no trace: nested too deeply", path) from None


def read_shape(path: str | Path) -> Shape:
    """Return the machine of nodes in a file: the text of `scontrol show node` and `show partition`, or TOML."""
    return nodes.read_machine(_joined(_as_text(_chunks(path)), path), path)


def _parsed(parts: Iterator[str], path: str | Path, how: sacct.Reading) -> Trace:
    text = next((part for part in parts if part and not part.isspace()), "")
    if not text:
        raise TraceError("is empty; expected a trace, one line a job", path)
    if Path(path).suffix == ".toml":
        is_lesson = "[[scene]]" in text
        raise TraceError(
            "is a lesson, no trace: schedscope learn FILE plays it" if is_lesson else
            "is no trace: a lesson is played by schedscope learn, a plan of runs made by schedscope sweep", path
        )  # fmt: skip
    if Path(path).suffix == ".py":
        raise TraceError("is Python, no trace: schedscope watch TRACE --policy FILE runs a policy", path)
    first, second = islice(chain(_content_lines(text), ("", "")), 2)
    if "jobid" in first.lower().split() and second.startswith("---"):
        raise TraceError("is a human-readable sacct dump; create it with sacct --parsable2", path, 1)
    name, kind, parts = _stem(path), sniff(text, Path(path).name), chain([text], parts)
    if kind == "swf":
        return swf.read_parts(parts, name, path)
    return FORMATS[kind].read(_joined(parts, path), name, path, how)


def sniff(text: str, filename: str = "") -> str:
    """Return the format by the first line that is no comment; if that names columns, the ending .swf means SWF.

    >>> sniff("JobID|Submit|Elapsed|NCPUS"), sniff('{"jobs": []}'), sniff("; MaxProcs: 4")
    ('sacct', 'batsim', 'swf')
    """
    first = next(_content_lines(text), "")
    kind = next((name for name, each in FORMATS.items() if each.begins_with(first)), "swf")
    return "swf" if kind == "csv" and filename.lower().removesuffix(".gz").endswith(".swf") else kind


HEADER = 2**14
"""Largest number of letters of a line that are read to recognise the format."""
_CONTENT = re.compile(rf"^[^\S\n]*([^\s;#].{{0,{HEADER - 1}}})", re.MULTILINE)


def _content_lines(text: str) -> Iterator[str]:
    return (found[1].rstrip() for found in _CONTENT.finditer(text))


def _stem(path: str | Path) -> str:
    """Return the file's name without the endings that name compression and format."""
    name = Path(path).name
    name = name[:-3] if name.lower().endswith(".gz") else name
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in ENDINGS else name


def _as_text(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield text in large parts of whole lines, with newlines as ends; as UTF-8 if possible, else as Latin-1."""
    text = ""
    decoder: IncrementalDecoder = getincrementaldecoder("utf-8-sig")()
    for chunk in chain(chunks, [b""]):
        try:
            text += decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:  # its object begins at the end of the text so far
            decoder = getincrementaldecoder("latin-1")()
            text = text.encode().decode("latin-1") + decoder.decode(error.object)
        if len(text) >= PART:  # the last letter may be the first half of a line end
            end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1 or len(text)
            yield _with_newlines(text[:end])
            text = text[end:]
    yield _with_newlines(text)


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _joined(parts: Iterable[str], path: str | Path) -> str:
    text = ""
    for part in parts:
        text += part
        if len(text) > MAX_BYTES:
            raise TraceError(f"holds more than {MAX_BYTES:,} bytes; cut it into smaller files", path)
    return text


def _chunks(path: str | Path, heard: Heard | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes; raise an error if they begin unlike a text, and as soon as they are too many."""
    total = 0
    try:
        with _opened(path) as file:
            packed = file.tell if file.seekable() else lambda: MAX_BYTES
            size = os.fstat(file.fileno()).st_size
            for chunk in _decompressed(file):
                if not total and _is_binary(chunk):
                    raise TraceError(f"is not a trace: binary data starting with {chunk[:8]!r}", path)
                total += len(chunk)
                if total > MAX_SWF:
                    raise TraceError(f"holds more than {MAX_SWF:,} bytes; cut it into smaller files", path)
                if total > most_unpacked(packed()):
                    raise TraceError(f"is no trace: it unpacks to more than {TIMES} times its size", path)
                yield chunk
                if heard is not None and size:
                    heard(min(packed() / size, 1.0))
    except FileNotFoundError:
        raise TraceError("no such file; give the path of a trace", path) from None
    except IsADirectoryError:
        raise TraceError("is a directory; give the path of one trace in it", path) from None
    except PermissionError:
        raise TraceError("may not be read; ask for permission to read it", path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TraceError(f"is damaged gzip ({error}); fetch it again", path) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise TraceError(f"cannot be read: {reason}", path) from None


def _opened(path: str | Path) -> BufferedReader:
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return open(path, "rb")
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        is_unused = not select.select([pipe], [], [], PATIENCE)[0] and os.read(pipe, 1) == b""
    except BlockingIOError:
        is_unused = False  # there is a writer, which has not written yet
    if is_unused:
        os.close(pipe)
        raise TraceError("is a pipe that no process writes to", path)
    os.set_blocking(pipe, True)
    return os.fdopen(pipe, "rb")


def _decompressed(file: BufferedReader) -> Iterator[bytes]:
    zipped = file.peek(2)[:2] == GZIP  # not read and put back: a pipe cannot do that
    content = gzip.GzipFile(fileobj=file) if zipped else file
    while chunk := content.read(CHUNK):
        yield chunk


def _is_binary(start: bytes) -> bool:
    start = start[:4096]
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\v\x1b" for byte in start)
    return b"\0" in start or controls > len(start) // 10
