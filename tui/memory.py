"""Release of unused memory to the system, if the allocator is glibc's."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any

_MMAP_THRESHOLD = -3
"""Number of the option M_MMAP_THRESHOLD in malloc.h"""
_LARGE = 1 << 18
"""Size in bytes from which glibc allocates a block separately, so that freeing it returns the memory to the system"""
YOUNG = 10_000
"""Number of new objects after which Python collects garbage; high, because there are few reference cycles."""


def give_back_at_once() -> bool:
    """Make the C library return freed memory at once; glibc would keep a third of that of growing arrays."""
    return _is_done(lambda library: library.mallopt(_MMAP_THRESHOLD, _LARGE))


def settle_memory() -> None:
    """Exclude present objects from garbage collection (a trace's jobs stay), and give back what reading left."""
    gc.freeze()
    gc.set_threshold(YOUNG)
    gc.enable()
    _is_done(lambda library: library.malloc_trim(0))


def give_back_what_went() -> None:
    """Free the memory of a replaced replay, whose objects had been excluded from garbage collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _is_done(act: Callable[[Any], int]) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(act(ctypes.CDLL(None)))
    except (AttributeError, OSError):
        return False
