"""Colours: what the names of styles look like, and the inks (numbered colours) of the chart.

A `Look` is one way to see the program: dark, light or with high contrast; in colour, in monochrome or in ASCII. Code
that draws names only styles and inks, and the look translates them to colours. The number of an ink is
`hue * TONES + tone`. Hues are the twelve job colours in two shades, the six steps of a scale, six for partitions, and a
few others. A tone is the strength of a hue.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal

from rich.segment import Segment
from rich.style import Style

from tui.look.calendar import Calendar
from tui.look.sheets import Span
from tui.look.text import drawn

Mode = Literal["colour", "mono", "ascii"]

JOB_COLOURS = (
    "#62f7ff", "#fbdf17", "#18b080", "#864ad2", "#bbefb0", "#c16aba",
    "#288802", "#bf2a82", "#76c7ff", "#e86058", "#7997ff", "#e0a113",
)  # fmt: skip
"""Colours of jobs, which also the colour-blind can tell apart; neighbours in the list differ most."""
SECOND = 0.86
"""Share of a job's colour in its second shade; the rest is black."""
SIXTEEN = (
    "#55ffff", "#ffff55", "#00aaaa", "#aa00aa", "#55ff55", "#ff55ff",
    "#00aa00", "#aa0000", "#5555ff", "#ff5555", "#0000aa", "#aa5500",
)  # fmt: skip
"""Colours of jobs in terminals with sixteen colours: all except greys."""
RAMP_COLOURS = ("#6247aa", "#4d72b8", "#3294a3", "#3fb37f", "#9bd24f", "#fde725")
"""Colours of a scale from little to much, each lighter than the one before."""
PART_COLOURS = ("#b89467", "#8b94a6", "#c1dce5", "#c1afe5", "#70b89d", "#e5e5c1")
"""Colours of partitions: muted, because jobs stand out in front of them, and far from those of jobs."""
RUN_COLOURS = "#f0f0e0", "#c090b0"
JOB_HUES = 2 * len(JOB_COLOURS)
"""Number of hues for jobs: twelve colours in two shades."""


_FAINT, _GREY = "#555555", "#aaaaaa"
"""Two of the sixteen colours, for signs and for dimmed jobs on a dark background."""
READABLE = 3.0
"""Smallest contrast between the background and jobs that are dimmed because another job is selected."""
LEGIBLE = 5.5
"""Smallest contrast between the background and names written in a job's colour."""


class Hue(IntEnum):
    """Hues other than those of jobs; the hues of jobs have the numbers from 0 to 23."""

    RAMP = JOB_HUES
    """First of the six hues of a scale from little to much."""
    MANY = RAMP + len(RAMP_COLOURS)
    """Hue of a cell of the chart that several jobs share, if no job has most of it."""
    NONE = MANY + 1
    """Hue of free processors."""
    ACCENT = MANY + 2
    """Hue of signs that stand out: now, the selection and the focus."""
    GREY = MANY + 3
    """Hue of jobs for which the chosen way of colouring has no value"""
    COOL = MANY + 4
    WARM = MANY + 5
    PALE = MANY + 6
    """Second grey, so that two neighbouring jobs without a value differ"""
    PART = MANY + 7
    """First of the six hues of partitions; no job has them, except if jobs are coloured by partition."""
    ONE = PART + len(PART_COLOURS)
    """Hue of the first run in a comparison; no job and no other sign has it."""
    OTHER = ONE + 1


HUES = max(Hue) + 1


class Tone(IntEnum):
    """Strength with which a hue appears."""

    QUARTER = 0
    HALF = 1
    MOST = 2
    FULL = 3
    """Normal strength of a job, weaker than the pure colour, because twelve pure colours would be too bright."""
    STRONG = 4
    """Strength of the selected job, and of jobs that just started."""
    DIMMED = 5
    """Strength of all other jobs while a job is selected"""
    PLAN = 6
    TEXT = 7
    """Colour of text written on a normal block of this hue: black or white."""
    GROUND = 8
    """Colour of the background, whatever the hue."""
    TEXT_DIMMED = 9
    """Colour of text written on a dimmed block of this hue: black or white."""
    NAME = 10
    """Colour of text in this hue on the background, strong enough to be read."""
    TEXT_STRONG = 11
    """Colour of text written on a strong block of this hue: black or white."""


