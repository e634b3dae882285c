"""Jobs that are submitted in a run when others have ended: dependencies, and users who think before their next job."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.errors import TraceError

Outcome = Literal["any", "ok", "not ok", "turn"]
OUTCOMES: dict[str, Outcome] = {"afterany": "any", "afterok": "ok", "afternotok": "not ok"}
"""Outcome that each kind of dependency requires, by its name in Slurm. `turn` is any outcome, for jobs of one name."""
SINGLETON = "singleton"
MOST_NAMED = 10_000
"""Largest number of jobs that one job waits for; others are not waited for."""
MOST_IN_ALL = 2**22
SESSION = 1200.0
"""Longest think time within a session of a user, in seconds."""


class After(NamedTuple):
    """Job that must have ended, and how."""

    job: int
    """Number of the other job in the workload, which is smaller than that of the job that waits for it."""
    outcome: Outcome = "any"


@dataclass(frozen=True, slots=True)
class Follow:
    """Condition for the submission of a job: all these jobs have ended."""

    after: tuple[After, ...]
    think: float | None = None
    """Seconds from the last of these ends to the submission. With None the job is submitted at its recorded submit
    time, or at the last of these ends if that is later.
    """

    def due(self, submit: float, ended: float) -> float:
        """Return the time of the submission, when the last of the jobs ended at `ended`.

        >>> Follow((After(0),), think=60).due(1000, 300), Follow((After(0),)).due(1000, 300)
        (360, 1000)
        """
        return max(submit, ended) if self.think is None else ended + self.think


Follows = tuple[Follow | None, ...]
"""Condition of each job by number, None for a job that comes at its own time; empty if there are none."""


@dataclass(frozen=True)
class Thinking:
    """Predecessor and think time of each job in the trace (fields 17 and 18 of the Standard Workload Format)."""

    preceding: NDArray[np.int64]
    """Number of the preceding job in the workload, -1 for none."""
    think: NDArray[np.float64]
    """Seconds between the end of that job and this submission, negative if unknown."""

    def take(self, index: NDArray[np.int64]) -> Thinking:
        """Return the predecessors and think times of only these jobs, with new numbers."""
        places = np.full(len(self.preceding) + 1, -1, np.int64)
        places[index] = np.arange(len(index))
        before = places[self.preceding[index]]
        before[before >= np.arange(len(index))] = -1
        return Thinking(before, self.think[index])

    def follows(self) -> Follows:
        """Return the conditions of the jobs that have a predecessor."""
        return tuple(
            Follow((After(job),), think if think >= 0 else None) if job >= 0 else None
            for job, think in zip(self.preceding.tolist(), self.think.tolist(), strict=True)
        )


def thinking_of(
    ids: NDArray[np.float64], preceding: NDArray[np.float64], think: NDArray[np.float64]
) -> Thinking | None:
    """Return the predecessors of jobs in rank order by their numbers in the trace; None if no job has one.

    >>> found = thinking_of(np.array([4.0, 7.0, 9.0]), np.array([-1.0, 4.0, 5.0]), np.array([-1.0, 60.0, 60.0]))
    >>> found.preceding.tolist(), found.follows()[1]
    ([-1, 0, -1], Follow(after=(After(job=0, outcome='any'),), think=60.0))
    """
    if not (preceding > 0).any():
        return None
    places = {number: at for at, number in reversed([*enumerate(ids.tolist())])}
    found = [places.get(number, -1) if number > 0 else -1 for number in preceding.tolist()]
    before = np.array(found, np.int64)
    before[before >= np.arange(len(before))] = -1
    return Thinking(before, think) if (before >= 0).any() else None


def in_sessions(submit: NDArray[np.float64], end: NDArray[np.float64], user: NDArray[np.int64]) -> Thinking:
    """Return as predecessor of each job the user's last one that had ended, if it ended at most `SESSION` before.

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


def renumbered(follows: Follows, index: Sequence[int]) -> Follows:
    """Return the conditions of only these jobs, with new numbers; a job that is left out is not waited for.

    >>> renumbered((None, None, Follow((After(0), After(1)))), [1, 2])
    (None, Follow(after=(After(job=0, outcome='any'),), think=None))

    But if it has a turn, the next in turn waits for the jobs before it:

    >>> turns = tuple(Follow((After(job - 1, "turn"),)) if job else None for job in range(3))
    >>> renumbered(turns, [0, 2])
    (None, Follow(after=(After(job=0, outcome='turn'),), think=None))
    """
    if not follows:
        return ()
    places = {job: at for at, job in reversed([*enumerate(index)])}
    turns: dict[int, tuple[After, ...]] = {}
    total = 0
    for job, follow in enumerate(follows):
        if follow is not None and job not in places:
            found = (_kept(one, places, turns) for one in follow.after if one.outcome == "turn")
            turns[job] = tuple(dict.fromkeys(chain.from_iterable(found)))
            total = _counted(total, turns[job])
    made: list[Follow | None] = []
    for at, job in enumerate(index):
        follow = follows[job]
        if follow is not None:
            all_after = chain.from_iterable(_kept(one, places, turns) for one in follow.after)
            kept = tuple(one for one in dict.fromkeys(all_after) if one.job < at)
            total = _counted(total, kept)
            follow = Follow(kept, follow.think) if kept else None
        made.append(follow)
    return tuple(made) if any(made) else ()


