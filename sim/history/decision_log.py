"""Compact storage of decisions: each is a row of numbers, which has the number of its form, the ranks of up to two
jobs, and at most three values.

A form is a combination of a type of decision and a type of reason. Decisions without a form, such as those with
user-defined reasons, are kept as objects. A decision that is read back equals the stored one.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.decisions import reasons
from sim.decisions.because import JOB, JOBS, MOMENT, NUMBER, SPAN, WHOLE
from sim.decisions.decisions import Backfill, Borrow, Decision, Expect, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import Place, ReserveRow, Stall
from sim.decisions.reasons_in_rows import BestFit, EarliestInRow, NewRow
from sim.decisions.sentences import Reason
from sim.history.processor_sets import ProcessorSets
from sim.workload.model import Job, Jobs

WIDTH = 3
"""Number of values in a row of the log; a row also has the number of the form and two ranks"""
A_ROW = 1 + 4 + 4 + 8 * WIDTH
"""Size in bytes of a row of the log"""
SHARED = 4096
"""Factor with which two whole values become one number, `last * SHARED + other`, if a decision has one value more than
a row can hold
"""


class Form(NamedTuple):
    """Form of rows of the log: types of the decision and of its reason, and what the values in such a row mean."""

    decision: Any
    reason: Any
    names_job: bool
    """True if the first field of the reason is a job; its rank is then stored in the row."""
    kinds: tuple[type, ...]
    """For each value in a row: type to which it is converted when the decision is read; nan stands for None"""
    names_victims: bool = False
    """True if the first field of the reason is a list of suspended jobs. The first value in the row is then n, the
    number of these jobs; they are the jobs of the n rows before it.
    """
    is_placed: bool = False
    """True if the policy chooses the processors. The last value is then the number of a stretch with these processors
    or, if negative, ~index of a set stored without a stretch.
    """
    is_trial: bool = False
    """True if the first value of the reason is at the same time the decision's time limit for a speculative run."""
    own: int = 0
    """Number of values, at the beginning of a row, that are fields of the decision; the other values are fields of its
    reason
    """

    def made(self, job: Job, named: list[Any], values: list[Any], on: list[int]) -> Decision:
        """Return the decision about `job`, made again from stored data: `named` are the jobs in its reason, `values`
        the numbers. `on` is a list with the set of chosen processors (bits); empty if the policy does not choose them.
        """
        own, because = values[: self.own], values[self.own :]
        lasts = because[:1] if self.is_trial else []
        if self.reason:
            because = [self.reason(*named, *because)]
        decided: Decision = self.decision(job, *own, *because, *on, *lasts)
        return decided


class Placed(Form):
    """Form for placements in the matrix. The first value is the row of the matrix; ~row if the job passes jobs ahead of
    it. The last value is the span of the reason.

    The set of columns is stored where other forms have the rank of the job in the reason.
    """

    def made(self, job: Job, named: list[Any], values: list[Any], on: list[int]) -> Decision:
        row, number, span = values
        because: Reason = BestFit(number, span)
        if self.reason is NewRow:
            mpl, rows = divmod(number, SHARED)
            because = NewRow(rows, mpl, span=span)
        return Place(job, max(row, ~row), on[0], because, passes=row < 0)


_OWN: dict[Any, tuple[type, ...]] = {
    Start: (), Backfill: (), Suspend: (), Resume: (), Reserve: (float,), Expect: (float,), Stall: (float,),
    Borrow: (int, int), ReserveRow: (int, float),
}  # fmt: skip
"""For each type of decision: types of its own values, which stand before those of the reason in a row"""


_KINDS = {JOB: Job, JOBS: tuple, WHOLE: int, MOMENT: float, SPAN: float, NUMBER: float}
"""For each kind of field: type of its values in a row, or of jobs, which are stored by their ranks"""


def _derived(decision: Any, reason: Any, is_placed: bool) -> Form | None:
    """Return the form for these types of decision and reason; None if their values do not fit into a row."""
    kinds = [_KINDS.get(field.kind) for field in reason.fields] if reason else []
    names_job, names_victims = kinds[:1] == [Job], kinds[:1] == [tuple]
    kinds, own = kinds[names_job or names_victims :], _OWN[decision]
    numbers: tuple[Any, ...] = (*own, *[int] * names_victims, *kinds, *[int] * is_placed)
    most = WIDTH + (is_placed and numbers[-2:] == (int, int))  # the two share a place
    if len(numbers) > most or not all(kind in (int, float) for kind in kinds):
        return None
    is_trial = bool(reason) and [field.name for field in reason.fields[:1]] == ["limit"]
    is_trial = is_trial and (is_placed or decision is Reserve)
    return Form(decision, reason, names_job, numbers, names_victims, is_placed, is_trial, len(own))


