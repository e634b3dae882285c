"""Release of unused memory to the system, if the allocator is glibc's."""

from __future__ import annotations

import ctypes
import gc
import sys

_MMAP_THRESHOLD = -3
"""Number of this option in malloc.h"""
_LARGE = 1 << 18
"""Size in bytes from which a block gets memory pages of its own"""


def give_back_at_once() -> bool:
    """Make the allocator return freed memory to the system at once; return True if it can.

    Otherwise glibc keeps much of the freed memory: of a million jobs' growing columns, a third.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError):
        return False


def give_back_what_went() -> None:
    """Free the memory of a replay that was replaced; its objects were exempt from garbage collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
