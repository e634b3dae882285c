"""Also tests sim.classroom.grading.inside."""

from pathlib import Path

import pytest

from sim.authoring.starvation import verdict
from sim.classroom.grading.outside import Bounds, Remote, SubmissionError, code_in_submission, submissions_in
from sim.engine.engine import Engine
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.sim.classroom.grading.material import EASY, HEAD, LIKE, source

USUAL = Bounds()
WORKLOAD = read("lublin-128", jobs=100)


def loaded(text: str, bounds: Bounds = USUAL) -> Remote:
    return Remote.loaded(bounds, "./policy.py", {"/policy.py": text.encode()})


@pytest.mark.parametrize(
    ("spec", "module", "cls"),
    [
        ("conservative", "backfill.conservative", "Conservative"),
        ("selective", "preempt.selective", "Selective"),
        ("multiqueue", "multiqueue.multiqueue", "MultiQueue"),
    ],
)
def test_policy_decides_behind_walls_as_in_front_of_them(spec: str, module: str, cls: str) -> None:
    policy = loaded(HEAD + LIKE.format(module, cls))
    with policy.process:
        engine = Engine(WORKLOAD, policy, curious=False)
        engine.run()
    here, there = run(WORKLOAD, spec), engine.schedule()
    assert (here.start.tolist(), here.end.tolist()) == (there.start.tolist(), there.end.tolist())


def test_one_process_makes_several_runs() -> None:
    policy = loaded(source(EASY))
    with policy.process:
        assert "starts after" in str(verdict(policy))
        engine = Engine(WORKLOAD, policy, curious=False)
        engine.run()
    assert engine.schedule().start.tolist() == run(WORKLOAD, "easy").start.tolist()


def failure(text: str, bounds: Bounds = USUAL) -> str:
    policy = loaded(text, bounds)
    with policy.process, pytest.raises(SubmissionError) as error:
        Engine(WORKLOAD, policy, curious=False).run()
    assert policy.process._process.returncode is not None
    return str(error.value)


def test_late_submission_is_stopped() -> None:
    caught = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    assert failure(source(caught), Bounds(seconds=2)) == "took more than 2 s in all, and was stopped"


def test_end_of_the_process_is_told() -> None:
    exits = source("ctypes.CDLL(None)._exit(3)", "import ctypes\n")
    assert failure(exits) == "ended its process in the middle, with exit code 3"
    assert failure(source("ctypes.string_at(0)", "import ctypes\n")).startswith(
        "its process was ended by the signal SIGSEGV"
    )


def test_answer_that_is_no_decision_is_refused() -> None:
    forged = "for number in range(3, 9):\n    try:\n        os.write(number, {!r})\n    except OSError:\n        pass"
    for line in (b"x\n", b"[]\n", b'{"decided": [["Start", 99, "", null, null]]}\n', b'{"decided": [7]}\n'):
        assert failure(source(forged.format(line))) == "its process answered what is no decision"


def test_words_of_a_submission_are_bounded() -> None:
    assert len(failure(source("raise ValueError('x' * 10 ** 6)"))) <= 1000
    assert "\x1b" not in failure(source("raise ValueError('\\x1b[2J')"))


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
