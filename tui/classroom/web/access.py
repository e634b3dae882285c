"""Access to the web server: which code, tokens and origins a request needs, and how many connections, wrong codes and
how much input are accepted.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import Any

from sim.support.formatting import count
from tui.classroom.web.codes import is_code, new_code

COLUMNS, ROWS = (20, 400), (8, 150)
MOST_MESSAGE = 2**16
"""Largest size in bytes of one message from a browser."""
FLOOD = 10.0
"""Longest time in seconds for which reading is slowed down; then the browser is disconnected."""
A_SECOND, AT_ONCE = 8_000, 32_000
"""Bytes of input that are accepted in each second, and at most at once after a pause; more is read with delays."""


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


@dataclass(frozen=True)
class Door:
    """Addresses (origins) under which browsers know the server, and the secret words (tokens) that give access."""

    origins: frozenset[str]
    """Origins as browsers write them: scheme, host and port."""
    code: str = field(default_factory=new_code)
    """Code that students type, which gives them the token."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    """Token of all pages of students: it is too long to be guessed, so that no page has to wait."""
    teacher: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    """Token that gives access as the presenter."""
    tries: Tries = field(default_factory=Tries)

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts of the server's origins, with port, as browsers send them in the header Host."""
        return frozenset(origin.partition("://")[2] for origin in self.origins)

    def knows_host(self, headers: Mapping[str, str]) -> bool:
        return headers.get("Host", "").lower() in self.hosts

    def knows_origin(self, headers: Mapping[str, str]) -> bool:
        return headers.get("Origin", "").lower() in self.origins

    def opens(self, word: str) -> bool:
        """Return True if the word is a token of this server; the comparison always takes the same time."""
        return any(
            hmac.compare_digest(word.encode("utf-8", "replace"), known.encode()) for known in (self.token, self.teacher)
        )

    def refusal(self, word: str, address: str) -> str:
        """Return why this token or code from a network address does not give access; "" if it does."""
        if self.opens(word):
            return ""
        if not word:
            return "Type the code of your class."
        if wait := self.tries.wait_of(address):
            return (
                f"Too many wrong codes came from your network. Wait {count(wait, 'second')}, then type the code again."
            )
        if is_code(word, self.code):
            return ""
        self.tries.note(address)
        return "This is not the code. Look at it again: two words and a number."

    def leads(self, word: str) -> bool:
        return hmac.compare_digest(word.encode("utf-8", "replace"), self.teacher.encode())


def origins_of(host: str, port: int, public: str | None = None) -> frozenset[str]:
    """Return the origins under which browsers may reach a server that listens on this host and port; the address
    `public` is added if it is given.

    >>> sorted(origins_of("127.0.0.1", 8000))
    ['http://127.0.0.1:8000', 'http://localhost:8000']
    >>> sorted(origins_of("::1", 80, "https://class.example.org"))
    ['http://[::1]', 'http://[::1]:80', 'http://localhost', 'http://localhost:80', 'https://class.example.org']
    """
    names = {host}
    if is_loopback(host):
        names.add("localhost")
    elif _is_any(host):
        names = {"localhost", "127.0.0.1", socket.gethostname().lower(), *own_addresses()}
    places = {f"http://{_bracketed(name)}:{port}" for name in names}
    if port == 80:
        places |= {f"http://{_bracketed(name)}" for name in names}
    return frozenset(places | ({public.rstrip("/").lower()} if public else set()))


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")


def own_addresses() -> list[str]:
    """Return the addresses at which other machines can reach this one, as far as they can be found."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(address[4][0]).partition("%")[0] for address in found))


def address_of(host: str, port: int, public: str | None = None) -> str:
    """Return the address to give to users; for a server on all addresses, one of this machine's."""
    if public:
        return public.rstrip("/")
    if _is_any(host):
        host = next((address for address in own_addresses() if not is_loopback(address)), "127.0.0.1")
    return f"http://{_bracketed(host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class Budget:
    """Bytes of input that a browser may still send, which grow every second up to a limit."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now, self._left, self._at = now, float(AT_ONCE), now()
        self._waited = 0.0

    def wait_for(self, size: int) -> float:
        """Subtract the `size` bytes just read from the budget. Return the seconds to wait before reading on."""
        now = self._now()
        self._left = min(self._left + (now - self._at) * A_SECOND, AT_ONCE) - size
        self._at = now
        wait = max(-self._left / A_SECOND, 0.0)
        self._waited = self._waited + wait if wait else 0.0
        return wait

    @property
    def is_flood(self) -> bool:
        """Return True if reading has had to wait for longer than `FLOOD` seconds without a break."""
        return self._waited > FLOOD


def size_of(given: Any) -> tuple[int, int]:
    """Return (columns, rows) of a screen from what a browser sent; a default replaces each invalid value."""
    values = (given.get("width"), given.get("height")) if isinstance(given, Mapping) else (None, None)
    return _number_within(values[0], COLUMNS, 80), _number_within(values[1], ROWS, 24)


def _number_within(value: Any, room: tuple[int, int], usual: int) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return usual
    return min(max(number, room[0]), room[1]) if -1e6 < number < 1e6 else usual


def told_of(count: int, most: int) -> str:
    return f"{count or 'no'} visitor{'' if count == 1 else 's'}, at most {most}"


_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
OF_TERMINAL = {"Content-Security-Policy": _CSP.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")}
"""Header of the page with the terminal, whose library writes styles."""
HEADERS: Iterable[tuple[str, str]] = (
    ("Content-Security-Policy", _CSP),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
