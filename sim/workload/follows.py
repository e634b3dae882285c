"""Jobs that are submitted when others have ended: by dependencies, or because their user thinks in between."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain, islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import TraceError

Outcome = Literal["any", "ok", "not ok", "turn", "start"]
OUTCOMES: dict[str, Outcome] = {
    "afterany": "any", "afterok": "ok", "aftercorr": "ok", "afternotok": "not ok", "after": "start",
}  # fmt: skip
"""Kind of dependency in Slurm -> outcome that the other job must have (`start`: started, or cancelled). A further
outcome, `turn`, accepts any end; it is for jobs of one name that run one after another (`singleton`).
"""
SINGLETON = "singleton"
HOPELESS = "waits for an outcome of another job that does not come"
MOST_NAMED = 10_000
"""Largest number of jobs that one job waits for; further jobs in its list of dependencies are ignored."""
MOST_IN_ALL = 2**22
Time = Callable[[int], float | None]
"""Function that returns the time of an event of the job of a given rank, None if it has not happened yet."""
_FAILED = (0, 5)
"""Status numbers in the trace of a job that failed, and of a job that was cancelled."""
SESSION = 1200.0
"""Longest think time in seconds; a job submitted later after its user's previous end begins a new session."""


class After(NamedTuple):
    """Other job that must have ended (outcome `start`: started), with this outcome, before a job is submitted."""

    job: int
    """Number of the other job in the workload; it is smaller than the number of the job that waits."""
    outcome: Outcome = "any"
    delay: float = 0.0
    """Seconds to wait after the start of the other job; only for the outcome `start`."""

    def is_met_by(self, is_bad: bool, may_be_cancelled: bool = False) -> bool:
        """Return True if the other job's end can meet this; `is_bad`: that job fails or is cancelled in the trace."""
        return (self.outcome != "ok") if is_bad else (self.outcome != "not ok" or may_be_cancelled)

    def met_at(self, start_of: Time, end_of: Time, is_bad: bool) -> float | None:
        """Return the time at which this becomes true in a run; None if it is not known yet, or never does."""
        if self.outcome == "start":
            began = start_of(self.job)
            return None if began is None else began + self.delay
        return end_of(self.job) if self.is_met_by(is_bad) else None

    def met_after(self, start_of: Time, cancelled: float) -> float | None:
        """Return the time at which this becomes true if the other job was `cancelled`; None if it never does."""
        if self.outcome == "start" and (began := start_of(self.job)) is not None:
            return began + self.delay
        return cancelled if self.is_met_by(is_bad=True) else None


@dataclass(frozen=True, slots=True)
class Follow:
    """Condition of a job's submission: all jobs in `after` (`is_any`: one of them) have ended as they must."""

    after: tuple[After, ...]
    think: float | None = None
    """Seconds from the last end of `after` to the submission; None: at the recorded time, or that end if later."""
    is_any: bool = False
    lead: float = 0.0
    """Seconds from the recorded submit time to that of the workload, which a later alternative can delay."""

    def due(self, submit: float, ended: float) -> float:
        """Return the submit time in a run; `ended` is the time at which the last of the jobs in `after` ended.

        >>> Follow((After(0),), think=60).due(1000, 300), Follow((After(0),)).due(1000, 300)
        (360, 1000.0)
        """
        return max(submit - self.lead, ended) if self.think is None else ended + self.think


Follows = tuple[Follow | None, ...]
"""For each job by rank: its condition, None for its recorded time; empty if no job has a condition."""


@dataclass(frozen=True)
class Thinking:
    """Predecessor and think time of each job in the trace (fields 17 and 18 of the Standard Workload Format)."""

    preceding: NDArray[np.int64]
    """For each job: number of its predecessor in the workload, -1 for none."""
    think: NDArray[np.float64]
    """For each job: seconds from the end of its predecessor to its own submission, negative if unknown."""

    def take(self, index: NDArray[np.int64]) -> Thinking:
        places = np.full(len(self.preceding) + 1, -1, np.int64)
        places[index] = np.arange(len(index))
        before = places[self.preceding[index]]
        before[before >= np.arange(len(index))] = -1
        return Thinking(before, self.think[index])

    def follows(self) -> Follows:
        return tuple(
            Follow((After(job),), think if think >= 0 else None) if job >= 0 else None
            for job, think in zip(self.preceding.tolist(), self.think.tolist(), strict=True)
        )