def _counted(total: int, after: Sequence[After]) -> int:
    """Return the number of dependencies with these; raise an error if there are too many."""
    if total + len(after) > MOST_IN_ALL:
        raise TraceError(f"has dependencies on more than {MOST_IN_ALL:,} jobs; cut it into smaller files")
    return total + len(after)


def _kept(one: After, places: Mapping[int, int], turns: Mapping[int, tuple[After, ...]]) -> tuple[After, ...]:
    """Return the jobs that are waited for in place of a job, with their new numbers."""
    if one.job in places:
        return (one._replace(job=places[one.job]),)
    return turns.get(one.job, ()) if one.outcome == "turn" else ()


def never_submitted(follows: Follows, fails: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return True for each job whose condition can never be met; `fails` is True for jobs that end badly.

    A job that never runs counts as one that was cancelled: it ends badly, and at once.

    >>> after = (None, Follow((After(0, "ok"),)), Follow((After(1, "any"),)))
    >>> never_submitted(after, np.array([True, False, False])).tolist()
    [False, True, False]
    """
    never = np.zeros(len(fails), np.bool_)
    bad = fails.copy()
    for at, follow in enumerate(follows):
        if follow is not None:
            wrong = {True: "ok", False: "not ok"}
            never[at] = any(one.outcome == wrong[bool(bad[one.job])] for one in follow.after)
            bad[at] |= never[at]
    return never


# The text of dependencies


class Dependencies:
    """Collector of dependencies as Slurm writes them, which makes the conditions of all jobs."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []
        self.unknown: dict[str, str] = {}
        """Kinds of dependencies that are not modelled, each with the first job that has one."""

    def add(self, job: str, text: str, owner: str = "") -> None:
        """Add the next job with the text of its dependencies; `owner` are its user and name, for `singleton`."""
        self._texts.append((job, text, owner))

    def follows(self) -> Follows:
        """Return the conditions of the jobs in the order in which they were added.

        >>> listed = Dependencies()
        >>> for job, text in (("1", ""), ("2", ""), ("3", "afterok:1(unfulfilled),afterany:2:9"), ("4", "singleton")):
        ...     listed.add(job, text)
        >>> [follow and [one.job for one in follow.after] for follow in listed.follows()]
        [None, None, [0, 1], [0, 1, 2]]
        """
        places: dict[str, list[int]] = defaultdict(list)
        by_owner: dict[str, list[int]] = defaultdict(list)
        made: list[Follow | None] = []
        named = 0
        for at, (job, text, owner) in enumerate(self._texts):
            found = tuple(dict.fromkeys(islice(self._parsed(text, places, by_owner[owner], job), MOST_NAMED)))
            named = _counted(named, found)
            made.append(Follow(found) if found else None)
            for name in {job, job.partition("_")[0]}:
                places[name].append(at)
            if any(part.startswith(SINGLETON) for part in text.split(",")):
                by_owner[owner].clear()  # this one waits for all of them, and the next for this one
            by_owner[owner].append(at)
        return tuple(made) if any(made) else ()

    def _parsed(
        self, text: str, places: Mapping[str, list[int]], before: Sequence[int], job_id: str
    ) -> Iterable[After]:
        for part in re.sub(r"\([^()]*\)", "", text).split(","):
            kind, *jobs = part.strip().split(":")
            if kind == SINGLETON:
                yield from (After(at, "turn") for at in before)
            elif kind in OUTCOMES and "?" not in part:
                for job in jobs[:MOST_NAMED]:
                    yield from (After(at, OUTCOMES[kind]) for at in places.get(job.removesuffix("_*"), ()))
            elif kind and kind != "null":
                self.unknown.setdefault(kind[:40], f"job {job_id}")


def with_other_thought(follows: Follows, change: Callable[[float], float]) -> Follows:
    """Return the conditions with other think times."""
    return tuple(
        follow if follow is None or follow.think is None else Follow(follow.after, change(follow.think))
        for follow in follows
    )
