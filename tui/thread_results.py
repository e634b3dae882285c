"""Results of threads, which may come when the user has already asked for something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.worker import get_current_worker


def hand_over(app: App[Any], show: Callable[..., object], *found: object, **how: object) -> None:
    """Call `show` in the app's thread unless this one is cancelled by then, which a question before cannot tell."""
    worker = get_current_worker()

    def unless_cancelled() -> None:
        if not worker.is_cancelled:
            show(*found, **how)

    app.call_from_thread(unless_cancelled)
