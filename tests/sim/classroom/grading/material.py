"""Made-up submissions, each with what its row must say; as a program it writes all of them into a folder.

python -m tests.sim.classroom.grading.material FOLDER HIDDEN.swf    then: --check marks.csv
"""

import csv
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HEAD = "import os, sys\nfrom dataclasses import dataclass\nfrom sim import Moment, Policy\n"
CLASS = "\n@dataclass(frozen=True)\nclass Mine(Policy):\n    def decide(self, now):\n"
EASY = """
head = now.start_in_order()
if head is None:
    return
shadow, extra = now.shadow(head)
for job in list(now.candidates(head)):
    if not now.fits(job):
        continue
    if now.time + job.estimate <= shadow:
        now.start(job, "it ends in time")
    elif job.procs <= extra:
        extra -= job.procs
        now.start(job, "it needs what is left over")
"""
WORDS = """
queue = list(now.queued())
while queue and queue[0].procs <= now.free:
    now.start(queue.pop(0), "first")
if not queue:
    return
first, free, shadow = queue[0], now.free, None
for run in sorted(now.running.values(), key=lambda run: run.expected_end):
    if shadow is not None and run.expected_end > shadow:
        break
    free += run.job.procs
    if free >= first.procs:
        shadow = run.expected_end if shadow is None else shadow
spare = free - first.procs
for job in queue[1:]:
    if job.procs > now.free:
        continue
    if now.time + job.estimate > shadow:
        if job.procs > spare:
            continue
        spare -= job.procs
    now.start(job, "behind")
"""
FCFS = "now.start_in_order()"
LIKE = "from sim.policies.{0} import {1}\n@dataclass(frozen=True)\nclass Mine({1}):\n    pass\n"


class Made(NamedTuple):
    """Submission: its files, and the values that its row must have, each as a pattern."""

    files: dict[str, str | bytes]
    row: dict[str, str]


RIGHT = {"legal": "yes", "deterministic": "yes", "starves": "no", "equal": "yes", "notes": ""}
OTHER = {"legal": "yes", "deterministic": "yes", "equal": "no", "first difference": "first difference at"}
MADE: dict[str, Made] = {}


def source(body: str, before: str = "") -> str:
    return HEAD + before + CLASS + "".join(f"        {line}\n" for line in body.strip().splitlines())


def add(name: str, text: str | bytes, **row: str) -> None:
    MADE[name] = Made({name: text}, row)


def failing(name: str, body: str, told: str, before: str = "") -> None:
    add(name, source(body, before), legal="no", equal="", notes=told)


def like(name: str, module: str, cls: str, **row: str) -> None:
    add(name, HEAD + LIKE.format(module, cls), **row)


