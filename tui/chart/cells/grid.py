"""The pixels of a chart on a screen: whose each is, in which ink. A row of cells has two rows of them, or one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tui.chart.raster import FREE, GANG, SHOWN, Raster, Texture, texture_of
from tui.chart.scene import ChartScene
from tui.look.palette import TONES, Hue, Look, Tone, ink

BLANK = ink(Hue.NONE, 0)
_TONE_OF = np.array([Tone.QUARTER] * 72 + [Tone.HALF] * 72 + [Tone.MOST] * 72 + [Tone.FULL] * 40, np.uint16)
"""Share used, of 255 -> tone."""
_PURE = 128
"""Of 255: less, and no job holds most of what is used."""
_TEXTURE_OF = np.array([texture_of(kind) for kind in SHOWN], np.uint8)

Bools = NDArray[np.bool_]


class Size(NamedTuple):
    """Of something on a screen, in cells."""

    columns: int
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Columns of equal shape, one entry a pixel."""

    rank: NDArray[np.int32]
    texture: NDArray[np.uint8]
    """Solid where there is no job."""
    hue: NDArray[np.uint16]
    ink: NDArray[np.uint16]
    lit: Bools
    """Selected; or, if nothing is, just started."""
    mixed: Bools
    """No job holds most of it."""
    cut: Bools

    def every(self, folds: int, offset: int) -> Layer:
        """One of `folds` rows."""
        return Layer(*(getattr(self, column.name)[offset::folds] for column in fields(self)))


class Grid:
    """A chart's pixels for a screen of `size` cells."""

    def __init__(self, chart: ChartScene, look: Look, size: Size, selected: int | None) -> None:
        self.chart, self.look, self.size, self.selected = chart, look, size, selected
        self.folds = 2 if look.colour else 1
        self.now = chart.view.column_of(chart.clock)
        layer = self._layer()
        self.upper, self.lower = layer.every(self.folds, 0), layer.every(self.folds, self.folds - 1)
        """The pixels in the upper and in the lower half of each cell; where cells have one, that"""

    @property
    def has_now(self) -> bool:
        """Is now in sight?"""
        return 0 <= self.now < self.size.columns

    def stretched(self, bands: NDArray[Any], blank: NDArray[Any]) -> NDArray[Any]:
        """Something known by band, by pixel row; a scene that was made for another screen still shows.

        `blank` is a row for where no processors are.
        """
        rows = np.array(self.chart.view.band_rows())
        wanted = self.size.rows * self.folds
        if len(rows) != wanted:
            rows = rows[np.arange(wanted) * len(rows) // wanted]
        found: NDArray[Any] = np.concatenate([bands, blank])[rows, : self.size.columns]
        return found

    def _is_lit(self, rank: NDArray[np.int32]) -> Bools:
        """The selected job; if there is none, those that have just started. Of what is no job, anything."""
        if self.selected is not None:
            return np.equal(rank, self.selected)
        if self.chart.since is None:
            return np.zeros(rank.shape, np.bool_)
        return np.equal(self.chart.start[rank], self.chart.since)

    def _layer(self) -> Layer:
        chart, selected = self.chart, self.selected
        pixels = self.stretched(chart.raster.pixels, Raster.blank(1, chart.view.columns, FREE).pixels)
        rank, kind = pixels["rank"], pixels["kind"]
        known = rank >= 0
        mixed, texture = known & (pixels["purity"] < _PURE), _TEXTURE_OF[kind]
        ahead, trail = texture == Texture.AHEAD, texture == Texture.TRAIL
        hue = np.append(chart.hues, np.uint8(Hue.NONE))[rank].astype(np.uint16)  # -1, which is no job, has the last
        if chart.mode == "job":
            hue[mixed] = Hue.MANY
        lit = known & self._is_lit(rank)
        tone = _TONE_OF[pixels["used"]]
        tone[trail] = Tone.QUARTER
        shared = known & (kind == GANG)
        tone[shared] = np.maximum(tone[shared], Tone.HALF)
        tone[ahead] = Tone.PLAN
        if selected is not None:
            tone[known] = Tone.DIMMED
        tone[lit] = np.where((ahead | trail)[lit], Tone.HALF, Tone.STRONG)
        inks = np.where(known, hue * TONES + tone, BLANK).astype(np.uint16)
        return Layer(rank, texture, hue, inks, lit, mixed, pixels["cut"])
