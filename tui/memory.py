"""Release of unused memory to the system, if the allocator is glibc's."""

from __future__ import annotations

import ctypes
import gc
import sys

_MMAP_THRESHOLD = -3
"""Number of the option M_MMAP_THRESHOLD in malloc.h"""
_LARGE = 1 << 18
"""Size in bytes from which glibc allocates a block separately, so that freeing it returns the memory to the system"""


def give_back_at_once() -> bool:
    """Make the C library return freed memory to the system at once; return True if that is possible.

    Otherwise glibc keeps much of the freed memory; in a run of a million jobs this is a third of the memory of arrays
    that
    grow.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError):
        return False


def give_back_what_went() -> None:
    """Free the memory of a replay that was replaced. Its objects had been excluded from garbage collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
