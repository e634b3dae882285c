import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from tui.lab.cli.tls import UNTYPED, Keys, Undisturbed


def pair(keys: Any) -> tuple[ssl.SSLSocket, ssl.SSLSocket]:
    """Return the two ends (server, client) of an encrypted connection; the server's does not block."""
    ends = socket.socketpair()
    server, client = keys.get_listen_args("scheduler")["ssl_context"], keys.get_connection_args("client")["ssl_context"]
    with ThreadPoolExecutor(1) as pool:
        accepted = pool.submit(server.wrap_socket, ends[0], server_side=True)
        connected = client.wrap_socket(ends[1])
    accepted.result().setblocking(False)
    return accepted.result(), connected


@pytest.fixture(scope="module")
def keys() -> Any:
    made = UNTYPED.temporary().get_tls_config_for_role("scheduler")
    names = {f"tls_{role}_{kind}": made[kind] for role in ("client", "scheduler") for kind in ("cert", "key")}
    untyped: Any = Keys
    return untyped(tls_ca_file=made["ca_file"], require_encryption=True, **names)


@pytest.mark.parametrize(
    "act", [lambda end: end.send(b"x"), lambda end: end.recv_into(bytearray(9))], ids=["send", "recv"]
)
def test_one_that_fails_breaks_no_other(keys: Any, act: Callable[[ssl.SSLSocket], int]) -> None:
    (broken, gone), (healthy, peer) = pair(keys), pair(keys)
    assert isinstance(broken, Undisturbed)
    assert isinstance(gone, Undisturbed)
    with closing(broken), closing(healthy), closing(peer):
        gone.close()
        with suppress(OSError):
            act(broken)
        with pytest.raises(ssl.SSLWantReadError):
            healthy.recv_into(bytearray(9))
        peer.send(b"hello")
        assert healthy.recv(9) == b"hello"
