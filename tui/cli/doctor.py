"""Command `schedscope doctor`: report what is wrong here, and how to mend it."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Literal

import click

from sim.support.formatting import printable, shortened
from tui.cli import options
from tui.cli.terminal import is_terminal, say
from tui.look.text import table

PROGRAM = "schedscope"
SMALLEST = (60, 18)
"""Smallest size of a screen for the program, in columns and rows."""
PROGRAMS = {
    "git": "policies of an older revision (./fair.py@HEAD)",
    "ssh": "live --ssh HOST",
    "squeue": "live, why and when on this machine",
    "sbatch": "sweep --slurm",
}
"""Other programs that schedscope starts: for each name, the part of schedscope that needs it."""
State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class Finding:
    """Result of one check of the installation; `mend` says what the user should do, "" if nothing."""

    group: str
    name: str
    state: State
    what: str
    mend: str = ""


@dataclass(frozen=True)
class Terminal:
    """Properties of the terminal; `size` is None if stdout is no terminal."""

    environ: Mapping[str, str]
    encoding: str
    size: tuple[int, int] | None
    depth: int
    """Number of bits that the terminal uses for a colour: 24, 8 or 4."""

    @classmethod
    def found(cls) -> Terminal:
        from rich.console import Console

        from tui.look.themes import depth_of

        size = shutil.get_terminal_size() if is_terminal(sys.stdout) else None
        encoding = (sys.stdout and sys.stdout.encoding) or "ascii"
        return cls(os.environ, encoding, size and (size.columns, size.lines), depth_of(Console()))


@click.command("doctor")
@options.form("table", "json")
def command(form: str) -> int:
    """Check this installation and this terminal: what they can do, what is wrong, and how to mend it.

    Exit code 0 if nothing is wrong, else 1.
    """
    findings = [*installation(), *extras(), *terminal(Terminal.found()), *folders(), *programs()]
    if form == "json":
        say(json.dumps([asdict(finding) for finding in findings], indent=2), exact=True)
    else:
        say("\n".join(report(findings)))
    return 1 if any(finding.state == "wrong" for finding in findings) else 0


def report(findings: list[Finding]) -> list[str]:
    lines: list[str] = []
    for group in dict.fromkeys(finding.group for finding in findings):
        rows = [finding for finding in findings if finding.group == group]
        shown = table([[f"{each.state:5}", each.name, each.what] for each in rows], align=["left"] * 3, indent=2)
        lines += ["", group]
        for line, finding in zip(shown, rows, strict=True):
            lines.append(line)
            if finding.mend:
                lines.append(f"         {finding.mend}")
    wrong = sum(finding.state == "wrong" for finding in findings)
    return [*lines[1:], "", f"{wrong} wrong" if wrong else "nothing is wrong"]


# The installation


def installation() -> Iterator[Finding]:
    from sim import __version__
    from sim.compiled import described

    group, system = "installation", f"{platform.system()} {platform.machine()}"
    yield Finding(group, PROGRAM, "ok", f"{__version__} on Python {platform.python_version()}, {system}")
    compiled = shortened(printable(described()))
    mend = "" if compiled == "compiled" else "install a C compiler and Python's headers, then schedscope again"
    yield Finding(group, "compiled", "note" if mend else "ok", compiled, mend)
    yield from _libraries(group)


def _libraries(group: str) -> Iterator[Finding]:
    for name, needed in requirements().get("", {}).items():
        try:
            yield Finding(group, name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(group, name, "wrong", "missing", f"pip install '{name}{needed}'")


def requirements() -> dict[str, dict[str, str]]:
    """Return for each extra, "" for what is always needed, its libraries with the versions for this system."""
    try:
        declared = distribution(PROGRAM).requires or []
    except PackageNotFoundError:
        return {}
    found: dict[str, dict[str, str]] = {}
    for line in declared:
        needed, _, condition = line.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)", condition)
        name = re.match(r"[\w.-]+", needed)
        system = re.search(r"sys_platform == ['\"](\w+)", condition)
        if name and (system is None or system[1] == sys.platform):
            versions = re.sub(r"\[.*?\]", "", needed.strip()[name.end() :]).strip()
            found.setdefault(extra[1] if extra else "", {})[name[0]] = versions
    return found


def extras() -> Iterator[Finding]:
    for extra, libraries in requirements().items():
        if extra in ("", "test", "site"):
            continue
        missing = [name for name in libraries if not _is_installed(name)]
        if missing:
            mend = f"pip install '{PROGRAM}[{extra}]'"
            yield Finding("extras", extra, "note", f"missing: {', '.join(missing)}", mend)
        else:
            yield Finding("extras", extra, "ok", ", ".join(libraries))


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


# The terminal


def terminal(found: Terminal) -> Iterator[Finding]:
    from tui.look.settings import examine, settings_path
    from tui.look.themes import choose, frames_a_second

    group, environ = "terminal", found.environ
    if found.size is None:
        yield Finding(group, "size", "note", "stdout is no terminal", "run it in a terminal to learn more")
    else:
        shown, least = "x".join(map(str, found.size)), "x".join(map(str, SMALLEST))
        fits = all(has >= needs for has, needs in zip(found.size, SMALLEST, strict=True))
        yield Finding(group, "size", *(("ok", shown) if fits else ("wrong", shown, f"make it at least {least}")))
    yield _encoding(group, found.encoding)
    yield _colours(group, found)
    look = choose(examine(settings_path())[0], environ, found.encoding)
    yield Finding(group, "look", "ok", f"{look.name}, {look.mode}")
    fps = frames_a_second(environ)
    yield Finding(group, "frames", "ok", f"{fps} a second")


def _encoding(group: str, encoding: str) -> Finding:
    if encoding.lower().replace("-", "").startswith("utf"):
        return Finding(group, "encoding", "ok", encoding)
    return Finding(group, "encoding", "note", f"{encoding}: drawn in ASCII", "export LANG=C.UTF-8")


def _colours(group: str, found: Terminal) -> Finding:
    if found.environ.get("NO_COLOR"):
        return Finding(group, "colours", "note", "none: NO_COLOR is set", "unset NO_COLOR")
    names = {24: "16 million", 8: "256", 4: "16"}
    term = found.environ.get("TERM", "")
    if found.depth == 24:
        return Finding(group, "colours", "ok", names[24])
    what = f"{names[found.depth]} (TERM={shortened(printable(term))}, no COLORTERM)"
    if found.size is None:
        return Finding(group, "colours", "note", "unknown without a terminal")
    if found.environ.get("TMUX"):
        mend = "in ~/.tmux.conf: set -as terminal-features ',*:RGB'; then export COLORTERM=truecolor"
    else:
        mend = "export COLORTERM=truecolor, if the terminal shows 16 million colours"
    return Finding(group, "colours", "note", what, mend)


# Folders and programs


def folders() -> Iterator[Finding]:
    from tui.look.settings import FOLDER_VARIABLE, examine, settings_path
    from tui.sessions.autosave import STATE, state_folder

    path = settings_path()
    _, problem = examine(path)
    if problem:
        yield Finding("folders", "settings", "wrong", printable(problem), "mend the file, or remove it")
    else:
        yield _folder("settings", path.parent, FOLDER_VARIABLE)
    yield _folder("autosaves", state_folder(), STATE)


def _folder(name: str, folder: Path, variable: str) -> Finding:
    """Return a finding on whether a folder can be written or created; `variable` can name another."""
    nearest = next(each for each in (folder, *folder.parents) if os.path.exists(each))
    if os.path.isdir(nearest) and os.access(nearest, os.W_OK):
        return Finding("folders", name, "ok", printable(str(folder)))
    mend = f"export {variable}=FOLDER names another"
    return Finding("folders", name, "wrong", f"{printable(str(folder))} cannot be written to", mend)


def programs() -> Iterator[Finding]:
    for name, use in PROGRAMS.items():
        path = shutil.which(name)
        state: State = "ok" if path else "note"
        yield Finding("programs", name, state, f"{printable(path) if path else 'missing'}, for {use}")
