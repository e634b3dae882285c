"""Results of threads, which may come when the user has already asked for something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.worker import get_current_worker


def hand_over(app: App[Any], show: Callable[..., object], *found: object, **how: object) -> None:
    """Call `show(*found, **how)` in the app's own thread, unless the present thread has been cancelled by then.

    A thread that asks before the call whether it is cancelled may be cancelled between the answer and the call.
    """
    worker = get_current_worker()

    def unless_cancelled() -> None:
        if not worker.is_cancelled:
            show(*found, **how)

    app.call_from_thread(unless_cancelled)
