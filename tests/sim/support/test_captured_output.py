import builtins
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.support import captured_output
from sim.support.captured_output import LONGEST, MOST_LINES, listening, own_print
from sim.support.errors import PolicyError
from sim.timeline.timeline import Timeline
from sim.workload.replay import read
from tests.sim.policies.own.test_loading import FAIR

pytestmark = pytest.mark.usefixtures("own_program")

TALKS = FAIR.replace("for job in", "print('pass at', view.now)\n        breakpoint()\n        for job in")


@pytest.fixture
def talking(tmp_path: Path) -> str:
    path = tmp_path / "talks.py"
    path.write_text(f"{TALKS}\nprint('loaded \\x1b[2J')\n")
    return str(path)


def test_prints_are_kept_by_step(talking: str, capsys: pytest.CaptureFixture[str]) -> None:
    timeline = Timeline(read("z-figure4"), talking)
    timeline.seek(5)
    seen = timeline.snapshot().printed
    passed_over = "breakpoint() in line 21 is passed over: schedscope run --debug stops there"
    assert seen == (f"pass at {timeline.snapshot().time}", passed_over)
    timeline.seek(6)
    assert timeline.snapshot().printed[0] == f"pass at {timeline.snapshot().time}"
    timeline.seek(5)
    assert timeline.snapshot().printed == seen
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "loaded ?[2J\n")


def test_print_while_loading_is_a_short_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "talks.py"
    path.write_text(f"{FAIR}\nprint('x' * 9999, end='\\x1b[2J')\nprint(end='\\x1b[2J\\n')\n")
    parse_policy(str(path))
    assert capsys.readouterr().err == "x" * LONGEST + "?[2J\n"


def test_no_more_is_kept_than_anybody_reads(tmp_path: Path) -> None:
    path = tmp_path / "talks.py"
    path.write_text(TALKS.replace("breakpoint()", "[print('x' * 9999) for _ in range(9999)]"))
    engine = Engine(read("z-figure4"), parse_policy(str(path)))
    told: list[str] = []
    with listening(lambda step, time, line: told.append(line)):
        engine.step()
    printed = engine.snapshot().printed
    assert (len(told), len(told[5]), told[-1]) == (MOST_LINES + 1, 9999, printed[-1])
    assert (len(printed), len(printed[5]), printed[-1]) == (MOST_LINES + 1, LONGEST, "... and more than is kept")


@pytest.mark.parametrize("leave", ["import os; os._exit(3)", "from os import abort; abort()"])
def test_own_code_does_not_end_the_process(leave: str, tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text(TALKS.replace("breakpoint()", leave))
    with pytest.raises(
        PolicyError, match=f"failed after step 0, at d0 00:00:00: SystemExit.*leaves.py:21 in decide: {leave[:9]}"
    ):
        Engine(read("z-figure4"), parse_policy(str(path))).run()


def test_nobody_waits_for_a_thread_that_own_code_has_started(tmp_path: Path) -> None:
    path = tmp_path / "waits.py"
    path.write_text(f"{FAIR}\nfrom threading import Thread\nlate = Thread(target=print)\nlate.start()\n")
    own = type(parse_policy(str(path))).__module__
    assert sys.modules[own].late.daemon


def test_what_own_code_warns_of_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "warns.py"
    warns = TALKS.replace("breakpoint()", "import warnings; warnings.warn('\\x1b[2J')")
    path.write_text(f"{warns}\nimport warnings; warnings.warn('loaded')\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        engine = Engine(read("z-figure4"), parse_policy(str(path)))
        engine.step()
    assert engine.snapshot().printed == ("pass at 0.0", f"{path}:21: UserWarning: \x1b[2J")
    assert capsys.readouterr().err == f"{path}:26: UserWarning: loaded\n"


def test_a_thread_of_own_code_that_fails_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fails.py"
    path.write_text(f"{FAIR}\nfrom threading import Thread\nlate = Thread(target=lambda: 1 / 0)\nlate.start()\n")
    own = type(parse_policy(str(path))).__module__
    sys.modules[own].late.join()
    assert re.fullmatch(rf"{path}:\d+: a thread failed: ZeroDivisionError: division by zero\n", capsys.readouterr().err)


def test_what_is_printed_elsewhere_goes_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as file:
        own_print("a", "b", sep="-", file=file)
    assert (tmp_path / "log").read_text() == "a-b\n"
    assert capsys.readouterr() == ("", "")


def test_functions_that_were_replaced_or_removed_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    names, was = vars(builtins), object()
    monkeypatch.setitem(names, "last", was)
    monkeypatch.setattr(captured_output, "_BUILTINS", dict(names))
    monkeypatch.setattr(captured_output, "_VALUES", [*names.values()])
    assert captured_output.restored() == []
    del names["last"]
    names["another"] = 1  # as many names as before
    assert captured_output.restored() == ["last"]
    assert names["last"] is was
    del names["another"]
    monkeypatch.setitem(names, "all", lambda values: True)  # the comparison must not ask it
    assert captured_output.restored() == ["all"]
    monkeypatch.setitem(names, "max", np.arange(2))  # cannot be compared
    assert captured_output.restored() == ["max"]
