"""Stretches, steps and decisions of a run as the engine writes them, before they are moved into the columns of its
history.
"""

from __future__ import annotations

from typing import Any, Final

from sim.decisions.decisions import Decision
from sim.history.stretch import DONE

MANY: Final = 4096


class Collector:
    """Values that are not yet in the columns of a history, one after another in flat lists."""

    def __init__(self) -> None:
        self.begins: list[Any] = []
        """Rank, time, kind, step and processors (bits) of each stretch that has begun"""
        self.ends: list[Any] = []
        """Number, time, kind of end and step of each stretch that has ended"""
        self.closes: list[Any] = []
        """Time, free processors, waiting jobs, processors that these request, decisions, stretches after each step"""
        self.stretches = self.steps = 0
        """Number of stretches, and number of steps; both include the ones that are in the columns"""
        self.rows, self.decided = bytearray(), list[Decision]()
        """Rows of the decisions that are written, an entry for each, and the decisions that are not written"""
        self.is_written = True
        """False if nothing is stored, for an engine that repeats steps already in another history"""
        self.most = MANY
        """Number of decisions, or of stretches, above which the collected values are written into columns"""
        self.keeps_decisions = True
        """False if nothing will read the decisions of past steps, so that they need not even be made"""

    @property
    def is_full(self) -> bool:
        return len(self.decided) > self.most or len(self.begins) > 5 * self.most

    def begin(self, rank: int, now: float, processors: int, kind: int) -> int:
        """Record that the job begins a stretch of this kind (index into `KINDS`) on these processors (bits). Return the
        number of the stretch, which `finish` takes; -1 if nothing is stored.
        """
        if not self.is_written:
            return -1
        stretch = self.stretches
        self.begins += rank, now, kind, self.steps, processors
        self.stretches = stretch + 1
        return stretch

    def finish(self, stretch: int, now: float, ended_by: int = DONE) -> None:
        """End the stretch with this number at `now`; `ended_by` says how it ends, as an index into `ENDINGS`."""
        if self.is_written:
            self.ends += stretch, now, ended_by, self.steps

    def decide(self, decision: Decision) -> None:
        """Record a decision, after it has been carried out."""
        if self.is_written and self.keeps_decisions:
            self.decided.append(decision)

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        """Complete a step: store its time, the number of free processors, the number of waiting jobs, and the number of
        processors that they request (`wanted`).
        """
        if self.is_written:
            self.closes += now, free, waiting, wanted, len(self.rows) + len(self.decided), self.stretches
            self.steps += 1
