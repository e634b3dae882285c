"""Also tests sim.decisions.matrix, sim.policies.gang.ranked_rows, sim.policies.gang.planned_rows."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions import matrix as d
from sim.decisions import reasons_in_rows as in_rows
from sim.decisions.decisions import Keep
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.history.history import History
from sim.policies.gang.gang import Gang, GangBackfill, GangMigrate, GangMigrateBackfill
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy
from sim.support.errors import ParameterError
from sim.workload.model import Job
from tests.sim.conftest import Lab


class Stage:
    """A moment with jobs in the matrix and in the queue, at which a policy makes passes.

    Rows are written as text, a letter for each column: in "AAB." job A, of rank 0, has the first two columns.
    """

    def __init__(self, policy: Policy, *rows: str, procs: int = 4, now: float = 0) -> None:
        workload = Lab().workload(procs, *["1 0 1 1 1"] * 26)
        self.moment = Moment(History(workload.jobs))
        self.moment._begin(workload, workload.jobs, policy, "lowest")
        self.jobs: list[Job] = []
        self.moment._jobs.made, self.moment._time, self.moment._curious = cast(Any, self.jobs), now, True
        self.sharing, self.matrix = self.moment._shared(), self.moment._matrix()
        for row in rows:
            self._fill(self.matrix.open_row(), row)

    def _fill(self, row: int, text: str) -> None:
        for letter in sorted(set(text) - {"."}):
            columns = sum(1 << place for place, cell in enumerate(text) if cell == letter)
            if (rank := ord(letter) - ord("A")) in self.matrix:
                self.matrix.replicate(rank, row)
                continue
            while len(self.jobs) <= rank:
                self.add(1, 100)
            self.jobs[rank] = self.jobs[rank].replaced(procs=columns.bit_count())
            self.sharing.come_in(rank, row, columns, 0, True)

    @property
    def queue(self) -> list[Job]:
        return self.moment.queue

    def job(self, rank: int) -> Job:
        return self.jobs[rank]

    def add(self, procs: int, estimate: float) -> Job:
        """Add a job that is neither in the queue nor in the matrix."""
        rank = len(self.jobs)
        self.jobs.append(Job(rank, chr(ord("A") + rank % 26), self.moment.time, procs, estimate))
        self.moment._submitted = len(self.jobs)
        return self.jobs[-1]

    def wait(self, procs: int, estimate: float = 100) -> Job:
        """Add a waiting job."""
        job = self.add(procs, estimate)
        self.moment._waiting.add(job)
        self.moment._arrived.append(job)
        return job

    def suspend(self, columns: int) -> Job:
        job = self.add(columns.bit_count(), 100)
        self.moment._suspended[job.rank], self.moment._suspended_since[job.rank] = columns, 0
        return job

    def finish(self, rank: int) -> None:
        self.sharing.leave(rank)
        self.something_completes()

    def something_completes(self) -> None:
        """Make the policy believe that a job has completed, so that it rebuilds the matrix; change nothing else."""
        self.moment._completed.append(Job(99, "Z", 0, 1, 1))

    def rebuild(self) -> list[str]:
        """Make one pass; return the rows as text, first to last. A capital letter is a job in its home row, a small
        letter a replica."""
        moment = self.moment
        moment._decisions.clear()
        moment._policy.decide(moment)
        assert not list(self.matrix.held_twice())
        moment._arrived.clear()
        moment._completed.clear()
        return self.written()

    def written(self) -> list[str]:
        rows = []
        for _, cells in self.matrix.picture().rows:
            row = ["."] * self.moment.procs
            for cell in cells:
                for place in range(len(row)):
                    if cell.columns >> place & 1:
                        row[place] = chr((ord("A") if cell.is_home else ord("a")) + cell.rank)
            rows.append("".join(row))
        return rows

    def those(self, kind: type) -> list[Any]:
        return [decision for decision in self.moment._decisions if isinstance(decision, kind)]


# The phases
def test_every_occurrence_outside_the_home_row_is_cleaned() -> None:
    # A new job C takes the place of A's replica; then there is no room for A in row 2.
    stage = Stage(Gang(mpl=2), "AA..", "AABB")
    stage.wait(4)
    assert stage.rebuild() == ["AABB", "CCCC"]
    assert stage.those(d.Clean) == [d.Clean()]


def test_compaction_moves_jobs_from_the_emptiest_row_to_the_fullest() -> None:
    # Rows by population: 2 (C, 1 column), 1 (A, 2), 3 (B, 3). C goes to row 3, whose last column is free, though there
    # is room in row 1; later it is replicated there.
    stage = Stage(Gang(), "AA..", "...C", "BBB.")
    stage.something_completes()
    assert stage.rebuild() == ["AA.c", "BBBC"]
    assert stage.those(d.Rehome) == [d.Rehome(stage.job(2), 3, in_rows.Fuller(1, 3))]
    assert list(stage.matrix.rows) == [1, 3]


def test_a_new_row_is_opened_only_where_no_row_fits_and_mpl_allows() -> None:
    stage = Stage(Gang(mpl=2), "AAA.")
    wide, narrow, wider = stage.wait(2), stage.wait(1), stage.wait(3)
    stage.wait(1)
    assert stage.rebuild() == ["AAAC", "BB.c"]
    assert stage.those(d.Place) == [
        d.Place(wide, 2, 0b0011, in_rows.NewRow(1, 2)),
        d.Place(narrow, 1, 0b1000, in_rows.BestFit(1)),
    ]
    assert stage.those(Keep) == [Keep(wider, cast(Any, in_rows.FitsNoRow(2, 2)))]


def test_phases_follow_each_other() -> None:
    stage = Stage(Gang(), "AA..")
    stage.wait(1)
    stage.rebuild()
    assert [phase.name for phase in stage.those(d.Phase)] == ["clean", "compact", "schedule", "fill"]
    # A and B need the first column of rows 3 and 4: A gets the one, and before it has its next turn, B the other.
    stage = Stage(Gang(), "ACCC", "BDDD", "..EE", "..FF")
    stage.something_completes()
    assert stage.rebuild() == ["ACCC", "BDDD", "a.EE", "b.FF"]
    stage = Stage(Gang(), "AA..", "BBB.")
    stage.wait(1)
    assert stage.rebuild() == ["AA.c", "BBBC"]
    assert stage.those(d.Place) == [d.Place(stage.job(2), 2, 0b1000, in_rows.BestFit(1))]


# Backfilling
def test_every_row_is_backfilled_beside_its_reservations() -> None:
    # mpl 2: A's span is 200 s, B's too. C needs the whole machine: reserved for 200 in row 1. D (span 200) may pass it,
    # E (span 202) may not in row 1, but it may in row 2.
    stage = Stage(GangBackfill(mpl=2), "AAA.", "BB..")
    whole, passing, longer = stage.wait(4), stage.wait(1, 100), stage.wait(1, 101)
    assert stage.rebuild() == ["AAAD", "BBEd"]
    assert stage.those(d.ReserveRow) == [d.ReserveRow(whole, 1, 200, in_rows.EarliestInRow(200))]
    assert stage.those(d.Place) == [
        d.Place(passing, 1, 0b1000, in_rows.BestFit(1, 200), passes=True),
        d.Place(longer, 2, 0b0100, in_rows.BestFit(2, 202), passes=True),
    ]


def test_what_a_job_has_done_shortens_its_span() -> None:
    stage = Stage(GangBackfill(mpl=1), "AAA.", now=50)
    stage.sharing.ran[0] = 40
    stage.wait(4)
    stage.wait(1, 61)
    assert stage.rebuild() == ["AAA."]
    assert [reservation.at for reservation in stage.those(d.ReserveRow)] == [110, 210]


@pytest.mark.parametrize(("curious", "written"), [(False, ["2"]), (True, ["2", "4"])])
def test_history_has_all_row_plans_if_watched_else_passed_ones(lab: Lab, curious: bool, written: list[str]) -> None:
    """Job 3 is placed next to job 2's planned start in a row; no job is placed next to job 4's. Only a run with
    recorded reasons (`curious`) writes both plans."""
    jobs = lab.workload(4, "1 0 3 100 100", "2 0 4 10 10", "3 0 1 50 50", "4 0 4 10 10")
    engine = Engine(jobs, "gang-backfill:mpl=1", curious=curious)
    engine.advance(1)
    assert [each.job.id for each in engine.history.decisions(0) if isinstance(each, d.ReserveRow)] == written
    assert {queued.job.id: queued.planned for queued in engine.snapshot().queue} == {"2": 100, "4": 110}


def test_new_row_is_searched_anew() -> None:
    stage = Stage(GangBackfill(mpl=3), "AAAA")
    stage.moment._closes, stage.moment._ahead = 100, ((100, 0b1111), (104, 0))
    for estimate in (60, 60, 60, 10, 60):  # only E, in its own row, ends before maintenance
        stage.wait(4, estimate)
    stage.rebuild()
    reserved = [(r.job.id, r.row, r.at) for r in stage.those(d.ReserveRow)]
    assert reserved == [("B", 1, 104), ("C", 2, 104), ("D", 1, 284), ("F", 3, 104)]


def test_compaction_keeps_clear_of_the_last_reservations() -> None:
    # C (4 columns) is reserved in row 1 from 200 on, when A will have ended. B, which would end at 400, stays in row 2.
    stage = Stage(GangBackfill(mpl=2), "AAA.", "...B", procs=4)
    stage.jobs[1] = stage.jobs[1].replaced(estimate=200)
    stage.wait(4)
    stage.moment._notes.update({"reserved at": {2: 200}, "reserved row": {2: 1}})
    stage.rebuild()
    assert stage.those(d.Rehome) == []
    stage.moment._waiting.remove(stage.job(2))
    stage.something_completes()
    assert stage.rebuild() == ["AAAB"]


# Migration
def test_jobs_move_where_that_is_cheaper() -> None:
    # C (1 task) stands in a column of B (2 tasks): 10/2 * 2 + 10 * 1 = 20 against 10 * 2 + 10/2 * 1 = 25.
    stage = Stage(GangMigrate(), ".AAC....", "...BB...", procs=8)
    stage.something_completes()
    assert stage.rebuild() == ["CAABB..."]
    why = in_rows.MakesWay(stage.job(1), 20, 25)
    assert stage.those(d.Migrate) == [d.Migrate(stage.job(2), 1, 0b1, 10, why)]
    assert stage.those(d.Stall) == [d.Stall(stage.job(1), 5, why)]
    stage = Stage(GangMigrate(), "AAAA....", "..BB....", procs=8)
    stage.something_completes()
    assert stage.rebuild() == ["AAAABB.."]
    other = in_rows.OtherColumns(10 * 2 + 5 * 4, 5 * 2 + 10 * 4)
    assert stage.those(d.Migrate) == [d.Migrate(stage.job(1), 1, 0b110000, 10, other)]
    assert stage.those(d.Stall) == [d.Stall(stage.job(0), 5, other)]


def test_only_so_many_tasks_migrate_at_one_rebuild() -> None:
    # The cheaper option would move 3 tasks, 2 are allowed; the other moves 2. With q=1 nothing moves.
    stage = Stage(GangMigrate(q=2), "AAAA..", "..BBB.", procs=6)
    stage.something_completes()
    assert stage.rebuild() == ["AAAA..", "..BBB."]
    stage = Stage(GangMigrate(q=1), "AAAA....", "..BB....", procs=8)
    stage.something_completes()
    assert stage.rebuild() == ["AAAA....", "..BB...."]


def test_after_compaction_with_migration_is_scheduled_again() -> None:
    # C (4 columns) fits no row until B has moved in with A, by option 1 as both cost the same; then a row opens for it.
    stage = Stage(GangMigrate(mpl=2), "AA..", ".BB.")
    stage.wait(4)
    assert stage.rebuild() == ["ABBA", "CCCC"]
    assert [phase.name for phase in stage.those(d.Phase)] == [
        "clean", "compact", "schedule", "compact with migration", "schedule again", "fill", "fill with migration",
    ]  # fmt: skip


def test_a_replica_may_push_a_job_aside_that_stands_nowhere_else() -> None:
    # row 1 is full, and no job can be replicated in row 2 until C moves aside for A
    stage = Stage(GangMigrate(), "AABBBB", ".CC...", procs=6)
    stage.something_completes()
    assert stage.rebuild() == ["AABBBB", "aaCC.."]
    why = in_rows.MakesWay(stage.job(0), 5 * 2 + 10 * 2, None)
    assert stage.those(d.Migrate) == [d.Migrate(stage.job(2), 2, 0b001100, 10, why)]
    assert stage.those(d.Stall) == [d.Stall(stage.job(0), 5, why)]


def test_a_job_that_is_replicated_does_not_move_aside() -> None:
    # Without row 3, A would make way for C. As it is replicated there, it must keep its columns in row 1 too.
    stage = Stage(GangMigrate(), ".AABB.", "CCDDDD", "...EEE", procs=6)
    stage.something_completes()
    assert stage.rebuild() == [".AABB.", "CCDDDD", ".aaEEE"]
    stage = Stage(GangMigrate(), ".AABB.", "CCDDDD", procs=6)
    stage.something_completes()
    assert stage.rebuild() == ["ccABBA", "CCDDDD"]


def test_nobody_moves_at_a_loss() -> None:
    stage = Stage(GangMigrate(q=0), "AABBBB", ".CC...", procs=6)
    stage.something_completes()
    assert stage.rebuild() == ["AABBBB", ".CC..."]
    stage = Stage(GangMigrate(cost=0), ".AAC....", "...BB...", procs=8)
    stage.something_completes()
    stage.rebuild()
    assert stage.those(d.Stall) == []
    assert [migrate.stall for migrate in stage.those(d.Migrate)] == [0]


# After a switch
def test_suspended_jobs_come_first() -> None:
    stage = Stage(Gang(mpl=2), "AA..")
    stage.suspend(0b0110)
    stage.wait(2)
    assert stage.rebuild() == ["AACC", ".BB."]
    stage = Stage(GangBackfill(mpl=1), "AA..")
    stage.suspend(0b0110)
    stage.wait(2)
    assert stage.rebuild() == ["AA.."]
    assert stage.those(Keep) == [Keep(stage.job(1), cast(Any, in_rows.OwnColumnsTaken(1)))]


# How they are named
@pytest.mark.parametrize(
    ("alias", "policy"),
    [("gs", Gang()), ("bgs", GangBackfill()), ("mgs", GangMigrate()), ("mbgs", GangMigrateBackfill())],
)
def test_the_short_names_of_the_paper(alias: str, policy: Policy) -> None:
    assert parse_policy(alias) == policy


# Any events
@given(
    st.sampled_from([Gang(mpl=3), GangBackfill(mpl=3), GangMigrate(mpl=3, q=4), GangMigrateBackfill(mpl=3, q=6)]),
    st.lists(st.tuples(st.booleans(), st.integers(1, 6), st.integers(1, 30)), max_size=25),
)
def test_no_rebuild_loses_a_job_or_leaves_an_empty_row(policy: Policy, events: list[tuple[bool, int, int]]) -> None:
    stage = Stage(policy, procs=6)
    for arrives, procs, estimate in events:
        stage.moment._time += 1
        if arrives or not len(stage.matrix):
            stage.wait(procs, estimate)
        else:
            stage.finish(stage.matrix.jobs[procs % len(stage.matrix)])
        before = {job.rank for job in stage.queue} | set(stage.matrix.jobs)
        stage.rebuild()
        assert {job.rank for job in stage.queue} | set(stage.matrix.jobs) == before
        assert all(map(stage.matrix.used, stage.matrix.rows))
        assert len(stage.matrix.rows) <= 3
        assert sum(move.job.procs for move in stage.those(d.Migrate)) <= getattr(policy, "q", 0)
        for rank in stage.matrix.jobs:
            assert stage.matrix.columns(rank).bit_count() == stage.job(rank).procs


def test_ten_million_processors_do_not_take_turns(lab: Lab) -> None:
    with pytest.raises(ParameterError, match="rows of 10,000,000 processors cannot take turns: 1,000,000 is the most"):
        lab.run("gang", 10_000_000, "1 0 1 10 10")
