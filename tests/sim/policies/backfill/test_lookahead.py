from sim.decisions.decisions import Backfill
from sim.decisions.reasons import BestPacking
from sim.decisions.reasons_to_wait import BeyondLookahead, TooFewFree
from tests.sim.conftest import Lab

# Eight processors. Job 1 holds one until 100, the planned start of job 2, which needs all; seven are free.
JOBS = ("1 0 1 100 100", "2 0 8 10 10", "3 0 5 50 50", "4 0 3 50 50", "5 0 4 50 50", "6 0 1 50 50")


def test_fullest_choice_goes_first(lab: Lab) -> None:
    assert [job for job, at in lab.starts("easy", 8, *JOBS).items() if not at] == ["1", "3", "6"]
    engine = lab.run("lookahead", 8, *JOBS, until=0)
    head = engine.moment.jobs[1]
    for job in ("4", "5"):
        because = BestPacking(head, shadow=100, filled=7, free=7)
        assert lab.start(engine, job) == Backfill(engine.moment.jobs[int(job) - 1], because)
    assert (lab.kept(engine, "3"), lab.kept(engine, "6")) == (TooFewFree(0), TooFewFree(0))
    starts = lab.starts("lookahead", 8, *JOBS[:2], "3 0 4 50 50", "4 0 3 50 50", "5 0 7 50 50", "6 0 4 50 50")
    assert (starts["3"], starts["4"]) == (0, 0)
    assert starts["5"] > 0 < starts["6"]
    engine = lab.run("lookahead:window=1", 8, *JOBS, until=0)
    head = engine.moment.jobs[1]
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], BestPacking(head, 100, filled=5, free=7))
    assert lab.kept(engine, "4") == TooFewFree(2)
    assert lab.kept(engine, "6") == BeyondLookahead(head, 1)
