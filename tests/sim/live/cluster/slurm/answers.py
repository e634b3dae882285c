"""Captured answers of three versions of Slurm to every command of the adapter."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from sim.live.cluster.slurm.commands import Commands
from sim.support.errors import ClusterError

FOLDER = Path(__file__).parent / "captured"
VERSIONS = ("22.05", "24.11", "26.05")
_ANSWER_TO = (
    ("squeue", "squeue"), ("scontrol -d -o show job", "job"), ("scontrol -o show node", "node"),
    ("scontrol -o show partition", "partition"), ("scontrol -o show res", "res"), ("scontrol show config", "config"),
    ("scontrol show assoc_mgr", "assoc_mgr"), ("sprio", "sprio"), ("sacct", "sacct"),
)  # fmt: skip
"""Pairs (beginning of a command, name of the captured output that answers it)."""


@lru_cache
def parts(version: str) -> dict[str, str]:
    """Return the captured outputs of this version of Slurm: mapping from name to text."""
    pieces = (FOLDER / f"{version}.txt").read_text().split("=== ")[1:]
    return {name: text for name, _, text in (piece.partition("\n") for piece in pieces)}


class Captured(Commands):
    """Commands answered from the captured outputs of one version of Slurm, all of the same time."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self._parts = parts(version)
        self.at = float(self._parts["at"])

    def ask(self, *words: str) -> str:
        line = " ".join(words)
        if line == "id -un":
            return "games\n"
        for begin, part in _ANSWER_TO:
            if line.startswith(begin):
                return self._parts[part]
        raise ClusterError(f"{line}: it was not captured")