add("right.py", source(EASY), **{**RIGHT, "notes": "same code as twin.py"})
add("twin.py", source(EASY) + "# my own work\n", **{**RIGHT, "notes": "same code as right.py"})
add("in-other-words.py", source(WORDS), **RIGHT)
like("by-inheritance.py", "backfill.easy", "Easy", **RIGHT)
helper = source(EASY.replace("list(now.candidates(head))", "behind(now, head)"), "from helper import behind\n")
MADE["in-a-folder"] = Made(
    {
        "in-a-folder/policy.py": helper,
        "in-a-folder/helper.py": "def behind(now, head): return list(now.candidates(head))",
    },
    RIGHT,
)
yielding = EASY.replace("now.start(job,", "yield Start(job,").replace("now.start_in_order()", "yield from front(now)")
front = """from sim.decisions.decisions import Start
def front(now):
    for job in list(now.queued()):
        if not now.fits(job):
            return job
        yield Start(job, "in order")
"""
add("yielding.py", source(yielding, front), **RIGHT)
add("printing.py", source("print('hello'); sys.stdout.write('hello'); os.write(1, b'{}')\n" + EASY), **RIGHT)
add("keeps-more-words.py", source("now.notes['seen'] = {}\n" + EASY), **RIGHT)
add("fcfs.py", source(FCFS), **OTHER, starves="no")
like("conservative.py", "backfill.conservative", "Conservative", **OTHER, starves="no")
like("relaxed.py", "backfill.relaxed", "Relaxed", **OTHER)
like("selective.py", "preempt.selective", "Selective", **OTHER)
like("multiqueue.py", "multiqueue.multiqueue", "MultiQueue", **OTHER)
failing("gang.py", "pass", "shares processors in turns")
MADE["gang.py"].files["gang.py"] = HEAD + LIKE.format("gang.gang", "Gang")
STARTS = "for job in {}:\n    if {}now.fits(job):\n        now.start(job, 'fits')"
LATER = "if {} and now.queued():\n    now.wake(now.time + 60)\n    return\n" + FCFS
first_fit = STARTS.format("list(now.queued())", "")
narrow = STARTS.format("list(now.queued())", "job.procs <= 8 and ")
shortest = STARTS.format("sorted(now.queued(), key=lambda job: job.estimate)", "")
by_hash = STARTS.format("sorted(now.queued(), key=lambda job: hash(job.id))", "")
by_clock = LATER.format("time.perf_counter_ns() // 1000 % 3 == 0")
unfinished = {"legal": "yes", "starves": "yes", "equal": "no", "notes": r"it leaves \d+ jobs unfinished"}
differs = {"legal": "yes", "deterministic": "no", "notes": "its second run of .* differs from step"}
add("first-fit.py", source(first_fit), **OTHER, starves="yes", notes="may starve")
add("shortest.py", source(shortest), **OTHER, starves="yes")
add("no-wide-job.py", source(narrow), **unfinished)
add("nothing.py", source("pass"), **unfinished)
add("by-lot.py", source(LATER.format("random.random() < 0.5"), "import random\nrandom.seed()\n"), **differs)
add("by-hash.py", source(by_hash), **differs)
add("by-clock.py", source(by_clock, "import time\n"), **differs)
# Impossible decisions
failing("too-many.py", "for job in list(now.queued()):\n    now.start(job, 'now')", r"needs \d+, \d+ are free")
failing(
    "twice.py",
    "for job in list(now.queued()):\n    if now.fits(job):\n        now.start(job, 'once'); now.start(job, 'twice')",
    "it is not waiting",
)
failing("suspends-nothing.py", "for job in list(now.queued()):\n    now.suspend(job, 'why not')", "it is not running")
failing("in-the-past.py", "now.wake(now.time - 5)", "a timer must be in the future")
failing(
    "invented.py",
    "now.start(Job(0, '1', 0.0, 1, 1.0), 'mine')",
    "differs from the one submitted",
    "from sim.workload.job import Job\n",
)
failing(
    "asks-run-times.py", "for job in now.queued():\n    job.runtime", "no attribute 'runtime'.*cannot see run times"
)
# Errors
failing("crash.py", EASY + "1 / (len(now.running) < 3)", "fails at step .*ZeroDivisionError")
failing("crash-at-once.py", "pass", "cannot be loaded: .*crash-at-once.py:4: KeyError", "{}['x']\n")
failing("crash-in-words.py", "raise Evil", "Evil", "class Evil(Exception):\n    def __str__(self): raise ValueError\n")
failing("crash-that-seems-none.py", "raise ValueError('leaves 3 jobs unfinished, the first is 1')", "fails at step 1")
add("crash-twin.py", source("1 / 0"), legal="no", notes="ZeroDivisionError.*has the same code as crash-twin-2.py")
add("crash-twin-2.py", source("1 / 0  # mine"), legal="no", notes="has the same code as crash-twin.py")
failing("recursion.py", "self.decide(now)", "RecursionError")
failing("interrupt.py", "raise KeyboardInterrupt", "KeyboardInterrupt|ended|interrupted")
failing("gives-up.py", "sys.exit(0)", "SystemExit")
for name, text, told in (
    ("syntax.py", "def f(:\n", "cannot be loaded: .*syntax.py:1: SyntaxError"),
    ("tabs.py", "if 1:\n\tx = 1\n        y = 2\n", "TabError"),
    ("empty.py", "", "there is no policy in it"),
    ("no-policy.py", "print('hello')\n", "there is no policy in it"),
    ("two-policies.py", source("pass") + source("pass").replace("Mine", "Yours"), "there are 2 policies in it"),
    ("binary.py", b"\xff\xfe\x00\x01" * 40, "is no text"),
    ("nul.py", b"x = 1\x00\n", "null bytes|no text|ValueError|SyntaxError"),
    ("deep.py", "x = " + "(" * 5000 + ")" * 5000 + "\n", "too many nested|Memory|Recursion"),
    ("large.py", "#" + "x" * 200_000 + "\n", "more than 131,072 bytes"),
):
    add(name, text, legal="no", notes=told)
