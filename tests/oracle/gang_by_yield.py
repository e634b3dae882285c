"""The gang scheduling policies as generators: frozen copies of the definitions of before, independent of `RowsPass`.

They are not registered; `OLD` has them by the class of today.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from sim.decisions.decisions import Decision
from sim.decisions.matrix import Phase, PhaseName, ReserveRow
from sim.decisions.reasons_in_rows import BestFit, EarliestInRow
from sim.decisions.reasons_to_wait import MachineGoesDown
from sim.machine.turns import Turns
from sim.policies.gang import gang
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.view import View
from sim.workload.model import Job
from tests.oracle.gang_migration import Migration
from tests.oracle.gang_plans import RowPlans
from tests.oracle.gang_rebuilding import (
    GangView,
    MayMove,
    Step,
    clean,
    compact,
    fill,
    fits_no_row,
    in_time,
    is_event,
    keep,
    place,
    place_in_new_row,
    resume,
)


@dataclass(frozen=True)
class OldTimeShared(Policy):
    """Base class of the gang scheduling policies: the rows of the matrix, their turns, and when the matrix is
    rebuilt.
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
        """Return the clock of the rows' turns, which determines how long each row of the matrix runs."""
        return Turns(self.slice, self.cs)

    def decide(self, view: View) -> Iterator[Decision]:
        gang = cast(GangView, view)
        if is_event(gang):
            yield from self.rebuild(gang)

    def rebuild(self, view: GangView) -> Iterator[Step]:
        """Yield the decisions that rebuild the matrix from its jobs and the waiting jobs."""
        yield from clean(view)
        yield from compact(view, self.may_move(view))
        yield from self.schedule(view)
        yield from fill(view)

    def may_move(self, view: GangView) -> MayMove:
        """Return the function that tells whether a job may move to another row without delaying a reservation."""
        raise NotImplementedError

    def schedule(self, view: GangView, name: PhaseName = "schedule") -> Iterator[Step]:
        """Yield the decisions of the phase Schedule, which places waiting jobs in the matrix."""
        raise NotImplementedError


@dataclass(frozen=True)
class OldGang(OldTimeShared):
    """Gang scheduling (GS): rows of processors take turns; jobs enter first come, first served.

    A job goes into the fitting row with the fewest free columns, of equals the earlier, or into a new row while there
    are fewer than mpl. The first job that fits in no row blocks all later ones.
    """

    name = "gang"

    plans = "nobody"
    lets_pass = False

    def may_move(self, view: GangView) -> MayMove:
        return lambda rank, row: True

    def schedule(self, view: GangView, name: PhaseName = "schedule") -> Iterator[Step]:
        yield Phase(name)
        if not (yield from resume(view, self.mpl)):
            return
        for job in view.queue:
            if not in_time(view, job.rank, self.mpl):
                yield from keep(view, job, MachineGoesDown(view.closes, view.now + job.estimate * self.mpl, True))
                return
            if fits := view.matrix.with_room(job.procs):
                free, row = fits[0]
                yield from place(view, job, row, BestFit(free))
            elif len(view.matrix.rows) < self.mpl and job.procs <= view.procs:
                yield from place_in_new_row(view, job, self.mpl)
            else:
                yield from keep(view, job, fits_no_row(view))
                return


