"""Raster: a picture of stretches (a job on its processors) in pixels; each has the job that has most of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.history.stretch import KINDS, Stretch
from sim.machine.processors import ranges
from tui.chart.axis import CLOCK, Axis
from tui.chart.lanes import rows_sharing

_MOST_BITS = 1 << 22
"""Largest number of bits that are examined at once: number of sets times number of processors in the chart."""
_MOST_KNOWN = 8192
"""Largest number of sets for which computed shares are kept"""
_KNOWN_BITS = 1 << 28
"""Largest number of bits of these sets together: 32 MB"""

Shared: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]
"""Index of a set, a band that it touches, and the share of the band that it covers."""


class Shares:
    """Shares of bands (processors between two of the `edges`) that sets of processors cover. Shares are kept for reuse,
    because a job has the same set in many frames.

    >>> sets, bands, share = Shares((4, 2, 0)).of([0b0110, 0b0011])
    >>> sets.tolist(), bands.tolist(), share.tolist()
    ([0, 0, 1], [0, 1, 1], [0.5, 0.5, 1.0])
    """

    def __init__(self, edges: tuple[int, ...]) -> None:
        self._low, self._count = edges[-1], edges[0] - edges[-1]
        self._begins = np.array(edges[:0:-1]) - self._low
        self._sizes = -np.diff(edges)
        self._known: dict[int, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        self._most = min(_MOST_KNOWN, _KNOWN_BITS // max(self._count, 1))

    def of(self, sets: Sequence[int]) -> Shared:
        """Return the bands that each of these sets (bits) touches, and the share of the band that the set covers."""
        if len(sets) > self._most:
            return self._look(sets)
        if missing := list({s: None for s in sets if s not in self._known}):
            if len(self._known) + len(missing) > self._most:
                self._known, missing = {}, list(dict.fromkeys(sets))
            self._remember(missing)
        known = self._known
        found = [known[s] for s in sets]
        counts = np.fromiter((len(bands) for bands, _ in found), np.intp, len(found))
        bands = np.concatenate([bands for bands, _ in found])
        return np.repeat(np.arange(len(found)), counts), bands, np.concatenate([share for _, share in found])

    def _remember(self, sets: list[int]) -> None:
        owner, bands, share = self._look(sets)
        at = np.searchsorted(owner, np.arange(len(sets) + 1))
        for index, one in enumerate(sets):
            piece = slice(at[index], at[index + 1])
            self._known[one] = bands[piece], share[piece]

    def _look(self, sets: Sequence[int]) -> Shared:
        """Return the shares of these sets, computed from their bits, at most `_MOST_BITS` at once."""
        portion = max(_MOST_BITS // max(self._count, 1), 1)
        parts = [self._portion(sets[i : i + portion], i) for i in range(0, len(sets), portion)]
        owner, bands, share = (np.concatenate(column) for column in zip(*parts, strict=True))
        return owner, bands, share

    def _portion(self, sets: Sequence[int], offset: int) -> Shared:
        size, all_ = (self._count + 7) // 8, (1 << self._count) - 1
        data = b"".join([(s >> self._low & all_).to_bytes(size, "little") for s in sets])
        packed = np.frombuffer(data, np.uint8).reshape(len(sets), size)
        bits = np.unpackbits(packed, axis=1, bitorder="little", count=self._count)
        counts = np.add.reduceat(bits, self._begins, axis=1, dtype=np.int32)[:, ::-1]
        owner, bands = np.nonzero(counts)
        return owner + offset, bands, counts[owner, bands] / self._sizes[bands]


FREE, UNKNOWN, NOWHERE = -1, -2, -3
"""In place of a rank: no job has the pixel, it is not drawn yet, or it has no processors."""

SHOWN = (*KINDS, "suspended", "expected", "reserved", "planned", "replica", "sharing")
"""Kinds of what a pixel can show: those in `KINDS` (a job on its processors) and six more. These are the trail of a
suspended job, three kinds of planned boxes, a replica (a copy in a further matrix row), and a job that shares
processors with other rows
"""
(
    RUN, SPECULATIVE, SUSPENDING, RESUMING, GANG, TURN, TRAIL, EXPECTED, RESERVED, PLANNED, REPLICA, SHARING,
) = range(len(SHOWN))  # fmt: skip
_SHARED = ("gang", "sharing")
"""Kinds of stretches that share their processors with other rows of the matrix."""
_CODES = {kind: code for code, kind in enumerate(SHOWN)}
_ONE = np.ones(1, np.bool_)


class Texture(IntEnum):
    SOLID = 0
    TRIAL = 1
    SWITCHING = 2
    TRAIL = 3
    REPLICA = 4
    EXPECTED = 5
    PLANNED = 6


TEXTURES = {
    "speculative": Texture.TRIAL, "suspending": Texture.SWITCHING, "resuming": Texture.SWITCHING,
    "suspended": Texture.TRAIL, "replica": Texture.REPLICA, "expected": Texture.EXPECTED, "sharing": Texture.EXPECTED,
    "reserved": Texture.PLANNED, "planned": Texture.PLANNED,
}  # fmt: skip
"""For each kind of stretch that is not drawn solid: its texture."""
MEANINGS = {
    Texture.TRIAL: "speculative run", Texture.SWITCHING: "being suspended or resumed", Texture.TRAIL: "suspended",
    Texture.REPLICA: "replica in another row", Texture.EXPECTED: "until its estimate", Texture.PLANNED: "planned",
}  # fmt: skip


def texture_of(kind: str) -> Texture:
    return TEXTURES.get(kind, Texture.SOLID)


PIXEL = np.dtype([("rank", "i4"), ("used", "u1"), ("purity", "u1"), ("kind", "u1"), ("ending", "u1")])
"""Pixel; `used` and `purity` are in 255ths, `ending` has the flags below."""
WAS_KILLED, WAS_SUSPENDED, BEGINS, ENDS = 1, 2, 4, 8
"""Flags: the job of the pixel was killed or suspended there, or it begins or ends inside and has all processors."""
Pixels = NDArray[Any]


def as_numbers(pixels: Pixels) -> NDArray[np.uint64]:
    """Return each pixel as one integer with the same bytes, because integers are copied much faster."""
    numbers: NDArray[np.uint64] = pixels.view(np.uint64)
    return numbers


class Frame(NamedTuple):
    """Part of a chart: columns from `first` on, and bands between neighbouring `edges`, as in `ChartView`."""

    per_column: float
    first: int
    columns: int
    edges: tuple[int, ...]
    axis: Axis = CLOCK


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Picture in pixels, as an array with the top band first."""

    pixels: Pixels

    @classmethod
    def blank(cls, bands: int, columns: int, rank: int = UNKNOWN) -> Raster:
        pixel = np.zeros(1, PIXEL)
        pixel["rank"] = rank
        return cls(np.full((bands, columns), as_numbers(pixel)).view(PIXEL))

    @property
    def rank(self) -> NDArray[np.int32]:
        return self.pixels["rank"]

    @property
    def used(self) -> NDArray[np.uint8]:
        return self.pixels["used"]

    @property
    def purity(self) -> NDArray[np.uint8]:
        return self.pixels["purity"]

    @property
    def kind(self) -> NDArray[np.uint8]:
        return self.pixels["kind"]

    @property
    def ending(self) -> NDArray[np.uint8]:
        return self.pixels["ending"]

    def above(self, under: Raster) -> Raster:
        """Return this picture drawn over the picture `under`; `under` is visible where this picture has no job."""
        numbers = np.where(self.rank < 0, as_numbers(under.pixels), as_numbers(self.pixels))
        return Raster(numbers.view(PIXEL))

    def before(self, other: Raster) -> Raster:
        return Raster(np.concatenate([as_numbers(self.pixels), as_numbers(other.pixels)], axis=1).view(PIXEL))


