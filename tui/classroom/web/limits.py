"""Limits of the server's connections: time without a request, number for each address, and how errors are reported."""

from __future__ import annotations

import asyncio
import errno
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any

NO_REQUEST = 10.0
"""Seconds after which a connection is closed that has not sent a complete request."""
OF_AN_ADDRESS = 200
"""Largest number of connections from one address: a class may share one, and each visitor has about four."""
EVERY = 1.0
"""Seconds between two checks of all connections."""


class Limits:
    """Limits of a server: connections that send no request are closed, and each address may have a limited number."""

    def __init__(self, connections: Callable[[], list[Any]]) -> None:
        self._connections = connections
        self._waiting: dict[Any, float] = {}

    async def watch(self) -> None:
        while True:
            self.look(monotonic())
            await asyncio.sleep(EVERY)

    def look(self, now: float) -> None:
        """Close connections that at time `now` have sent no request for too long, or are too many for their address."""
        there = self._connections()
        self._waiting = {each: self._waiting.get(each, now) for each in there if each._current_request is None}
        of_address: Counter[str] = Counter()
        for each in there:
            transport = each.transport
            if transport is None:
                continue
            address = str((transport.get_extra_info("peername") or ("",))[0])
            of_address[address] += 1
            if of_address[address] > OF_AN_ADDRESS or now - self._waiting.get(each, now) >= NO_REQUEST:
                transport.abort()


def tell_in_a_line(say: Callable[[str], None]) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Return an error handler for the event loop that reports only once, in one line, that files have run out."""
    told = False

    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif not told:
            told = True
            say("too many open files: new visitors wait (ulimit -n allows more)")

    return tell
