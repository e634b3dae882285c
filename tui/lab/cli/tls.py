"""Encrypted connections of which one that fails does not break the others."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

from distributed.security import Security

UNTYPED: Any = Security
"""The class of Dask, whose methods have no types"""


WAITING = ssl.SSLWantReadError, ssl.SSLWantWriteError
"""Errors of a connection that is only not ready yet; they come at nearly every read"""
Result = TypeVar("Result")


def forgetting(act: Callable[..., Result]) -> Callable[..., Result]:
    """Return the method with one change: if it fails, OpenSSL's list of errors is emptied."""

    @wraps(act)
    def done(connection: ssl.SSLSocket, *args: Any) -> Result:
        try:
            return act(connection, *args)
        except WAITING:
            raise
        except OSError:
            forget_errors()
            raise

    return done


class Undisturbed(ssl.SSLSocket):
    """An encrypted connection that leaves no error behind when it fails. Otherwise OpenSSL keeps the error in a list of
    the thread, and the next read of any other connection raises it as its own. Then all connections end as soon as one
    worker leaves. Seen under Python 3.14 with OpenSSL 3.6: python/cpython#148594.
    """

    send = forgetting(ssl.SSLSocket.send)
    recv_into = forgetting(ssl.SSLSocket.recv_into)
    do_handshake = forgetting(ssl.SSLSocket.do_handshake)


class Keys(Security):
    """Keys of a Dask cluster whose connections leave one another undisturbed."""

    def get_connection_args(self, role: str) -> dict[str, Any]:
        return undisturbed(UNTYPED.get_connection_args(self, role))

    def get_listen_args(self, role: str) -> dict[str, Any]:
        return undisturbed(UNTYPED.get_listen_args(self, role))


def undisturbed(args: dict[str, Any]) -> dict[str, Any]:
    args["ssl_context"].sslsocket_class = Undisturbed
    return args


def forget_errors() -> None:
    """Empty OpenSSL's list of errors of this thread, as only the refusal of unknown ciphers does from Python."""
    with suppress(ssl.SSLError):
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers("NONE")
