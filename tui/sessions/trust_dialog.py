"""Dialog that asks for consent before user-defined code of a session runs."""

from __future__ import annotations

from sim.policies.own.consent import Proof
from sim.session.trust import NeedsTrustError
from sim.support.formatting import printable
from tui.replay.opening import Opening
from tui.screens.dialogs.choice import ChoiceDialog
from tui.sessions.session_conversion import reopened, without_code
from tui.sessions.trust_record import since_trusted

RUN, WITHOUT = "run it", "open without it"


def question(asked: NeedsTrustError) -> ChoiceDialog:
    """Return the dialog: whose code it is, where it is, and whether it has changed. Enter alone does not agree."""
    options = (("y", RUN, "it runs with your permissions"), ("n", WITHOUT, "the trace alone, under easy"))
    told = [
        printable(line)
        for ref, facts in zip(asked.code, asked.told, strict=False)
        for line in (facts, since_trusted(ref))
        if line
    ]
    if left := len(asked.code) - len(asked.told):
        told.append(f"and {left:,} more")
    return ChoiceDialog("This session runs code", options, WITHOUT, told=told)


def answered(asked: NeedsTrustError, answer: str) -> Opening:
    return reopened(asked.session, Proof.CONFIRMED, asked.seen) if answer == RUN else without_code(asked.session)
