"""Jobs that can never start on a machine of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sim.workload.shape import Request, Shape


def misfits_of(shape: Shape, estimates: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
    """Return each reason why jobs can never start on this machine -> True for the jobs concerned."""
    found: dict[str, NDArray[np.bool_]] = {}
    known: dict[tuple[Request, float], str] = {}
    for at, (request, estimate) in enumerate(zip(shape.requests, estimates.tolist(), strict=True)):
        asked = (request, estimate if request.groups else 0)
        if asked not in known:
            known[asked] = shape.why_never(*asked)
        if why := known[asked]:
            found.setdefault(why, np.zeros(len(shape.requests), dtype=np.bool_))[at] = True
    return found
