import subprocess
import sys
from time import sleep

import pytest

from sim.support.deadline import NoAnswerError, deadline


def never() -> None:
    while True:
        try:
            sleep(0.001)
        except Exception:
            continue


def test_work_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(NoAnswerError), deadline(0.05):
        never()
    with pytest.raises(NoAnswerError), deadline(0.05):
        sleep(20)
    with deadline(0.5):  # more than a busy machine takes to come back to this thread
        pass
    for _ in range(150):
        sleep(0.005)


def deaf() -> None:
    """Ignore the first interrupt and run on."""
    try:
        never()
    except NoAnswerError:
        never()


def test_who_does_not_hear_it_is_told_again() -> None:
    with pytest.raises(NoAnswerError), deadline(0.05):
        deaf()


LATE = """
from cProfile import Profile
from sim.support.deadline import NoAnswerError, deadline

try:
    with deadline(0.05):
        while True:
            pass
except NoAnswerError:
    pass
Profile().runcall(lambda: sum(range(9)))
"""


IN_A_THREAD = "thread = Thread(target=exec, args=(code, {}))\nthread.start()"


@pytest.mark.parametrize("where", ["exec(code)", f"{IN_A_THREAD}\nthread.join()"])
def test_profiling_works_after_a_deadline(where: str) -> None:
    """Python 3.11 keeps checking for an exception that was raised in a thread and withdrawn; profiling would then
    hang."""
    program = f"from threading import Thread\ncode = {LATE!r}\n{where}\n"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True).stderr == b""


def test_deadline_ends_quietly_when_the_program_ends() -> None:
    """Python 3.12.1 can start no thread after the main thread has ended; other versions can."""
    program = f"from threading import Thread\ncode = {LATE!r}\n{IN_A_THREAD}\n"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True).stderr == b""
