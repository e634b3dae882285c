"""How many random examples a test tries: the usual number, and as many times more as the profile says."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    """So many examples in the usual profile; thirty times as many in the long one."""
    return settings(max_examples=count * settings().max_examples // 100, **more)