FORMS: list[Form] = [Placed(Place, BestFit, False, (int, int, float)), Placed(Place, NewRow, False, (int, int, float))]
"""Forms in the order of their numbers; `form_of` adds each form when it is first requested"""
AS_IT_IS = 255
"""Number stored in place of a form's number for a decision without a form, which is kept as an object"""
_NUMBERS: dict[tuple[type, type | None, bool], int] = {(Place, BestFit, False): 0, (Place, NewRow, False): 1}


def form_of(decision: type, reason: type | None, is_placed: bool = False) -> int:
    """Return the number of the form for these types of decision and reason; `is_placed` is True if the policy chooses
    the processors. Raise `TypeError` if their values do not fit into a row of the log.
    """
    key = decision, reason, is_placed
    if key not in _NUMBERS:
        form = _derived(*key)
        if form is None or len(FORMS) == AS_IT_IS:
            raise TypeError(f"no row of the log can hold a {decision.__name__} with the reason {reason}")
        _NUMBERS[key] = len(FORMS)
        FORMS.append(form)
    return _NUMBERS[key]


_NOTHING = (0.0,) * WIDTH
_WRITTEN: dict[type, dict[type, tuple[int, bool, tuple[float, ...]]]] = {
    Start: {}, Backfill: {}, Reserve: {}, ReserveRow: {},
}  # fmt: skip
"""For each type of decision: mapping from each type of reason to (number of the form, True if the reason names a job,
zeros for the unused values of a row)
"""
_TO_START = [
    (decision, reason)
    for reason in vars(reasons).values()
    if isinstance(reason, type) and reason.__module__ == reasons.__name__
    for decision in (Start, Backfill, Reserve)  # the number of a backfill is that of the start + 1
]
for _decision, _reason in (*_TO_START, (ReserveRow, EarliestInRow)):
    _form = _derived(_decision, _reason, False)
    if _form and not _form.names_victims and not _form.is_trial:
        _WRITTEN[_decision][_reason] = form_of(_decision, _reason), _form.names_job, _NOTHING[len(_form.kinds) :]


