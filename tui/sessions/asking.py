"""A session that names code of somebody's own runs none of it before a person says so."""

from __future__ import annotations

from sim.policies.own.consent import Proof
from sim.session.trust import NeedsTrustError
from sim.words import printable
from tui.replay.opening import Opening
from tui.screens.dialogs.choice import Choice
from tui.sessions.moment import reopened, without_code

SHOWN = 8
"""Pieces of code that the question lists; what is left is counted."""
RUN, WITHOUT = "run it", "open without it"


def question(asked: NeedsTrustError) -> Choice:
    """Whose code it is, where it lies, and whether it has changed; who presses Enter runs nothing."""
    options = (
        ("y", RUN, "it may do whatever you may"),
        ("n", WITHOUT, "the trace alone, under easy"),
    )
    told = [printable(each) for each in asked.told[:SHOWN]]
    if (left := len(asked.told) - SHOWN) > 0:
        told.append(f"and {left:,} more")
    return Choice("This session runs code", options, WITHOUT, told=told)


def answered(asked: NeedsTrustError, answer: str) -> Opening:
    """What is opened then."""
    return reopened(asked.session, Proof.CONFIRMED) if answer == RUN else without_code(asked.session)
