"""How many random examples a test tries: as much of its number as the profile says, in percent."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    """Return settings for `count` examples: a quarter as many in the usual profile, fifty times as many in the long
    one.
    """
    return settings(max_examples=count * settings().max_examples // 100, **more)
