"""Reference to a trace: its path or a sample's name, with the SHA-256 hash of its bytes to detect changes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Literal, NamedTuple

from sim.support.errors import SchedscopeError, TraceError
from sim.workload.samples import REWORDED, sample_path
from sim.workload.source import is_line


class TraceRef(NamedTuple):
    """Reference to a trace as it was when it was read: name, hash and size."""

    name: str
    sha256: str
    """Hash of the bytes (SHA-256); "" for a trace from a pipe, which cannot be read again"""
    size: int
    is_sample: bool = False

    @classmethod
    def of(cls, name: str, is_sample: bool = False) -> TraceRef:
        """Return the trace with the present hash and size of its bytes; a path is made absolute."""
        if is_line(name):
            return cls(name, hashlib.sha256(name.encode()).hexdigest(), len(name.encode()))
        path = sample_path(name) if is_sample else Path(os.path.abspath(name))
        try:
            known = path.stat()
            sha256 = _sha256(path) if stat.S_ISREG(known.st_mode) else ""
            return cls(name if is_sample else str(path), sha256, known.st_size, is_sample)
        except OSError as error:
            raise TraceError(f"cannot be read: {error.strerror or error}", path) from None


class Problem(NamedTuple):
    """Problem with a trace: it is missing, or not the one that was saved."""

    kind: Literal["missing", "size", "hash"]
    told: str
    """Line that says what is wrong, and where the trace was expected"""


def compare_trace(ref: TraceRef) -> Problem | None:
    """Return what is wrong with the trace, otherwise None; no more is read than necessary."""
    if is_line(ref.name):
        return None if TraceRef.of(ref.name) == ref else Problem("hash", "the puzzle of the session has changed")
    try:
        path = sample_path(ref.name) if ref.is_sample else Path(ref.name)
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return Problem("missing", f"{path}: is no ordinary file; the session was made from one")
        if ref.is_sample and ref.sha256 in REWORDED.get(ref.name, ()):
            return None
        if found.st_size != ref.size:
            was, now = f"{ref.size:,}", f"{found.st_size:,}"
            return Problem("size", f"{path}: has changed since the session was made: {now} bytes, then {was}")
        if (now := _sha256(path)) != ref.sha256:
            return Problem(
                "hash",
                f"{path}: has changed since the session was made: SHA-256 {now[:12]}..., then {ref.sha256[:12]}...",
            )
    except SchedscopeError as error:
        return Problem("missing", str(error))
    except OSError as error:
        return Problem("missing", f"{ref.name}: {(error.strerror or str(error)).lower()}; the session was made from it")
    except ValueError:
        return Problem("missing", f"{ref.name!a}: no name of a file may hold a NUL")
    return None


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
