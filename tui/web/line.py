"""What is said to and by one process, in packets: a letter, four bytes of length, and so many bytes."""

from __future__ import annotations

import json

from tui.web.nursery import Child


class Line:
    """What is said to and by one process."""

    def __init__(self, child: Child) -> None:
        self.child = child

    async def send(self, kind: bytes, payload: bytes) -> None:
        self.child.writer.write(kind + len(payload).to_bytes(4, "big") + payload)
        await self.child.writer.drain()

    async def tell(self, what: str, **about: object) -> None:
        await self.send(b"M", json.dumps({"type": what, **about}).encode())

    async def read(self) -> tuple[bytes, bytes]:
        """The next packet; an EOFError when the process has ended."""
        head = await self.child.reader.readexactly(5)
        return head[:1], await self.child.reader.readexactly(int.from_bytes(head[1:], "big"))