TONES = len(Tone)
_SHARE = {
    Tone.QUARTER: 0.3, Tone.HALF: 0.48, Tone.MOST: 0.64, Tone.FULL: 0.8, Tone.STRONG: 1.0, Tone.DIMMED: 0.24,
    Tone.PLAN: 0.34, Tone.GROUND: 0.16, Tone.NAME: 1.0,
}  # fmt: skip
_BLOCK = {Tone.TEXT: Tone.FULL, Tone.TEXT_STRONG: Tone.STRONG, Tone.TEXT_DIMMED: Tone.DIMMED}
"""For each tone of text: the tone of the block on which it is written"""
_TEXT = {block: text for text, block in _BLOCK.items()}


def ink(hue: int, tone: int = Tone.FULL) -> int:
    return hue * TONES + tone


@dataclass(frozen=True)
class Look:
    name: str
    dark: bool
    background: str
    surface: str
    text: str
    dim: str
    faint: str
    accent: str
    good: str
    warn: str
    bad: str
    cool: str
    warm: str
    jobs: tuple[str, ...] = JOB_COLOURS
    runs: tuple[str, str] = RUN_COLOURS
    ramp: tuple[str, ...] = RAMP_COLOURS
    parts: tuple[str, ...] = PART_COLOURS
    soft: float = 0.8
    """Strength of a job's normal block, from 0 (background) to 1 (pure colour)."""
    lift: float = 1.0
    """Exponent of the strengths of all tones but the normal one; below 1 it makes weak colours stronger."""
    mode: Mode = "colour"
    depth: int = 24
    """Number of bits of a colour in the terminal: 24, 8 or 4."""
    calendar: Calendar | None = None
    """Calendar that gives dates for times; None to write times as days of the trace"""
    on_wall: bool = False
    """True for a projector, on which no text may be dim."""
    _styles: dict[str, Style] = field(default_factory=dict, compare=False, repr=False)

    @property
    def colour(self) -> bool:
        return self.mode == "colour"

    @property
    def ascii(self) -> bool:
        return self.mode == "ascii"

    @property
    def patterned(self) -> bool:
        """Return True if jobs must also differ by patterns, because there are no colours or only 16."""
        return self.mode != "colour" or self.depth == 4

    @cached_property
    def projected(self) -> Look:
        """Return this look for a projector: nothing is dim, so that the last row of the audience can read it."""
        text, ground = self.text, self.background
        return replace(
            self, surface=ground, dim=mixed(text, ground, 0.85), faint=mixed(text, ground, 0.6), soft=1.0,
            lift=min(self.lift, 0.6), on_wall=True, _styles={},
        )  # fmt: skip

    def with_mode(self, mode: Mode) -> Look:
        return replace(self, mode=mode, _styles={})

    def with_calendar(self, calendar: Calendar | None) -> Look:
        return replace(self, calendar=calendar)  # with the same styles

    def with_depth(self, depth: int) -> Look:
        return replace(self, depth=depth, _styles={})

    # Text

    def style(self, names: str) -> Style:
        """Return the style with these names, separated by blanks. If two names contradict each other, the later one
        counts.

        Names: dim faint strong italic accent good warn bad cool warm; title key select hover; one other (the two runs).
        hue:N is a job's colour, name:N text in it. On a block of the colour there are on:N, lit:N (selected),
        off:N (another job is selected) and plan:N.
        """
        known = self._styles.get(names)
        if known is None:
            known = Style(color=self.text, bgcolor=self.background)
            for name in names.split():
                known += self._style_named(name)
            if "select" in names and known.color and known.bgcolor:
                written, ground = known.color.get_truecolor().hex, known.bgcolor.get_truecolor().hex
                known += Style(color=self._legible(written, ground, 4.5))
            if not self.colour:
                known = known.without_color
            self._styles[names] = known
        return known

    def segments(self, spans: Iterable[Span], ground: str = "") -> list[Segment]:
        return [Segment(drawn(each.text, self.ascii), self.style(f"{ground} {each.style}")) for each in spans]

    def _style_named(self, name: str) -> Style:
        for kind, tone in (("hue:", Tone.STRONG), ("name:", Tone.NAME)):
            if name.startswith(kind):
                return Style(color=self.inks[ink(int(name.removeprefix(kind)), tone)])
        if ":" in name:
            return self._block(*name.split(":"))
        plain = {
            "dim": Style(color=self.dim, dim=not self.colour),
            "faint": Style(color=self.faint, dim=not self.colour),
            "strong": Style(bold=True),
            "italic": Style(italic=True),
            "accent": Style(color=self.accent, bold=True),
            "good": Style(color=self.good),
            "warn": Style(color=self.warn),
            "bad": Style(color=self.bad, bold=not self.colour),
            "cool": Style(color=self.cool),
            "warm": Style(color=self.warm),
            "surface": Style(bgcolor=self.surface),
            "one": self._block("lit", f"{Hue.ONE}") + Style(reverse=not self.colour),
            "other": self._block("lit", f"{Hue.OTHER}") + Style(bold=True, underline=not self.colour),
            "title": Style(color=self.text, bold=True),
            "key": Style(color=self.accent, bold=True),
            "select": Style(bgcolor=mixed(self.accent, self.background, 0.25), bold=True, reverse=not self.colour),
            "hover": Style(bgcolor=mixed(self.text, self.background, 0.1), underline=not self.colour),
        }
        return plain[name]

    def _block(self, kind: str, hue: str) -> Style:
        dimmed = Tone.FULL if self.on_wall else Tone.DIMMED
        tone = {"on": Tone.FULL, "lit": Tone.STRONG, "off": dimmed, "plan": Tone.PLAN}[kind]
        text = Tone.MOST if tone == Tone.PLAN else _TEXT[tone]
        return Style(color=self.inks[ink(int(hue), text)], bgcolor=self.inks[ink(int(hue), tone)])

    # The chart

    @cached_property
    def inks(self) -> tuple[str, ...]:
        return _inks(replace(self, calendar=None))

    def cell(self, fg: int, bg: int) -> Style:
        """Return the style of a cell with these inks; if jobs have patterns, bold and dim replace tones."""
        if not self.patterned:
            return Style(color=self.inks[fg], bgcolor=self.inks[bg])
        hue, tone = divmod(fg, TONES)
        is_job, is_text = hue < Hue.MANY or Hue.PART <= hue < Hue.ONE, tone == Tone.TEXT
        weight = Style(
            bold=hue == Hue.ACCENT or is_text or (is_job and tone == Tone.STRONG),
            dim=tone == Tone.DIMMED and not self.colour,
            reverse=(is_text and hue == Hue.ACCENT) or (self.ascii and is_job and tone == Tone.STRONG),
        )
        if not self.colour:
            return weight
        plain = self.accent if is_text and hue == Hue.ACCENT else self.text if is_text else self.inks[fg]
        return weight + Style(color=plain, bgcolor=self.background)

    def _ink(self, hue: int, tone: Tone) -> str:
        colour = self._hue(hue)
        if tone in _BLOCK:
            block = self._ink(hue, _BLOCK[tone])
            return max("#000000", "#ffffff", key=lambda text: contrast(text, block))
        if tone == Tone.DIMMED and self.depth != 4:
            return self.inks_dimmed(hue)
        if tone == Tone.NAME and self.depth != 4:
            return self._legible(colour, self.background, LEGIBLE)
        if hue == Hue.NONE or (self.depth == 4 and tone in (Tone.PLAN, Tone.GROUND)):
            return self.background
        if self.depth == 4 and hue < Hue.RAMP:
            if tone == Tone.DIMMED and self.dark:
                return _GREY
            return _FAINT if tone in (Tone.QUARTER, Tone.DIMMED) else SIXTEEN[hue % len(SIXTEEN)]
        share = _SHARE[tone] ** self.lift if tone != Tone.FULL else self.soft
        return snapped(mixed(colour, self.background, share), self.depth)

    def inks_dimmed(self, hue: int) -> str:
        """Return the weakest shade of a hue that still has the contrast `READABLE` to the background."""
        colour, shares = self._hue(hue), [step / 50 for step in range(51)]
        weak = (mixed(colour, self.background, share) for share in shares if share >= _SHARE[Tone.DIMMED])
        strong = (mixed(self.text, colour, share) for share in shares)
        drawn = (snapped(shade, self.depth) for shade in chain(weak, strong))
        return next((shade for shade in drawn if contrast(shade, self.background) >= READABLE), self.text)

    def _legible(self, colour: str, ground: str, least: float) -> str:
        """Return the colour, or the nearest shade of it that has at least the contrast `least` to the ground."""
        shades = (snapped(mixed(self.text, colour, step / 50), self.depth) for step in range(51))
        return next((shade for shade in shades if contrast(shade, ground) >= least), self.text)

    def _hue(self, hue: int) -> str:
        if hue < len(self.jobs):
            return self.jobs[hue]
        if hue < Hue.RAMP:
            return mixed(self.jobs[hue - len(self.jobs)], "#000000", SECOND)
        if hue < Hue.MANY:
            return self.ramp[hue - Hue.RAMP]
        if Hue.PART <= hue < Hue.ONE:
            return self.parts[hue - Hue.PART]
        neutral = {
            Hue.MANY: self.dim, Hue.NONE: self.background, Hue.ACCENT: self.accent, Hue.GREY: self.dim,
            Hue.COOL: self.cool, Hue.WARM: self.warm, Hue.PALE: mixed(self.dim, self.background, 0.72),
            Hue.ONE: self.runs[0], Hue.OTHER: self.runs[1],
        }  # fmt: skip
        return neutral[Hue(hue)]


