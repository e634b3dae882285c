"""The real program in a process of its own without the cost of a start, which is mostly imports: a process that has
imported the program is forked.

The fork calls `program` at the top level of its main module, so that Python ends as after a start. What only a start
shows, such as what is imported when, other tests show, which start the program.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

_PATIENCE = 60.0
"""Seconds after which a fork that is still missing fails the test, even on a busy machine"""
_SERVER = """
import gc, json, os, signal, socket, sys
gc.disable()
import tui.app, tui.cli.options, tui.cli.run, tui.sessions.session_manager
from tui.cli.main import program
gc.freeze()
gc.enable()
orders = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    data, files, _, _ = socket.recv_fds(orders, 1 << 20, 4)
    if not data:
        os._exit(0)
    if os.fork():
        for file in files:
            os.close(file)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        break
    for file in files[1:]:
        os.close(file)
    os.write(files[0], b"%9d" % pid)
    os.write(files[0], b"%9d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)
orders.close()
told = json.loads(data)
os.setsid()
for target, file in enumerate(files[1:]):
    os.dup2(file, target)
for file in files:
    os.close(file)
sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
os.chdir(told["folder"])
os.environ.clear()
os.environ.update(told["environment"])
sys.argv = ["schedscope", *told["arguments"]]
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
if told["autosave"]:
    tui.sessions.session_manager.AUTOSAVE = told["autosave"]
del data, files, file, number, orders, pid, target, told
program()
"""
"""Code of the process that is forked. For each order it forks a parent of the program, which tells the number and then
the exit code of the program."""


class Forked:
    """A forked program, with those methods of `subprocess.Popen` that tests use."""

    def __init__(self, parent: socket.socket) -> None:
        self._parent = parent
        self.returncode: int | None = None
        self.pid = self._told(_PATIENCE)

    def _told(self, timeout: float) -> int:
        if not select.select([self._parent], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("schedscope", timeout)
        return int(self._parent.recv(9, socket.MSG_WAITALL))

    def wait(self, timeout: float = _PATIENCE) -> int:
        """Wait until the program ends; return its exit code, or the negative number of the signal that ended it."""
        if self.returncode is None:
            self.returncode = self._told(timeout)
            self._parent.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _server() -> socket.socket:
    """Start the process that is forked; return the connection to it, with whose end it ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def within(terminal: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}, "TERM": terminal}


def forked(
    *arguments: str, files: tuple[int, int, int], cwd: Path | None = None, autosave: float = 0.0, terminal: str = ""
) -> Forked:
    """Run `schedscope` with these arguments in a fork, in a session of its own; `files` are the descriptors of its
    input, output and error output, `autosave` the number of seconds between autosaves, or 0 for as many as usual, and
    `terminal`, if given, its TERM.
    """
    ours, theirs = socket.socketpair()
    told = {
        "arguments": arguments,
        "folder": str(cwd or Path.cwd()),
        "environment": within(terminal) if terminal else {**os.environ},
        "autosave": autosave,
    }
    with theirs:
        socket.send_fds(_server(), [json.dumps(told).encode()], [theirs.fileno(), *files])
    return Forked(ours)


def ran(*arguments: str, cwd: Path | None = None, stdout: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run `schedscope` with these arguments in a fork until it ends, with files instead of a terminal; return its exit
    code and output. The output leaves out what is written to the file descriptor `stdout`."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err, open(os.devnull) as none:
        files = none.fileno(), out.fileno() if stdout is None else stdout, err.fileno()
        program = forked(*arguments, files=files, cwd=cwd)
        try:
            code = program.wait()
        finally:
            program.kill()
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())
