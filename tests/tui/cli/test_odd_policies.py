"""User-defined policies with random changes, or with a line that no policy should have: each runs, or is refused in one
line.

By hand: `MONKEY=2000 SEED=7 pytest tests/tui/cli/test_odd_policies.py`.
"""

import os
import re
import resource
import signal
from collections import Counter
from pathlib import Path
from random import Random
from traceback import format_exc

import pytest

from sim.engine import policy_calls
from sim.policies import POLICIES
from sim.policies.own import loading
from tests.tui.cli.program import judged, schedscope
from tui.authoring.cli.new import EXPLAINED, texts

TRIED, SEED = int(os.environ.get("MONKEY", "12")), int(os.environ.get("SEED", "1"))
SECONDS, KILOBYTES = 10, 1_000_000
MOST_ADDRESSED = 4 << 30
"""Bytes of memory that a process may reserve, so that a line which asks for all of it fails at once"""
SOONER = 2.0
"""Seconds after which code that does not return is stopped in these tests, earlier than usual"""
LINES = (
    "while True: pass", "raise SystemExit(3)", "raise KeyboardInterrupt", "raise BaseException('x')", "1 / 0", "return",
    "import os; os._exit(0)", "import os; os.abort()", "import sys; sys.exit()", "import time; time.sleep(99)",
    "import signal; signal.raise_signal(signal.SIGINT)", "exit()", "raise MemoryError",
    "import threading; threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()",
    "import threading; threading.Thread(target=lambda: 1 / 0).start()", "import sys; sys.setrecursionlimit(10)",
    "def again(): return again()\nagain()", "x = [0] * 10**11", "x = 'x' * 10**8; print(x)", "print(*range(10**5))",
    "for _ in range(10**5): print('\\x1b[2J\\n')", "import sys; sys.stdout.write('out\\n')", "print('\\udcff\\0')",
    "import sys; sys.stdout.close()", "import sys; sys.stderr.write('x' * 10**6)", "breakpoint()", "input()", "help()",
    "import nothere", "from . import x",
    "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})", "assert False, '\\x1b]0;x\\x07' * 999",
    "raise ExceptionGroup('g', [ValueError(1)] * 99)", "class Other(Policy): pass", "view.free = 99", "del view",
    "view.notes.clear()", "view.notes['x'] = {0: object()}", "view.notes['x'] = {0: float('nan')}", "yield None",
    "view.notes[0] = view.notes", "view.notes['x'] = {n: n for n in range(10**6)}", "yield from self.decide(view)",
    "yield Start(view.queue[0], None)", "yield Start(None, None)", "yield Start(view.queue[0]._replace(procs=0), 1)",
    "yield Start(view.queue[0]._replace(rank=-1), 1)", "yield Reserve(view.queue[0], float('nan'), None)",
    "yield Reserve(view.queue[0], -1, 1)", "yield Reserve(view.queue[-1], view.now, 'x' * 10**6)", "yield Backfill",
    "while True: yield Reserve(view.queue[0], view.now + 9, 1)", "while True: yield Keep(view.queue[0], 1)", "await x",
    "from sim.decisions.decisions import Wake; yield Wake(view.now)", "from sim.decisions.decisions import *",
    "from sim.decisions.decisions import Wake; yield Wake(view.now + 1e-9)", "import gc; gc.disable()",
    "from sim.decisions.decisions import Suspend, Kill; yield Suspend(next(iter(view.running.values())).job, 1)",
    "self.depth = 2", "object.__setattr__(self, 'depth', 'x')",
    "import random; random.seed(); x = random.random()", "import gc; x = gc.get_objects()", "frozenset = 3",
    "import ctypes; ctypes.string_at(0) if 0 else None", "import numpy; numpy.seterr(all='raise')", "'\\N{nothing}'",
)  # fmt: skip
"""Lines that no policy should have, which are put before any line of a file"""
WORDS = (
    *("0", "-1", "1e400", "10**9", "None", "True", "''", "'x' * 10**6", "[]", "{}", "nan", "view", "view.free", "self"),
    *("job", "view.queue", "view.now", "float('inf')", "lambda: 0", "...", "yield", "not", "()", "object()", "print"),
)
BYTES = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\x0c", b"\t", b"\x1b", b"\xe2\x80\xae", b"\\\n", b"'''", b"#" * 9999)
HEADS = (
    b"\xef\xbb\xbf",
    *(b"# coding: " + name + b"\n" for name in (b"latin-1", b"utf-7", b"rot13", b"x")),
    b"\0",
    b"\n" * 9,
)
ENDS = (
    b"\n" + b"(" * 9999,
    b"\nx = " + b"-" * 99999 + b"1",
    b"\n" + b"if 1:\n" * 99,
    b"\nx = " + b"9" * 9999,
    b"\0",
    b"\\",
)
ASKED = (
    *("run z-figure4 --policy ./own.py", "run t.csv --check --policy ./own.py --policy easy", "policies ./own.py"),
    *("run z-figure7 --policy easy --switch 10=./own.py", "test ./own.py --count 3"),
    "explain z-figure4 3 --policy ./own.py",
    *("compare z-figure4 --policy easy --policy ./own.py --decisions", "draw z-figure4 --policy ./own.py -o out.svg"),
    *("run z-figure4 --policy easy:order=./own.py --format json", "sweep z-figure4 --policy ./own.py -o out.sqlite"),
    *("record z-figure4 --policy ./own.py --to #3 -o out.cast", "run lublin-128 --jobs 50 --policy ./own.py:tail=sjf"),
)  # fmt: skip


def content(lot: Random) -> bytes:
    """Return the file of a policy that runs, with a few random changes."""
    like = lot.choice((*EXPLAINED, *EXPLAINED, *POLICIES))
    lines = texts(Path("own.py"), like)[0].splitlines()
    for _ in range(lot.choice((1, 1, 2, 3))):
        at = lot.randrange(len(lines))
        match lot.randrange(8):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lot.choice(lines))
            case 2:
                lines[at] = lot.choice((" ", "    ", "\t")) + lines[at]
            case 3 | 4:
                lines[at] = swapped(lot, lines[at])
            case _:
                indent = lot.choice(("", re.match(r" *", lines[at])[0], " " * 8))  # type: ignore[index]
                lines[at:at] = [indent + line for line in lot.choice(LINES).splitlines()]
    data = "\n".join(lines).encode()
    if lot.random() < 0.15:
        place = lot.randrange(len(data))
        data = data[:place] + lot.choice(BYTES) + data[place + lot.randrange(3) :]
    if lot.random() < 0.05:
        data = lot.choice(HEADS) + data
    if lot.random() < 0.05:
        data += lot.choice(ENDS)
    return data[: lot.randrange(len(data))] if lot.random() < 0.03 else data


def swapped(lot: Random, line: str) -> str:
    """Return the line with a random word or sign replaced."""
    places = [*re.finditer(r"\w+|[^\w\s]+", line)]
    if not places:
        return line
    found = lot.choice(places)
    return line[: found.start()] + lot.choice((*WORDS, "", found[0] * 2)) + line[found.end() :]


def outcome(words: list[str]) -> tuple[str, str]:
    """Run the command line in a process of its own; return ("done", "refused" or another outcome, details if it is a
    fault)."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # to which `-o -` writes
        signal.alarm(20 * SECONDS)  # the machine may be busy
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSED, MOST_ADDRESSED))
        try:
            told = judged(schedscope(*words))
        except BaseException:
            told = f"fault {format_exc()[-1500:]}"
        os.write(write, told.encode(errors="replace"))
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8", errors="replace") as pipe:
        told = pipe.read()
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    if status or not told:
        return "died", f"status {status}, {seconds:.1f} s"
    if seconds > SECONDS:
        return "slow", f"{seconds:.1f} s"
    if used.ru_maxrss > KILOBYTES:
        return "large", f"{used.ru_maxrss // 1000} MB"
    kind, _, more = told.partition(" ")
    return kind, more


def search(many: int, first: int) -> tuple[Counter[str], list[str]]:
    """Try `many` policies with seeds from `first` on, in the present folder. Return the counts of outcomes, and the
    faults."""
    counts, faults = Counter[str](), list[str]()
    Path("t.csv").write_text("job,submit,procs,runtime,user\n1,0,2,5,ann\n2,3,8,50,=cmd\n")
    for seed in range(first, first + many):
        lot = Random(seed)
        Path("own.py").write_bytes(content(lot))
        for left in ("out.svg", "out.sqlite", "out.cast", "own-fails.swf"):
            Path(left).unlink(missing_ok=True)
        words = lot.choice(ASKED).split()
        kind, more = outcome(words)
        kind = "interrupted" if more.startswith("130 ") else kind
        counts[f"{words[0]} {kind}"] += 1
        counts[f"all {kind}"] += 1
        if kind not in ("done", "refused", "told", "interrupted"):
            faults.append(f"seed {seed}: {words}\n  {kind} {more}")
            print(faults[-1], flush=True)
    return counts, faults


@pytest.mark.long
def test_damaged_policy_runs_or_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", SOONER)
    monkeypatch.setattr(loading, "PATIENCE", SOONER)
    counts, faults = search(TRIED, SEED * 1_000_000)
    assert not faults
    assert counts["all done"]
    assert counts["all refused"]
