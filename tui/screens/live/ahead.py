"""Search, in a separate thread, for changes that would let a waiting job start earlier."""

from __future__ import annotations

from functools import partial

from textual.worker import get_current_worker

from sim.cluster.values import ClusterJob
from tui.live.queue import jobs_of
from tui.live.scene import job_name
from tui.screens import dialogs
from tui.screens.live.base import ClusterScreen
from tui.thread_results import hand_over


def look_ahead(screen: ClusterScreen) -> None:
    """Search in a thread for the start of the selected or first waiting job, and changes that move it."""
    if (context := screen.context) is None:
        return
    job = context.scene.job(screen.state.selected) or next(iter(jobs_of(context)), None)
    if job is None or not job.is_waiting:
        screen.change(said="no waiting job is selected: w selects one")
        return
    screen.change(said=f"looking ahead for {job_name(job)} ... (esc stops it)")
    look = partial(_look, screen, context.scene.picture, job)
    screen.run_worker(look, thread=True, exclusive=True, group="search")


def _look(screen: ClusterScreen, picture: int, job: ClusterJob) -> None:
    from tui.live.outlook import outlook

    worker = get_current_worker()
    told = outlook(screen.watch_, picture, job, lambda: worker.is_cancelled)
    hand_over(screen.app, _show, screen, job, told)


def _show(screen: ClusterScreen, job: ClusterJob, told: tuple[str, ...]) -> None:
    screen.change(said="" if told else "that picture is not kept any more")
    if told and screen.is_current:
        screen.app.push_screen(dialogs.SentencesDialog(f"When, and what if: {job_name(job)}", told))
