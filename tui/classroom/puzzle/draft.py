"""Draft of a puzzle that the user edits, with its earlier states for undo."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.workload.formats.puzzle import MOST_JOBS, MOST_PROCS, Puzzle
from sim.workload.typed_jobs import MOST_SECONDS, PuzzleJob

MOST_UNDONE = 500


@dataclass(frozen=True)
class Draft:
    puzzle: Puzzle = Puzzle()
    chosen: int = 0
    """Index of the highlighted job; equal to the number of jobs for the line of a new job."""
    past: tuple[Puzzle, ...] = ()
    future: tuple[Puzzle, ...] = ()

    @property
    def job(self) -> PuzzleJob | None:
        jobs = self.puzzle.jobs
        return jobs[self.chosen] if self.chosen < len(jobs) else None

    @property
    def model(self) -> PuzzleJob:
        """Return the job to copy for a new one: the highlighted, the last, or one on a quarter of the machine."""
        jobs = self.puzzle.jobs
        return self.job or (jobs[-1] if jobs else PuzzleJob(max(self.puzzle.procs // 4, 1), 600))

    def changed(self, puzzle: Puzzle, again: bool = False) -> Draft:
        """Return the draft with another puzzle; `again` replaces the last change, so that undo takes back both."""
        if puzzle == self.puzzle:
            return self
        past = self.past if again else (*self.past, self.puzzle)[-MOST_UNDONE:]
        return replace(self, puzzle=puzzle, past=past, future=(), chosen=min(self.chosen, len(puzzle.jobs)))

    def undone(self) -> Draft:
        if not self.past:
            return self
        *past, puzzle = self.past
        chosen = min(self.chosen, len(puzzle.jobs))
        return Draft(puzzle, chosen, tuple(past), (self.puzzle, *self.future))

    def redone(self) -> Draft:
        if not self.future:
            return self
        puzzle, *future = self.future
        return Draft(puzzle, min(self.chosen, len(puzzle.jobs)), (*self.past, self.puzzle), tuple(future))

    def choose(self, number: int) -> Draft:
        return replace(self, chosen=min(max(number, 0), len(self.puzzle.jobs)))

    def added(self, job: PuzzleJob) -> Draft:
        """Return the draft with one more job, which is highlighted; if the puzzle is full, the draft itself."""
        count = len(self.puzzle.jobs)
        if count >= MOST_JOBS:
            return self
        return self.changed(self.puzzle.with_job(count, self._within_limits(job))).choose(count)

    def removed(self) -> Draft:
        return self if self.job is None else self.changed(self.puzzle.without(self.chosen))

    def with_job(self, job: PuzzleJob, again: bool = False) -> Draft:
        """Return the draft with another highlighted job; `again` lets undo take back the last change, too."""
        return (
            self
            if self.job is None
            else self.changed(self.puzzle.with_job(self.chosen, self._within_limits(job)), again)
        )

    def with_procs(self, procs: int) -> Draft:
        """Return the draft with another machine; a job that needs more gets all of it."""
        procs = min(max(procs, 1), MOST_PROCS)
        jobs = tuple(job._replace(procs=min(job.procs, procs)) for job in self.puzzle.jobs)
        return self.changed(Puzzle(procs, jobs))

    def moved(self, submit: int = 0, run: int = 0, asked: int = 0, procs: int = 0) -> Draft:
        """Return the draft with the highlighted job's values changed by these; the estimate covers the run time."""
        job = self.job
        if job is None:
            return self
        length = max(job.run + run, 1)
        estimate = None if job.asked is None and not asked else max(job.estimate + asked, length)
        return self.with_job(
            PuzzleJob(job.procs + procs, length, job.submit + submit, None if estimate == length else estimate)
        )

    def _within_limits(self, job: PuzzleJob) -> PuzzleJob:
        run = min(max(job.run, 1), MOST_SECONDS)
        asked = None if job.asked is None else min(max(job.asked, 1), MOST_SECONDS)
        return PuzzleJob(
            min(max(job.procs, 1), self.puzzle.procs), run, min(max(job.submit, 0), MOST_SECONDS),
            None if asked == run else asked,
        )  # fmt: skip
