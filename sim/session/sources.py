"""Sessions and the command line: from a source to a session and back."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isinf
from pathlib import Path
from typing import Any

from sim.errors import near
from sim.session.session import Session
from sim.session.text import SessionError, Value
from sim.session.trace_ref import TraceRef
from sim.workload.samples import sample_path
from sim.workload.source import Source, find
from sim.workload.transforms import Transforms

DEFAULTS: Mapping[str, Any] = {
    "procs": None, "count": "cpus", "window": None, "jobs": None, "load": 1.0, "stretch": 1.0, "offline": False,
    "estimates": "recorded", "high": None, "priority_from": None, "reserve": 0.0, "lead": "1d", "seed": 0,
    "overrun": "kill",
}  # fmt: skip
"""Every option that makes a source, as the command line has it when nothing is typed."""
_WHOLE, _NUMBERS = ("procs", "jobs", "seed"), ("load", "stretch", "high", "reserve")
_CHOICES = {"count": ("cpus", "nodes"), "priority_from": ("queue",), "overrun": ("kill", "grow")}


def session_of(source: Source, policy: str) -> Session:
    """A session at the beginning of a run; reads the bytes of the trace once, for their hash."""
    find(source.trace)
    is_sample = not Path(source.trace).exists()
    return Session(TraceRef.of(source.trace, is_sample), options_of(source), policy)


def options_of(source: Source) -> dict[str, Value]:
    """The options that make this source, as they are typed; without those left at their defaults.

    >>> options_of(Source("lublin-128", transforms=Transforms(window=(86400.0, float("inf")), load=1.2)))
    {'window': '86400,', 'load': 1.2}
    """
    of, default = source.transforms, Transforms()
    found = {name: getattr(of, name, None) for name in DEFAULTS} | {
        "procs": source.procs,
        "count": source.count,
        "window": None if of.window is None else ",".join(map(_plainly, of.window)),
        "priority_from": "queue" if of.priority_from_queue else None,
        "lead": DEFAULTS["lead"] if of.lead == default.lead else _plainly(of.lead),
    }
    return {name: value for name, value in found.items() if value != DEFAULTS[name]}


def _plainly(seconds: float) -> str:
    """A time as a person may type it; nothing for an open end of a window."""
    return "" if isinf(seconds) else f"{Decimal(repr(seconds)).normalize():f}"


def source_of(session: Session) -> Source:
    """What the session simulates; its options are checked as those of the command line are."""
    for name, value in session.options.items():
        _check_option(name, value)
    ref = session.trace
    is_hidden = ref.is_sample and Path(ref.name).exists()  # by a file of the same name
    return Source.of_options(str(sample_path(ref.name)) if is_hidden else ref.name, {**DEFAULTS, **session.options})


def _check_option(name: str, value: Value) -> None:
    if name not in DEFAULTS:
        raise SessionError(f"the session has an option {name!r} that does not exist{near(name, DEFAULTS)}")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise SessionError(f"the session's option {name}: expected {' or '.join(_CHOICES[name])}, got {value!r}")
    kinds = int if name in _WHOLE else (int, float) if name in _NUMBERS else bool if name == "offline" else str
    if not isinstance(value, kinds) or (isinstance(value, bool) and name != "offline"):
        raise SessionError(f"the session's option {name} cannot be {value!r}")
