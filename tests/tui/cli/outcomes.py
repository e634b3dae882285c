"""Outcome of a command line: it is done, or refused in one line; anything else is a fault."""

import os
import re
import resource
import signal
from traceback import format_exc

from tests.tui.cli.program import Done, schedscope

SECONDS, KILOBYTES = 10, 1_000_000
MOST_ADDRESSED = 4 << 30
"""Bytes of memory that a process may reserve, so that a line which asks for all of it fails at once"""
TOLD = 100
"""Number of lines between two lines of progress"""


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


def judged(done: Done) -> str:
    """Return the outcome of a command: an error must be one printable line with a known exit code, otherwise it is a
    fault."""
    faults = ("Traceback", "internal error", "Warning")
    of_us = re.sub(r"(?m)^\S*own\.py:\d+: \w+Warning: .*$", "", done.stderr)
    if any(fault in of_us for fault in faults) or done.returncode not in (0, 1, 2):
        return f"fault {done.returncode} {done.stderr[-1500:]}"
    if done.returncode and not "".join(done.stderr.splitlines()[-1:]).startswith("schedscope: error: "):
        return "told" if done.stdout else f"fault {done.returncode} {done.stderr[-300:]!r}"
    if any(letter in done.stderr + done.stdout for letter in "\x1b\x07\u202e"):
        return f"fault an escape: {done.stderr[-300:]!r} {done.stdout[-300:]!r}"
    return "refused" if done.returncode else "done"
