"""Alerts on the user's own jobs: a start, an end, or an expected start that has moved later."""

from __future__ import annotations

from collections.abc import Mapping

from sim.live.cluster.dates import date
from sim.support.formatting import printable, span
from tui.live.events import EVENTS
from tui.live.scene import LiveScene, event_in_words, job_name

SLIP = 600.0
"""Smallest delay in seconds of an expected start that causes an alert."""
WITH_OSC9 = ("iTerm.app", "WezTerm", "ghostty")
"""Values of TERM_PROGRAM of terminals that show a desktop notification after the control sequence OSC 9."""


class Alerts:
    """Source of alerts, which remembers earlier ones so that none is repeated."""

    def __init__(self) -> None:
        self._told = -1
        """Number of the last poll that was examined; -1 before the first."""
        self._starts: dict[str, float] = {}
        """For each waiting job: the earliest start that was expected since the last alert on it."""

    def of(self, scene: LiveScene) -> tuple[str, ...]:
        """Return a sentence for each alert since the last call; the first poll causes none."""
        since, self._told = self._told, scene.picture
        if since == scene.picture:
            return ()
        cluster, jobs = scene.cluster, scene.observed.jobs
        mine = {job.id for job in cluster.jobs if job.user == cluster.me}
        found = []
        for picture in range(since + 1, scene.picture + 1) if since >= 0 else ():
            for event in scene.observed.happened(picture) or ():
                rank = scene.observed.ranks.get(event.subject)
                is_mine = event.subject in mine or (rank is not None and jobs[rank].user == cluster.me)
                if event.kind in ("start", "completion") and EVENTS[event.kind].is_of_job and is_mine:
                    found.append(event_in_words(scene, event))
        return (*found, *self._slips(scene))

    def _slips(self, scene: LiveScene) -> list[str]:
        found, before, self._starts = [], self._starts, {}
        for job in scene.cluster.queue:
            if job.user != scene.cluster.me or job.start is None or scene.cluster.is_private:
                continue
            said = before.get(job.id, job.start)
            if job.start - said >= SLIP:
                late, said = span(job.start - said), job.start
                found.append(f"{job_name(job)} is expected {late} later, at {date(job.start, scene.cluster.at)}")
            self._starts[job.id] = min(said, job.start)
        return found


def desktop_notification(told: str, environ: Mapping[str, str]) -> str:
    """Return the control sequence with which this terminal shows a desktop notification; "" if none is known.

    >>> desktop_notification("J1 started", {"TERM": "xterm-kitty"})
    '\\x1b]9;J1 started\\x07'
    >>> desktop_notification("J1 started", {"TERM": "xterm-256color", "VTE_VERSION": "6800"})
    '\\x1b]777;notify;schedscope;J1 started\\x07'
    >>> desktop_notification("J1 started", {"TERM": "linux"})
    ''
    """
    told, term = printable(told).replace(";", ","), environ.get("TERM", "")
    if environ.get("TERM_PROGRAM") in WITH_OSC9 or "kitty" in term or term.startswith("foot"):
        return f"\x1b]9;{told}\x07"
    if "VTE_VERSION" in environ or term.startswith("rxvt"):
        return f"\x1b]777;notify;schedscope;{told}\x07"
    return ""
