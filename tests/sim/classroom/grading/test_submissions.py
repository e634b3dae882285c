from pathlib import Path

import pytest

from sim.classroom.grading.outside import SubmissionError, code_in_submission, submissions_in
from tests.sim.classroom.grading.material import source


def written(path: Path, text: str = "x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_submission_has_only_its_own_files(tmp_path: Path) -> None:
    alone, first, helper = (written(tmp_path / name) for name in ("a.py", "b/policy.py", "b/parts/helper.py"))
    written(tmp_path / ".hidden.py")
    assert submissions_in(tmp_path) == [alone, first.parent]
    assert code_in_submission(alone) == ("./a.py", {"/a.py": b"x = 1\n"})
    assert code_in_submission(first.parent).files == {"/policy.py": b"x = 1\n", "/parts/helper.py": b"x = 1\n"}
    assert helper.exists()


def test_name_that_no_spec_can_have_is_replaced(tmp_path: Path) -> None:
    assert code_in_submission(written(tmp_path / "Übung 1: a,b=c.py")).spec == "./submission.py"


def test_comments_and_layout_make_no_difference(tmp_path: Path) -> None:
    texts = source("pass"), source("pass  # mine"), source("return"), "def f(:", "def f(:  "
    known = [code_in_submission(written(tmp_path / f"{number}.py", text)).likeness for number, text in enumerate(texts)]
    assert known[0] == known[1]
    assert len(set(known)) == 4


def test_what_is_no_submission_is_refused(tmp_path: Path) -> None:
    secret = written(tmp_path / "secret.py")
    (tmp_path / "link.py").symlink_to(secret)
    written(tmp_path / "two" / "a.py")
    written(tmp_path / "two" / "b.py")
    for name, told in (("link.py", "is a link"), ("two", "has 2 files of Python: expected one")):
        with pytest.raises(SubmissionError, match=told):
            code_in_submission(tmp_path / name)
    (tmp_path / "two" / "b.py").unlink()
    (tmp_path / "two" / "b.py").symlink_to(secret)
    assert list(code_in_submission(tmp_path / "two").files) == ["/a.py"]
