"""State that a policy keeps outside of `view.notes`, where checkpoints cannot copy it, and the lines that change it."""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

from sim.policies.policy import Policy
from sim.support.formatting import shortened

MOST_LINES = 20_000
"""Largest number of lines that are watched to find the one that changes a value."""
_PLAIN = (dict, list, set, deque, Counter, int, float, str)


def kept_outside(policy: Policy, names: Collection[str] | None = None) -> dict[str, str]:
    """Return name -> text of the values (`names`: only these) outside of a run that can change during it."""
    return {
        name: _text(value)
        for name, value in _values(policy)
        if (names is None or name in names) and (isinstance(value, _PLAIN) or _is_own_object(policy, value))
    }


def _values(policy: Policy) -> Iterator[tuple[str, Any]]:
    for cls in type(policy).__mro__:
        if not cls.__module__.startswith(("sim.", "builtins")):
            module = sys.modules.get(cls.__module__)
            yield from ((name, value) for name, value in vars(module).items() if not name.startswith("__"))
            yield from ((f"{cls.__name__}.{name}", value) for name, value in vars(cls).items())
    yield from ((f"self.{name}", value) for name, value in vars(policy).items())


def _is_own_object(policy: Policy, value: object) -> bool:
    return type(value).__module__ == type(policy).__module__ and hasattr(value, "__dict__")


def _text(value: object) -> str:
    try:
        return repr(value if isinstance(value, _PLAIN) else vars(value))[:10_000]
    except Exception:
        return ""


def writers(policy: Policy, names: Collection[str], run: Callable[[], object]) -> dict[str, str]:
    """Call `run`; return name of a value -> place and text of the line that first changes it.

    A line is like `fair.py:20 (PASSES[0] += 1)`. A value is missing if no line in the policy's files changes it, or
    only one after more than `MOST_LINES` lines.
    """
    files = {getattr(sys.modules.get(cls.__module__), "__file__", None) for cls in type(policy).__mro__}
    before, found = kept_outside(policy, names), dict[str, str]()
    last: tuple[str, int] | None = None
    lines = 0

    def look(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        nonlocal last, lines
        if frame.f_code.co_filename not in files or lines >= MOST_LINES or len(found) == len(before):
            return None
        lines += 1
        now = kept_outside(policy, names)
        for name in names:
            if name not in found and now.get(name) != before.get(name) and last is not None:
                found[name] = _file_and_line(*last)
        if event == "line":
            last = frame.f_code.co_filename, frame.f_lineno
        return look

    tracer = sys.gettrace()
    sys.settrace(look)
    try:
        run()
    finally:
        sys.settrace(tracer)
    return found


def _file_and_line(file: str, line: int) -> str:
    source = linecache.getline(file, line).strip()
    return f"{os.path.basename(file)}:{line}" + (f" ({shortened(source, 80)})" if source else "")
