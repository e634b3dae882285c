"""Plain English as a ratchet: no folder may have more findings than the table allows, and the table only shrinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.english import findings

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {
    "sim": 36,
    "sim/comparison": 38,
    "sim/decisions": 35,
    "sim/engine": 153,
    "sim/experiments": 51,
    "sim/history": 53,
    "sim/kernel": 180,
    "sim/lessons": 75,
    "sim/life": 53,
    "sim/machine": 29,
    "sim/policies": 185,
    "sim/stops": 25,
    "sim/testing": 16,
    "sim/timeline": 34,
    "sim/why": 51,
    "sim/workload": 68,
    "tui": 15,
    "tui/chart": 84,
    "tui/cli": 77,
    "tui/look": 12,
    "tui/panels": 78,
    "tui/record": 11,
    "tui/replay": 86,
    "tui/screens": 127,
    "tui/sessions": 26,
    "tui/web": 46,
    "tui/widgets": 32,
}
"""Findings allowed in the docstrings, comments and pages of each folder; 0 where none is listed."""
FOLDERS = sorted(
    {
        str(path.parent.relative_to(ROOT))
        for top in ("sim", "tui")
        for path in (ROOT / top).iterdir()
        for path in ([path / "__init__.py"] if (path / "__init__.py").exists() else [path])
        if path.suffix in (".py", ".md")
    }
)


def found_in(folder: str) -> list[str]:
    """Return the findings of a room with all below it; of `sim` and `tui` only those of their own files."""
    top = ROOT / folder
    paths = top.glob("*") if folder in ("sim", "tui") else top.rglob("*")
    return [line for path in sorted(paths) if path.suffix in (".py", ".md") for line in findings(path)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_english_gets_no_worse(folder: str) -> None:
    found = found_in(folder)
    assert len(found) <= ALLOWED.get(folder, 0), "\n".join(found)


def test_english_finds_each_rule(tmp_path: Path) -> None:
    page, code = tmp_path / "page.md", tmp_path / "code.py"
    page.write_text("# What it does\n\nThe jobs, by lot.\n\n```\nWho is code.\n```\n" + "word " * 36 + "end.\n")
    code.write_text(
        '"""So many jobs."""\n# nobody waits\nX = "Who is a string."\n"""Return those that wait.\n\n>>> who\n"""\n'
    )
    assert [line.split(": ")[1] for line in findings(page)] == ["opener", "idiom", "long"]
    assert [line.split(": ")[1] for line in findings(code)] == ["opener", "those", "pronoun"]
