"""Consent to user-defined code that a session names: it runs only after the user has agreed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType

from sim.policies.own.consent import NOT_SHOWN, OwnCodeError, Proof, agree
from sim.policies.own.loading import changed, contents_of, file_of_module, files_beside_module, hash_now
from sim.policies.own.naming import Named, code_in, named_code, origin, plugins
from sim.policies.own.sibling_imports import TooLargeError
from sim.policies.policy import CodeRef
from sim.policies.registry import parse_policy
from sim.session.session import BranchRecord, Session
from sim.session.syntax import SessionError
from sim.support.formatting import count, listed, shortened

LONGEST_NAME = 200
SHOWN = 8
"""Largest number of files or modules that are described before the user agrees; others are counted"""
ON_NETWORK = ("\\\\", "//", "/net/", "/afs/")
"""Beginnings of paths for which the system contacts another machine, even to find the size of a file."""


class NeedsTrustError(SessionError):
    """Session that would run code: `code` refers to it, `told` describes the first pieces, a line each."""

    def __init__(self, code: tuple[CodeRef, ...], session: Session) -> None:
        self.code, self.session = code, session
        hashes = {ref.name: NOT_SHOWN if at >= SHOWN else _hash_of(ref) for at, ref in enumerate(code)}
        self.seen = {name: sha256 for name, sha256 in hashes.items() if sha256 is not None}
        """Name of code -> hash of what the user is shown: `NOT_SHOWN` beyond the first `SHOWN`, "" if it fails to load.
        Code whose hash is not known yet is missing.
        """
        self.told = tuple(map(described, code[:SHOWN]))
        every = [*self.told, *(ref.name for ref in code[SHOWN:])]
        super().__init__(f"the session runs code: {listed(every)}; if you trust it, open it with --trust")


def needs_trust(session: Session) -> tuple[CodeRef, ...]:
    """Return references to the code that opening the session would run and that the user has not agreed to."""
    return () if session.is_trusted else session.named_code


def trusted(session: Session, proof: Proof, seen: Mapping[str, str] = MappingProxyType({})) -> Session:
    """Run the code, if its hash is as in `seen`; return the session with its policies, and warnings for changes."""
    code = needs_trust(session)
    warnings = [f"{described(ref)}: the run may differ" for ref in code if ref.sha256 and changed(ref) is not False]
    agree((named for spec in session.specs for named in code_in(spec)), proof, seen)
    branches = tuple(map(_with_policies, session.branches))
    return replace(session, branches=branches, warnings=(*session.warnings, *warnings), is_trusted=True)


def _with_policies(branch: BranchRecord) -> BranchRecord:
    switches = (replace(switch, policy=parse_policy(switch.spec)) for switch in branch.switches)
    return replace(branch, switches=tuple(switches))


def described(ref: CodeRef) -> str:
    """Return text on a piece of code: its name, and what the system says about its file. The code is not run."""
    named = named_code(ref.name)
    if named is not None and is_on_network(named):
        return f"{shortened(ref.name, LONGEST_NAME)} (on another machine, which is not asked before you agree)"
    if named is None or not named.is_file:
        facts = [f"a policy of {origin(ref.name)}, installed"] if ref.name in plugins() else _facts_of_module(ref.name)
    elif named.revision:
        facts = [f"revision {named.revision}, which git reads when you agree"]
    else:
        facts = [*_facts_of(Path(named.path)), *_facts_of_imports(named)]
    match changed(ref) if ref.sha256 else False:
        case None:
            facts = ["it is not there any more"]
        case True:
            facts.append("changed since the session was made")
    shown = shortened(ref.name, LONGEST_NAME)
    return f"{shown} ({', '.join(facts)})" if facts else shown


def _hash_of(ref: CodeRef) -> str | None:
    named = named_code(ref.name)
    return None if named is not None and is_on_network(named) else hash_now(ref.name)


def is_on_network(named: Named) -> bool:
    return named.is_file and named.path.startswith(ON_NETWORK)


def _facts_of_imports(named: Named) -> list[str]:
    try:
        return _imports(len(contents_of(named)) - 1)
    except TooLargeError as error:
        return [error.what]
    except OwnCodeError:
        return []


def _imports(files: int) -> list[str]:
    return [f"it imports {count(files, 'file')} from its folder"] if files else []


def _facts_of_module(name: str) -> list[str]:
    """Return the path of a module's file and facts about it, as text; the module is not imported."""
    try:
        file, others = file_of_module(name), files_beside_module(name)
    except TooLargeError as error:
        return ["a module", error.what]
    except (ImportError, ValueError):
        return ["a module"]
    return [f"a module: {shortened(file, LONGEST_NAME)}", *_facts_of(Path(file)), *_imports(others)]


def _facts_of(path: Path) -> list[str]:
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            return ["no regular file"]
        day = datetime.fromtimestamp(found.st_mtime).date()
        facts = [count(found.st_size, "byte"), f"last changed on {day}"]
    except (OSError, ValueError, OverflowError):
        return []
    try:
        return [*facts, f"owner {path.owner()}"]
    except (OSError, KeyError, NotImplementedError):
        return facts
