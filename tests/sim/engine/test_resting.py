import random

from sim.engine.resting import Resting
from sim.engine.stay import Stay
from sim.workload.model import Job


def test_finds_the_jobs_whose_processors_are_all_free() -> None:
    lot, suspended, running, held = random.Random(3), dict[int, int](), dict[int, Stay](), dict[int, int]()
    resting = Resting(suspended)
    for number in range(3000):
        rank = lot.randrange(12)
        if suspended.pop(rank, 0) == 0:
            suspended[rank] = lot.randrange(1, 64)
            resting.add(rank)
        free = 63
        for place in range(3):
            if lot.random() < 0.3 or place not in running:
                resting.leave(place)
                running[place] = Stay(number, Job(place, "", 0, 1, 1), 0, lot.random(), 0, 0, 0, 0)
                held[place] = 3 << 2 * place if lot.random() < 0.7 else 0
            free &= ~held[place]
        by_end = sorted(running.values(), key=lambda stay: stay.expected_end)
        found = resting.on(free, suspended, by_end, held)
        assert sorted(found) == sorted(rank for rank, own in suspended.items() if not own & ~free)
