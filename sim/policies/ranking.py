"""Jobs sorted by a number, such as their xfactors: policies go through them from the lowest or from the highest."""

from __future__ import annotations

from bisect import insort

from sim.workload.model import Job


class Ranking:
    """Jobs sorted by a number; of jobs with the same number the latest submitted comes first."""

    def __init__(self) -> None:
        self._sorted: list[tuple[float, int, Job]] = []

    def add(self, job: Job, number: float) -> None:
        insort(self._sorted, (number, -job.rank, job))

    def remove(self, job: Job) -> None:
        del self._sorted[self.place(job) - 1]

    def place(self, job: Job) -> int:
        """Return the place of the job, 1 for the lowest number."""
        return self.up().index(job) + 1

    def up(self) -> list[Job]:
        return [job for _, _, job in self._sorted]

    def down(self) -> list[Job]:
        return [job for _, _, job in reversed(self._sorted)]
