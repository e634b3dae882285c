"""A large cluster is read completely, with few commands."""

from __future__ import annotations

from collections.abc import Iterator

from sim.live.cluster.reasons import say
from sim.live.cluster.slurm.adapter import SlurmSource
from tests.sim.live.cluster.slurm.crowd import Crowd


class Counted(Crowd):
    """The made-up large cluster, which also records each command that it is asked."""

    def __init__(self, nodes: int, waiting: int) -> None:
        super().__init__(nodes, waiting)
        self.asked: list[str] = []

    def ask(self, *words: str) -> str:
        self.asked.append(" ".join(words[:4]))
        return super().ask(*words)


def test_a_thousand_nodes_and_twenty_thousand_jobs_are_read() -> None:
    commands = Counted(1000, 20_000)
    slurm = SlurmSource(commands)
    first = slurm.snapshot()
    assert (len(first.nodes), len(first.queue), len(first.running)) == (1000, 20_000, 2000)
    assert all(sum(held.mask.bit_count() for held in job.cores) == 2 for job in first.running)
    asked = len(commands.asked)
    second = slurm.snapshot()
    assert second.jobs == first.jobs
    assert commands.asked[asked:] == ["squeue -h -r -a"]
    assert commands.asked.count("scontrol -d -o show") == 1  # not one question a job


def test_reasons_of_a_long_queue_look_at_few_other_jobs() -> None:
    cluster = SlurmSource(Crowd(10, 3000)).snapshot()
    looked = 0

    class Queue(tuple[object, ...]):
        __slots__ = ()

        def __iter__(self) -> Iterator[object]:
            nonlocal looked
            for job in super().__iter__():
                looked += 1
                yield job

    queue = cluster.queue
    cluster.__dict__["queue"] = Queue(queue)
    told = [say(cluster, job) for job in queue]
    assert sum("waits behind" in words for words in told) > 500
    assert looked <= 10 * len(queue)
