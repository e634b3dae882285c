"""Imitation of Windows for the modules of this project alone: what Windows lacks is missing, and `sys.platform` is
"win32".

The standard library and other packages stay as they are, so that they work here. Behaviour that only a real Windows
shows (its console, its paths, files that are in use) is tested by the workflow on Windows. Run as a program, this
module prints in JSON what happened.
"""

import asyncio
import builtins
import fcntl
import importlib
import io
import json
import ntpath
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

ABSENT = frozenset(
    {
        *("fcntl", "termios", "resource", "pty", "tty", "pwd", "grp", "posix", "readline", "curses", "syslog", "crypt"),
        *("asyncio.unix_events", "multiprocessing.popen_fork"),
    }
)
"""Modules that do not exist on Windows."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LACKING = {
    "os": _words("""
        O_CLOEXEC O_NOCTTY O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_SYNC WIFEXITED WIFSIGNALED WNOHANG WUNTRACED chown chroot
        confstr ctermid fchdir fchmod fchown fdatasync fork forkpty fpathconf getegid geteuid getgid getgrouplist
        getgroups getloadavg getpgid getpgrp getpriority getresuid getsid getuid getxattr initgroups killpg lchown
        lockf major makedev memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise
        posix_spawn pread preadv pwrite readv register_at_fork removexattr sched_getaffinity sched_setaffinity
        sched_yield sendfile set_blocking setegid seteuid setgid setpgid setpriority setsid setuid setxattr statvfs
        sync sysconf tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid writev
        """),
    "signal": _words("""
        SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGTTIN SIGTTOU
        SIGUSR1 SIGUSR2 SIGWINCH ITIMER_REAL alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt
        sigpending sigwait
        """),
    "select": frozenset({"poll", "epoll", "kqueue", "PIPE_BUF", "POLLHUP", "POLLERR", "POLLNVAL", "POLLIN"}),
    "socket": frozenset({"AF_UNIX", "send_fds", "recv_fds", "CMSG_LEN", "CMSG_SPACE", "SCM_RIGHTS", "AF_NETLINK"}),
    "asyncio": frozenset({"open_unix_connection", "start_unix_server"}),
    "time": frozenset({"tzset", "clock_gettime", "CLOCK_MONOTONIC", "pthread_getcpuclockid"}),
    "sys": frozenset({"abiflags"}),
}
"""For each module: the names that it lacks on Windows, with CPython 3.11."""
OURS = ("sim", "tui")


class _Lacking(ModuleType):
    """A module of the standard library as it is on Windows: without some names, and with some values changed."""

    def __init__(self, real: ModuleType, missing: frozenset[str], **changed: object) -> None:
        super().__init__(real.__name__)
        inside = object.__getattribute__(self, "__dict__")
        inside.update(_real=real, _missing=missing, _changed=changed)

    def __getattribute__(self, name: str) -> Any:
        inside = object.__getattribute__(self, "__dict__")
        if name in inside["_missing"]:
            raise AttributeError(f"module {inside['_real'].__name__!r} has no attribute {name!r}")
        return inside["_changed"][name] if name in inside["_changed"] else getattr(inside["_real"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "__dict__")["_real"], name, value)


def fake() -> None:
    """Let the modules of the project see Windows; none of them may have been imported before."""
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] in OURS)
    assert not loaded, f"imported before: {loaded}"
    real = builtins.__import__
    changed: dict[str, dict[str, object]] = {
        "sys": {"platform": "win32"},
        "os": {"name": "nt", "supports_fd": frozenset()},
    }
    seen: dict[str, ModuleType] = {
        name: _Lacking(real(name), missing, **changed.get(name, {})) for name, missing in LACKING.items()
    }

    seen["msvcrt"] = ModuleType("msvcrt")
    seen["msvcrt"].__dict__.update(LK_NBLCK=2, locking=_lock)

    def imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        importer = str((globals or {}).get("__name__", ""))
        if importer.partition(".")[0] in OURS and not level:
            if name in ABSENT:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in seen:
                return seen[name]
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = imported


def _lock(file: int, mode: int, size: int) -> None:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def broken_imports(root: Path) -> dict[str, str]:
    """Return the modules of the project that cannot be imported: mapping from name to error."""
    broken = {}
    for path in sorted([*(root / "sim").rglob("*.py"), *(root / "tui").rglob("*.py")]):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        try:
            if path.name != "__main__.py":
                importlib.import_module(module)
        except Exception as error:
            broken[module] = repr(error)
    return broken


def said(*words: str) -> tuple[int, str, str]:
    """Run a command within this process; return (exit code, output, errors)."""
    from tui.cli.main import main

    code, out, err = 0, io.StringIO(), io.StringIO()
    sys.argv = ["schedscope", *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return code, out.getvalue(), err.getvalue()


async def watched() -> list[int]:
    """Save a session twice into the same file, at different steps; return the step that the file then has, for each
    save."""
    from sim.session.session import read_session
    from tests.tui.replays import replay

    saved = []
    async with replay() as run:
        for _ in range(2):
            await run.press("right", "s", "enter")
            saved.append(read_session("z-figure4.session").step)
    return saved


def autosaved() -> list[bool]:
    """Return if an autosave is offered: while its program runs, after that crashed, while a new one runs, and after
    that ended regularly."""
    from sim.session.session import read_session
    from tui.sessions.autosave import Autosave, offer

    session, offered = read_session("z-figure4.session"), []
    for leave in (lambda autosave: os.close(autosave._lock), Autosave.close):
        autosave = Autosave(Path("state"))
        autosave.save(session)
        offered.append(offer(Path("state")) is not None)
        leave(autosave)
        offered.append((orphan := offer(Path("state"))) is not None)
        if orphan:
            orphan.discard()
    return offered


def presented() -> int | None:
    """Tell a second terminal the scene of a presentation; return the index of the scene that it reads, or None."""
    from sim.classroom.lessons.lesson_file import found_lesson
    from sim.classroom.lessons.performance import Performance
    from sim.classroom.lessons.walk import Walk
    from tui.classroom import presenting

    presenting.tell(Walk.of(Performance(found_lesson("backfilling")), 1))
    now = presenting.presented()
    return None if now is None else now.index


def named() -> list[list[str]]:
    """Return, for policies in files with a Windows drive: path, class and parameters of each code that the spec names,
    and the full spec."""
    from sim.policies.own.naming import code_in, full_spec

    os.path = ntpath
    specs = (r"C:\pol\fair.py:Fair:h=2", r"easy:order=D:/pol/o.py", r"adaptive:above=C:\a.py:h=2,below=easy")
    return [[*(part for n in code_in(spec) for part in (n.path, n.cls, n.rest)), full_spec(spec)] for spec in specs]


COMMANDS: dict[str, tuple[str, ...]] = {
    "doctor": ("doctor",),
    "new": ("new", "mine.py"),
    "run": ("run", "lublin-128", "--policy", "./mine.py", "--schedule", "runs.csv"),
    "draw": ("draw", "w-figure1", "-o", "chart.svg"),
    "record": ("record", "w-figure1", "-o", "film.cast"),
    "sweep": ("sweep", "w-figure1", "--policy", "easy", "--policy", "fcfs", "--workers", "1", "-o", "results.db"),
    "results": ("results", "results.db"),
    "manual": ("manual", "man"),
    "serve": ("serve",),
}

if __name__ == "__main__":
    fake()
    print(
        json.dumps(
            {
                "broken": broken_imports(Path(__file__).resolve().parents[1]),
                "commands": {name: said(*words) for name, words in COMMANDS.items()},
                "again": said(*COMMANDS["draw"]),
                "saved": asyncio.run(watched()),
                "autosaved": autosaved(),
                "presented": presented(),
                "named": named(),
            }
        )
    )
