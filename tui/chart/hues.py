"""The hue of each job where every job has its own: unlike those of its neighbours when it starts, and kept."""

from __future__ import annotations

from functools import cache
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sim.history.history import Past
from sim.machine.processors import ranges
from tui.look.palette import JOB_COLOURS, Hue

_COUNT = len(JOB_COLOURS)
_EYES = (
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
)
"""What is seen of linear red, green and blue: normal, protan, deutan and tritan vision (Machado et al. 2009)."""
_TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
_WHITE = (0.9505, 1.0, 1.089)
_NEAR_ENOUGH = 0.7
"""Of the hues at this share of the best distance, the one that was used longest ago is taken."""
_NOBODY = 255
_AT_ONCE = 500
"""So many stretches are read between two looks at the clock."""


class JobHues:
    """Hands out hues in the order in which jobs start: the same order gives the same picture."""

    def __init__(self, jobs: int, procs: int) -> None:
        self.of: NDArray[np.uint8] = np.full(jobs, Hue.GREY, np.uint8)
        """rank -> hue; grey: it has not started"""
        self.owner = np.full(jobs, -1, np.int8)
        """rank -> the partition in which it first started; -1: there were none"""
        self._read = 0
        """So many stretches of the history have been read"""
        self._holders = bytearray([_NOBODY]) * (procs + 2)
        """The hue of who held each processor last; one more on either side"""
        self._lately = list(range(_COUNT))
        """The hues, the one that was used longest ago first"""

    def read(self, history: Past, deadline: float = inf) -> bool:
        """Read on who begins, as long as there is time; is nothing left?"""
        count = len(history)
        while self._read < count:
            first, self._read = self._read, min(self._read + _AT_ONCE, count)
            for stretch, owners in history.beginnings(first, self._read):
                self.start(stretch.rank, stretch.processors)
                shared = [(owned & stretch.processors).bit_count() for owned in owners]
                self.owner[stretch.rank] = shared.index(max(shared)) if shared else -1
            if perf_counter() > deadline:
                break
        return self._read >= count

    def start(self, rank: int, processors: int) -> None:
        """The job gets a hue that neither those beside it have nor those who were there before it."""
        near: set[int] = set()
        pieces = list(ranges(processors))
        for first, last in pieces:
            near.update(self._holders[first : last + 3])
        mask = 0
        for hue in near - {_NOBODY}:
            mask |= 1 << hue
        good = far_from(mask)
        hue = next(hue for hue in self._lately if hue in good)
        self._lately.remove(hue)
        self._lately.append(hue)
        self.of[rank] = hue
        for first, last in pieces:
            self._holders[first + 1 : last + 2] = bytes([hue]) * (last + 1 - first)


@cache
def far_from(mask: int) -> frozenset[int]:
    """The hues that are told apart best from those in the mask.

    >>> len(far_from(0)), 3 in far_from(1 << 3)
    (12, False)
    """
    near = [hue for hue in range(_COUNT) if mask >> hue & 1]
    if not near or len(near) == _COUNT:
        return frozenset(range(_COUNT))
    least = distances()[:, near].min(axis=1)
    return frozenset(np.flatnonzero(least >= _NEAR_ENOUGH * least.max()).tolist())


@cache
def distances() -> NDArray[np.float64]:
    """[hue, hue]: how far apart they look to the kind of eyes that tells them apart worst (CIE 1976)."""
    codes = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in JOB_COLOURS]) / 255
    linear = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    seen = [_lab(np.clip(linear @ np.array(eyes).T, 0, 1)) for eyes in _EYES]
    apart = [np.linalg.norm(lab[:, None] - lab[None], axis=2) for lab in seen]
    worst: NDArray[np.float64] = np.min(apart, axis=0)
    return worst


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear red, green and blue as lightness and two axes of colour."""
    part = linear @ np.array(_TO_XYZ).T / np.array(_WHITE)
    root = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    x, y, z = root[:, 0], root[:, 1], root[:, 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)