def thinking_of(
    ids: NDArray[np.float64], preceding: NDArray[np.float64], think: NDArray[np.float64]
) -> Thinking | None:
    """Return predecessors and think times (seconds) by rank, from numbers in the trace; None if no job has any.

    >>> found = thinking_of(np.array([4.0, 7.0, 9.0]), np.array([-1.0, 4.0, 5.0]), np.array([-1.0, 60.0, 60.0]))
    >>> found.preceding.tolist(), found.follows()[1].after[0].job, found.follows()[1].think
    ([-1, 0, -1], 0, 60.0)
    """
    if not (preceding > 0).any():
        return None
    places = {number: at for at, number in reversed([*enumerate(ids.tolist())])}
    found = [places.get(number, -1) if number > 0 else -1 for number in preceding.tolist()]
    before = np.array(found, np.int64)
    before[before >= np.arange(len(before))] = -1
    return Thinking(before, think) if (before >= 0).any() else None


def in_sessions(submit: NDArray[np.float64], end: NDArray[np.float64], user: NDArray[np.int64]) -> Thinking:
    """Return predecessors guessed from sessions: the job of the same user that ended last before the submission, at
    most `SESSION` seconds earlier.

    >>> times = np.array([0.0, 10.0, 160.0, 9000.0])
    >>> in_sessions(times, times + 100, np.array([1, 2, 1, 1])).preceding.tolist()
    [-1, -1, 0, -1]
    """
    running: dict[int, list[tuple[float, int]]] = defaultdict(list)
    latest: dict[int, tuple[float, int]] = {}
    before, think = np.full(len(submit), -1, np.int64), np.full(len(submit), -1.0)
    for rank, (now, until, owner) in enumerate(zip(submit.tolist(), end.tolist(), user.tolist(), strict=True)):
        if owner < 0:
            continue
        while running[owner] and running[owner][0][0] <= now:
            latest[owner] = heappop(running[owner])
        if owner in latest and now - latest[owner][0] <= SESSION:
            before[rank], think[rank] = latest[owner][1], now - latest[owner][0]
        if until > now:
            heappush(running[owner], (until, rank))
    return Thinking(before, think)


def not_before(
    follows: Follows, submit: NDArray[np.float64], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], Follows]:
    """Return submit times not before those of the jobs waited for, and conditions with that as their `lead`."""
    found, made = submit.copy(), [*follows]
    for job, follow in enumerate(follows):
        if follow is not None and not (follow.is_any and any(not kept[one.job] for one in follow.after)):
            found[job] = max([found[job], *(found[one.job] for one in follow.after if kept[one.job])])
            if follow.is_any:
                made[job] = replace(follow, lead=float(found[job] - submit[job]))
    return found, tuple(made)


def renumbered(follows: Follows, index: Sequence[int]) -> Follows:
    """Return the conditions of the jobs in `index`, which get new numbers; none waits for a job left out.

    >>> renumbered((None, None, Follow((After(0), After(1)))), [1, 2])[1].after
    (After(job=0, outcome='any', delay=0.0),)

    But if it has a turn, the next in turn waits for the jobs before it:

    >>> turns = tuple(Follow((After(job - 1, "turn"),)) if job else None for job in range(3))
    >>> renumbered(turns, [0, 2])[1].after
    (After(job=0, outcome='turn', delay=0.0),)

    If one of several alternatives is left out, the job waits for none.
    """
    if not follows:
        return ()
    places = {job: at for at, job in reversed([*enumerate(index)])}
    turns: dict[int, tuple[After, ...]] = {}
    total = 0
    for job, follow in enumerate(follows):
        if follow is not None and job not in places:
            found = (_replacement(one, places, turns) for one in follow.after if one.outcome == "turn")
            turns[job] = tuple(dict.fromkeys(chain.from_iterable(found)))
            total = _counted(total, turns[job])
    made: list[Follow | None] = []
    for at, job in enumerate(index):
        follow = follows[job]
        if follow is not None:
            all_after = chain.from_iterable(_replacement(one, places, turns) for one in follow.after)
            kept = tuple(one for one in dict.fromkeys(all_after) if one.job < at)
            total = _counted(total, kept)
            is_met = not kept or (follow.is_any and len(kept) < len(follow.after))
            follow = None if is_met else replace(follow, after=kept)
        made.append(follow)
    return tuple(made) if any(made) else ()


def _counted(total: int, after: Sized) -> int:
    """Add the number of dependencies to the `total`; raise an error if these are too many."""
    if total + len(after) > MOST_IN_ALL:
        raise TraceError(f"has dependencies on more than {MOST_IN_ALL:,} jobs; cut it into smaller files")
    return total + len(after)


