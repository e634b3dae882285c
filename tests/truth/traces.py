"""Check to which step the key `r` leads: the last change of a planned start, of the job on a processor, or of the
boundaries of partitions."""

from collections.abc import Iterator
from typing import Any

from sim.decisions.decisions import Switched
from sim.history.past import Past
from sim.why.last_change import Division, HolderOf, PlanOf, last_change
from tests.truth.lives import Chronicle
from tests.truth.told import After
from tests.truth.words import COUNTS, UntrueError


class Traces:
    """Planned starts, the jobs on each processor, and the processors of each partition, as they were after each
    step."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._world, self._records = chronicle.world, chronicle.records
        world = self._world
        self.planned: list[dict[int, float]] = [{}]
        self.holders: list[list[frozenset[tuple[int, int]]]] = [[frozenset()] * world.procs]
        self.owners: list[tuple[int, ...]] = [()]
        self.is_gang = [world.rules.is_gang]

    def note(self, after: After) -> None:
        world = self._world
        masks = {rank: held.mask for rank, held in world.running.items()}
        if world.memo_rows is not None:
            masks = dict(world.memo_rows.columns)
        stays = {(rank, len(self._records[rank].begun)): mask for rank, mask in masks.items()}
        self.planned.append({rank: plan.at for rank, plan in after.planned.items() if rank not in world.granted})
        self.holders.append(
            [frozenset(stay for stay, mask in stays.items() if mask >> place & 1) for place in range(world.procs)]
        )
        self.owners.append(tuple(world.owners))
        self.is_gang.append(world.rules.is_gang)

    def read(self, history: Past, step: int, rank: int, processor: int) -> Iterator[UntrueError]:
        """Check the steps that the program finds for the last change, before `step`, of the processor's job, of the
        partitions and of the job's planned start."""
        holders = [each[processor] for each in self.holders]
        yield from self._compare(HolderOf(processor), history, step, last_step(holders, step))
        yield from self._compare(Division(), history, step, last_step(self.owners, step))
        if not any(self.is_gang):
            planned = [each.get(rank) for each in self.planned]
            if step < len(planned) and planned[step - 1] is not None:
                yield from self._compare(PlanOf(rank), history, step, last_step(planned, step))

    def _compare(self, what: Any, history: Past, step: int, true: int | None) -> Iterator[UntrueError]:
        COUNTS[type(what).__name__] += 1
        found = last_change(history, what, step)
        if (found and found[0]) != true:
            yield UntrueError(f"{type(what).__name__}: {what} before step {step}: said {found}, true {true}")
        elif found and found[1] is not None:
            decision, happened = found[1], history.decisions(found[0] - 1)
            if decision not in happened:
                yield UntrueError(f"{type(what).__name__}: {decision} was not decided in step {found[0]}")
            elif isinstance(what, HolderOf) and not isinstance(decision, Switched):
                before, then = self.holders[found[0] - 1][what.processor], self.holders[found[0]][what.processor]
                if decision.job.rank not in {rank for rank, _ in before ^ then}:  # type: ignore[union-attr]
                    yield UntrueError(f"HolderOf: {decision} changed nothing there")


def last_step(values: Any, before: int) -> int | None:
    """Return the last step before `before` that changed the value, or None; `values` has the value after each step."""
    return next((step for step in range(min(before, len(values)) - 1, 0, -1) if values[step] != values[step - 1]), None)
