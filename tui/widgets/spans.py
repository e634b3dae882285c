"""What is sent to the terminal: of each row only the columns that changed, of each style only what is new.

Textual's own compositor sends a row from the left edge of its widget on, and every style whole. What is drawn where is
its business; only the last step is another, which is why this leans on a module of its that is not public.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor


class SpanCompositor(Compositor):
    """Puts widgets together as ever, and sends the spans that changed."""

    def render_partial_update(self) -> ChopsUpdate | None:
        update = super().render_partial_update()
        return None if update is None else _Spans(update.chops, update.spans, update.chop_ends)


class _Spans(ChopsUpdate):
    """Some columns of some rows."""

    def render_segments(self, console: Console) -> str:
        pen = _Pen(console._color_system or ColorSystem.TRUECOLOR)
        for y, first, last in self.spans:
            at = -1
            for end, (begin, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(begin, first), min(end, last)
                if strip is None or left >= right:
                    continue
                if left != at:
                    pen.sent.append(f"\x1b[{y + 1};{left + 1}H")
                pen.draw(strip.crop(left - begin, right - begin))
                at = right
        return pen.done()


Codes = tuple[str, str, str]
"""Attributes, foreground, background: each as SGR says it; empty: the terminal's own."""
_PLAIN: Codes = ("", "", "")
_SGR = re.compile("\x1b\\[([0-9;]*)m")


class _Pen:
    """Draws, and remembers how."""

    def __init__(self, system: ColorSystem) -> None:
        self.sent: list[str] = []
        self._system, self._codes = system, _PLAIN

    def draw(self, segments: Iterable[Segment]) -> None:
        for text, style, _ in segments:
            if style is not None and style.link:
                self.take(_PLAIN)
                text = style.render(text, color_system=self._system)
            elif text:
                self.take(_PLAIN if style is None else codes(style, self._system))
            self.sent.append(text)

    def take(self, codes: Codes) -> None:
        """Draw so from now on. Attributes, and the terminal's own colours, come back only with all that is plain."""
        was, self._codes = self._codes, codes
        if was == codes:
            return
        if was[0] not in ("", codes[0]) or (was[1] and not codes[1]) or (was[2] and not codes[2]):
            was = _PLAIN
            self.sent.append("\x1b[0m" if codes == _PLAIN else "\x1b[0;" + _new(was, codes))
        else:
            self.sent.append("\x1b[" + _new(was, codes))

    def done(self) -> str:
        self.take(_PLAIN)
        return "".join(self.sent)


def _new(was: Codes, codes: Codes) -> str:
    return ";".join(code for before, code in zip(was, codes, strict=True) if code not in ("", before)) + "m"


@lru_cache(4096)
def codes(style: Style, system: ColorSystem) -> Codes:
    """The parts of a style.

    >>> codes(Style.parse("bold #ff0000 on #000000"), ColorSystem.TRUECOLOR)
    ('1', '38;2;255;0;0', '48;2;0;0;0')
    """
    fore, back = style.color, style.bgcolor
    attributes = _SGR.match(style.without_color.render("x"))
    return (
        attributes[1] if attributes else "",
        "" if fore is None else ";".join(fore.downgrade(system).get_ansi_codes()),
        "" if back is None else ";".join(back.downgrade(system).get_ansi_codes(foreground=False)),
    )
