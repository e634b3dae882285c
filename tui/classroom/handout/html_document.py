"""Frame of a handout: one HTML file with headings, landmarks, style and script, which loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from tui.chart.svg.elements import element, text

_HERE = Path(__file__).parent
MOST_BYTES = 500_000
"""Largest size of a handout in bytes, so that a course page takes it."""


class Section(NamedTuple):
    """Step of a handout, shown alone if the browser runs the script."""

    title: str
    inside: str
    """Content as HTML."""
    x: float | None = None
    """Time of the step in a picture above all steps: its place from 0 (left) to 100; None without such a picture."""


def save_document(title: str, about: str, above: str, sections: Sequence[Section], what: str, out: str) -> None:
    """Write a handout; `above` is HTML above all sections, and `what` the name of a section, such as "Scene"."""
    made = document(title, about, above, sections, what)
    if (size := len(made.encode())) > MOST_BYTES:
        raise SchedscopeError(
            f"{out}: {size / 1000:,.0f} kB are more than the {MOST_BYTES / 1000:.0f} kB of a handout:"
            " choose fewer scenes, a shorter time (--from, --to) or fewer jobs"
        )
    with write_whole(out) as file:
        file.write(made)


def document(title: str, about: str, above: str, sections: Sequence[Section], what: str) -> str:
    style, script = ((_HERE / f"document.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    links = (element("li", element("a", text(each.title), href=f"#step-{n}")) for n, each in enumerate(sections, 1))
    head = [
        '<meta charset="utf-8">', '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        element("title", text(title)), f"<style>{style}</style>",
    ]  # fmt: skip
    body = [
        '<a class="skip" href="#content">Skip to the content</a>',
        element("header", element("h1", text(title)), paragraph(about)),
        element("nav", element("details", f"<summary>All {what.lower()}s</summary>", element("ol", *links)),
                aria_label=f"{what}s"),
        element("main", above, *(_section(each, n, len(sections), what) for n, each in enumerate(sections, 1)),
                id="content", tabindex=-1),
        '<footer hidden><button type="button" id="back">Back</button><p id="place"></p>'
        '<button type="button" id="next">Next</button></footer>',
        f"<script>{script}</script>",
    ]  # fmt: skip
    return "<!DOCTYPE html>\n" + element(
        "html", element("head", "\n".join(head)), element("body", "\n".join(body)), lang="en"
    )


def _section(section: Section, number: int, count: int, what: str) -> str:
    front = element("span", f"{what} {number} of {count}: ", class_="place")
    heading = element("h2", front, text(section.title), id=f"title-{number}", tabindex=-1)
    return element(
        "section", heading, section.inside, id=f"step-{number}", aria_labelledby=f"title-{number}", data_x=section.x
    )


def paragraph(words: str) -> str:
    return element("p", text(words)) if words else ""


def bullets(items: Iterable[str]) -> str:
    return element("ul", *(element("li", text(each)) for each in items), "")


def figure(svg: str, called: str, words: Sequence[str], is_stepped: bool = False, **about: object) -> str:
    """Return a picture with the same in words; `called` tells it apart from the other pictures, also in its ids.

    If it `is_stepped`, the script covers what is later than the step that is shown.
    """
    ending = "-" + hashlib.sha256(f"{called}{svg}".encode()).hexdigest()[:8]
    svg = re.sub(r'(?<= id=")[\w-]+', rf"\g<0>{ending}", svg)
    svg = re.sub(r"(?<=url\(#)[\w-]+", rf"\g<0>{ending}", svg)
    svg = re.sub(r'(?<= aria-labelledby=")title( description)?', lambda found: " ".join(
        each + ending for each in found[0].split()), svg)  # fmt: skip
    label = f"Picture: {called}"
    sheet = element("div", svg, '<div class="later" hidden></div>' if is_stepped else "", class_="sheet")
    drawn = element("div", sheet, class_="picture", tabindex=0, role="group", aria_label=label, **about)
    told = element("details", element("summary", text(f"In words: {called}")), bullets(words))
    return element("figure", drawn, element("figcaption", told))


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
