"""Source files of the compiled loop, whose hash detects an outdated one."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

SOURCES = (
    "arrays.py", "operations.py", "plan.py", "sets.py", "present.py", "conservative.py", "loop.py", "ordering.py",
    "suspension.py", "selective.py", "immediate.py", "partitions.py", "multiqueue.py", "clock.py", "sharing.py",
    "gang.py", "migration.py",
)  # fmt: skip


def made_of(folder: Path) -> str:
    """Return a hash of the source files."""
    return sha256(b"".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()