class DecisionLog:
    """Log of decisions in the order in which they were made, one row each. New decisions are collected in a list, and
    written into rows before rows are read.
    """

    __slots__ = ("_jobs", "_kept", "_made", "_sets", "forms", "heads", "is_kept", "new", "numbers", "ranks")

    def __init__(self, jobs: Sequence[Job] = (), sets: ProcessorSets | None = None) -> None:
        """Make an empty log about these jobs (by rank). `sets` contains the processors of the run's stretches, which
        placed decisions refer to.
        """
        self._jobs, self._sets = jobs, sets
        self._made: Sequence[Job | None] = jobs.made if isinstance(jobs, Jobs) else jobs
        self.new: list[Decision] = []
        """Decisions that have not been written into rows, in order"""
        self.forms = bytearray()
        self.ranks = array("i")
        """For each row: rank of the job that the decision is about; -1 if it is about none"""
        self.heads = array("i")
        """For each row: rank of the job in the reason, or -1. For a placement in the matrix: its columns; for a
        decision kept as an object: the object's index
        """
        self.numbers = array("d")
        self._kept: list[Decision] = []
        self.is_kept = True
        """False if old rows may be dropped, because nothing will read the decisions of past steps"""

    def __len__(self) -> int:
        return len(self.forms) + len(self.new)

    def write(self) -> None:
        """Write the decisions in `new` into rows. If decisions are not kept (`is_kept`), drop them and all rows
        instead.
        """
        if not self.is_kept:
            for column in (self.new, self.forms, self.ranks, self.heads, self.numbers, self._kept):
                del column[:]
        if not self.new:
            return
        try:
            self._write_together()
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
            for decision in self.new:
                self._write_alone(decision)
        self.new.clear()

    def _write_together(self) -> None:
        """Write all decisions in `new` into rows; those without a form are kept as objects. If one has unexpected
        values, raise an error and write none.
        """
        made, kept, first = self._made, list[Decision](), len(self._kept)
        forms, ranks, heads, numbers = bytearray(), list[int](), list[int](), list[float]()
        own: tuple[Any, ...]
        because: Any
        job: Any
        decision: Any
        for decision in self.new:
            kind, written, own, more = type(decision), None, (), None
            if kind is Reserve:
                job, *own, because, more, on = decision
                written = _WRITTEN[kind].get(type(because)) if on is None else None
            elif kind is ReserveRow:
                job, *own, because = decision
                written = _WRITTEN[kind].get(type(because))
            elif kind is Start or kind is Backfill:
                job, because, on, more = decision
                written = _WRITTEN[kind].get(type(because)) if on is None else None
            if written is None or more is not None:
                forms.append(AS_IT_IS)
                ranks.append(self._rank_of(decision))
                heads.append(first + len(kept))
                numbers += _NOTHING
                kept.append(decision)
                continue
            form, names_job, pad = written
            rank, head, values = job.rank, -1, because.values()
            if names_job:
                named, *values = values
                head = named.rank
            if made[rank] is not job or (names_job and made[head] is not named):
                raise ValueError
            forms.append(form)
            ranks.append(rank)
            heads.append(head)
            numbers += own
            numbers += values
            numbers += pad
        self.numbers.fromlist(numbers)
        self.forms += forms
        self.ranks.fromlist(ranks)
        self.heads.fromlist(heads)
        self._kept += kept

    def _write_alone(self, decision: Decision) -> None:
        """Write one decision into a row or, if its values do not fit into a row of its form, keep it as an object."""
        self.new, new = [decision], self.new
        try:
            self._write_together()
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
            self.forms.append(AS_IT_IS)
            self.ranks.append(self._rank_of(decision))
            self.heads.append(len(self._kept))
            self.numbers.extend(_NOTHING)
            self._kept.append(decision)
        self.new = new

    def _rank_of(self, decision: Decision) -> int:
        job = getattr(decision, "job", None)
        return job.rank if isinstance(job, Job) and job.rank < len(self._jobs) else -1

    def __getitem__(self, row: int) -> Decision:
        self.write()
        number = self.forms[row]
        if number == AS_IT_IS:
            return self._kept[self.heads[row]]
        form, given = FORMS[number], self.numbers[WIDTH * row : WIDTH * (row + 1)]
        if len(form.kinds) > WIDTH:
            given.extend(divmod(given.pop(), SHARED)[::-1])
        values: list[Any] = [
            int(value) if kind is int and value.is_integer() else value if value == value else None
            for kind, value in zip(form.kinds, given, strict=False)
        ]
        job = self._jobs[self.ranks[row]]
        on = [self._sets[values.pop()]] if form.is_placed and self._sets else []
        named: list[Any] = [self._jobs[self.heads[row]]] if form.names_job else []
        if form.names_victims:
            named = [tuple(map(self._jobs.__getitem__, self.ranks[row - values.pop() : row]))]
        if form.decision is Place and self._sets:
            on = [self._sets[self.heads[row]]]
        return form.made(job, named, values, on)

    def came_after(self, other: int, rank: int, submit: float) -> bool:
        """Return True if the job `other` was submitted after the job `rank`, whose submit time is `submit`; of jobs
        that were submitted at the same time, the one of the higher rank counts as later.
        """
        return (self._jobs[other].submit, other) > (submit, rank) if self._jobs else other > rank

    def about(self, rank: int, first: int, last: int) -> list[int]:
        self.write()
        found: list[int] = (np.flatnonzero(np.array(self.ranks[first:last]) == rank) + first).tolist()
        return found

    def until(self, last: int, sets: ProcessorSets | None = None) -> DecisionLog:
        """Return a copy of the rows before row `last`, to which the run of a new branch can add. `sets` contains the
        processors of that run's stretches.
        """
        self.write()
        cut = DecisionLog(self._jobs, sets)
        cut.forms, cut.ranks, cut.heads = self.forms[:last], self.ranks[:last], self.heads[:last]
        cut.numbers = self.numbers[: WIDTH * last]
        cut._kept = self._kept[: cut.forms.count(AS_IT_IS)]
        return cut
