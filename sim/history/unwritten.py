"""A history that is not kept: for an engine whose past is known already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.decisions.decisions import Decision
from sim.history.history import History
from sim.history.past import Switch
from sim.history.stretch import DONE
from sim.machine.turns import Turns


class Unwritten(History):
    """For an engine whose history is known already: nothing is written."""

    def __init__(self) -> None:
        super().__init__()
        self.decided = _ignore

    def begin(self, rank: int, now: float, processors: int, kind: int = 0) -> int:
        return -1

    def finish(self, stretch: int, now: float, ended_by: int = DONE) -> None:
        pass

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        pass

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        pass

    def share(self, now: float, turns: Turns, places: Iterable[tuple[int, int, tuple[int, ...]]]) -> None:
        pass

    def leave_matrix(self, rank: int, now: float, ended_by: int) -> None:
        pass

    def mend_free(self, free: float) -> None:
        pass

    def lose_place(self, rank: int, now: float) -> None:
        pass

    def give_up(self, rank: int) -> None:
        pass

    def switch(self, switch: Switch) -> None:
        pass


def _ignore(decision: Decision) -> None:
    pass
