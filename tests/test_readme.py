"""The README promises only what the program does."""

import doctest
import re
from pathlib import Path

import pytest

from sim.classroom.lessons.recorded import check
from sim.policies import POLICIES
from tui.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LESSONS = "sim/classroom/lessons/README.md"
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in [*(page for top in (".", ".github", ".site") for page in (ROOT / top).glob("*.md")),
                 *(page for top in ("sim", "tui", "tests") for page in (ROOT / top).rglob("*.md"))]
)  # fmt: skip


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_first_screen_has_the_two_lines_for_a_fresh_machine() -> None:
    first_screen = "\n".join(README.splitlines()[:16])
    assert "    python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/schedscope\n" in first_screen
    assert "    python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest\n" in first_screen


def test_the_table_of_policies_is_complete() -> None:
    table = (ROOT / "sim/policies/README.md").read_text(encoding="utf-8")
    table = table.partition("## List of policies\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| ([a-z+-]+) \|", table, flags=re.MULTILINE)) == sorted([*POLICIES, "name"])


NAMED_IN = re.compile(
    r"((?:`[\w.]+`(?:, | and )?)+) (?:in|of) (?:\[[^\]]+\]\(([^)#]+\.py)\)|`((?:sim|tui|tests|\.ci)/[\w/]+\.py)`)"
)
"""Names in code, and the file where they are said to be: a link, or a path from the top"""


def test_names_stand_in_the_files_where_pages_say_they_are() -> None:
    found = 0
    for page in PAGES:
        for names, link, path in NAMED_IN.findall((ROOT / page).read_text(encoding="utf-8")):
            file = (ROOT / page).parent / link if link else ROOT / path
            for name in re.findall(r"`([\w.]+)`", names):
                found += 1
                assert re.search(rf"\b{name.rpartition('.')[2]}\b", file.read_text(encoding="utf-8")), (
                    page,
                    name,
                    file,
                )
    assert found > 15


def test_front_page_is_short_and_names_all() -> None:
    assert len(README.split()) <= 900
    page = (ROOT / "tui/cli/README.md").read_text(encoding="utf-8")
    assert set(COMMANDS) == set(re.findall(r"^    schedscope ([a-z]+)\b", page, flags=re.MULTILINE))


def test_nothing_else_stands_at_the_top() -> None:
    agreed = {"pyproject.toml", "README.md", "LICENSE", "tui", "sim", "tests", "sample_traces"}
    made = {"build", "dist", "uv.lock", "snapshot_report.html"}
    assert {p.name for p in ROOT.iterdir() if not p.name.startswith(".")} <= agreed | made


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Links to other sites are checked for their form only: tests need no network."""
    for link in re.findall(r"\]\(([^)]*)\)", (ROOT / page).read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        meant = ROOT / page if not path else (ROOT / page).parent / path
        if "://" in link:
            assert re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+/[\w./~#%=&?+-]*(?<![.])", link), link
        elif not link.startswith("films/"):  # recorded when the site is built (see test_site.py)
            assert meant.exists(), link
            assert not anchor or anchor in anchors(meant), link


@pytest.mark.parametrize("page", ["sim/README.md", "sim/policies/README.md"])
def test_what_a_page_shows_from_python_is_so(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert not failed
    assert tried


def test_a_command_stands_beside_every_figure() -> None:
    """Each section with a table of measurements also has the command that makes them."""
    text = (ROOT / "tests/benchmarks/README.md").read_text(encoding="utf-8")
    sections = [section for section in re.split(r"^#+ ", text, flags=re.MULTILINE) if "|--" in section]
    assert sections
    for section in sections:
        assert re.search(r"`(python -m tests\.benchmarks\.|schedscope (run|papers) )", section)


def test_the_lesson_that_is_shown_holds(tmp_path: Path) -> None:
    path = tmp_path / "readme.toml"
    path.write_text(
        (ROOT / LESSONS).read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0], encoding="utf-8"
    )
    staged, wrong = check(path)
    assert (len(staged), wrong) == (4, [])
