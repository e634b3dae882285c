"""Walls around the process of a submission, which limit its files, memory, processes and network; on Linux.

Landlock closes all files but those of Python, and where the kernel lacks it, namespaces with a root of their own do. A
filter of system calls forbids new processes, programs, sockets and signals to others, so a fork bomb cannot begin.
A process behind the walls tries whether they hold (`tried`).
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
"""Files of the system that Python reads, besides its own"""
ERRNO, ALLOW, KILL = 0x50000, 0x7FFF0000, 0x80000000
REFUSED, MISSING = ERRNO | 1, ERRNO | 38
"""Answers of the filter of system calls: not permitted; and not implemented, after which libraries use an older call"""
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Name of a machine -> number of its architecture in filters, and its column in the tables of calls"""
CLONE, CLONE3, THREAD = (56, 220), 435, 0x10000
OWN_ONLY = ((234, 131), (302, 261))
"""System calls that are allowed for this process itself: tgkill and prlimit64"""
REFUSED_CALLS = (
    (57, -1), (58, -1), (59, 221), (322, 281),  # fork, vfork, execve, execveat
    (41, 198), (29, 194), (68, 186), (64, 190), (240, 180),  # socket, shmget, msgget, semget, mq_open
    (62, 129), (200, 130), (129, 138), (297, 240), (424, 424), (434, 434), (438, 438),  # kill, tkill, ..., pidfd_*
    (101, 117), (310, 270), (311, 271), (298, 241), (321, 280), (312, 272),  # ptrace, process_vm_*, perf, bpf, kcmp
    (272, 97), (308, 268), (165, 40), (166, 39), (155, 41), (161, 51),  # unshare, setns, mount ..., chroot
    (90, -1), (91, 52), (268, 53), (452, 452), (92, -1), (93, 55), (94, -1), (260, 54), (76, 45),  # chmod, chown, ...
    (132, -1), (235, -1), (261, -1), (280, 88), (188, 5), (189, 6), (190, 7), (197, 14), (198, 15),  # utime, setxattr
    (199, 16), (254, 27), (203, 122), (144, 119), (142, 118), (314, 274), (141, 140), (251, 30),  # ..., sched_set*
    (256, 238), (279, 239), (440, 440), (250, 219), (248, 217), (323, 282),  # move_pages ..., keyctl, userfaultfd
    *((call, call) for call in (425, 428, 429, 430, 442)),  # io_uring_setup, and mounts by new calls
)  # fmt: skip
"""Numbers of system calls on both machines; -1 for one that a machine lacks"""
NEW_NS, NEW_NET, NEW_USER = 0x20000, 0x40000000, 0x10000000


def raise_walls(readable: Iterable[str], memory: int, is_landlocked: bool = True) -> None:
    """Raise all walls that this system has; `memory` in bytes. Nothing is wrong if one is missing: see `tried`."""
    import resource  # not on Windows

    for limit, most in (
        (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):  # fmt: skip
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (most, most))
    if sys.platform != "linux":
        return
    libc, folders = ctypes.CDLL(None, use_errno=True), sorted({*map(os.path.realpath, readable), *SYSTEM})
    folders = [folder for folder in folders if os.path.exists(folder)]
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    if not (is_landlocked and _landlocked(libc, folders)):
        with suppress(OSError):
            _in_rooms(libc, folders)
    libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24))
    libc.prctl(1, 9, 0, 0, 0)  # end with the parent; rights that change would take this back
    _filter_calls(libc)


def _landlocked(libc: ctypes.CDLL, folders: list[str]) -> bool:
    """Let this process read only these folders and files; return False if the kernel has no Landlock."""
    version = libc.syscall(444, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    asked = struct.pack("QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    rules = libc.syscall(444, asked, len(asked), 0)
    for folder in folders:
        file = os.open(folder, os.O_PATH)
        libc.syscall(445, rules, 1, struct.pack("=Qi", 12 if os.path.isdir(folder) else 4, file), 0)
        os.close(file)
    is_done = bool(rules >= 0 and libc.syscall(446, rules, 0) == 0)
    os.close(rules)
    return is_done


def _in_rooms(libc: ctypes.CDLL, folders: list[str]) -> None:
    """Give this process a network of its own, and a root with these folders and files only, not to be written."""
    user, group = os.getuid(), os.getgid()
    _called(libc.unshare(NEW_NS | NEW_NET | (NEW_USER if user else 0)))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    private, bound, read_only, root = 0x44000, 0x5000, 0x1021, "/proc"  # a folder that is always there
    _called(libc.mount(None, b"/", None, private, None))
    _called(libc.mount(b"tmpfs", root.encode(), b"tmpfs", 0, None))
    for folder in folders:
        place, is_folder = root + folder, os.path.isdir(folder)
        os.makedirs(place if is_folder else os.path.dirname(place), exist_ok=True)
        if not is_folder:
            Path(place).touch()
        _called(libc.mount(folder.encode(), place.encode(), None, bound, None))
        kept = os.statvfs(folder).f_flag & 0x40E  # a user may not take away what the mount forbids
        _called(libc.mount(None, place.encode(), None, read_only | kept, None))
    os.chdir(root)
    _called(libc.pivot_root(b".", b"."))
    _called(libc.umount2(b".", 2))
    os.chdir("/")


def _called(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _filter_calls(libc: ctypes.CDLL) -> None:
    """Refuse system calls that start processes, reach others or the network, or change what is mounted."""
    if (machine := MACHINES.get(platform.machine())) is None:
        return
    architecture, column = machine
    load, equal, at_least, has_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    code = [(load, 0, 0, 4), (equal, 1, 0, architecture), (answer, 0, 0, KILL), (load, 0, 0, 0)]
    code += [(at_least, 0, 1, 0x40000000), (answer, 0, 0, REFUSED), (equal, 0, 1, CLONE3), (answer, 0, 0, MISSING)]
    for number in (call[column] for call in REFUSED_CALLS):
        code += [(equal, 0, 1, number & 0xFFFFFFFF), (answer, 0, 0, REFUSED)]
    allowed = [(answer, 0, 0, REFUSED), (answer, 0, 0, ALLOW)]
    code += [(equal, 0, 4, CLONE[column]), (load, 0, 0, 16), (has_bit, 1, 0, THREAD), *allowed]
    for number in (call[column] for call in OWN_ONLY):
        own = (equal, 1, 0, 0), (equal, 0, 1, os.getpid()), (answer, 0, 0, ALLOW), (answer, 0, 0, REFUSED)
        code += [(equal, 0, 5, number), (load, 0, 0, 16), *own]
    code += [(answer, 0, 0, ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    libc.prctl(22, 2, struct.pack("HP", len(code), ctypes.addressof(program)), 0, 0)


# Whether they hold


def tried(files: Iterable[str], port: int) -> list[str]:
    """Try what walls must prevent; return what was possible, in words. A server listens at `port` of this machine."""
    attempts: dict[str, Callable[[], object]] = {
        **{f"read {path}": partial(_read, path) for path in files},
        "write a file": lambda: Path(f"/tmp/schedscope-{os.getpid()}").write_text("x"),
        "reach the network": lambda: socket.create_connection(("127.0.0.1", port), 1).close(),
        "start a process": lambda: os.fork() or os._exit(0),
        "send signals": lambda: os.kill(os.getppid(), 0),
    }
    found = []
    for what, attempt in attempts.items():
        with suppress(OSError):
            attempt()
            found.append(what)
    return found


def _read(path: str) -> None:
    if os.path.isdir(path):
        os.listdir(path)
    else:
        os.close(os.open(path, os.O_RDONLY))