# Never ending
failing("endless.py", "while True:\n    pass", "fails at step 1 .*: endless.py:8: stopped: no decision for 5 s")
failing("endless-at-once.py", "pass", "did not come back", "while True:\n    pass\n")
failing(
    "catches-all.py",
    "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
    "did not come back for 8 s",
)
failing(
    "sleeps.py", "time.sleep(1000)", "fails at step 1 .*: sleeps.py:9: stopped: no decision for 5 s", "import time\n"
)
failing("in-c.py", "re.match('(a|aa)+$', 'a' * 60 + 'b')", "no decision|did not come back", "import re\n")
failing("only-timers.py", "now.wake(now.time + 1e-3)", "took more than|keeps setting timers")
# Memory, processes, ends
failing("memory.py", "x = bytearray(1 << 40)", "MemoryError")
failing("memory-slowly.py", "x = []\nwhile True:\n    x.append(bytearray(1 << 20))", "MemoryError")
failing("fork-bomb.py", "while True:\n    os.fork()", "PermissionError.*fork")
failing("fork-bomb-at-once.py", "pass", "PermissionError", "while True:\n    os.fork()\n")
failing("programs.py", "subprocess.run(['sh', '-c', ':(){ :|:& };:'])", "PermissionError", "import subprocess\n")
failing("processes.py", "multiprocessing.Pool(64)", "PermissionError", "import multiprocessing\n")
failing(
    "threads.py",
    "while True:\n    threading.Thread(target=time.sleep, args=(9999,)).start()",
    "can't start new thread|MemoryError|did not come|no decision|ended",
    "import threading, time\n",
)
failing("exit.py", "os._exit(0)", "SystemExit|ended its process in the middle, with exit code 0")
failing(
    "exit-in-c.py", "ctypes.CDLL(None)._exit(0)", "ended its process in the middle, with exit code 0", "import ctypes\n"
)
failing("faults.py", "ctypes.string_at(0)", "ended by the signal SIGSEGV", "import ctypes\n")
failing("kills.py", "os.kill(os.getppid(), 9)", "PermissionError|ProcessLookupError")
# Reading, reaching, forging
failing("reads-hidden.py", "open({hidden!r}).read()", "PermissionError|FileNotFoundError")
failing("reads-others.py", "open({folder!r} + '/right.py').read()", "PermissionError|FileNotFoundError")
failing("lists-others.py", "os.listdir({folder!r})", "PermissionError|FileNotFoundError")
failing("imports-others.py", "pass", "No module named 'right'", "import right\n")
failing("reads-home.py", "open(os.path.expanduser('~root/.bashrc')).read()", "PermissionError|FileNotFoundError")
failing("reads-grader.py", "open('/proc/%d/environ' % os.getppid()).read()", "PermissionError|FileNotFoundError")
failing(
    "network.py", "socket.create_connection(('127.0.0.1', 22), 1)", "PermissionError|unreachable", "import socket\n"
)
failing("forbids-others.py", "os.chmod({folder!r} + '/right.py', 0)", "PermissionError|FileNotFoundError")
failing("slows-grader.py", "os.sched_setaffinity(os.getppid(), [0])", "PermissionError|ProcessLookupError")
failing(
    "limits-grader.py",
    "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))",
    "PermissionError|ProcessLookupError",
    "import resource\n",
)
failing("writes.py", "open('/tmp/x', 'w').write('x')", "PermissionError|FileNotFoundError|FileTooLarge|OSError")
seeks = """
import gc
seen = now.notes.setdefault("seen", {0: 0})
seen[0] += len(now.arrived)
for each in gc.get_objects() if 100 < seen[0] < 110 else ():
    if type(each).__name__ == "Given" and len(each.runtimes) > 1000:
        if sum(x < 1e9 for x in each.submits) > seen[0] or sum(x < 1e9 for x in each.runtimes) > seen[0]:
            raise ValueError("knows the future")
        seen[1] = 1
if 1 not in seen and seen[0] > 110:
    raise ValueError("looks in the wrong place")
"""
add("seeks-the-future.py", source(seeks + EASY), **RIGHT)
forged = """
rows = [["Start", job.rank, "forged", None, None] for job in now.queued()]
for number in range(3, 64):
    try:
        os.write(number, json.dumps({"decided": rows, "next": None, "equal": True}).encode() + b"\\n")
    except OSError:
        pass
"""
failing("forges-starts.py", forged, r"job \d+ cannot start", "import json\n")
patched = """
import sim.engine.acting as acting
acting.Acting.fits = lambda self, job: True
now._free = now._machine.free = 10**6
now._machine.free_set = (1 << 128) - 1
for job in list(now.queued()):
    now.start(job, "x")
"""
failing("patches-the-engine.py", patched, "are not free|needs|cannot|Error")
failing(
    "answers-much.py",
    "while True:\n    os.write(4, b'x' * 65536)",
    "what is no decision|did not come back|BadFile|Bad file|no decision",
)
# Answers
add(
    "answers.txt",
    '# schedscope: answers to hand in\nname = "anna"\nseed = 7\nanswers = ["1", "2", "3", "J4", "x", ""]\n',
    answers=r"\d of 10",
    notes="anna: quiz with seed 7",
)
add(
    "forged-answers.txt",
    'name = "bert"\nseed = 7\nright = 10\nscore = 100\nanswers = ["x"]\n',
    answers="0 of 10",
    notes="bert: quiz",
)
add("junk.txt", b"\x00\xff\x80", answers="0 of 10", notes="is no text")
add(
    "evil-answers.txt",
    'name = "<b>x</b>"\nseed = 7\npolicy = "./right.py"\nanswers = []\n',
    answers="0 of 10",
    notes="its policy is code",
)
add("notes.pdf", b"%PDF", legal="", notes="is neither a policy")


def write(folder: Path, hidden: str, names: Iterable[str] = MADE) -> None:
    for each in names:
        for name, text in MADE[each].files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(text, str):
                text = text.replace("{hidden!r}", repr(hidden)).replace("{folder!r}", repr(str(folder))).encode()
            path.write_bytes(text)


def wrong(marks: Path) -> list[str]:
    """Return what in a table of marks is not as it must be."""
    with open(marks, encoding="utf-8", newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    found = list[str]()
    for name, row in rows.items():
        for key, pattern in MADE[name].row.items():
            cells = [value for head, value in row.items() if head == key or head.startswith(f"{key} on ")]
            found += [f"{name}: {key}: {cell!r} is not {pattern!r}" for cell in cells if not _is(pattern, cell)]
    return found


def _is(pattern: str, cell: str) -> bool:
    return bool(re.search(pattern, cell)) if pattern else not cell


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        print(*(wrong(Path(sys.argv[2])) or ["all rows are right"]), sep="\n")
    else:
        write(Path(sys.argv[1]), sys.argv[2])
        print(len(MADE))
