"""Release of unused memory to the system at once, where the allocator is glibc's."""

from __future__ import annotations

import ctypes
import gc
import sys

_MMAP_THRESHOLD = -3
"""Value from malloc.h"""
_LARGE = 1 << 18
"""Bytes from which on a block has pages of its own"""


def give_back_at_once() -> bool:
    """Make the allocator return memory at once; return True if it can.

    Else glibc keeps more and more of what is freed among what is not: of a million jobs' columns that grow, a third.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError):
        return False


def give_back_what_went() -> None:
    """Collect the reference cycles of a replaced replay, which were frozen out of the collector."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