DARK = Look(
    name="dark", dark=True, background="#1a1b1e", surface="#222327", text="#e4e4e0", dim="#9a9a97", faint="#55565a",
    accent="#ffb454", good="#7fd1a0", warn="#f2c55c", bad="#ff7b72", cool="#6cb6ff", warm="#ff9e64",
)  # fmt: skip
LIGHT = Look(
    name="light", dark=False, background="#fbfbf8", surface="#f0f0ec", text="#202124", dim="#5f6062", faint="#b9b9b4",
    accent="#ad4400", good="#197a48", warn="#8a6100", bad="#b3261e", cool="#1f6fb2", warm="#ad501c",
    jobs=(
        "#00a9bd", "#cea700", "#008a68", "#5c1c8a", "#73af63", "#963f8f",
        "#005400", "#8d0d52", "#107dfc", "#bb452f", "#3a47e5", "#c17202",
    ),
    parts=("#82553a", "#283a67", "#3a6779", "#674c4c", "#313a28", "#3a283a"),
    runs=("#2000a0", "#600030"),
    soft=0.85,
)  # fmt: skip
CONTRAST = Look(
    name="contrast", dark=True, background="#000000", surface="#000000", text="#ffffff", dim="#d0d0d0",
    faint="#808080", accent="#ffff00", good="#00ff7f", warn="#ffd700", bad="#ff6060", cool="#60b0ff", warm="#ffa060",
    soft=1.0, lift=0.75,
)  # fmt: skip
LOOKS: dict[str, Look] = {look.name: look for look in (DARK, LIGHT, CONTRAST)}


@lru_cache(16)
def _inks(look: Look) -> tuple[str, ...]:
    return tuple(look._ink(hue, Tone(tone)) for hue in range(HUES) for tone in range(TONES))


# Arithmetic with colours


@lru_cache(2**15)  # every program mixes the same thousands
def mixed(colour: str, ground: str, share: float) -> str:
    parts = zip(_rgb(colour), _rgb(ground), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in parts)


@lru_cache(2**13)
def brightness(colour: str) -> float:
    """Return the luminance of a colour, from 0 (black) to 1 (white), as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in _rgb(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG defines it."""
    light, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def snapped(colour: str, depth: int) -> str:
    if depth != 8:
        return colour
    levels = (0, 95, 135, 175, 215, 255)
    near = [min(levels, key=lambda level: abs(level - part)) for part in _rgb(colour)]
    return "#" + "".join(f"{part:02x}" for part in near)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
