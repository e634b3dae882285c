"""Consent to user-defined code: none of it runs in this process before a person has agreed to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType

from sim.errors import NotThereError
from sim.formatting import printable, shortened
from sim.policies.own.naming import Named


class Proof(Enum):
    """Kinds of proof that a user has agreed to run code."""

    TYPED = "its name was typed on this command line or in this screen"
    CONFIRMED = "the question of a dialog was answered with yes"
    OPTION = "--trust was given with the file that names it"
    SENT = "it came with the runs from the process that this worker works for"


class OwnCodeError(NotThereError):
    """Error for user-defined code that contains no usable policy: the problem, with file and line."""

    def __init__(self, what: str, path: str, line: int = 0, source: str = "") -> None:
        self.what, self.path, self.line, self.source = what, path, line, source
        path = shortened(path, 200)
        where = f"{path}:{line}" if line else path
        line_of_it = f": {shortened(source.strip(), 80)}" if source.strip() else ""
        super().__init__(printable(f"{where}: {what}{line_of_it}"))


_agreed: dict[str, Proof] = {}
_seen: dict[str, str] = {}
"""Name of code -> hash of the content to which a person agreed, if that was shown"""
_is_open = False
_is_asked = False
"""True once consent has been needed in this process; afterwards importing the library gives no consent."""
_is_refused = False


def agree(code: Iterable[Named], proof: Proof, seen: Mapping[str, str] = MappingProxyType({})) -> None:
    """Allow this code to run in this process from now on, because of this proof; what was `seen` only as it was then.

    `seen`: name of code -> hash of the content that the user was shown.
    """
    for named in code:
        _agreed[named.name] = proof
        if named.name in seen:
            _seen[named.name] = seen[named.name]
        elif proof is not Proof.CONFIRMED:
            _seen.pop(named.name, None)


def heed_content(name: str, sha256: str) -> None:
    """Raise an `OwnCodeError` if the user has agreed to other content of this code."""
    if _seen.get(name, sha256) != sha256:
        raise OwnCodeError("has changed since you agreed to it; open the session again", name)


def heed_consent(named: Named) -> None:
    """Raise an `OwnCodeError` unless a person has agreed to this code."""
    if _is_refused:
        raise OwnCodeError("no user-defined code runs here", named.head)
    if _is_open:
        return
    ask_for_consent()
    if named.name not in _agreed:
        raise OwnCodeError("code runs only when a person has named it or agreed to it", named.head)


def open_to_program() -> None:
    """Allow all code that is named in this process: a user's own program imports the library and names the code.

    A policy that imports the library, too, does not open a process in which code needs consent.
    """
    global _is_open
    _is_open = not _is_asked


def ask_for_consent() -> None:
    """Require a proof of consent for all code, as opened files may come from other people."""
    global _is_open, _is_asked
    _is_open, _is_asked = False, True


def refuse() -> None:
    """Forbid all user-defined code in this process from now on, whatever the consent."""
    global _is_refused
    _is_refused = True


def is_refused() -> bool:
    """Return True if this process runs no user-defined code at all."""
    return _is_refused
