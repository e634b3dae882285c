"""Reasons for decisions about an Ousterhout matrix, as immutable data; costs are processor-seconds."""

from __future__ import annotations

from sim.decisions.because import UNTOLD, Because, flag, job, number, span, whole
from sim.workload.job import Job


class BestFit(Because):
    """Reason for placing a job in a row: of all rows where it fits, this one has the smallest number of `free` columns.

    If `span` is given, only rows count where the columns stay free for `span` seconds.
    """

    fields = whole("free"), span("span")

    def __init__(self, free: int, span: float | None = None) -> None:
        self.free, self.span = free, span


class NewRow(Because):
    """Reason for a new row: no existing row has enough free columns. If `own` is True: every existing row has other
    jobs in the suspended job's own columns. If `span` is given: no row has enough columns free for `span` seconds.
    """

    fields = whole("rows"), whole("mpl"), flag("own"), span("span", UNTOLD)

    def __init__(self, rows: int, mpl: int, own: bool = False, span: float | None = None) -> None:
        self.rows, self.mpl, self.own, self.span = rows, mpl, own, span


class GoesOn(Because):
    """Reason for placing a suspended job in a row: its own columns are free there."""


class Fuller(Because):
    fields = whole("was"), whole("held")

    def __init__(self, was: int, held: int) -> None:
        self.was, self.held = was, held


class MakesWay(Because):
    """Reason for a migration: the job moves to make its columns free for `job`. This costs `cost` processor-seconds in
    all; moving `job` to other columns instead would cost `other` (None if impossible or not considered).
    """

    fields = job("job"), number("cost"), number("other")

    def __init__(self, job: Job, cost: float, other: float | None) -> None:
        self.job, self.cost, self.other = job, cost, other


class OtherColumns(Because):
    fields = number("cost"), number("other")

    def __init__(self, cost: float, other: float | None) -> None:
        self.cost, self.other = cost, other


class EarliestInRow(Because):
    fields = (span("span"),)

    def __init__(self, span: float) -> None:
        self.span = span


class FitsNoRow(Because):
    fields = whole("free", UNTOLD), whole("rows", UNTOLD)

    def __init__(self, free: int, rows: int) -> None:
        self.free, self.rows = free, rows


class OwnColumnsTaken(Because):
    fields = (whole("rows", UNTOLD),)

    def __init__(self, rows: int) -> None:
        self.rows = rows
