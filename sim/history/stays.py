"""What stretches come to: who came to a processor or left it, and in which step; when boundaries moved.

A stay is one or more stretches of a job without a gap. Steps are counted as a cursor is, from 1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from sim.history.past import Past
from sim.history.stretch import CUT, INTERRUPTED, MOVED, QUEUED, SUSPENDING


def stretches_on(past: Past, processor: int) -> Iterator[int]:
    """The numbers of the stretches on a processor, those that began last first."""
    held = past._processors
    return (stretch for stretch in range(len(past) - 1, -1, -1) if held[stretch] >> processor & 1)


def came_in(past: Past, stretch: int, processor: int) -> int | None:
    """In which step the job came to the processor with that stretch; None if it had been there before."""
    before = -1
    for each in past._of(past._rank[stretch]):
        if each == stretch:
            break
        before = each
    return None if goes_on(past, before, processor) else bisect_right(past._begun, stretch) + 1


def left_in(past: Past, stretch: int, processor: int) -> int | None:
    """In which step the job left the processor at the end of that stretch; None if it is still there."""
    open_ = past._end_step[stretch] >= past._now
    return None if open_ or goes_on(past, stretch, processor) else past._end_step[stretch] + 1


def goes_on(past: Past, stretch: int, processor: int) -> bool:
    """Does the job stay on the processor when that stretch ends, in another one?"""
    then = past._next[stretch] if stretch >= 0 else -1
    if not 0 <= then < len(past) or (past._ended_by[stretch] != MOVED and past._kind[then] != SUSPENDING):
        return False
    if not past._processors[stretch] & past._processors[then] & 1 << processor:
        return False
    is_nothing = past._end[then] == past._start[then] and past._end_step[then] < past._now
    return not is_nothing or goes_on(past, then, processor)


def passers_of(past: Past, rank: int, submit: float) -> list[int]:
    """The ranks of those that came later than this job, and began while it waited, at first or again."""
    count = len(past)
    begun: int | None = bisect_left(past._start, submit, 0, count)
    found, at_first = set[int](), True
    for stretch in [*past._of(rank), count]:
        if begun is not None:
            later = {other for other in past._rank[begun:stretch] if other > rank}
            found |= later if at_first else {other for other in later if begins(past, other, begun, stretch)}
            at_first = False
        if stretch == count:
            break
        step, back = past._end_step[stretch], past._ended_by[stretch] in (CUT, QUEUED, INTERRUPTED)
        begun = past._begun[step - 1] if back and step < past._now else None
    return sorted(found)


def begins(past: Past, rank: int, first: int, last: int) -> bool:
    """Does one of the job's stretches in this range begin what is not only going on?"""
    goes = False
    for stretch in past._of(rank):
        if first <= stretch < last and not goes and past._kind[stretch] != SUSPENDING:
            return True
        goes = past._ended_by[stretch] == MOVED
    return False


def divided_in(past: Past) -> Iterator[int]:
    """The steps in which the partitions came to own other processors than before, the last first."""
    known = bisect_left(past._boundary_step, past._now)
    for index in range(known - 1, -1, -1):
        if past._boundaries[index][1] != (past._boundaries[index - 1][1] if index else ()):
            yield past._boundary_step[index] + 1
