"""Context that the checks of a job's life share: the recorded facts and the time of the row that is checked."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import floor, inf
from typing import Any

from sim.decisions.matrix import Place
from sim.decisions.sentences import why
from sim.life.life import Life
from sim.support.formatting import clock_near
from tests.truth.lives import Begun, Chronicle, Record
from tests.truth.told import Pass
from tests.truth.waits import Wait, WaitStep
from tests.truth.words import UntrueError, demand, demand_equal, lasts, matched, tried, whole

EVERY = 10**6
"""Number of rows for each wait, so high that none are merged."""
FEW = 3
"""Number of rows for each wait, so low that many are merged."""


class Row:
    """Kind of sentence: a row of the story."""


class Teller:
    """The life of a job as the program reports it, the recorded facts, and the time of the row that is checked."""

    def __init__(
        self,
        chronicle: Chronicle,
        record: Record,
        life: Life,
        passed: Mapping[int, Pass],
        story: list[tuple[float, str]],
    ) -> None:
        self.chronicle, self.record, self.life, self.passed = chronicle, record, life, passed
        self.job, self.time, self.story = chronicle.world.jobs[life.job.rank], 0.0, story

    def tried(self, kind: type, sentence: str) -> Iterator[UntrueError]:
        yield from tried(kind, sentence, self)

    def moment(self, written: str) -> float:
        """Return the time that is written in a row, in seconds; a time without a day is on the day of the row."""
        match = matched(r"(?:d(\d+) )?(\d\d):(\d\d)(?::(\d\d))?", written)
        day = int(match[1]) if match[1] is not None else floor(self.time) // 86400
        return day * 86400 + int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4] or 0)

    def is_at(self, written: str, time: float) -> None:
        demand_equal(self.moment(written), floor(time))

    def name_of(self, rank: int) -> str:
        return self.chronicle.world.jobs[rank].name

    def begun_now(self, *kinds: type) -> Begun:
        found = [b for b in self.record.begun if b.time == self.time and isinstance(b.decision, kinds)]
        demand(found, "nothing begins then")
        return found[0]

    def plans_then(self) -> list[tuple[float | None, float | None]]:
        """Return (planned start before, planned start after) for each step at the row's time; if the job started in a
        step, also its planned start in the step."""
        record, now = self.record, self.time
        before = [at for time, at in record.planned if time < now][-1:]
        then = [at for time, at in record.planned if time == now]
        if now in record.plans and record.plans[now] not in then:
            then.append(record.plans[now])
        return [*pairwise([*(before or [None]), *then])]

    def why(self, decision: Any, time: float | None = None) -> str:
        """Return the reason of a decision about the job as text, with times written as at `time` (None: the time of the
        row)."""
        return why(decision.because, decision.job, clock_near(self.time if time is None else time))

    def wait_of(self, steps: list[WaitStep]) -> Wait:
        """Return these steps as a wait: each with the seconds for which the job waited until the next step."""
        times = [*self.chronicle.times, self.chronicle.times[-1]]
        lengths = [times[step.number + 1] - step.time for step in steps]
        return Wait(self.job, steps, lengths)

    def switches_until_the_end(self) -> tuple[list[float], list[float]]:
        submit, end = self.job.submit, inf if self.life.end is None else self.life.end
        times = [time for time, _, _ in self.chronicle.switches if submit <= time <= end]
        return times, [time for time in times if time < end]

    def check_whole(self, told: list[str]) -> Iterator[UntrueError]:
        """Yield an error for each row that the story should have and does not."""
        switches = self.switches_until_the_end()
        said = sum(row.startswith("This run changes from ") for row in told)
        if self.life.end is not None and said not in [min(3, len(times)) for times in switches]:
            yield UntrueError(f"Row: {said} switches are told of {switches}")
        said = sum(row.startswith("Suspended after running") for row in told)
        said += sum(often(many[1]) for row in told if (many := re.match(r"Suspended (\S+(?: times)?) until", row)))
        if said != len(self.record.stops):
            yield UntrueError(f"Row: {said} suspensions are told of {len(self.record.stops)}")
        said = sum(row.startswith("Placed in the matrix") for row in told)
        placed = sum(isinstance(begun.decision, Place) for begun in self.record.begun)
        if said != placed:
            yield UntrueError(f"Row: it is told {said} times of {placed} how it came into the matrix")
        cuts = {*self.record.cuts, *(time for time, _, _ in self.chronicle.switches)}
        planned = [(-1.0, None), *self.record.planned]
        changes = sum(now != was and time not in cuts for (_, was), (time, now) in pairwise(planned))
        said = sum("lanned start moved" in row or " to start at " in row or " dropped" in row for row in told)
        if said < changes:
            yield UntrueError(f"Row: {said} plans are told of {changes}")


def often(word: str) -> int:
    return {"once": 1, "twice": 2}.get(word) or whole(word.split()[0])


def read_length(written: str, true: float) -> None:
    demand(lasts(written).is_about(true), f"{written} said, {true} true")
