"""Consent to user-defined code: none of it runs in this process before a person has agreed to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType

from sim.policies.own.naming import Named
from sim.support.errors import NotThereError
from sim.support.formatting import printable, shortened


class Proof(Enum):
    """Ways in which a user can have agreed to run code."""

    TYPED = "its name was typed on this command line or in this screen"
    CONFIRMED = "the question of a dialog was answered with yes"
    OPTION = "--trust was given with the file that names it"
    SENT = "it came with the runs from the process that this worker works for"


class OwnCodeError(NotThereError):
    """Error for user-defined code from which no policy can be used: it names the problem, with file and line."""

    def __init__(self, what: str, path: str, line: int = 0, source: str = "") -> None:
        self.what, self.path, self.line, self.source = what, path, line, source
        path = shortened(path, 200)
        where = f"{path}:{line}" if line else path
        line_of_it = f": {shortened(source.strip(), 80)}" if source.strip() else ""
        super().__init__(printable(f"{where}: {what}{line_of_it}"))


NOT_SHOWN = "not shown"
"""Value in place of a hash, for code to which the user agreed without a description: only the number of such files was
shown
"""
_agreed: dict[str, Proof] = {}
_seen: dict[str, str] = {}
"""Mapping from the name of code to the hash of the content that the user saw when agreeing. Code to which the user
agreed without seeing it is missing
"""
_is_open = False
_is_asked = False
"""True once consent has been required in this process; afterwards importing the library gives no consent."""
_is_refused = False


def agree(code: Iterable[Named], proof: Proof, seen: Mapping[str, str] = MappingProxyType({})) -> None:
    """Allow this code to run in this process from now on; `proof` says how the user agreed.

    `seen` maps names of code to hashes of the contents that the user was shown; such code runs only while it has this
    content.
    """
    for named in code:
        _agreed[named.name] = proof
        if named.name in seen:
            _seen[named.name] = seen[named.name]
        elif proof is not Proof.CONFIRMED:
            _seen.pop(named.name, None)


def heed_content(name: str, sha256: str) -> None:
    """Raise an `OwnCodeError` if the code `name` has another content than the one that the user agreed to. `sha256` is
    the hash of the present content.

    The error is also raised if the code was only counted and not described to the user (`NOT_SHOWN`). Code that the
    user named need not be shown.
    """
    if (seen := _seen.get(name, sha256)) == NOT_SHOWN:
        raise OwnCodeError("was not shown when you agreed; open the session with --trust if you trust it all", name)
    if seen != sha256:
        raise OwnCodeError("has changed since you agreed to it; open the session again", name)


def heed_consent(named: Named) -> None:
    """Raise an `OwnCodeError` if the user has not agreed to this code."""
    if _is_refused:
        raise OwnCodeError("no user-defined code runs here", named.head)
    if _is_open:
        return
    ask_for_consent()
    if named.name not in _agreed:
        raise OwnCodeError("code runs only when a person has named it or agreed to it", named.head)


def open_to_program() -> None:
    """Allow all user-defined code in this process, because the process is a user's own program that imports the
    library.

    This has no effect once consent has been required: a policy file that imports the library allows no other code.
    """
    global _is_open
    _is_open = not _is_asked


def ask_for_consent() -> None:
    """Require consent for all code from now on, because the files opened by this process may come from other people."""
    global _is_open, _is_asked
    _is_open, _is_asked = False, True


def refuse() -> None:
    """Forbid all user-defined code in this process from now on, whatever the consent."""
    global _is_refused
    _is_refused = True


def is_refused() -> bool:
    """Return True if this process runs no user-defined code at all."""
    return _is_refused
