"""Also tests sim.classroom.grading.inside."""

import pytest

from sim.authoring.starvation import verdict
from sim.classroom.grading.outside import Bounds, Remote, SubmissionError
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
