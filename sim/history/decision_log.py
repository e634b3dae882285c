"""Compact storage of decisions: a form (types of decision and reason), two ranks and a few numbers.

Decisions without a form, such as those with user-defined reasons, are kept as objects. A decision read back equals the
one that was stored.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from sim.decisions import reasons
from sim.decisions.decisions import Backfill, Borrow, Decision, Expect, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import BestFit, EarliestInRow, Place, ReserveRow
from sim.history.processor_sets import ProcessorSets
from sim.workload.model import Job, Jobs

WIDTH = 3
"""Count of numbers in a row of the log"""
A_ROW = 1 + 4 + 4 + 8 * WIDTH
"""Bytes of a row of the log"""
SHARED = 4096
"""Factor for packing the last two numbers of a decision that has one too many: `last * SHARED + other`"""


class Form(NamedTuple):
    """Form of a row of the log: the types of a decision and of its reason, and the meaning of the stored numbers."""

    decision: Any
    reason: Any
    names_job: bool
    """True if the first field of the reason is a job."""
    kinds: tuple[type, ...]
    """Type of each stored number"""
    may_miss: bool
    """True if nan stands for None in the stored numbers."""
    names_victims: bool = False
    """True if the first field of the reason is the suspended victims; then the first number is their count."""
    is_placed: bool = False
    """True if the policy chooses the processors; then the last number is the job's stretch, or ~index of a set."""
    is_trial: bool = False
    """True if the reason's first number is also the length of the speculative run."""
    own: int = 0
    """Number of leading values that belong to the decision, not to its reason"""

    def made(self, job: Job, named: list[Any], values: list[Any], on: list[int]) -> Decision:
        """Return the decision about a job, rebuilt from its stored values."""
        own, because = values[: self.own], values[self.own :]
        lasts = because[:1] if self.is_trial else []
        if self.reason:
            because = [self.reason(*named, *because)]
        decided: Decision = self.decision(job, *own, *because, *on, *lasts)
        return decided


class Placed(Form):
    """Form of a placement in the matrix: the row, as ~row if the job passes others; the columns are stored in place of
    a rank.
    """

    def made(self, job: Job, named: list[Any], values: list[Any], on: list[int]) -> Decision:
        row, free, span = values
        return Place(job, max(row, ~row), on[0], BestFit(free, span), passes=row < 0)


def _forms() -> Iterator[Form]:
    for reason in vars(reasons).values():
        if isinstance(reason, type) and reason.__module__ == reasons.__name__:
            kinds = [*get_type_hints(reason).values()]
            names_job = kinds[:1] == [Job]
            if all(kind in (int, float, float | None) for kind in kinds[names_job:]):
                numbers = tuple(int if kind is int else float for kind in kinds[names_job:])
                for decision, own in ((Start, ()), (Backfill, ()), (Reserve, (float,))):
                    if len(own + numbers) <= WIDTH:
                        yield Form(decision, reason, names_job, own + numbers, float | None in kinds, own=len(own))
    yield Form(Suspend, reasons.Outranked, True, (float, float, float), False)
    yield Form(Suspend, reasons.MadeWay, True, (float, float, int), False)
    yield Form(Resume, reasons.OwnFree, False, (), False)
    yield Form(Resume, reasons.Preempts, False, (int,), False, names_victims=True)
    yield Form(Start, reasons.Fits, False, (int, int), False, is_placed=True)
    yield Form(Start, reasons.Preempts, False, (int, int), False, names_victims=True, is_placed=True)
    yield Form(Reserve, reasons.PlannedTrial, False, (float, float), False, is_trial=True, own=1)
    yield Form(Start, reasons.TrialDue, False, (float, int), False, is_placed=True, is_trial=True)
    yield Form(Start, reasons.TrialEarly, False, (float, float, int), False, is_placed=True, is_trial=True)
    yield Form(Start, reasons.PivotDue, False, (int, int, int), False, is_placed=True)
    yield Form(Backfill, reasons.EndsBeforePivot, True, (float, float, int, int), False, is_placed=True)
    yield Form(Backfill, reasons.SparesPivot, True, (float, int, int, int), False, is_placed=True)
    yield Form(Backfill, reasons.DelaysNoPivot, False, (int, int, int), False, is_placed=True)
    yield Form(Borrow, None, False, (int, int, int), False, is_placed=True)
    yield Form(Expect, None, False, (float,), False)
    yield Form(ReserveRow, EarliestInRow, False, (int, float, float), False, own=2)
    yield Placed(Place, BestFit, False, (int, int, float), True)


