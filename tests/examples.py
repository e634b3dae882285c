"""Number of random examples of a test: the number that the test asks for, scaled by the Hypothesis profile."""

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    return settings(max_examples=count * settings().max_examples // 100, **more)
