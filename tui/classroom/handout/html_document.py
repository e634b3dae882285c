"""Frame of a handout: one HTML file with headings, landmarks, style and script, which loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from tui.chart.svg.elements import element, text
from tui.chart.svg.notebook import with_own_ids

MOST_BYTES = 500_000
"""Largest size of a handout in bytes, so that a course page takes it."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def save_document(title: str, above: str, sections: Sequence[tuple[str, str, float | None]], out: str) -> None:
    """Write a handout of HTML `above` all sections, which are (title, HTML, place in the picture above or None)."""
    style, script = (Path(__file__).with_name(f"document.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    links, parts = list[str](), list[str]()
    for n, (called, inside, x) in enumerate(sections, 1):
        heading = element("h2", f"<span>{n} of {len(sections)}:</span> ", text(called), id=f"title-{n}", tabindex=-1)
        parts.append(element("section", heading, inside, id=f"step-{n}", aria_labelledby=f"title-{n}", data_x=x))
        links.append(element("li", element("a", text(called), href=f"#step-{n}")))
    head = [
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", text(title)), f"<style>{style}</style>",
    ]  # fmt: skip
    body = [
        element("header", element("h1", text(title))), element("nav", element(
            "details", "<summary>All parts</summary>", element("ol", *links)), aria_label="Parts"),
        element("main", above, *parts),
        '<footer hidden=""><button id="back">Back</button><b id="place"></b><button id="next">Next</button></footer>',
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


def figure(svg: str, called: str, words: Iterable[str], **place: float) -> str:
    """Return a picture with the same in words. `called` tells it apart from others, `place` is where its times are."""
    sheet = element("div", with_own_ids(svg), '<div class="later" hidden=""></div>', class_="sheet")
    drawn = element("div", sheet, class_="picture", tabindex=0, role="group", aria_label=called, **place)
    return element("figure", drawn, element("details", element("summary", text(f"In words: {called}")), bullets(words)))
