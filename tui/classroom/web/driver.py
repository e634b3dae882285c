"""Terminal driver of a visitor's program: packets in textual-serve's format go through a socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from textual import events
from textual.drivers.web_driver import WebDriver
from textual.message import Message
from textual.messages import InBandWindowResize

MOST_BYTES = 2**24
"""Largest size in bytes of a file that is offered to the user as a download."""


class VisitorDriver(WebDriver):
    """Driver of a visitor's program, which sends a file in one piece, and answers questions of the server."""

    answers: ClassVar[dict[str, Callable[[], dict[str, object]]]] = {}
    """For each kind of question of the server: the function that answers it, called in the program's own thread."""
    hears: ClassVar[dict[str, Callable[[str], object]]] = {}
    """For each kind of text from the page: the function that takes the text, called in the program's own thread."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():  # a key that Textual cannot read has ended the thread
            self._app.call_later(self._app.exit)

    def process_message(self, message: Message) -> None:
        """Pass on typed input, but no change of size from the page: the server limits sizes and sends them itself."""
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
