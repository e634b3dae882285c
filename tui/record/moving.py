"""Film as image files: a single picture as SVG or PNG, or all pictures as GIF or WebP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from itertools import pairwise
from typing import Any

from sim.support.errors import SchedscopeError
from sim.support.optional_imports import extra
from tui.chart.svg.drawing import as_png
from tui.look.palette import Look
from tui.record.film import Picture, Rows
from tui.widgets.svg_screenshot import Type, draw_still

MOST_PIXELS = 1_500_000_000
"""Largest number of pixels of a GIF's pictures together, all of which are in memory until it is written."""


class Reel:
    """Drawer of pictures of one size as images; a row that is the same as in the last picture is not drawn again."""

    def __init__(self, columns: int, look: Look, size: float) -> None:
        self._columns, self._look, self._type = columns, look, Type.of(size)
        self._drawn: dict[Any, Any] = {}
        self._image = self.needs()

    @staticmethod
    def needs() -> Any:
        extra("resvg_py", "a film of pictures", "video")
        return extra("PIL.Image", "a film of pictures", "video")

    def image(self, rows: Rows) -> Any:
        width, height = self._columns * self._type.width, self._type.height
        whole = self._image.new("RGB", (width, height * len(rows)))
        self._drawn = {row: self._drawn.get(row) or self._row(row) for row in dict.fromkeys(rows)}
        for y, row in enumerate(rows):
            whole.paste(self._drawn[row], (0, y * height))
        return whole

    def film(self, images: Sequence[Callable[[], Any]]) -> Any:
        """Return an image of several frames; a frame is drawn only when the file writer reaches it, to save memory."""

        class Film(self._image.Image):  # type: ignore[misc, name-defined]
            n_frames = len(images)

            def seek(self, frame: int) -> None:
                if frame >= len(images):
                    raise EOFError
                self.__dict__.update(vars(images[frame]()))

        film = Film()
        film.seek(0)
        return film

    def _row(self, row: Any) -> Any:
        png = as_png(draw_still([row], self._columns, self._look, self._type))
        return self._image.open(BytesIO(png)).convert("RGB")


def animated(pictures: Sequence[Picture], columns: int, look: Look, size: float, form: str) -> bytes:
    """Return an animated image in the format `form` (".gif" or another); `size` is that of the letters."""
    reel, cell = Reel(columns, look, size), Type.of(size)
    points = columns * cell.width * len(pictures[0].rows) * cell.height
    if form == ".gif" and points * len(pictures) > MOST_PIXELS:
        less = "fewer --seconds or --fps, a smaller --size or --large, or .webp"
        raise SchedscopeError(f"a GIF of {len(pictures):,} pictures of {points:,} points is too large: {less}")
    lasts = [max(round((b.at - a.at) * 1000), 20) for a, b in pairwise(pictures)]
    images = [partial(reel.image, picture.rows) for picture in pictures[:-1] or pictures]
    lasts = lasts or [1000]
    data = BytesIO()
    if form == ".gif":
        few = _palette(images)
        images = [partial(_with_palette, image, few) for image in images]
        options: dict[str, Any] = {"optimize": False, "disposal": 1}
    else:
        options = {"lossless": True, "method": 4}
    reel.film(images).save(data, format=form[1:], save_all=True, duration=lasts, loop=0, **options)
    return data.getvalue()


def _with_palette(image: Callable[[], Any], few: Any) -> Any:
    return image().quantize(palette=few, dither=0)


def _palette(images: Sequence[Callable[[], Any]]) -> Any:
    some = [images[len(images) * n // 6]() for n in range(6)] + [images[-1]()]
    height = sum(image.height for image in some)
    together = some[0].copy().resize((some[0].width, height))
    top = 0
    for image in some:
        together.paste(image, (0, top))
        top += image.height
    return together.quantize(256, dither=0)
