"""Questions and calls of a policy that is not compiled, over the columns of the fast loop.

The policy runs as Python, with jobs and reasons as objects. Each call is checked before it changes a column, because a
wrong rank would crash the process. All other calls go to the engine, mistakes among them: it takes over the rest of the
pass, and its checks report the mistake.
"""

from __future__ import annotations

from typing import Any

from sim.decisions.decisions import NO_REASONS, Backfill, Reserve, Start
from sim.history.decision_log import AS_IT_IS
from sim.kernel.calls import IN_ORDER, Pass, Rules
from sim.kernel.present import WIDTH
from sim.machine import cython
from sim.machine.columns import INFINITE
from sim.machine.moment import MOMENT

IN_VAIN_AT_THE_END = 10000
"""Copy of `IN_VAIN_AT_THE_END` in `sim.engine.engine`: number of steps without an arrival or an end of a job after
which the engine takes over
"""


@cython.cclass
class CheckedCalls:
    """Methods of a `sim.policies.calls.Pass` over the columns of a loop. Jobs are objects, each given and returned."""

    def __init__(
        self,
        run: Pass,
        state: Any,
        jobs: list[Any],
        starts: dict[Any, Any],
        backfills: dict[Any, Any],
        reserves: dict[Any, Any],
        engine: Any,
    ) -> None:
        self.run: Pass = run
        self.state: Any = state
        """State of the run. While the loop runs, these parts of it are up to date: time, number of steps, number of
        jobs that have come, the policy's notes, and `reserved`
        """
        self.jobs: list[Any] = jobs
        """For each rank: the job, or None if it is not made yet"""
        self.kept: list[Any] = []
        """Decisions of the history that are stored as objects"""
        self.starts: dict[Any, Any] = starts
        self.backfills: dict[Any, Any] = backfills
        self.reserves: dict[Any, Any] = reserves
        """For each type of reason: (number of the form, True if the reason names a job, count of other values)"""
        self.engine: Any = engine
        """Function that lets the engine take over, and returns its pass; it is called for whatever cannot be done
        here
        """
        self.is_open = False
        """True while the loop runs; otherwise the engine answers everything"""
        self.reserved: dict[Any, Any] = state.reserved
        self.before: dict[Any, Any] = {}
        """Planned starts, by rank: of this pass (or lasting ones), and of the pass before"""
        self.printed: list[Any] = state.printed
        self.form, self.head, self.one, self.two, self.three = 0, -1, 0.0, 0.0, 0.0
        """Row of the decision that is being made: number of the form, rank of the named job, and values"""
        self.compressed_in = -1
        """Step in which reservations were last moved to earlier starts"""

    def begin_pass(self) -> None:
        """Bring the state up to date, as far as a policy may ask it."""
        run, state = self.run, self.state
        state.now = run.now
        state.step_count = run.step
        if run.arrived:
            state.submitted = run.arriving
        if not run.is_reserved and len(self.reserved) + len(self.before) > 0:
            self.before = self.reserved.copy()
            self.reserved.clear()
        if self.printed:
            self.printed.clear()

    # Questions

    def fits(self, job: Any) -> bool:
        if not self.is_open:
            return bool(self.engine().fits(job))
        return bool(job.procs <= self.run.free)

    def queue(self) -> list[Any]:
        if not self.is_open:
            return list(self.engine().queue)
        return self._jobs_from(0)

    def behind(self, head: Any) -> list[Any]:
        rank = self._waiting(head)
        if rank < 0:
            return list(self.engine().behind(head))
        return self._jobs_from(self.run._index_of(rank) + 1)

    def candidates(self, head: Any = None) -> list[Any]:
        return self.easy_candidates(head, INFINITE)

    def easy_candidates(self, head: Any, shadow: float, extra: int = 0) -> list[Any]:
        run, first, rank = self.run, 0, -1
        if head is not None:
            rank = self._waiting(head)
            first = self.run._index_of(rank) + 1 if rank >= 0 else 0
        if not self.is_open or (head is not None and rank < 0):
            return list(self.engine().easy_candidates(head, shadow, extra))
        found: list[Any] = []
        free, now, until, queue, width = run.free, run.now, shadow + MOMENT, run.queue, run.width
        if not free:
            return found
        for index in range(first, run.waiting):
            place = queue[index]
            wide = width[place]
            if wide <= free and (wide <= extra or now + run.length[place] <= until):
                found.append(self.jobs[run.rank_at[place]])
        return found

    def arrivals(self) -> list[Any]:
        if not self.is_open:
            return list(self.engine().arrivals())
        return self.jobs[self.run.arriving - self.run.arrived : self.run.arriving]

    def completed(self) -> list[Any]:
        run = self.run
        if not self.is_open:
            return list(self.engine().completed)
        return [self.jobs[run.done[index]] for index in range(run.completed)]

    def ends(self) -> list[Any]:
        run = self.run
        if not self.is_open:
            return list(self.engine().ends)
        return [(run.end_at[index], run.end_rank[index], run.end_procs[index]) for index in range(run.running)]

    def is_first(self, job: Any) -> bool:
        rank = self._waiting(job)
        if rank < 0:
            return bool(self.engine().is_first(job))
        return self.run.place_of[rank] == self.run.queue[0]

    def shadow_of(self, job: Any) -> Any:
        """Return the shadow time of a waiting job that does not fit, and the processors left over then; None if it is
        not such a job.
        """
        run, rank = self.run, self._waiting(job)
        if rank < 0 or run.procs[rank] <= run.free:
            return None
        run._cast_shadow(rank)
        return run.shadow, run.extra

    def stay(self, rank: int) -> tuple[Any, ...]:
        """Return (stretch, rank, start, expected end) of a running job."""
        run = self.run
        return run.h_last[rank], rank, run.l_start[rank], run.expected[rank]

    def steps(self) -> list[Any]:
        """Return the (time, free processors) of each step of the plan."""
        run = self.run
        run._make_plan()
        return [(run.plan.at[index], run.plan.free[index]) for index in range(run.plan.count)]

    def due(self) -> list[Any]:
        run = self.run
        if not self.is_open or (run.reservations != run.waiting if run.is_reserved else len(self.reserved) > 0):
            return list(self.engine().due())
        if not run.is_reserved or not run.reservations or run.reserved_at[0] > run.now:
            return []
        return [self.jobs[rank] for rank in run._due()]

    def earliest(self, job: Any) -> float:
        rank = self._waiting(job)
        if rank < 0:
            return float(self.engine().earliest(job))
        return self.run._earliest(rank)

    # Calls

    def start_in_order(self) -> Any:
        run = self.run
        if not self.is_open:
            return self.engine().start_in_order()
        while run.waiting and run.width[run.queue[0]] <= run.free:
            rank = run.rank_at[run.queue[0]]
            if not self._has_log_room() or (run.is_reserved and not run.planned_in[rank]):
                return self.engine().start_in_order()
            self.reserved.pop(rank, None)
            run._start(0, IN_ORDER, -1, run.free, 0.0, False)
        return self.jobs[run.rank_at[run.queue[0]]] if run.waiting else None

    def start(self, job: Any, because: Any, on: Any = None) -> None:
        rank = self._startable(job, because) if on is None else -1
        if rank < 0:
            self.engine().start(job, because, on)
            return
        index = self.run._index_of(rank)
        if index:
            self._begin(rank, index, job, because, self.backfills, Backfill, True)
        else:
            self._begin(rank, index, job, because, self.starts, Start, False)

    def begin(self, job: Any, because: Any, on: Any = None) -> None:
        rank = self._startable(job, because) if on is None else -1
        if rank < 0:
            self.engine().begin(job, because, on)
            return
        self._begin(rank, self.run._index_of(rank), job, because, self.starts, Start, False)

    def backfill(self, job: Any, because: Any, on: Any = None) -> None:
        rank = self._startable(job, because) if on is None else -1
        if rank < 0:
            self.engine().backfill(job, because, on)
            return
        self._begin(rank, self.run._index_of(rank), job, because, self.backfills, Backfill, True)

    def reserve(self, job: Any, at: Any, because: Any, on: Any = None) -> None:
        run = self.run
        rank = self._waiting(job) if on is None else -1
        time = self._time(at)
        can = rank >= 0 and time >= run.now and self._has_log_room() and type(because) not in NO_REASONS
        if can and run.is_reserved:
            can = not run.planned_in[rank] and run.plan.count > 0
        elif can:
            is_new = run.planned_in[rank] != run.step + 1  # moves of one job are added up where they are neighbours
            can = is_new or not run.moves or run.moved_rank[run.moves - 1] == rank
        if not can:
            self.engine().reserve(job, at, because, on)
            return
        rows = run.decided
        self._row_of(because, self.reserves)
        if run.is_reserved:
            run.plan.advance(run.now)
            run._reserve(rank, time, self.form, self.one, self.two)
        else:
            run._plan_job(rank, time, self.form, self.head, self.one, self.two)
        if run.decided > rows:
            self._finish_row(rows, Reserve, job, because, at)
        self.reserved[rank] = at

    def keep(self, job: Any, because: Any = None) -> None:
        """Check the reason only: the run is not watched."""
        if because is not None and type(because) in NO_REASONS:
            self.engine().keep(job, because)

    def compress(self, by: Any) -> None:
        run = self.run
        is_late = run.decided + run.reservations > run.most_decided or self.compressed_in == run.step
        if not self.is_open or not run.is_reserved or is_late or run.moves:
            self.engine().compress(by)
            return
        self.compressed_in = run.step
        run._compress_by(by)
        for index in range(run.moves):
            self.reserved[run.moved_rank[index]] = run.planned[run.moved_rank[index]]

    def wake_once(self, at: Any) -> None:
        run = self.run
        time = self._time(at)
        if not self.is_open or run.is_reserved or not run.now < time < INFINITE:
            self.engine().wake_once(at)
            return
        run._wake_once(time)

    # Checks

    def _time(self, at: Any) -> float:
        """Return the time as a number; a negative one if it is none."""
        try:
            time: float = at
        except (TypeError, OverflowError):
            return -1.0
        return time if time < INFINITE else -1.0

    def _waiting(self, job: Any) -> int:
        """Return the rank of the job; -1 if the loop does not run now or the job does not wait in it."""
        run = self.run
        if not self.is_open:
            return -1
        try:
            rank: int = job.rank
        except (AttributeError, TypeError, OverflowError):
            return -1
        if rank < 0 or rank >= run.arriving or self.jobs[rank] is not job:
            return -1
        index = run._index_of(rank)
        return rank if index < run.waiting and run.queue[index] == run.place_of[rank] else -1

    def _startable(self, job: Any, because: Any) -> int:
        """Return the rank of the job; -1 if it cannot start here now, or for no reason."""
        rank = self._waiting(job)
        if rank < 0 or type(because) in NO_REASONS or self.run.procs[rank] > self.run.free or not self._has_log_room():
            return -1
        return -1 if self.run.is_reserved and not self.run.planned_in[rank] else rank

    def _has_log_room(self) -> bool:
        return self.run.decided < self.run.most_decided

    def _jobs_from(self, first: int) -> list[Any]:
        """Return the waiting jobs from index `first` of the queue on."""
        run = self.run
        return [self.jobs[run.rank_at[run.queue[index]]] for index in range(first, run.waiting)]

    # Decisions

    def _begin(
        self, rank: int, index: int, job: Any, because: Any, forms: dict[Any, Any], decision: Any, passes: bool
    ) -> None:
        """Start the job at `index` of the queue, and write the decision."""
        run = self.run
        row = run.decided
        self._row_of(because, forms)
        run._start(index, self.form, self.head, self.one, self.two, passes)
        self._finish_row(row, decision, job, because, None)
        self.reserved.pop(rank, None)

    def _row_of(self, because: Any, forms: dict[Any, Any]) -> None:
        """Find the row of a decision with this reason: the form, the job that it names, and its values. A reason that
        has no such row is stored as an object.
        """
        self.form, self.head, self.one, self.two, self.three = AS_IT_IS, -1, 0.0, 0.0, 0.0
        form = forms.get(type(because))
        if form is None:
            return
        try:
            number, names_job, count = form
            values = because.values()
            first = 0
            if names_job:
                rank: int = values[0].rank
                if rank < 0 or rank >= self.run.arriving or self.jobs[rank] is not values[0]:
                    return
                self.head, first = rank, 1
            if count > 0:
                self.one = values[first]
            if count > 1:
                self.two = values[first + 1]
            if count > 2:
                self.three = values[first + 2]
            self.form = number
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError):
            self.head, self.one, self.two, self.three = -1, 0.0, 0.0, 0.0

    def _finish_row(self, row: int, decision: Any, job: Any, because: Any, at: Any) -> None:
        """Complete the row of a decision: with what the loop does not write, or as an object."""
        run = self.run
        run.h_head[row] = self.head
        if self.form == AS_IT_IS:
            run.h_head[row] = len(self.kept)
            self.kept.append(decision(job, because) if at is None else decision(job, at, because))
        elif self.three and at is None:
            run.h_numbers[row * WIDTH + 2] = self.three


@cython.cclass
class PythonRules(Rules):
    """Rules of a policy that is not compiled: its method is called at each pass."""

    def __init__(self) -> None:
        self.calls: CheckedCalls
        self.act: Any = None
        """Function that makes a pass of the policy"""
        self.make: Any = None
        """Function that makes the jobs from rank `made` up to another rank, and returns the next value of `made`"""
        self.leave: Any = None
        """Function that raises an error, to leave the loop when the engine has taken over"""
        self.made = 0
        """Rank of the next job to be made"""
        self.vain = 0
        self.vain_since = 0.0
        """Number of steps in a row without an arrival or an end of a job, and the time of the first"""

    def decide(self, now: Pass) -> None:
        calls: CheckedCalls = self.calls
        if self.made < now.arriving:
            self.made = self.make(self.made, now.arriving)
        calls.begin_pass()
        if now.arrived or now.completed:
            self.vain = 0
        else:
            if not self.vain:
                self.vain_since = now.now
            self.vain += 1
            if self.vain >= IN_VAIN_AT_THE_END:
                calls.engine()
        self.act()
        if not calls.is_open:
            self.leave()
        if calls.printed:  # the caller keeps these lines with the number of the step
            now.is_to_stop = True
