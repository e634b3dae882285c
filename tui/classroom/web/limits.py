"""Limits of the server: connections without a request, connections and wrong codes of an address, reports of errors."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
from collections import Counter
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import Any

NO_REQUEST = 10.0
"""Seconds after which a connection is closed that has not sent a complete request."""
OF_AN_ADDRESS = 200
"""Largest number of connections from one address: a class may share one, and each visitor has about four."""
EVERY = 1.0
"""Seconds between two checks of all connections."""
TRIES, A_MINUTE = 10, 60.0
"""Largest number of wrong codes from one address, and the seconds in which they are counted."""
MOST_ADDRESSES = 1_000
"""Largest number of addresses whose wrong codes are remembered; the oldest are dropped."""


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


class Tries:
    """Wrong codes of the last minute, by network address."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._wrong: dict[str, list[float]] = {}

    def wait_of(self, address: str) -> int:
        """Return the seconds after which another code may come from this address; 0 if one may come now."""
        wrong = self._recent(_network_of(address))
        return ceil(wrong[0] + A_MINUTE - self._now()) if len(wrong) >= TRIES else 0

    def note(self, address: str) -> None:
        network = _network_of(address)
        recent = self._recent(network)
        self._wrong.pop(network, None)  # so that the dictionary is in the order of the last try
        self._wrong[network] = [*recent, self._now()]
        while len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def _recent(self, network: str) -> list[float]:
        return [time for time in self._wrong.get(network, ()) if self._now() - time < A_MINUTE]


def _network_of(address: str) -> str:
    """Return the address or, with IPv6, the network of 2^80 addresses that one subscriber may have."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else f"{ipaddress.ip_network((found, 48), strict=False)}"


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
