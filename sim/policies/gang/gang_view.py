"""View of the current state for gang scheduling policies, with the Ousterhout matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sim.machine.ousterhout_matrix import MatrixView
from sim.policies.view import View


class GangView(View, Protocol):
    """View of the current state with the Ousterhout matrix."""

    @property
    def matrix(self) -> MatrixView:
        """Return the current matrix, which the policy must not change."""

    def remaining_estimates(self, ranks: Iterable[int]) -> list[tuple[float, int, int]]:
        """Return (remaining estimate in seconds, rank, processors) of each of these jobs."""
