"""Reasons to wait that no policy gives: the program infers them from the decisions and the plan.

A class without a docstring is explained by its sentence in `sim.decisions.words_of_waits`.
"""

from __future__ import annotations

from sim.decisions.because import Because, job, whole
from sim.workload.job import Job


class Heads(Because):
    fields = (whole("free"),)

    def __init__(self, free: int) -> None:
        self.free = free


class NotConsidered(Because):
    fields = job("head"), whole("free")

    def __init__(self, head: Job | None, free: int) -> None:
        self.head, self.free = head, free


class AwaitsTurn(Because):
    fields = (whole("rows"),)

    def __init__(self, rows: int) -> None:
        self.rows = rows


class FewBesideKept(Because):
    fields = whole("free"), whole("kept"), job("kept_for")

    def __init__(self, free: int, kept: int, kept_for: Job) -> None:
        self.free, self.kept, self.kept_for = free, kept, kept_for


class RowLater(Because):
    fields = (whole("row"),)

    def __init__(self, row: int) -> None:
        self.row = row


class RowStopped(Because):
    """Reason for a suspension: the policy was switched while the job's row did not have its turn."""
