"""What is freed is no longer the program's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.memory import give_back_at_once


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


@pytest.mark.skipif(not give_back_at_once(), reason="another allocator")
def test_what_is_freed_goes_back_though_something_behind_it_stays() -> None:
    bytearray(2**24)  # glibc would learn from this that blocks of that size come and go
    blocks = [bytearray(2**19) for _ in range(64)]
    stays = bytearray(2**19)
    before = megabytes()
    blocks.clear()
    assert before - megabytes() > 24
    assert len(stays) == 2**19
