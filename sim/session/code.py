"""Code of somebody's own that a session names: which, and as it was. Nothing here runs it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim.policies.loading import code_in, newest, whole
from sim.policies.policy import CodeRef, Policy
from sim.policies.registry import parse_policy


@dataclass(frozen=True)
class NotRun(Policy):
    """Stands for a policy of somebody's own of which nothing has run: its spec is known, and that is all."""

    spec: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.spec)


def read_policy(spec: str) -> Policy:
    """The policy that a spec stands for; if it names code, what stands for one that has not run."""
    return NotRun(spec) if code_in(spec) else parse_policy(spec)


def refs_of(specs: Iterable[str], known: Iterable[CodeRef] = ()) -> tuple[CodeRef, ...]:
    """The code that these specs name, as it was when it was last loaded, or else as it is known to have been."""
    told = {ref.name: ref for ref in known}
    names = dict.fromkeys(named.name for spec in specs for named in code_in(whole(spec)))
    return tuple(newest(name) or told.get(name) or CodeRef(name, "") for name in names)
