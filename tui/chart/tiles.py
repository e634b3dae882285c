"""Tiles: finished columns of the chart, which are kept because the past never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tui.chart.raster import Pixels, Raster, as_numbers

_WIDTH = 64
"""Number of columns in a tile."""
_MOST_BYTES = 24 << 20

Make = Callable[[int, int], Raster]
"""Function (first column, number of columns) that returns the pixels of these columns"""
Clock = Callable[[], float]


class _Tile:
    """`_WIDTH` neighbouring columns; `made` is True for each that is drawn already."""

    __slots__ = ("made", "pixels")

    def __init__(self, bands: int) -> None:
        self.pixels: Pixels = Raster.blank(bands, _WIDTH).pixels
        self.made: NDArray[np.bool_] = np.zeros(_WIDTH, np.bool_)


class Tiles:
    """Finished columns of one history, for each layout (width of a column, and bands)."""

    def __init__(self, most_bytes: int = _MOST_BYTES, clock: Clock = perf_counter) -> None:
        self._tiles: OrderedDict[tuple[Hashable, int], _Tile] = OrderedDict()
        self._bytes, self._most, self._clock = 0, most_bytes, clock

    def until(self, last: Callable[[Any], int]) -> Tiles:
        """Return a copy for a history that is equal before the column `last` of each layout."""
        shared = Tiles(self._most, self._clock)
        for (layout, number), tile in self._tiles.items():
            if (columns := last(layout) - number * _WIDTH) > 0:
                part = shared._tile(layout, len(tile.pixels), number)
                as_numbers(part.pixels)[:] = as_numbers(tile.pixels)
                part.made[:columns] = tile.made[:columns]
        return shared

    def window(
        self, layout: Hashable, bands: int, first: int, last: int, make: Make, budget: float
    ) -> tuple[Raster, bool]:
        """Return the columns from `first` to before `last`, made within `budget` seconds, and if some are missing."""
        made = Raster.blank(bands, max(last - first, 0))
        if last <= first:
            return made, False
        deadline = self._clock() + budget
        pending = False
        for begin, end in self._missing(layout, bands, first, last):
            pending |= not self._make(layout, bands, begin, end, make, deadline)
        for tile, inside, outside in self._pieces(layout, bands, first, last):
            as_numbers(made.pixels)[:, outside] = as_numbers(tile.pixels)[:, inside]
        self._forget()
        return made, pending

    def _missing(self, layout: Hashable, bands: int, first: int, last: int) -> list[tuple[int, int]]:
        made = np.concatenate([tile.made[inside] for tile, inside, _ in self._pieces(layout, bands, first, last)])
        if made.all():
            return []
        change = np.flatnonzero(np.diff(made, prepend=True, append=True))
        runs = [(first + int(a), first + int(b)) for a, b in zip(change[::2], change[1::2], strict=True)]
        return runs[::-1]

    def _make(self, layout: Hashable, bands: int, begin: int, end: int, make: Make, deadline: float) -> bool:
        """Draw columns from right to left in growing portions until the deadline; True if all are drawn."""
        portion = 1
        while end > begin:
            now = self._clock()
            if now >= deadline:
                return False
            start = max(begin, end - portion)
            self._store(layout, bands, start, make(start, end - start))
            done = self._clock()
            a_column = max((done - now) / (end - start), 1e-6)
            portion = min(2 * portion, max(int((deadline - done) / a_column), 1))
            end = start
        return True

    def _store(self, layout: Hashable, bands: int, first: int, raster: Raster) -> None:
        last = first + raster.pixels.shape[1]
        for tile, inside, outside in self._pieces(layout, bands, first, last):
            as_numbers(tile.pixels)[:, inside] = as_numbers(raster.pixels)[:, outside]
            tile.made[inside] = True

    def _pieces(self, layout: Hashable, bands: int, first: int, last: int) -> Iterator[tuple[_Tile, slice, slice]]:
        """Yield each tile with columns from `first` to before `last`, their places in it and counted from `first`."""
        for number in range(first // _WIDTH, (last - 1) // _WIDTH + 1):
            origin = number * _WIDTH
            begin, end = max(first, origin), min(last, origin + _WIDTH)
            yield (
                self._tile(layout, bands, number),
                slice(begin - origin, end - origin),
                slice(begin - first, end - first),
            )

    def _tile(self, layout: Hashable, bands: int, number: int) -> _Tile:
        key = layout, number
        tile = self._tiles.get(key)
        if tile is None:
            tile = self._tiles[key] = _Tile(bands)
            self._bytes += tile.pixels.nbytes
        self._tiles.move_to_end(key)
        return tile

    def _forget(self) -> None:
        while self._bytes > self._most and len(self._tiles) > 8:
            _, tile = self._tiles.popitem(last=False)
            self._bytes -= tile.pixels.nbytes
