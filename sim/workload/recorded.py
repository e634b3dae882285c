"""Workload of a cluster's recording, with the limits and the settings of Slurm that the recording knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sim.workload.limits import Limits
from sim.workload.model import Workload


@dataclass(frozen=True, repr=False)
class RecordedWorkload(Workload):
    """Recorded jobs whose limits and settings count with policies that can use them (`policies.recorded_rules`)."""

    recorded: Limits | None = None
    """Recorded limits of accounts, users, QOS and arrays; None if no job has such a limit."""
    settings: str = ""
    """Settings of the scheduler's priorities and backfill, in the form of its configuration; "" if unknown."""

    def take(self, ranks: NDArray[np.int64] | slice) -> Workload:
        index = np.arange(len(self))[ranks]
        return replace(super().take(ranks), recorded=self.recorded and self.recorded.take(index.tolist()))  # type: ignore[call-arg]