def rasterise(
    stretches: Sequence[Stretch], frame: Frame, now: float, shares: Shares | None = None, ended: Iterable[Stretch] = ()
) -> Raster:
    """Return the picture of these stretches up to `now`; the stretches in `ended` get a mark at their end, because the
    job was killed or suspended there.

    Under gang scheduling several rows of the matrix take turns on the same processors. If turns are too short to see,
    the caller passes one stretch for all turns of a job, and neighbouring bands show the rows alternately. Otherwise it
    passes a stretch for each turn.
    """
    pixels = Raster.blank(len(frame.edges) - 1, frame.columns, FREE).pixels
    if stretches:
        parts = _covered_parts(stretches, frame, now, shares or Shares(frame.edges))
        _hold(pixels.reshape(-1), parts, stretches)
    for stretch in ended:
        _mark_end(pixels, stretch, frame)
    return Raster(pixels)


class _Parts(NamedTuple):
    """Parts of pixels that stretches cover: index of the stretch, pixel, share of the pixel, and flags of its edges."""

    stretch: NDArray[np.intp]
    pixel: NDArray[np.intp]
    amount: NDArray[np.float64]
    edges: NDArray[np.uint8]

    def of(self, some: NDArray[Any]) -> _Parts:
        return _Parts(*(values[some] for values in self))


