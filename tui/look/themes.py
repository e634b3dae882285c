"""Choice of a look (`tui.look.palette`) for a terminal, and the looks as themes of Textual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.filter import LineFilter
from textual.theme import Theme

from sim.support.formatting import printable
from tui.look.palette import LOOKS, Look, Mode, mixed
from tui.look.settings import Settings
from tui.look.text import ASCII_SIGNS, cells, plain

if TYPE_CHECKING:
    from rich.console import Console
    from textual.color import Color

# The look that a terminal gets


def choose(settings: Settings, environ: Mapping[str, str], encoding: str | None) -> Look:
    """Return the look that the user has chosen in the settings; without a choice, one that suits the terminal."""
    look = LOOKS[settings.look or ("light" if _is_light(environ) else "dark")]
    return look.with_mode(settings.mode or _mode(environ, encoding))


def _is_light(environ: Mapping[str, str]) -> bool:
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdigit() and (background == "7" or 9 <= int(background) <= 15)


def _mode(environ: Mapping[str, str], encoding: str | None) -> Mode:
    if environ.get("TERM") == "dumb" or not (encoding or "").lower().startswith("utf"):
        return "ascii"
    return "mono" if environ.get("NO_COLOR") else "colour"


def depth_of(console: Console) -> int:
    return {"truecolor": 24, "256": 8}.get(console.color_system or "", 4)


def frames_a_second(environ: Mapping[str, str]) -> int:
    """Return the number of frames per second to draw: fewer over an SSH connection, because the network is slower."""
    return 12 if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY") else 30


# Themes


def theme_name(look: Look) -> str:
    return f"schedscope-{look.name}" + ("" if look.colour else "-mono")


def themes() -> list[Theme]:
    return [theme_of(look.with_mode(mode)) for look in LOOKS.values() for mode in ("colour", "mono")]


def theme_of(look: Look) -> Theme:
    """Return Textual's theme for a look. Focus and chosen entry have the accent or, without colours, the text's."""
    accent, good, warn, bad = (look.accent, look.good, look.warn, look.bad) if look.colour else (look.text,) * 4
    cursor = mixed(accent, look.background, 0.25)
    raised = mixed(look.text, look.background, 0.1)
    return Theme(
        name=theme_name(look),
        primary=accent,
        secondary=look.dim,
        accent=accent,
        warning=warn,
        error=bad,
        success=good,
        foreground=look.text,
        background=look.background,
        surface=look.surface,
        panel=raised,
        boost=raised,
        dark=look.dark,
        variables={
            "text-muted": look.dim,
            "text-second": mixed(look.text, look.dim, 0.5),  # also on the ground of a chosen entry
            "text-disabled": mixed(look.dim, look.background, 0.7),
            "text-accent": accent,
            "text-primary": accent,
            "text-success": good,
            "text-warning": warn,
            "text-error": bad,
            "foreground-muted": look.dim,
            "border": accent,
            "border-blurred": look.faint,
            "block-cursor-foreground": look.text,
            "block-cursor-background": cursor,
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-foreground": look.text,
            "block-cursor-blurred-background": cursor,
            "block-cursor-blurred-text-style": "none",
            "block-hover-background": raised,
            "input-cursor-background": accent,
            "input-cursor-foreground": look.background,
            "input-cursor-text-style": "none",
            "input-selection-background": cursor,
            "input-selection-foreground": look.text,
            "scrollbar": look.faint,
            "scrollbar-hover": look.dim,
            "scrollbar-active": accent,
            "scrollbar-background": look.surface,
            "scrollbar-background-hover": look.surface,
            "scrollbar-background-active": look.surface,
            "scrollbar-corner-color": look.surface,
            "link-color": accent,
            "link-style": "none",
            "link-background": "transparent",
            "link-color-hover": look.background,
            "link-background-hover": accent,
            "link-style-hover": "bold",
            "button-foreground": look.text,
            "button-color-foreground": look.background,
            "button-focus-text-style": "bold reverse",
            "footer-foreground": look.dim,
            "footer-background": look.background,
            "footer-key-foreground": accent,
            "footer-key-background": "transparent",
            "footer-description-foreground": look.dim,
            "footer-description-background": "transparent",
            "footer-item-background": "transparent",
        },
    )


# ASCII


class Printable(LineFilter):
    """Filter that removes control characters from the output to the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(segment.control or segment.text.isprintable() for segment in segments):
            return segments
        return [s if s.control else Segment(_in_its_room(s.text), s.style) for s in segments]


def _in_its_room(text: str) -> str:
    """Return the text without unprintable characters: those of width 0 go, wider ones become printable."""
    return "".join(c if c.isprintable() else printable(c) if cell_len(c) else "" for c in text)


class Ascii(LineFilter):
    """Filter that replaces every character of the output by an ASCII character of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.control or segment.text.isascii() else Segment(in_ascii(segment.text), segment.style)
            for segment in segments
        ]


def in_ascii(text: str) -> str:
    """Return the text with every character replaced by one of ASCII in the same width.

    >>> in_ascii("╭─ 日本 ▸ easy · ≤ 4 ─╮")
    '+- ???? > easy - < 4 -+'
    """
    return "".join(c if c.isascii() else ASCII_SIGNS.get(c) or _like(c) for c in text)


def _like(character: str) -> str:
    width = cells(character)
    known = plain(character)
    return known if len(known) == width and known != "?" else "?" * width
