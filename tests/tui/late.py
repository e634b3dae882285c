"""A thread whose result is on its way to the screen while the user asks for something else."""

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from tests.tui.replays import PATIENCE, wait_until


class Late:
    """First call of a function that a thread makes: it waits, as if the system let another thread run before."""

    def __init__(self, holds: Callable[..., bool]) -> None:
        self._holds = holds
        self._has_come, self._may_go, self._has_gone = Event(), Event(), Event()

    async def come(self) -> None:
        await wait_until(self._has_come.is_set)

    async def go(self) -> None:
        self._may_go.set()
        await wait_until(self._has_gone.is_set)

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function `call`, whose first call with fitting arguments waits."""

        def called(*given: Any, **more: Any) -> Any:
            if self._has_come.is_set() or not self._holds(*given):
                return call(*given, **more)
            self._has_come.set()
            self._may_go.wait(PATIENCE)
            try:
                return call(*given, **more)
            finally:
                self._has_gone.set()

        return called


def late(of: object, name: str, monkeypatch: pytest.MonkeyPatch, holds: Callable[..., bool]) -> Late:
    made = Late(holds)
    monkeypatch.setattr(of, name, made.around(getattr(of, name)))
    return made


def late_message(of: object, kind: type, monkeypatch: pytest.MonkeyPatch) -> Late:
    return late(of, "post_message", monkeypatch, lambda message: isinstance(message, kind))
