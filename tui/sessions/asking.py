"""A session that names code of somebody's own runs none of it before a person says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sim.session.trust import NeedsTrustError, owner
from sim.words import printable
from tui.replay.opening import Opening
from tui.screens.dialogs.choice import Choice
from tui.sessions.moment import reopened, without_code

RUN, WITHOUT = "run it", "open without it"


def question(asked: NeedsTrustError) -> Choice:
    """Whose code it is, where it lies, and whether it has changed; who presses Enter runs nothing."""
    options = (
        ("y", RUN, "it may do whatever you may"),
        ("n", WITHOUT, "the trace alone, under easy"),
    )
    return Choice("This session runs code", options, WITHOUT, told=list(_told(asked)))


def _told(asked: NeedsTrustError) -> Iterator[str]:
    for ref, told in zip(asked.code, asked.told, strict=True):
        whose = owner(ref) if Path(ref.name).is_absolute() else ""
        yield printable(told + (f", a file of {whose}'s" if whose else ""))


def answered(asked: NeedsTrustError, answer: str) -> Opening:
    """What is opened then."""
    return reopened(asked.session, trust=True) if answer == RUN else without_code(asked.session)
