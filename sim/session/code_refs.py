"""References to user-defined code in a session, with the hash of the code as it was when the session was saved. No code
runs here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim.policies.own.loading import newest
from sim.policies.own.naming import code_in
from sim.policies.policy import CodeRef, Policy
from sim.policies.registry import parse_policy


@dataclass(frozen=True)
class NotRun(Policy):
    """Placeholder for a user-defined policy whose code has not been run; only its spec is known."""

    spec: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.spec)


def read_policy(spec: str) -> Policy:
    """Return the policy of a spec; if the spec names user-defined code, a `NotRun` placeholder."""
    return NotRun(spec) if code_in(spec) else parse_policy(spec)


def refs_of(specs: Iterable[str], known: Iterable[CodeRef] = ()) -> tuple[CodeRef, ...]:
    """Return references to the user-defined code in the specs: of the last load, else in `known`, else with hash ""."""
    told = {ref.name: ref for ref in known}
    names = dict.fromkeys(named.name for spec in specs for named in code_in(spec))
    return tuple(newest(name) or told.get(name) or CodeRef(name, "") for name in names)