FORMS = tuple(_forms())
AS_IT_IS = len(FORMS)
"""Form number of decisions that are kept as objects"""
_NUMBERS = {(form.decision, form.reason, form.is_placed): number for number, form in enumerate(FORMS)}
_NOTHING = (0.0,) * WIDTH
_WRITTEN: dict[type, dict[type, tuple[int, bool, tuple[float, ...]]]] = {
    Start: {}, Backfill: {}, Reserve: {}, ReserveRow: {},
}  # fmt: skip
"""Form number, whether the reason names a job, and padding of the row, by types of decision and reason"""
for _number, _form in enumerate(FORMS):
    if _form.decision in _WRITTEN and not _form.is_placed and not _form.is_trial:
        _WRITTEN[_form.decision][_form.reason] = _number, _form.names_job, _NOTHING[len(_form.kinds) :]
MANY = 4096
"""Number of decisions that are written at once"""


def form_of(decision: type, reason: type | None, is_placed: bool = False) -> int:
    """Return the number of the form of these types of decision and reason."""
    return _NUMBERS[decision, reason, is_placed]


class DecisionLog:
    """Log of decisions in the order in which they were made, one row each; rows are written when first read."""

    __slots__ = ("_jobs", "_kept", "_made", "_sets", "append", "forms", "heads", "new", "numbers", "ranks")

    append: Callable[[Decision], None]
    """Function that appends a decision."""

    def __init__(self, jobs: Sequence[Job] = (), sets: ProcessorSets | None = None) -> None:
        """Make a log for these jobs; `sets` are the processors of the stretches that the decisions begin."""
        self._jobs, self._sets = jobs, sets
        self._made: Sequence[Job | None] = jobs.made if isinstance(jobs, Jobs) else jobs
        self.new: list[Decision] = []
        """Decisions that are not written into rows yet"""
        self.append = self.new.append
        self.forms = bytearray()
        self.ranks = array("i")
        """Rank of the job that each decision is about; -1 for none"""
        self.heads = array("i")
        """Rank of the job that each reason names, columns of a placement, or index into `_kept` for decisions without a
        form
        """
        self.numbers = array("d")
        self._kept: list[Decision] = []

    def __len__(self) -> int:
        return len(self.forms) + len(self.new)

    def write(self) -> None:
        """Write the pending decisions into rows."""
        if not self.new:
            return
        try:
            self._write_together()
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
            for decision in self.new:
                self._write_alone(decision)
        self.new.clear()

    def _write_together(self) -> None:
        """Write all pending decisions with forms at once; raise an error, and write none, if one has no form."""
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
                ranks.append(self._about(decision))
                heads.append(first + len(kept))
                numbers += _NOTHING
                kept.append(decision)
                continue
            form, names_job, pad = written
            rank, head = job.rank, -1
            if names_job:
                named, because = because[0], because[1:]
                head = named.rank
            if made[rank] is not job or (names_job and made[head] is not named):
                raise ValueError
            forms.append(form)
            ranks.append(rank)
            heads.append(head)
            numbers += own
            numbers += because
            numbers += pad
        self.numbers.fromlist(numbers)
        self.forms += forms
        self.ranks.fromlist(ranks)
        self.heads.fromlist(heads)
        self._kept += kept

    def _write_alone(self, decision: Decision) -> None:
        """Write one decision into a row, as an object if its form does not fit."""
        self.new, new = [decision], self.new
        try:
            self._write_together()
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
            self.forms.append(AS_IT_IS)
            self.ranks.append(self._about(decision))
            self.heads.append(len(self._kept))
            self.numbers.extend(_NOTHING)
            self._kept.append(decision)
        self.new = new

    def _about(self, decision: Decision) -> int:
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
            int(value) if kind is int and value.is_integer() else value
            for kind, value in zip(form.kinds, given, strict=False)
        ]
        if form.may_miss:
            values = [value if value == value else None for value in values]
        job = self._jobs[self.ranks[row]]
        on = [self._sets[values.pop()]] if form.is_placed and self._sets else []
        named: list[Any] = [self._jobs[self.heads[row]]] if form.names_job else []
        if form.names_victims:
            named = [tuple(map(self._jobs.__getitem__, self.ranks[row - values.pop() : row]))]
        if form.decision is Place and self._sets:
            on = [self._sets[self.heads[row]]]
        return form.made(job, named, values, on)

    def about(self, rank: int, first: int, last: int) -> list[int]:
        """Return the rows from `first` to before `last` that are about the job."""
        self.write()
        found: list[int] = (np.flatnonzero(np.array(self.ranks[first:last]) == rank) + first).tolist()
        return found

    def until(self, last: int, sets: ProcessorSets | None = None) -> DecisionLog:
        """Return a copy of the rows before row `last`, which can be continued and finds its processors in `sets`."""
        self.write()
        cut = DecisionLog(self._jobs, sets)
        cut.forms, cut.ranks, cut.heads = self.forms[:last], self.ranks[:last], self.heads[:last]
        cut.numbers = self.numbers[: WIDTH * last]
        cut._kept = self._kept[: cut.forms.count(AS_IT_IS)]
        return cut
