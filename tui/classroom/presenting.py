"""File with the scene presented now, for notes in a second terminal; only this user can read it."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import time

from sim.classroom.lessons.lesson import ORDER
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from tui.sessions.autosave import STATE, state_folder

MOST_BYTES = 2**18


@dataclass(frozen=True)
class Presented:
    """Scene of a lesson that is presented, with what the teacher's notes show."""

    lesson: str
    title: str
    says: str
    notes: str
    index: int
    count: int
    asks: str = ""
    answer: str = ""
    then: str = ""
    """Text that the class sees after the question is answered."""
    next: str = ""
    name: str = ""
    """Name of the lesson or path of its file, which is needed to draw the next scene."""
    began: float = 0.0
    """Time at which the presentation began, in seconds since 1970."""
    since: float = 0.0
    """Time at which this scene began, in seconds since 1970."""
    pid: int = 0
    """Id of the process that presents."""

    @classmethod
    def of(cls, walk: Walk, now: float = 0.0) -> Presented:
        scene, after = walk.staged, walk.scenes[walk.index + 1 : walk.index + 2]
        asked = scene.question
        path = walk.lesson.path
        return cls(
            walk.lesson.title, scene.title, walk.text, scene.notes, walk.index, len(walk.scenes),
            asked.asks if asked else "", asked.told if asked else "", scene.then if asked else "",
            after[0].title if after else "", walk.lesson.name if walk.lesson.name in ORDER else os.path.abspath(path),
            now, now, os.getpid(),
        )  # fmt: skip

    def after(self, before: Presented | None) -> Presented:
        """Return a copy with the begin times of `before`, as far as presentation and scene are the same."""
        if before is None or (before.pid, before.lesson) != (self.pid, self.lesson):
            return self
        since = before.since if before.index == self.index else self.since
        return replace(self, began=before.began, since=since)


def place() -> Path:
    """Return the path of the scene's file: in the folder XDG_RUNTIME_DIR or, without it, next to the autosaves."""
    runtime = None if os.environ.get(STATE) else os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(runtime, "schedscope") if runtime else state_folder() / "presenting"
    return folder / "presented.json"


def tell(walk: Walk) -> None:
    path = place()
    _own_folder(path.parent)
    told = Presented.of(walk, time()).after(presented())
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(asdict(told), file)
        os.replace(beside, path)
    except OSError as error:
        raise SchedscopeError(f"{path}: the notes cannot be shown: {error.strerror or error}") from None


def tell_no_more() -> None:
    with suppress(OSError):
        place().unlink()


def presented() -> Presented | None:
    """Return the scene that is presented now, or None."""
    try:
        with open(os.open(place(), os.O_RDONLY | _NOFOLLOW), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not _is_ours(about, 0o077):
                return None
            told = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    known = Presented.__dataclass_fields__
    if not isinstance(told, dict) or told.keys() != known.keys():
        return None
    if any(type(told[name]) is not _TYPES.get(name, str) for name in known):
        return None
    return Presented(**told)


_TYPES: dict[str, type] = {"index": int, "count": int, "pid": int, "began": float, "since": float}


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def _is_ours(about: os.stat_result, others: int) -> bool:
    """Return True (on Windows always) if a file is this user's and others have none of the bits `others`."""
    return not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not about.st_mode & others)


def _own_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError as error:
        raise SchedscopeError(f"{folder}: the notes cannot be shown: {error.strerror or error}") from None
    if not stat.S_ISDIR(about.st_mode) or not _is_ours(about, 0o022):
        raise SchedscopeError(f"{folder}: is not this user's alone: the notes are not shown")
