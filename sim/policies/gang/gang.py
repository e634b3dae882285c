"""Gang scheduling: jobs share the processors in space and in time (sections 4 and 5 of the paper).

Zhang, Franke, Moreira & Sivasubramaniam, "Improving Parallel Job Scheduling by Combining Gang Scheduling, Backfilling
and Migration" (2000). The rows of the Ousterhout matrix take turns on the processors, which are its columns. The matrix
is rebuilt in phases at each arrival and each completion. The engine runs the turns (`sim.machine.turns`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons_in_rows import BestFit, EarliestInRow, Fuller, MakesWay, NewRow, OtherColumns
from sim.decisions.reasons_to_wait import MachineGoesDown
from sim.machine.moment import is_by
from sim.machine.turns import Turns
from sim.policies.gang.planned_rows import RowPlans, span_in_row
from sim.policies.gang.ranked_rows import RankedRows
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@dataclass(frozen=True)
class TimeShared(Policy):
    """Base class of the gang scheduling policies: the rows of the matrix, their turns, and the phases in which the
    matrix is rebuilt.

    Each job in the matrix has a home row, and may be replicated into other rows, where it uses the same columns. The
    population of a row is the number of its columns that jobs use.
    """

    mpl: int = parameter(5, "how many rows the matrix may have: the multiprogramming level (Z: up to 5)", low=1)
    slice: float = parameter(200.0, "how many seconds a row is on turn", low=0.001)
    cs: float = parameter(0.0, "share of a turn that is lost to switching rows (Z: 0 to 0.05)", low=0.0, high=0.999)

    suspends = True
    places = True
    on_nodes = False

    def most_rows(self) -> int:
        return self.mpl

    def turns(self) -> Turns:
        return Turns(self.slice, self.cs)

    def decide(self, now: Moment) -> None:
        if now.is_event():
            self.rebuild(now)

    def rebuild(self, now: Moment) -> None:
        """Rebuild the matrix from its jobs and the waiting jobs, in four phases (Z sections 4.2 and 5.1)."""
        now.phase("clean")
        now.clean()
        now.phase("compact")
        self.compact(now, RowPlans(now, self.mpl, is_reserved=True))
        now.phase("schedule")
        self.schedule(now)
        now.phase("fill")
        self.fill(now)

    def compact(self, now: Moment, plans: RowPlans) -> None:
        """Move jobs of less populated rows to more populated ones, where their columns are free.

        The most populated row is filled first. Rows are ranked once, before any move; of equals the later one counts as
        less populated. `plans` contains the jobs of each row and the reservations in it.
        """
        ranked = RankedRows(now)
        for row in ranked.rows[:-1]:
            for target in ranked.targets(row):
                for job in ranked.movable(row, target):
                    # are_free is asked again, as a job that has just moved may use these columns
                    if now.are_free(job, target) and self.book_move(now, plans, job, target):
                        now.rehome(job, target, Fuller(ranked.population(row), ranked.population(target)))
        now.drop_rows()

    def book_move(self, now: Moment, plans: RowPlans, job: Job, row: int) -> bool:
        """Enter the job into the plan of this row, and return True: the caller has to move it. Return False if that
        would delay a reservation. Here there are none, and no plan is needed.
        """
        return True

    @abstractmethod
    def schedule(self, now: Moment) -> None:
        """Place waiting jobs in the matrix: the phase Schedule."""

    def place_in_new_row(self, now: Moment, job: Job, span: float | None) -> None:
        """Open a row and place the job in it, because the job fits in no existing row.

        `span` is for the reason: the number of seconds for which no row has enough free columns, or None if no row has
        enough even now. The reason's False says that the job may use any columns.
        """
        rows = now.rows
        row = now.open_row()
        now.place(job, row, NewRow(rows, self.mpl, False, span))

    def fill(self, now: Moment) -> None:
        """Replicate jobs, in order of placement: each into the first row in which its columns are free.

        A job gets at most one replica in a round, so that others get their share. The last round is the one in which no
        job finds a row.
        """
        found = now.rows > 1
        while found:
            found = False
            for job in now.replicable():
                row = now.row_for_replica(job)
                if row is not None:
                    now.replicate(job, row)
                    found = True


@policy("gang", "Z section 5.1", gs="gang")
@dataclass(frozen=True)
class Gang(TimeShared):
    """Gang scheduling (GS): rows of processors take turns; jobs enter first come, first served.

    A job goes into the fitting row with the fewest free columns, of equals the earlier, or into a new row while there
    are fewer than mpl. The first job that fits in no row blocks all later ones. So does a job that might not end before
    maintenance, if `mpl` rows took turns all the time.
    """

    plans = "nobody"
    lets_pass = False

    def schedule(self, now: Moment) -> None:
        if not now.resume_in_rows(self.mpl):
            return
        for job in now.queue:
            if not now.ends_in_time(job, self.mpl):
                now.keep(job, MachineGoesDown(now.closes, now.time + span_in_row(job.estimate, self.mpl), True))
                return
            row = now.fullest_row(job)
            if row is not None:
                now.place(job, row, BestFit(now.free_in(row), None))
            elif now.rows < self.mpl and job.procs <= now.procs:  # some processors may be down
                self.place_in_new_row(now, job, None)
            else:
                now.keep(job, now.no_row())
                return


@policy("gang-backfill", "Z section 5.2", bgs="gang-backfill")
@dataclass(frozen=True)
class GangBackfill(TimeShared):
    """Backfilling gang scheduling (BGS): each row is planned as a machine that may be `mpl` times slower, and
    backfilled.

    A waiting job that fits in no row gets a reservation at the earliest start over all rows, of equals in the earlier
    row, recomputed at each rebuild. No job enters a row, or moves there, if it would delay a reservation. A planned
    start enters the history when it has moved by at least a turn; in unwatched runs only if a job placed in the same
    rebuild passes it.
    """

    def book_move(self, now: Moment, plans: RowPlans, job: Job, row: int) -> bool:
        span = span_in_row(now.remaining_estimate(job.rank), self.mpl)
        if not plans.is_free(row, job.procs, span):
            return False
        plans.take(row, job.procs, span)
        return True

    def schedule(self, now: Moment) -> None:
        now.forget_reservations()
        if not now.resume_in_rows(self.mpl):
            return
        plans = RowPlans(now, self.mpl, is_reserved=False)
        for job in now.queue:
            span = span_in_row(job.estimate, self.mpl)
            at, row = plans.book(job, span)
            if at > now.time:
                now.reserve_row(job, row, at, EarliestInRow(span))
            elif plans.is_new(row):
                self.place_in_new_row(now, job, span if now.fullest_row(job) is not None else None)
            else:
                now.place(job, row, BestFit(now.free_in(row), span))


@dataclass(frozen=True)
class Migrating(TimeShared):
    """Gang scheduling that moves tasks to other columns to get jobs into fuller rows, or into more rows (Z section 5.4
    and figure 13).

    Job A is to enter a row, or to be replicated in it, that has enough free columns, but other jobs occupy A's columns
    there. Option 1: those jobs, J, move aside within the row. Option 2: A takes the lowest free columns of the row.
    Jobs that migrate lose C seconds (`cost`) each, and jobs that stay lose C/2. |A| is the number of tasks of A, and
    sum|J| that of the jobs J. So option 1 costs C/2*|A| + C*sum|J| processor-seconds, and option 2 costs C*|A| +
    C/2*sum|J| (Z equations 4 and 5). The cheaper possible option is taken; if both cost the same, option 1.

    All tasks of a migrating job count, even one that keeps its column. Several jobs move aside in order of placement,
    each to the lowest columns that are free beside A. A job pays for every move, even if it was placed in the matrix at
    the same instant. If compaction with migration moves no job, scheduling again would change nothing and is left out.
    """

    cost: float = parameter(10.0, "C: seconds that a job loses when its tasks migrate", low=0.0)
    q: int = parameter(64, "Q: how many tasks may migrate at one rebuild", low=0)

    def most_migrated(self) -> int:
        return self.q

    def rebuild(self, now: Moment) -> None:
        """Rebuild the matrix in seven phases (Z section 5.4): the four without migration, and three that need it."""
        now.phase("clean")
        now.clean()
        now.phase("compact")
        self.compact(now, RowPlans(now, self.mpl, is_reserved=True))
        now.phase("schedule")
        self.schedule(now)
        now.phase("compact with migration")
        if self.compact_by_migration(now, RowPlans(now, self.mpl, is_reserved=True)):
            now.phase("schedule again")
            self.schedule(now)
        now.phase("fill")
        self.fill(now)
        now.phase("fill with migration")
        self.fill_by_migration(now)

    # Compaction: A leaves its row

    def compact_by_migration(self, now: Moment, plans: RowPlans) -> bool:
        """Move jobs like `compact`, but also where their columns are taken; return True if any job moved."""
        moved = False
        ranked = RankedRows(now)
        for row in ranked.rows:
            for target in ranked.fuller_rows(row):
                for job in ranked.narrow_enough(row, target):
                    if now.are_free(job, target):
                        if self.book_move(now, plans, job, target):
                            now.rehome(job, target, Fuller(ranked.population(row), ranked.population(target)))
                            moved = True
                    elif self.can_bring(now, job, target) and self.book_move(now, plans, job, target):
                        self.bring(now, job, target)
                        moved = True
        now.drop_rows()
        return moved

    def can_bring(self, now: Moment, job: Job, row: int) -> bool:
        """Return True if the row has room for the job, and one of the two options stays within `q`."""
        left = self.q - now.migrated
        if job.procs > now.free_in(row) or left == 0:
            return False
        return job.procs <= left or now.tasks_in_the_way(job, row) <= left

    def bring(self, now: Moment, job: Job, row: int) -> None:
        """Move the job (A in this class) to the row, by the cheaper of the two options."""
        size, aside, left = job.procs, now.tasks_in_the_way(job, row), self.q - now.migrated
        first, second = self.cost / 2 * size + self.cost * aside, self.cost * size + self.cost / 2 * aside
        if size > left or (aside <= left and is_by(first, second)):
            other = second if size <= left else None
            self.move_aside(now, job, row, first, other)
            now.rehome(job, row, MakesWay(job, first, other))
            now.stall(job, self.cost / 2, MakesWay(job, first, other))
        else:
            other = first if aside <= left else None
            in_the_way = now.in_the_way(job, row)
            now.migrate(job, row, None, self.cost, OtherColumns(second, other))
            for each in in_the_way:
                now.stall(each, self.cost / 2, OtherColumns(second, other))

    # Filling: A stays where it is, and is replicated

    def fill_by_migration(self, now: Moment) -> None:
        """Replicate jobs like `fill`, but by option 1: jobs that are in no other row move aside for a replica. It costs
        nothing where the job's columns are free.
        """
        found = now.rows > 1 and now.migrated < self.q
        while found:
            found = False
            for job in now.placed():
                for row in now.other_rows(job):
                    if self.can_replicate(now, job, row):
                        self.replicate(now, job, row)
                        found = True
                        break

    def can_replicate(self, now: Moment, job: Job, row: int) -> bool:
        aside = 0
        for other in now.in_the_way(job, row):
            if now.is_replicated(other):
                return False
            aside += other.procs
        return aside <= self.q - now.migrated

    def replicate(self, now: Moment, job: Job, row: int) -> None:
        aside = now.tasks_in_the_way(job, row)
        cost = self.cost / 2 * job.procs + self.cost * aside
        self.move_aside(now, job, row, cost, None)
        now.replicate(job, row)
        if aside > 0:
            now.stall(job, self.cost / 2, MakesWay(job, cost, None))

    # Both

    def move_aside(self, now: Moment, job: Job, row: int, cost: float, other: float | None) -> None:
        """Move the jobs in the way of `job` to other columns of the row, one after another. `cost` and `other` are the
        costs of this option and of the other one (None if that is not possible), for the reason.
        """
        for each in now.in_the_way(job, row):
            now.migrate(each, row, job, self.cost, MakesWay(job, cost, other))


@policy("gang-migrate", "Z section 5.4", mgs="gang-migrate")
@dataclass(frozen=True)
class GangMigrate(Migrating, Gang):
    """Gang scheduling with migration (MGS): a job may enter a row with enough free columns, even if its own are taken.

    Either the jobs in its columns move aside within the row, or it takes other columns, whichever costs less. A job
    loses time when its tasks migrate.
    """


@policy("gang-migrate-backfill", "Z section 5.5", mbgs="gang-migrate-backfill")
@dataclass(frozen=True)
class GangMigrateBackfill(Migrating, GangBackfill):
    """Backfilling gang scheduling with migration (MBGS).

    Compaction with migration keeps clear of the reservations made by the first Schedule phase of the same rebuild;
    the second replaces them.
    """
