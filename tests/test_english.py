"""Plain English in docstrings, comments, pages and texts on the screen: no sentence may break a rule of
`tests.english`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.english import findings

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = sorted(
    {
        str(path.parent.relative_to(ROOT))
        for top in ("sim", "tui")
        for path in (ROOT / top).iterdir()
        for path in ([path / "__init__.py"] if (path / "__init__.py").exists() else [path])
        if path.suffix in (".py", ".md")
    }
)


SUBJECTS = 40
"""Number of the latest commits whose subjects are checked."""
NO_VERB = r"(?:The|A|An|Who|What|Where|When|Whoever|Those|It|There|No|Every|All|Each)\b|\w+(?:ing|ed)\b"
"""Regular expression for the first word of a subject that is not an imperative verb; `VERBS` has the exceptions, such
as `Embed`."""
VERBS = r"(?:Bring|Embed|Feed|Need|Seed|Speed|Shed|String|Swing|Ring|Fling|Exceed|Proceed)\b"


def subjects() -> list[str]:
    """Return the subjects of the latest commits; empty if git is missing or this is no repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return []
    done = subprocess.run(
        ["git", "log", f"-{SUBJECTS}", "--no-merges", "--format=%s"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()


def is_plain(subject: str) -> bool:
    opens = re.match(VERBS, subject) or not re.match(NO_VERB, subject)
    return len(subject) <= 72 and subject[:1].isupper() and bool(opens) and not subject.endswith(".")


def found_in(folder: str) -> list[str]:
    top = ROOT / folder
    paths = top.glob("*") if folder in ("sim", "tui") else top.rglob("*")
    return [line for path in sorted(paths) if path.suffix in (".py", ".md") for line in findings(path)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_comments_and_texts_are_plain(folder: str) -> None:
    found = found_in(folder)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("top", ["", "sim", "tui", "tests"])
def test_pages_are_plain(top: str) -> None:
    paths = (ROOT / top).rglob("*.md") if top else ROOT.glob("*.md")
    for path in sorted(paths):
        found = findings(path)
        assert not found, "\n".join(found)


@pytest.mark.parametrize("top", ["sim", "tui", "sample_traces"])
def test_texts_of_samples_and_lessons_are_plain(top: str) -> None:
    paths = [path for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".toml", ".swf")]
    found = [line for path in paths for line in findings(path)]
    assert not found, "\n".join(found)


def test_subjects_of_commits_name_actions() -> None:
    assert [subject for subject in subjects() if not is_plain(subject)] == []
    assert is_plain("Repeat the interrupt when a stuck policy ignores it")
    assert is_plain("Bring back the plan")
    wrong = ["Who is told to stop is told again", "Fixed a bug", "Fix a bug.", "fix a bug", "Fix " + "x" * 69]
    assert not list(filter(is_plain, wrong))
