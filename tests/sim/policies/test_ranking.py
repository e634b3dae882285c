from sim.policies.ranking import Ranking
from sim.workload.model import Job

JOBS = [Job(rank, str(rank), 0, 1, 10) for rank in range(3)]


def test_of_equals_the_latest_is_the_lowest() -> None:
    ranking = Ranking()
    for rank, number in ((0, 2.0), (1, 1.0), (2, 2.0)):
        ranking.add(JOBS[rank], number)
    assert ranking.up() == [JOBS[1], JOBS[2], JOBS[0]]
    assert ranking.down() == [JOBS[0], JOBS[2], JOBS[1]]
    assert [ranking.place(JOBS[rank]) for rank in range(3)] == [3, 1, 2]
    ranking.remove(JOBS[2])
    assert ranking.up() == [JOBS[1], JOBS[0]]
