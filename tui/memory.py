"""Release of unused memory to the system, if the allocator is glibc's."""

from __future__ import annotations

import ctypes
import gc
import sys

_MMAP_THRESHOLD = -3
"""Number by which malloc.h identifies the option set here"""
_LARGE = 1 << 18
"""Size in bytes from which a block of memory is separate, so that it can be returned to the system"""


def give_back_at_once() -> bool:
    """Make the C library return freed memory to the system at once; return True if it can.

    Otherwise glibc keeps much of the freed memory: of a million jobs' growing columns, a third.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError):
        return False


def give_back_what_went() -> None:
    """Free the memory of a replay that was replaced, whose objects were excluded from garbage collection."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