def _replacement(one: After, places: Mapping[int, int], turns: Mapping[int, tuple[After, ...]]) -> tuple[After, ...]:
    """Return what replaces a dependency once jobs are left out and others have new numbers (`places`)."""
    if one.job in places:
        return (one._replace(job=places[one.job]),)
    return turns.get(one.job, ()) if one.outcome == "turn" else ()


def is_failing(killed: bool, status: int) -> bool:
    return killed or status in _FAILED


def failing(killed: NDArray[np.bool_], status: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for each job that fails or is cancelled in the trace, or is killed at its estimate."""
    found: NDArray[np.bool_] = killed | np.isin(status, _FAILED)
    return found


def never_submitted(follows: Follows, fails: NDArray[np.bool_], may_cancel: bool = False) -> NDArray[np.bool_]:
    """Return True for each job whose condition can never be met; `may_cancel`: the run itself may cancel jobs."""
    never = np.zeros(len(fails), np.bool_)
    bad = fails.copy()
    for at, follow in enumerate(follows):
        if follow is not None:
            met = [one.is_met_by(bool(bad[one.job]), may_cancel) for one in follow.after]
            never[at] = not (any(met) if follow.is_any else all(met))
            bad[at] |= never[at]
    return never


def possible(follows: Follows, bad: NDArray[np.bool_], may_cancel: bool = False) -> Follows:
    """Return the conditions with only alternatives that can be met; `bad` jobs fail or are left out."""
    return tuple(
        replace(follow, after=tuple(one for one in follow.after if one.is_met_by(bool(bad[one.job]), may_cancel)))
        if follow is not None and follow.is_any
        else follow
        for follow in follows
    )


def hopeful(follows: Follows, fails: NDArray[np.bool_], may_cancel: bool) -> tuple[NDArray[np.bool_], Follows]:
    """Return (True for each job whose condition can never be met, conditions with only possible alternatives)."""
    never = never_submitted(follows, fails, may_cancel)
    return never, possible(follows, fails | never, may_cancel)


# The text of dependencies


class Dependencies:
    """Collector of dependencies in Slurm's notation, which converts them to the conditions of all jobs."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []
        self._has_any = False
        self.unknown: dict[str, str] = {}
        """Mapping from each kind of dependency that is not modelled to the first job that has it."""
        self.circular: list[str] = []
        """Jobs that wait for each other in a circle, one of each circle; one of its dependencies must be ignored."""

    def add(self, job: str, text: str, owner: str = "") -> None:
        """Add a job and its dependencies; `singleton` means earlier jobs of the same `owner` (user and name)."""
        self._texts.append((job, text, owner))
        self._has_any = self._has_any or bool(text)

    def order(self) -> list[int]:
        """Return numbers of jobs in an order in which each comes after the jobs that it names, otherwise as added.

        >>> listed = Dependencies()
        >>> for job, text in (("1", "afterok:3"), ("2", ""), ("3", ""), ("4", "after:5"), ("5", "after:4")):
        ...     listed.add(job, text)
        >>> listed.order(), listed.circular
        ([1, 2, 0, 4, 3], ['5'])
        """
        if not self._has_any:
            return [*range(len(self._texts))]
        places: dict[str, list[int]] = defaultdict(list)
        for at, (job, _, _) in enumerate(self._texts):
            for name in {job, job.partition("_")[0]}:
                places[name].append(at)
        ahead, named = list[set[int]](), 0
        for at, (job, text, _) in enumerate(self._texts):
            found = {one.job for one in islice(self._parsed(text, places, (), job), MOST_NAMED)} if text else set()
            ahead.append(found - {at})
            named = _counted(named, ahead[-1])
        if all(max(found, default=-1) < at for at, found in enumerate(ahead)):
            return [*range(len(ahead))]
        self.circular = [self._texts[at][0] for at in _open_circles(ahead)]
        behind: dict[int, list[int]] = defaultdict(list)
        for at, found in enumerate(ahead):
            for one in found:
                behind[one].append(at)
        made, ready = list[int](), [at for at, found in enumerate(ahead) if not found]
        while ready:  # a heap: a sorted list is one
            made.append(heappop(ready))
            for at in behind[made[-1]]:
                ahead[at].discard(made[-1])
                if not ahead[at]:
                    heappush(ready, at)
        return made

    def follows(self) -> Follows:
        """Return the condition of each job, in the order in which the jobs were added; empty if no job has a condition.

        >>> listed = Dependencies()
        >>> for job, text in (("1", ""), ("2", ""), ("3", "afterok:1(unfulfilled),afterany:2:9"), ("4", "singleton")):
        ...     listed.add(job, text)
        >>> [follow and [one.job for one in follow.after] for follow in listed.follows()]
        [None, None, [0, 1], [0, 1, 2]]

        Task 2 of an array waits for task 2 of the other, and `?` accepts one of several jobs:

        >>> listed = Dependencies()
        >>> for job, text in (("1_1", ""), ("1_2", ""), ("2_2", "aftercorr:1"), ("3", "after:1_1+5?afterok:2_2")):
        ...     listed.add(job, text)
        >>> listed.follows()[2].after, listed.follows()[3].is_any
        ((After(job=1, outcome='ok', delay=0.0),), True)
        >>> listed.follows()[3].after[0]
        After(job=0, outcome='start', delay=300.0)
        """
        if not self._has_any:
            return ()
        places: dict[str, list[int]] = defaultdict(list)
        by_owner: dict[str, list[int]] = defaultdict(list)
        made: list[Follow | None] = []
        named = 0
        for at, (job, text, owner) in enumerate(self._texts):
            found = tuple(dict.fromkeys(islice(self._parsed(text, places, by_owner[owner], job), MOST_NAMED)))
            named = _counted(named, found)
            made.append(Follow(found, is_any="?" in text) if found else None)
            for name in {job, job.partition("_")[0]}:
                places[name].append(at)
            if any(part.startswith(SINGLETON) for part in text.split(",")):
                by_owner[owner].clear()  # this one waits for all of them, and the next for this one
            by_owner[owner].append(at)
        return tuple(made) if any(made) else ()

    def early(self) -> list[str]:
        """Return the jobs that name a job that was only added after them; `follows` ignores such a dependency."""
        first: dict[str, list[int]] = {}
        for at, (job, _, _) in enumerate(self._texts):
            for name in {job, job.partition("_")[0]}:
                first.setdefault(name, [at])
        named = ((at, job, self._parsed(text, first, (), job)) for at, (job, text, _) in enumerate(self._texts) if text)
        return [job for at, job, found in named if any(one.job > at for one in found)]

    def _parsed(
        self, text: str, places: Mapping[str, list[int]], before: Sequence[int], job_id: str
    ) -> Iterable[After]:
        task = job_id.partition("_")[2]
        for part in re.split("[,?]", re.sub(r"\([^()]*\)", "", text)):
            kind, *jobs = part.strip().split(":")
            if kind == SINGLETON:
                yield from (After(at, "turn") for at in before)
            elif kind in OUTCOMES:
                for word in jobs[:MOST_NAMED]:
                    job, _, minutes = word.removesuffix("_*").partition("+")
                    mine = f"{job}_{task}"
                    name = mine if kind == "aftercorr" and mine in places else job
                    delay = 60.0 * int(minutes[:9]) if kind == "after" and minutes.isdecimal() else 0.0
                    yield from (After(at, OUTCOMES[kind], delay) for at in places.get(name, ()))
            elif kind and kind != "null":
                self.unknown.setdefault(kind[:40], f"job {job_id}")


def _open_circles(ahead: list[set[int]]) -> Iterator[int]:
    unseen, on_path, done = 0, 1, 2
    found = bytearray(len(ahead))
    for first in range(len(ahead)):
        path = [] if found[first] else [(first, iter(sorted(ahead[first])))]
        while path:
            at, rest = path[-1]
            found[at] = on_path
            for one in rest:
                if found[one] == on_path:
                    ahead[at].discard(one)
                    yield at
                elif found[one] == unseen:
                    path.append((one, iter(sorted(ahead[one]))))
                    break
            else:
                found[at] = done
                path.pop()


def are_known(text: str) -> bool:
    """Return True if the text has dependencies, and all of their kinds are modelled.

    >>> are_known("afterok:1?after:2+5"), are_known("expand:1"), are_known("(null)")
    (True, False, False)
    """
    kinds = {part.strip().partition(":")[0] for part in re.split("[,?]", re.sub(r"\([^()]*\)", "", text))}
    return kinds <= {*OUTCOMES, SINGLETON}


def with_other_thought(follows: Follows, change: Callable[[float], float]) -> Follows:
    """Return the conditions with each known think time replaced by `change(think time)`, and leads in the same way."""
    return tuple(
        follow
        if follow is None or not (follow.lead or follow.think is not None)
        else replace(follow, think=None if follow.think is None else change(follow.think), lead=change(follow.lead))
        for follow in follows
    )
