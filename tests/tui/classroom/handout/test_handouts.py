"""Lessons and runs as one HTML file: accessible, judged without the program, and nothing foreign in it is markup."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sim.classroom.lessons.lesson import ORDER
from tests.sim.classroom.lessons.lessons import HEAD, file
from tests.tui.cli.program import error, schedscope
from tui.classroom.handout import handouts

EMPTY = {"meta", "input", "img", "br"}
ASK = '[scene.ask]\nkind = "next"'
TIME = 'at = 40\n[scene.ask]\nkind = "start"\njob = "J5"'


class Page(HTMLParser):
    """Elements of a page, in order: (tag, attributes, tags of the elements around it); and texts by tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any], tuple[str, ...]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self._open)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self._open)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def all(self, tag: str) -> list[dict[str, Any]]:
        return [about for name, about, _ in self.elements if name == tag]

    def said(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


def page(*arguments: str | Path, out: Path) -> Page:
    done = schedscope(*arguments, out)
    assert done.returncode == 0, done.stderr
    return Page(out.read_text(encoding="utf-8"))


def check(made: Page) -> None:
    """Check names, headings, languages and references, as far as they can be checked without a browser."""
    ids = Counter(about["id"] for _, about, _ in made.elements if "id" in about)
    assert [name for name, times in ids.items() if times > 1] == []
    for _, about, _ in made.elements:
        named = f"{about.get('aria-labelledby', '')} {about.get('data-reason', '')} {about.get('for', '')}"
        assert set(named.split()) <= ids.keys()
        assert {"src", "action", "style", "onclick"} & about.keys() == set()
        assert about.get("href", "#").startswith(("#", "data:"))
        assert set(re.findall(r"url\(#([\w-]+)\)", " ".join(str(each) for each in about.values()))) <= ids.keys()
    assert made.all("html")[0]["lang"] == "en"
    assert len(made.all("h1")) == len(made.all("main")) == len(made.all("title")[:1]) == 1
    assert len(made.all("h2")) == len(made.all("section"))
    pictures = [about for about in made.all("svg") if about.get("role") == "img"]
    assert len(pictures) == len(made.all("figure")) == len(made.all("svg"))
    assert len({about["aria-label"] for about in made.all("div") if "aria-label" in about}) == len(pictures)


@pytest.mark.long
@pytest.mark.parametrize("name", ORDER)
def test_every_lesson_is_a_small_accessible_page(name: str, tmp_path: Path) -> None:
    made = page("learn", name, "--html", out=tmp_path / "x.html")
    check(made)
    assert (tmp_path / "x.html").stat().st_size < handouts.MOST_BYTES
    assert len(made.all("form")) == len([about for about in made.all("p") if about.get("role") == "status"])


def test_every_choice_has_its_verdict(tmp_path: Path) -> None:
    made = page("learn", "backfilling", "--html", out=tmp_path / "x.html")
    reasons = {about["data-reason"] for about in made.all("button") if "data-reason" in about}
    verdicts = [about for about in made.all("li") if "id" in about]
    assert {about["id"] for about in verdicts} == reasons
    assert sum("data-right" in about for about in verdicts) == 2
    told = made.said("li")
    assert "Not J5. J5 needs 2, 3 free; J4 took 3 first." in told
    assert any(line.startswith("Right. At 00:11:00: J4 is backfilled on 3 processors: ends at") for line in told)


def test_question_for_a_time_has_value_reasons_and_place(tmp_path: Path) -> None:
    made = page("learn", file(tmp_path, TIME), "--html", out=tmp_path / "x.html")
    form = made.all("form")[0]
    assert (form["data-unit"], form["data-value"], form["data-now"]) == ("moment", "600", "40")
    assert [about["data-since"] for about in made.all("li") if "data-since" in about] == ["40"]
    assert "From 00:00:40 on: At 00:00:40: J5 has waited 0s: needs 5 > 0 free." in made.said("li")
    assert {about["data-end"] for about in made.all("div") if "data-end" in about} == {"2700"}


def test_open_question_shows_neither_plan_nor_policy(tmp_path: Path) -> None:
    ask = 'at = "end"\n[scene.ask]\nkind = "policy"\namong = ["easy", "fcfs"]'
    made = page("learn", file(tmp_path, ask), "--html", out=tmp_path / "x.html")
    assert made.said("desc")[0].startswith("Processors upwards")
    assert made.said("title")[1] == "z-figure4 · a policy · 10 processors"


def test_foreign_text_stays_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=y> </style> & \\\" '"
    head = HEAD.replace('"Passing"', f'"{hostile}"') + f'about = "{hostile}"\n'
    path = file(
        tmp_path, f'title = "{hostile}"\nat = 40\nsay = "**{hostile}** `</svg>`"\n{ASK}\nthen = "{hostile}"', head=head
    )
    made = page("learn", path, "--html", out=tmp_path / "x.html")
    check(made)
    assert len(made.all("script")) == len(made.all("style")) == 1
    assert made.all("img") == []
    assert made.said("h1") == [hostile.replace("\\", "")]


def test_markdown_becomes_elements(tmp_path: Path) -> None:
    made = page("learn", file(tmp_path, 'say = "J3 *waits* **long**."'), "--html", out=tmp_path / "x.html")
    assert (made.said("em"), made.said("strong")) == (["waits"], ["long"])


def test_run_has_a_section_for_each_step(tmp_path: Path) -> None:
    made = page("draw", "z-figure4", "-o", out=tmp_path / "x.html")
    check(made)
    places = [float(about["data-x"]) for about in made.all("section")]
    assert len(places) == 10
    assert places == sorted(places)
    assert any(line.startswith("J5 is backfilled on 5 processors: ") for line in made.said("li"))
    later = page("draw", "z-figure4", "--from", "#8", "-o", out=tmp_path / "y.html")
    assert len(later.all("section")) < 10


def test_long_run_is_cut_with_a_sentence(tmp_path: Path) -> None:
    made = page("draw", "lublin-128", "-o", out=tmp_path / "x.html")
    assert len(made.all("section")) == 200
    assert any(re.match(r"Only the first 200 of 1,995 steps are shown", line) for line in made.said("p"))


def test_page_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handouts, "MOST_BYTES", 20_000)
    code, line = error("draw", "z-figure4", "-o", tmp_path / "x.html")
    assert (code, " kB > 20 kB of a handout: choose a shorter time" in line) == (1, True)
    assert not (tmp_path / "x.html").exists()


def test_switched_run_is_told_under_both_policies(tmp_path: Path) -> None:
    made = page("draw", "z-figure4", "--policy", "fcfs", "--switch", "600=easy", "-o", out=tmp_path / "x.html")
    assert made.said("h1") == ["z-figure4 under fcfs, then easy"]


@pytest.mark.parametrize("option", [("--beside", "fcfs"), ("--matrix",)])
def test_page_of_two_runs_is_refused(option: tuple[str, ...], tmp_path: Path) -> None:
    assert error("draw", "z-figure4", *option, "-o", tmp_path / "x.html")[1].endswith("are drawn as .svg or .png")


@pytest.mark.parametrize(
    "options", [("--html", "x.html"), ("--plain",), ("backfilling", "--plain", "--html", "x.html")]
)
def test_one_lesson_is_written_at_a_time(options: tuple[str, ...]) -> None:
    assert error("learn", *options)[0] == 2