def _covered_parts(stretches: Sequence[Stretch], frame: Frame, now: float, shares: Shares) -> _Parts:
    """Return which stretches (jobs on processors for a time) cover which pixels, and how much of each."""
    count = len(stretches)
    starts = np.fromiter((s.start for s in stretches), float, count)
    ends = np.fromiter((now if s.end is None else s.end for s in stretches), float, count)
    left, right = frame.first * frame.per_column, (frame.first + frame.columns) * frame.per_column
    starts, ends = frame.axis.places(starts), frame.axis.places(np.minimum(ends, now))
    begin, end = _limited(starts, left, right), _limited(ends, left, right)
    first = _limited(np.floor(begin / frame.per_column).astype(np.intp) - frame.first, 0, frame.columns)
    last = _limited(np.ceil(end / frame.per_column).astype(np.intp) - frame.first, 0, frame.columns)
    last = np.where(end > begin, last, first)
    owner, band, share = shares.of([s.processors for s in stretches])
    length = (last - first)[owner]
    index = np.repeat(np.arange(len(owner)), length)
    stretch = owner[index]
    column = np.arange(len(index)) - np.repeat(np.cumsum(length) - length, length) + first[stretch]
    opens = (column + frame.first) * frame.per_column  # in places, so that a column is the same in every frame
    begins, ends = begin[stretch], end[stretch]
    width = np.minimum(ends, opens + frame.per_column) - np.maximum(begins, opens)
    amount = width / frame.per_column * share[index]
    edges = (BEGINS * (begins > opens) + ENDS * (ends < opens + frame.per_column)) * (share[index] == 1)
    parts = _Parts(stretch, band[index] * frame.columns + column, amount, edges.astype(np.uint8))
    is_shared = np.fromiter((s.kind in _SHARED for s in stretches), np.bool_, count)
    if is_shared.any():
        size = max((frame.edges[0] - frame.edges[-1]) // (len(frame.edges) - 1), 1)
        place = np.array(frame.edges[1:]) // size  # the same however the processors are scrolled
        shown = rows_sharing(stretches, first, last, frame.columns).shows(stretch, place[band[index]], column)
        return parts.of(shown | ~is_shared[stretch])
    return parts


def _limited(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    within: NDArray[Any] = np.minimum(np.maximum(values, low), high)
    return within


def _hold(pixels: Pixels, parts: _Parts, stretches: Sequence[Stretch]) -> None:
    """Store in each pixel the job that has most of it, among the `parts` of the stretches."""
    ranks = np.fromiter((s.rank for s in stretches), np.int64, len(stretches))
    kinds = np.fromiter((_CODES[s.kind] for s in stretches), np.uint8, len(stretches))
    held = np.bincount(parts.pixel, parts.amount, len(pixels)).astype(np.float64)
    sure = 2 * parts.amount > held[parts.pixel]
    alone = parts if sure.all() else parts.of(sure)
    _give(pixels, alone.pixel, ranks[alone.stretch], kinds[alone.stretch], alone.amount, alone.edges, held)
    if alone is parts:
        return
    open_ = (held > 0) & (pixels["rank"] < 0)
    compete = np.flatnonzero(open_[parts.pixel])
    if not len(compete):
        return
    stretch, pixel, amount, edges = parts.of(compete[np.lexsort((ranks[parts.stretch[compete]], parts.pixel[compete]))])
    rank = ranks[stretch]
    starts = np.flatnonzero(np.concatenate([_ONE, (pixel[1:] != pixel[:-1]) | (rank[1:] != rank[:-1])]))
    total, edges = np.add.reduceat(amount, starts), np.bitwise_and.reduceat(edges, starts)
    pixel, rank, kind = pixel[starts], rank[starts], kinds[stretch[starts]]
    order = np.lexsort((-rank, total, pixel))  # the last of a pixel holds most; of equals the lowest rank
    pixel, rank, kind, total, edges = pixel[order], rank[order], kind[order], total[order], edges[order]
    most = np.concatenate([pixel[1:] != pixel[:-1], _ONE])
    _give(pixels, pixel[most], rank[most], kind[most], total[most], edges[most], held)


def _give(pixels: Pixels, at: Any, rank: Any, kind: Any, amount: Any, edges: Any, held: NDArray[np.float64]) -> None:
    used, made = held[at], np.zeros(len(at), PIXEL)
    made["rank"] = rank
    made["kind"], made["ending"] = kind, edges
    made["used"] = np.ceil(np.minimum(used, 1) * 255 - 1e-6)
    made["purity"] = np.rint(np.minimum(amount / used, 1) * 255)
    as_numbers(pixels)[at] = as_numbers(made)


def _mark_end(pixels: Pixels, stretch: Stretch, frame: Frame) -> None:
    if stretch.end is None:
        return
    column = int(np.ceil(frame.axis.place(stretch.end) / frame.per_column)) - 1 - frame.first
    low, high = frame.edges[-1], frame.edges[0]
    seen = stretch.processors >> low & ((1 << (high - low)) - 1)
    if not 0 <= column < frame.columns or not seen:
        return
    first, last = max(ranges(seen), key=lambda piece: piece[1] - piece[0])
    upwards = np.array(frame.edges[::-1])
    band = len(pixels) - int(np.searchsorted(upwards, low + (first + last) // 2, side="right"))
    if pixels["rank"][band, column] == stretch.rank:
        pixels["ending"][band, column] |= WAS_KILLED if stretch.is_cut else WAS_SUSPENDED
