"""Stretches, steps and decisions of a run as the engine writes them, before they are moved into the columns of its
history.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from librt.strings import BytesWriter, write_f64_le, write_i32_le, write_i64_le

from sim.decisions.decisions import Decision
from sim.history.stretch import DONE

MANY: Final = 4096
BEGIN = np.dtype([("rank", "<i4"), ("start", "<f8"), ("kind", "u1"), ("step", "<i4")])
"""Record of a stretch that has begun"""
END = np.dtype([("stretch", "<i4"), ("end", "<f8"), ("ended_by", "u1"), ("step", "<i4")])
"""Record of a stretch that has ended, which is named by its number"""
CLOSE = np.dtype([
    ("time", "<f8"), ("waiting", "<i4"), ("wanted", "<i8"), ("decisions", "<i4"), ("stretches", "<i4"), ("free", "<f8"),
])  # fmt: skip
"""Record of a step: its time, the waiting jobs, the processors that these request, the number of decisions and of
stretches after it, and the free processors
"""


class Collector:
    """Values that are not yet in the columns of a history: records as bytes, one after another."""

    def __init__(self) -> None:
        self.begins, self.ends, self.closes = BytesWriter(), BytesWriter(), BytesWriter()
        """Records of the forms `BEGIN`, `END` and `CLOSE`"""
        self.processors: list[int] = []
        """Processors, as bits, of each stretch that has begun"""
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
        return len(self.decided) > self.most or len(self.processors) > self.most

    def begin(self, rank: int, now: float, processors: int, kind: int) -> int:
        """Record that the job begins a stretch of this kind (index into `KINDS`) on these processors (bits). Return the
        number of the stretch, which `finish` takes; -1 if nothing is stored.
        """
        if not self.is_written:
            return -1
        stretch = self.stretches
        begins = self.begins
        write_i32_le(begins, rank)
        write_f64_le(begins, now)
        begins.append(kind)
        write_i32_le(begins, self.steps)
        self.processors.append(processors)
        self.stretches = stretch + 1
        return stretch

    def finish(self, stretch: int, now: float, ended_by: int = DONE) -> None:
        """End the stretch with this number at `now`; `ended_by` says how it ends, as an index into `ENDINGS`."""
        if self.is_written:
            ends = self.ends
            write_i32_le(ends, stretch)
            write_f64_le(ends, now)
            ends.append(ended_by)
            write_i32_le(ends, self.steps)

    def decide(self, decision: Decision) -> None:
        if self.is_written and self.keeps_decisions:
            self.decided.append(decision)

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        if self.is_written:
            closes = self.closes
            write_f64_le(closes, now)
            write_i32_le(closes, waiting)
            write_i64_le(closes, wanted)
            write_i32_le(closes, len(self.rows) + len(self.decided))
            write_i32_le(closes, self.stretches)
            write_f64_le(closes, free)
            self.steps += 1

    def mend_free(self, free: float) -> bool:
        """Replace the number of free processors after the last step; return False if the step is in the columns."""
        closes = self.closes
        if not len(closes):
            return False
        closes.truncate(len(closes) - 8)
        write_f64_le(closes, free)
        return True
