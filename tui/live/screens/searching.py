"""Base of the screen for an observed cluster: its dialogs, and its searches for jobs, nodes and earlier starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.worker import get_current_worker

from sim.live.cluster.dates import date
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import listed, printable, quoted
from tui.live.chart import rack_of
from tui.live.node_lines import node_lines
from tui.live.queue import BY_WEIGHT, COLUMNS, LISTS, jobs_of, parse_layout, with_order
from tui.live.scene import LiveContext, LiveState, job_name
from tui.live.watch import Watch
from tui.panels.context import QueueOrder, order_after_click
from tui.replay.requests import find_job
from tui.screens import dialogs
from tui.screens.dialogs.asking import AskingScreen
from tui.thread_results import hand_over
from tui.widgets.gantt import Gantt

if TYPE_CHECKING:
    from sim.live.forecast.new_job import Ghost

T = TypeVar("T")
HINT = "words of a job's row (ann gpu), its number (17, 6_4), a node (n3), or a rack (r08 of r08n12)"


class SearchingScreen(AskingScreen):
    """Screen of an observed cluster, with a watch that observes it and the choices of the user."""

    watch_: Watch
    state: LiveState

    @property
    def context(self) -> LiveContext | None:
        """Return the input of the panels; None before the first poll."""
        raise NotImplementedError

    def change(self, **changed: Any) -> None:
        """Change fields of the screen's state, and draw the screen."""
        raise NotImplementedError

    def wish(self) -> None:
        """Ask the threads for a scene with what the user has chosen to see."""
        raise NotImplementedError

    def choose(self, rank: int) -> None:
        """Select the job with this rank."""
        raise NotImplementedError

    def keep(self, layouts: Mapping[str, str]) -> None:
        """Keep the columns that the user has chosen for the next time."""
        raise NotImplementedError

    # Lists of jobs

    def list_as(self, **changed: Any) -> None:
        """Change what the list of jobs shows, and show the list on a small screen."""
        self.change(listing=replace(self.state.listing, **changed))

    def action_list_jobs(self, kind: str = "") -> None:
        kind = kind or LISTS[(LISTS.index(self.state.listing.kind) + 1) % len(LISTS)]
        self.list_as(kind=kind)

    def action_sort_queue(self, column: str) -> None:
        kind = self.state.listing.kind
        layout = self.state.listing.layouts.get(kind, "")
        self._lay_out(kind, with_order(layout, order_after_click(parse_layout(layout)[1], column)))

    def action_sort(self) -> None:
        """Sort by the next column of the list, after the last one in the usual order."""
        kind = self.state.listing.kind
        layout = self.state.listing.layouts.get(kind, "")
        chosen, order = parse_layout(layout)
        names = ["job", *(chosen or (name for name in BY_WEIGHT[kind].split() if name != "more"))]
        place = names.index(order.column) + 1 if order is not None and order.column in names else 0
        new = QueueOrder(names[place]) if place < len(names) else None
        self._lay_out(kind, with_order(layout, new))
        self.change(said=f"sorted by {new.column}, largest first" if new else "in the usual order")

    def action_columns(self) -> None:
        kind = self.state.listing.kind
        hint = f"of the {kind} jobs, - before the one to sort by: {' '.join(COLUMNS)}; empty: as many as fit"

        def read(typed: str) -> str:
            parse_layout(typed)
            return typed

        begin = self.state.listing.layouts.get(kind, "")
        self.open(dialogs.Prompt("Columns", hint, read, initial=begin), partial(self._lay_out, kind))

    def _lay_out(self, kind: str, layout: str) -> None:
        layouts = {**self.state.listing.layouts, kind: layout}
        self.list_as(layouts={name: told for name, told in layouts.items() if told})
        self.keep(self.state.listing.layouts)

    # A filter for jobs; a node or a rack

    def action_find(self) -> None:
        """Filter the jobs while the user types; Enter keeps the filter, Escape takes the one before again."""
        before = self.state.listing
        began = dialogs.Prompt("Filter", HINT, self._find_typed, answers=self.answers, typed=self._filter)

        def answered(go: Callable[[], None] | None) -> None:
            if go is None:
                self.change(listing=before)
            else:
                go()

        self.app.push_screen(began, answered)

    def _filter(self, typed: str) -> None:
        if typed.strip() != self.state.listing.words:
            self.list_as(words=typed.strip())

    def _find_typed(self, told: str) -> Callable[[], None]:
        """Return what Enter does: it shows a node, zooms to a rack, or selects the first job in the filtered lists."""
        name = told.strip()
        nodes = [row.node for row in self.watch_.observed.layout.rows]
        if name in nodes:
            return partial(self._show_node, name)
        if rack := [node for node in nodes if rack_of(node) == name]:
            return partial(self._zoom_to, rack)
        if not name or self.context is None:
            return partial(self._filter, "")
        here = self.state.listing.kind
        filtered = replace(self.context, listing=replace(self.state.listing, words=name))
        found = {kind: jobs_of(filtered, kind) for kind in (here, *(kind for kind in LISTS if kind != here))}
        for kind, jobs in found.items():
            if named := next((job for job in jobs if name.upper() in (job.id, f"J{job.id}")), None):
                return partial(self._pick, named, kind, "")
        for kind, jobs in found.items():
            if jobs:
                return partial(self._pick, jobs[0], kind, name)
        try:
            return partial(self.choose, find_job(told, self.watch_.observed.workload, -1))
        except SchedscopeError:
            raise ParameterError(f"there is no job, user, node or rack {quoted(name)} here") from None

    def _pick(self, job: ClusterJob, kind: str, words: str) -> None:
        self.list_as(kind=kind, words=words)
        if self.context is not None:
            self.choose(self.context.scene.rank(job))

    def _show_node(self, name: str) -> None:
        """Show the node and its jobs, with the chart around it if it was too small to see."""
        self._filter("")
        chart = self.query_one("#chart", Gantt)
        rows = self.watch_.observed.layout.rows
        place = next(at for at, row in enumerate(rows) if row.node == name)
        if chart.camera is not None and 2 * len(rows) > chart.camera.rows:
            around = max(chart.camera.rows // 8, 1)
            self._zoom_to([row.node for row in rows[max(place - around, 0) : place + around + 1]])
        if (context := self.context) is not None:
            told = tuple(node_lines(context.scene.cluster, name))
            self.app.push_screen(dialogs.SentencesDialog(f"Node {name}", told))

    def _zoom_to(self, nodes: list[str]) -> None:
        self._filter("")
        chart = self.query_one("#chart", Gantt)
        rows = [row for row in self.watch_.observed.layout.rows if row.node in set(nodes)]
        if chart.camera is not None and rows:
            low, high = min(row.low for row in rows), max(row.high for row in rows)
            chart.camera = replace(chart.camera, low=low, high=high, by_rows=False)
            self.wish()

    # An earlier start

    def action_what_if(self) -> None:
        """Search in a thread for the start of the selected or first waiting job, and changes that move it."""
        if (context := self.context) is None:
            return
        job = context.scene.job(self.state.selected) or next(iter(jobs_of(context, "waiting")), None)
        if job is None or not job.is_waiting:
            self.change(said="no waiting job is selected: w selects one")
            return
        self.change(said=f"looking ahead for {job_name(job)} ... (esc stops it)")
        look = partial(self._look_ahead, context.scene.picture, job)
        self.run_worker(look, thread=True, exclusive=True, group="search")

    def _look_ahead(self, picture: int, job: ClusterJob) -> None:
        from tui.live.outlook import outlook

        worker = get_current_worker()
        told = outlook(self.watch_, picture, job, lambda: worker.is_cancelled)
        hand_over(self.app, self._show_outlook, job, told)

    def _show_outlook(self, job: ClusterJob, told: tuple[str, ...]) -> None:
        self.change(said="" if told else "that picture is not kept any more")
        if told and self.is_current:
            self.app.push_screen(dialogs.SentencesDialog(f"When, and what if: {job_name(job)}", told))

    # A job that does not exist yet

    def action_new_job(self) -> None:
        """Ask for a request, and find in a thread when it would start; without one, what fits now."""
        context = self.context
        if context is None:
            return
        cluster = context.scene.cluster
        hint = "nodes=2 time=4h partition=gpu (also cpus, mem, gpus, exclusive); empty: what fits now"

        def read(typed: str) -> Callable[[], None]:
            from sim.live.forecast.new_job import new_job

            job = new_job(cluster, typed) if typed.strip() else None
            return partial(self._look_for_room, context.scene.picture, cluster, job)

        self.open(dialogs.Prompt("A new job", hint, read, answers=self.answers), lambda go: go())

    def _look_for_room(self, picture: int, cluster: Cluster, job: ClusterJob | None) -> None:
        self.change(said="looking for a place ... (esc stops it)")
        look = partial(self._find_room, picture, cluster, job)
        self.run_worker(look, thread=True, exclusive=True, group="search")

    def _find_room(self, picture: int, cluster: Cluster, job: ClusterJob | None) -> None:
        from tui.live.outlook import outlook_of_new

        worker = get_current_worker()
        told, ghost = outlook_of_new(self.watch_, picture, cluster, job, lambda: worker.is_cancelled)
        hand_over(self.app, self._show_room, told, ghost)

    def _show_room(self, told: tuple[str, ...], ghost: Ghost | None) -> None:
        if ghost is not None:
            self.place_ghost(ghost)
        else:
            self.change(said="")
        if told and self.is_current:
            self.app.push_screen(dialogs.SentencesDialog("A job that does not exist yet", told))

    def place_ghost(self, ghost: Ghost) -> None:
        last = self.watch_.observed.last
        at, end = (date(time, ghost.start if last is None else last.at) for time in (ghost.start, ghost.end))
        where = listed(map(printable, ghost.nodes))
        chart, scene = self.query_one("#chart", Gantt), self.context.scene if self.context else None
        if chart.camera is not None and scene is not None:
            ends, now = ghost.end - (self.watch_.observed.origin or 0.0), scene.clock
            if not (view := chart.camera.view(now)).start < ends < view.end:
                chart.camera = chart.camera.fitting(now - 0.3 * (ends - now), ends + 0.1 * (ends - now))
        self.change(ghost=ghost, said=f"new job: {at} to {end} on {where} · ( ) or a click on a free place move it")

    def action_move_ghost(self, way: int) -> None:
        """Move the new job to the next time, or the one before, at which it fits; a step is a twelfth of its length."""
        if (ghost := self.state.ghost) is None:
            self.change(said="no new job is shown: f makes one")
            return
        step = max((ghost.end - ghost.start) / 12, 60.0)
        self.place_ghost(ghost.moved(ghost.start + step) if way > 0 else ghost.earlier(step))