@dataclass(frozen=True)
class OldGangBackfill(OldTimeShared):
    """Backfilling gang scheduling (BGS): each row is planned as a machine that may be `mpl` times slower, and
    backfilled.

    A waiting job that fits in no row gets a reservation at the earliest start over all rows, of equals in the earlier
    row, recomputed at each rebuild. No job enters a row, or moves there, if it would delay a reservation. The history
    records the reservations that a job passed at that rebuild, and all of them for a watched run.
    """

    name = "gang-backfill"

    def may_move(self, view: GangView) -> MayMove:
        plans = RowPlans(view, self.mpl, self._last_reservations(view))

        def may_move(rank: int, row: int) -> bool:
            procs, span = view.job(rank).procs, view.remaining_estimate(rank) * self.mpl
            if not plans.fits(row, procs, span):
                return False
            plans.take(row, procs, span, view.now)
            return True

        return may_move

    def schedule(self, view: GangView, name: PhaseName = "schedule") -> Iterator[Step]:
        yield Phase(name)
        starts, rows = self._forget_reservations(view)
        if not (yield from resume(view, self.mpl)):
            return
        now, matrix, plans = view.now, view.matrix, RowPlans(view, self.mpl)
        passes = False
        for job in view.queue:
            span = job.estimate * self.mpl
            at, row = plans.soonest(job.procs, span)
            plans.take(row, job.procs, span, at)
            if at > now:
                starts[job.rank], rows[job.rank] = at, row
                yield ReserveRow(job, row, at, EarliestInRow(span))
                passes = True
            elif row == matrix.next_row:
                too_soon_taken = span if matrix.with_room(job.procs) else None
                yield from place_in_new_row(view, job, self.mpl, passes, too_soon_taken)
            else:
                yield from place(view, job, row, BestFit(matrix.free(row), span), passes)

    # Reservations of one rebuild, noted for the compaction of the next

    def _forget_reservations(self, view: GangView) -> tuple[dict[int, float], dict[int, int]]:
        """Clear the reservations of the last rebuild. Return two empty mappings for the new ones: rank to start, and
        rank to row.
        """
        starts: dict[int, float] = {}
        rows: dict[int, int] = {}
        view.notes["reserved at"], view.notes["reserved row"] = starts, rows
        return starts, rows

    def _last_reservations(self, view: GangView) -> Iterator[tuple[Job, int, float]]:
        """Yield (job, row, start) for each waiting job with a reservation from the last rebuild."""
        starts, rows = view.notes.get("reserved at", {}), view.notes.get("reserved row", {})
        return ((job, int(rows[job.rank]), starts[job.rank]) for job in view.queue if job.rank in starts)


@dataclass(frozen=True)
class OldMigrating(OldTimeShared):
    """Gang scheduling that moves tasks to other columns to get jobs into fuller rows, or into more rows.

    If compaction with migration moves no job, scheduling again would change nothing and is left out.
    """

    cost: float = parameter(10.0, "C: seconds that a job loses when its tasks migrate", low=0.0)
    q: int = parameter(64, "Q: how many tasks may migrate at one rebuild", low=0)

    def most_migrated(self) -> int:
        return self.q

    def rebuild(self, view: GangView) -> Iterator[Step]:
        migration = Migration(view, self.cost, self.q)
        yield from clean(view)
        yield from compact(view, self.may_move(view))
        yield from self.schedule(view)
        if (yield from compact(view, self.may_move(view), migration, "compact with migration")):
            yield from self.schedule(view, "schedule again")
        yield from fill(view)
        yield from migration.fill()


@dataclass(frozen=True)
class OldGangMigrate(OldMigrating, OldGang):
    """Gang scheduling with migration (MGS): a job may enter a row with enough free columns, even if its own are taken.

    Migrating jobs lose time: see `tests.oracle.gang_migration` for the cost and the choice between two options.
    """

    name = "gang-migrate"


@dataclass(frozen=True)
class OldGangMigrateBackfill(OldMigrating, OldGangBackfill):
    """Backfilling gang scheduling with migration (MBGS).

    Compaction with migration keeps clear of the reservations made by the first Schedule phase of the same rebuild;
    the second replaces them.
    """

    name = "gang-migrate-backfill"


OLD: dict[type[Policy], type[Policy]] = {
    gang.Gang: OldGang,
    gang.GangBackfill: OldGangBackfill,
    gang.GangMigrate: OldGangMigrate,
    gang.GangMigrateBackfill: OldGangMigrateBackfill,
}
