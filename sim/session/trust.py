"""Trust in the user-defined code that a session names: it runs only after the user has agreed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sim.policies.loading import changed
from sim.policies.policy import CodeRef
from sim.policies.registry import parse_policy
from sim.session.session import BranchRecord, Session
from sim.session.syntax import SessionError
from sim.words import listed


class NeedsTrustError(SessionError):
    """Error for a session that would run code: `code` has the files, `told` a line about each of them."""

    def __init__(self, code: tuple[CodeRef, ...], session: Session) -> None:
        self.code, self.told, self.session = code, tuple(map(_told, code)), session
        super().__init__(f"the session runs code: {listed(self.told)}; if you trust it, open it with --trust")


def needs_trust(session: Session) -> tuple[CodeRef, ...]:
    """Return the code that opening the session would run and that the user has not trusted yet."""
    return () if session.is_trusted else session.named_code


def trusted(session: Session) -> Session:
    """Run the code of the session and return it with the resulting policies, and a warning for each changed file."""
    code = needs_trust(session)
    warnings = [f"{_told(ref)}: the run may differ" for ref in code if ref.sha256 and changed(ref) is not False]
    branches = tuple(map(_with_policies, session.branches))
    return replace(session, branches=branches, warnings=(*session.warnings, *warnings), is_trusted=True)


def _with_policies(branch: BranchRecord) -> BranchRecord:
    switches = (replace(switch, policy=parse_policy(switch.spec)) for switch in branch.switches)
    return replace(branch, switches=tuple(switches))


def owner(ref: CodeRef) -> str:
    """Return the name of the file's owner, or "" if the system does not report it."""
    try:
        return Path(ref.name).owner()
    except (OSError, KeyError, ValueError, NotImplementedError):
        return ""


def _told(ref: CodeRef) -> str:
    match changed(ref) if ref.sha256 else False:
        case None:
            return f"{ref.name} (it is not there any more)"
        case True:
            return f"{ref.name} (changed since the session was made)"
    return ref.name
