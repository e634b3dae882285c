"""Frame of a handout: one HTML file with headings, landmarks, style and script, which loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from tui.chart.svg.elements import element, text
from tui.chart.svg.notebook import with_own_ids

MOST_BYTES = 500_000
"""Largest size of a handout in bytes, so that a course page takes it."""


Section: TypeAlias = tuple[str, str, float | None]
"""(title, HTML, place of its time in the picture above all sections from 0 to 100 or None) of a part shown alone."""


def save_document(title: str, above: str, sections: Sequence[Section], what: str, out: str) -> None:
    """Write a handout; `above` is HTML above all sections, and `what` the name of a section, such as "Scene"."""
    style, script = (Path(__file__).with_name(f"document.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    known = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script)]
    policy = "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'".format(*known)
    head = [
        '<meta charset="utf-8">', '<meta name="viewport" content="width=device-width, initial-scale=1">',
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("title", text(title)), f"<style>{style}</style>",
    ]  # fmt: skip
    links, parts, of = list[str](), list[str](), len(sections)
    for n, (called, inside, x) in enumerate(sections, 1):
        front = element("span", f"{what} {n} of {of}: ", class_="place")
        heading = element("h2", front, text(called), id=f"title-{n}", tabindex=-1)
        parts.append(element("section", heading, inside, id=f"step-{n}", aria_labelledby=f"title-{n}", data_x=x))
        links.append(element("li", element("a", text(called), href=f"#step-{n}")))
    body = [
        '<a class="skip" href="#content">Skip to the content</a>', element("header", element("h1", text(title))),
        element("nav", element("details", f"<summary>All {what}s</summary>", element("ol", *links)), aria_label=what),
        element("main", above, *parts, id="content", tabindex=-1),
        '<footer hidden=""><button id="back">Back</button><p id="place"></p><button id="next">Next</button></footer>',
        f"<script>{script}</script>",
    ]  # fmt: skip
    made = "<!DOCTYPE html>\n" + element("html", element("head", *head), element("body", *body), lang="en")
    if (size := len(made.encode())) > MOST_BYTES:
        most = f"{MOST_BYTES // 1000} kB of a handout: choose a shorter time (--from, --to) or fewer scenes"
        raise SchedscopeError(f"{out}: {size / 1000:,.0f} kB > {most}")
    with write_whole(out) as file:
        file.write(made)


def paragraph(words: str, **about: object) -> str:
    return element("p", text(words), **about) if words else ""


def bullets(items: Iterable[str]) -> str:
    return element("ul", *(element("li", text(each)) for each in items), "")


def figure(svg: str, called: str, words: Sequence[str], **place: float) -> str:
    """Return a picture with the same in words. `called` tells it apart from others, `place` is where its times are."""
    sheet = element("div", with_own_ids(svg), '<div class="later" hidden=""></div>', class_="sheet")
    drawn = element("div", sheet, class_="picture", tabindex=0, role="group", aria_label=called, **place)
    return element("figure", drawn, element("details", element("summary", text(f"In words: {called}")), bullets(words)))
