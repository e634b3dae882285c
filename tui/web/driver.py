"""The terminal of a visitor: what is drawn and typed goes through a socket, in packets as textual-serve has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from textual import events
from textual.drivers.web_driver import WebDriver
from textual.message import Message
from textual.messages import InBandWindowResize

MOST_BYTES = 2**24
"""No file that is handed over has more."""


class VisitorDriver(WebDriver):
    """Driver that delivers files in one piece, and answers the server's requests."""

    answers: ClassVar[dict[str, Callable[[], dict[str, object]]]] = {}
    """Answers to questions of the server, made in the app's own thread."""
    hears: ClassVar[dict[str, Callable[[str], object]]] = {}
    """Calls, in the app's own thread, that take a text from the page."""

    def process_message(self, message: Message) -> None:
        """Pass on what was typed. Reports of a size in it do not count: a page tells the server its size, in bounds."""
        if not isinstance(message, events.Resize | InBandWindowResize):
            super().process_message(message)

    def deliver_binary(self, binary: BinaryIO | TextIO, *, delivery_key: str, save_path: Path, **about: Any) -> None:
        content = binary.read(MOST_BYTES)
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        self.write_meta({"type": "file", "name": save_path.name, "text": text})
        binary.close()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type in self.answers:
            self._app.call_later(self._answer, packet_type)
        elif packet_type in self.hears:
            self._app.call_later(self.hears[packet_type], str(payload.get("text", "")))
        elif packet_type in ("resize", "focus", "blur", "quit"):
            super().on_meta(packet_type, payload)

    def _answer(self, asked: str) -> None:
        self.write_meta({"type": asked, **self.answers[asked]()})
