"""Hashes of user-defined code, and the check that a compiled module belongs to its file's content."""

from __future__ import annotations

import hashlib
import linecache
import os
from pathlib import Path
from types import ModuleType

from sim.policies.own.consent import OwnCodeError

MARK = "COMPILED_FROM"
"""Name of the variable, in a compiled module, that holds the path of its source file and the hash of the source"""


def hash_of(data: bytes) -> str:
    """Return the SHA-256 hash by which a content of a code file is identified."""
    return hashlib.sha256(data).hexdigest()


def refuse_outdated(module: ModuleType, head: str) -> None:
    """Raise an error if the source file of a compiled module has changed since the compilation; the error calls the
    module `head`.
    """
    path, sha256 = getattr(module, MARK, None) or ("", "")
    try:
        now = hash_of(Path(path).read_bytes()) if path else sha256
    except OSError:
        return  # the file is elsewhere now
    if now != sha256:
        again = f"compile it again: schedscope compile {os.path.relpath(path)}"
        raise OwnCodeError(f"it was compiled from another content of {os.path.basename(path)}; {again}", head)


def keep_lines(path: str, text: str) -> None:
    """Store the text of the code, for tracebacks and for `inspect`, so that they show the lines that run even if the
    file changes.
    """
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
