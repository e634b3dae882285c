from sim.decisions.decisions import Backfill
from sim.decisions.reasons import EarliestHole, MadeRoom, WithinBounds
from sim.decisions.reasons_to_wait import BreaksBound
from sim.policies import parse_policy
from tests.sim.conftest import Lab

# Four processors. Job 1 holds three until 10; job 2 needs all for 10 s: reserved for 10, with slack=0.5 bound 15.
HEAD = ("1 0 3 10 10", "2 1 4 10 10")


def test_reservations_slip_within_bounds(lab: Lab) -> None:
    engine = lab.run("slack:slack=0.5", 4, *HEAD, "3 2 1 12 12")
    assert engine.schedule().start.tolist() == [0, 14, 2]
    head, passer = engine.moment.jobs[1], engine.moment.jobs[2]
    assert lab.start(engine, "3") == Backfill(passer, WithinBounds(tightest=head, margin=1))
    assert lab.reservations(engine, "2") == [(10, EarliestHole(free=1)), (14, MadeRoom(passer, was=10))]
    engine = lab.run("slack:slack=0.5", 4, *HEAD, "3 2 1 14 14", until=2)
    assert lab.kept(engine, "3") == BreaksBound(other=engine.moment.jobs[1], start=16, bound=15)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 20]
    assert parse_policy("slack:slack=0").promises()
    assert not parse_policy("slack").promises()


def test_the_bound_stands_from_the_first_reservation_on(lab: Lab) -> None:
    # Five processors: two are free at 2 and one will be left beside job 2. Job 3 (two of them) has used up 4 of the
    # 5 s that job 2 may slip. Measured from 14 job 4 could push it to 17 when job 1 ends at 10; it may not.
    jobs = ("1 0 3 10 10", "2 1 4 10 10", "3 2 2 12 12", "4 10 2 7 7")
    engine = lab.run("slack:slack=0.5", 5, *jobs, until=10)
    assert engine.moment.reserved[1] == 14
    assert lab.kept(engine, "4") == BreaksBound(other=engine.moment.jobs[1], start=17, bound=15)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 14, 2, 24]


def test_there_are_no_two_passes_at_one_instant(lab: Lab) -> None:
    # At 4, jobs 1 and 2 are gone; job 4 is kept, job 6 starts, and placing the others again gives job 4 the present.
    jobs = ("1 0 1 5 5", "2 0 3 4 8", "3 2 4 4 4", "4 2 1 5 5", "5 3 2 6 6", "6 4 1 3 6")
    instants = lab.instants(lab.run("slack:slack=0.5", 4, *jobs))
    assert instants == sorted(set(instants))
