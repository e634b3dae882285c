"""Source files of the compiled loop; a hash of them detects that a compiled module is outdated."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

SOURCES = (
    "machine/moment.py", "kernel/arrays.py", "machine/operations.py", "machine/steps.py", "machine/trials.py",
    "policies/lots.py", "kernel/row_plan.py", "kernel/sets.py", "kernel/present.py", "kernel/conservative.py",
    "kernel/loop.py", "kernel/ordering.py", "kernel/suspension.py", "kernel/selective.py", "kernel/immediate.py",
    "kernel/partitions.py", "kernel/multiqueue.py", "kernel/clock.py", "kernel/sharing.py", "kernel/gang.py",
    "kernel/migration.py",
)  # fmt: skip


def made_of(folder: Path) -> str:
    """Return a hash of the source files, of which `folder` is the folder `sim`."""
    return sha256(b"".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()
