"""Hashes and text of user-defined code."""

from __future__ import annotations

import hashlib
import linecache


def hash_of(data: bytes) -> str:
    """Return the SHA-256 hash by which a content of a code file is identified."""
    return hashlib.sha256(data).hexdigest()


def keep_lines(path: str, text: str) -> None:
    """Store the text of the code, for tracebacks and for `inspect`, so that they show the lines that run even if the
    file changes.
    """
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
