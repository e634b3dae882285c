from pathlib import Path
from textwrap import dedent

import pytest

from sim.classroom.grading.grade import USUAL, Bound, Rubric, read_rubric
from sim.support.errors import FileError
from tests.conftest import ROOT


def test_the_example_is_read(tmp_path: Path) -> None:
    path = tmp_path / "marks.toml"
    page = ROOT.joinpath("sim/classroom/lessons/README.md").read_text(encoding="utf-8")
    example = page[page.index("    legal = 4") :].partition("\n\n")[0]
    path.write_text(dedent(example), encoding="utf-8")
    assert read_rubric(path) == Rubric(USUAL, {"mean_wait": Bound(2, most=1.1)})
    path.write_text("equal = 3", encoding="utf-8")
    assert read_rubric(path).marks == dict.fromkeys(USUAL, 0) | {"equal": 3, "questions": 10}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("legl = 3", "no marks for 'legl'; did you mean 'legal'?"),
        ("legal = -1", "legal is expected to be a number, at least 0, got -1"),
        ("legal = true", "got True"),
        ("[metrics.mean_wait]\nmost = 2", "metrics.mean_wait is expected to have marks, and most or least"),
        ("[metrics.wait]\nmarks = 2", "no marks for 'wait'; did you mean"),
        ("[metrics.mean_wait]\nmarks = 2\nmin = 3", "no marks for 'min'"),
        ("x =", "Invalid value"),
    ],
)
def test_errors_name_the_file(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "marks.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as error:
        read_rubric(path)
    assert str(error.value).startswith(str(path))
    assert told in str(error.value)
