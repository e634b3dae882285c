"""List of the source files of the compiled loop, and their hash, which reveals that a compiled module is outdated."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

SOURCES = (
    "machine/moment.py", "kernel/arrays.py", "machine/operations.py", "machine/steps.py", "machine/trials.py",
    "policies/random_numbers.py", "policies/multiqueue/first_starts.py",
    "policies/multiqueue/lending.py",
    "policies/gang/planned_rows.py", "kernel/sets.py", "kernel/present.py", "kernel/compression.py", "kernel/calls.py",
    "kernel/checked_calls.py",
    "policies/backfill/fcfs.py", "policies/backfill/firstfit.py", "policies/backfill/easy.py",
    "policies/backfill/relaxed.py", "policies/backfill/replan.py", "policies/backfill/recorded.py",
    "policies/backfill/conservative.py", "kernel/loop.py", "kernel/ordering.py", "policies/orders.py",
    "kernel/suspension.py",
    "policies/preempt/immediate.py", "policies/preempt/xfactors.py", "kernel/tolls.py", "policies/preempt/selective.py",
    "kernel/partitions.py", "kernel/multiqueue.py", "policies/multiqueue/multiqueue.py", "kernel/clock.py",
    "kernel/sharing.py", "kernel/matrix_rows.py", "kernel/gang.py", "policies/gang/gang.py", "kernel/node_states.py",
    "kernel/node_sets.py", "kernel/nodes.py", "kernel/node_cores.py", "kernel/node_loop.py",
)  # fmt: skip


def made_of(folder: Path) -> str:
    """Return a hash of the source files of the loop; `folder` is the folder `sim`."""
    return sha256(b"".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()
