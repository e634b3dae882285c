"""Screen of an observed cluster: its keys and dialogs, and its searches for jobs, nodes and earlier starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from textual import on
from textual.binding import BindingType
from textual.worker import get_current_worker

from sim.live.cluster.dates import date
from sim.live.cluster.values import Cluster, ClusterJob
from sim.stops.grammar import Stop, parse_stop
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import Step, listed, parse_moment, printable, quoted
from tui.live.chart import MODES, rack_of
from tui.live.events import JUMPS
from tui.live.node_lines import node_lines
from tui.live.queue import BY_WEIGHT, COLUMNS, LISTS, jobs_of, parse_layout, with_order
from tui.live.scene import job_name
from tui.live.screens.keys import help_groups, keys
from tui.live.screens.observed_screen import PANELS, ObservedScreen
from tui.panels.context import QueueOrder, order_after_click
from tui.replay.requests import find_job
from tui.screens import dialogs
from tui.screens.replay.files import choose_theme
from tui.screens.replay.keys import bindings, chart_keys
from tui.screens.replay.messages import Quit, Remember, ShowFirst
from tui.thread_results import hand_over
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

if TYPE_CHECKING:
    from sim.live.forecast.new_job import Ghost

T = TypeVar("T")
IsOver: TypeAlias = Callable[[], bool]
HINT = "words of a job's row (ann gpu), its number (17, 6_4), a node (n3), or a rack (r08 of r08n12)"


class LiveScreen(ObservedScreen):
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keys()), *chart_keys()]

    # Moving

    def action_step(self, by: int) -> None:
        self._go(self._picture + by)

    def action_go_begin(self) -> None:
        self._go(0)

    def action_go_end(self) -> None:
        self.change(picture=None)

    def action_jump(self, direction: int) -> None:
        kinds = JUMPS[self.state.jump]
        places = {number for number, found in enumerate(tuple(self.watch_.observed.kinds)) if found.intersection(kinds)}
        if direction > 0:
            found = min((place for place in places if place > self._picture), default=None)
        else:
            found = max((place for place in places if place < self._picture), default=None)
        if found is None:
            self.change(said=f"no {self.state.jump} {'after' if direction > 0 else 'before'} this picture")
        else:
            self._go(found)

    def action_choose_jump(self) -> None:
        names = list(JUMPS)
        self.change(jump=names[(names.index(self.state.jump) + 1) % len(names)])
        self.change(said=f"[ and ] go to: {self.state.jump}")

    def action_go_to(self) -> None:
        hint = "a time of day (14:05), a date (2026-11-23 14:05), a picture (#120) or a job (J17)"
        self.open(dialogs.Prompt("Go to", hint, self._place, answers=self.answers), lambda go: go())

    def _place(self, told: str) -> Any:
        observed = self.watch_.observed
        if told.strip()[:1] in ("j", "J"):
            return partial(self.choose, find_job(told, observed.workload, -1))
        clock = self.scene.clock if self.scene is not None else 0.0
        found = parse_moment(told, clock)
        if isinstance(found, Step):
            return partial(self._go, found.number - 1)
        return partial(self._go, observed.picture_at(observed.workload.header.seconds_at(found)))

    def action_to_stop(self, direction: int) -> None:
        if not self.state.stops:
            self.change(said="no stop is set: x sets one, like job 17 starts, or queue > 50")
            return
        forwards = direction > 0
        search = partial(self.watch_.search, self.state.stops, self._picture, forwards)
        self._look_in_thread("looking for the stop ...", search, partial(self._found, forwards))

    def _look_in_thread(self, said: str, look: Callable[[IsOver], T], show: Callable[[T], None]) -> None:
        """Call `look` in a thread, with a function that returns True once its result is not wanted, then `show`."""
        self.change(said=said)

        def search() -> None:
            worker = get_current_worker()
            hand_over(self.app, show, look(lambda: worker.is_cancelled))

        self.run_worker(search, thread=True, exclusive=True, group="search")

    def _found(self, forwards: bool, picture: int | None) -> None:
        if picture is None:
            self.change(said=f"no stop is met {'after' if forwards else 'before'} this picture")
        else:
            self._go(picture)

    def action_stops(self) -> None:
        hint = "job 17 starts, queue > 50, completion, head slips ...; empty: none"
        initial = "; ".join(stop.text for stop in self.state.stops)
        self.open(dialogs.Prompt("Stop at", hint, self._parsed, initial=initial, answers=self.answers), self._stop_at)

    def _parsed(self, told: str) -> tuple[Stop, ...]:
        clock = self.scene.clock if self.scene is not None else 0.0
        parts = filter(None, map(str.strip, told.split(";")))
        return tuple(parse_stop(part, self.watch_.observed.workload, clock, (), ()) for part in parts)

    def _stop_at(self, stops: tuple[Stop, ...]) -> None:
        self._told_until = len(self.watch_.observed.moments) - 1
        told = "; ".join(stop.text for stop in stops)
        self.change(stops=stops, said=f"the bell rings at: {told}" if stops else "no stop is set")

    def action_bookmark(self) -> None:
        if self.scene is not None:
            name = date(self.scene.cluster.at, self.scene.cluster.at)
            self.change(bookmarks=(*self.state.bookmarks, (self.scene.picture, name)), said=f"bookmark {name}")

    def action_bookmarks(self) -> None:
        places = sorted({at for at, _ in self.state.bookmarks})
        if not places:
            self.change(said="no bookmark: b makes one")
        else:
            self._go(next((at for at in places if at > self._picture), places[0]))

    def action_poll_now(self) -> None:
        self.watch_.poll_now()

    @on(Gantt.Picked)
    @on(Panel.Picked)
    def _picked(self, message: Gantt.Picked | Panel.Picked) -> None:
        if isinstance(message, Gantt.Picked) and message.rank is None and message.spot is not None and self.state.ghost:
            self.place_ghost(self.state.ghost.moved(message.spot.time + (self.watch_.observed.origin or 0.0)))
        else:
            self.change(selected=message.rank)

    # Looking

    def action_why(self) -> None:
        if (context := self.context) is None:
            return
        waiting = [context.scene.rank(job) for job in jobs_of(context, "waiting")[:200]]
        if not waiting:
            self.change(said="no job waits")
            return
        place = waiting.index(self.state.selected) + 1 if self.state.selected in waiting else 0
        self.choose(waiting[place % len(waiting)])

    def action_colour(self) -> None:
        modes = list(MODES)
        mode = modes[(modes.index(self.state.mode) + 1) % len(modes)]
        self.change(mode=mode, said=f"colours: {mode}, {MODES[mode]}")

    def action_partition(self) -> None:
        if self.scene is None:
            return
        names = ["", *(partition.name for partition in self.scene.cluster.partitions)]
        if len(names) == 1:
            names += sorted({name for job in self.scene.cluster.queue for name in job.partition.split(",")})
        at = names.index(self.state.listing.partition) if self.state.listing.partition in names else 0
        self.list_as(partition=names[(at + 1) % len(names)])

    def action_mine_first(self) -> None:
        self.list_as(mine=(self.state.listing.mine + 1) % 3)

    def action_toggle_panel(self, name: str) -> None:
        if self.is_small and name in PANELS:
            self.change(over=None if self.state.over == name else name)
        else:
            self.change(hidden=self.state.hidden ^ {name})

    def action_all_panels(self) -> None:
        self.change(hidden=frozenset(), over=None, alone=False)

    def action_next_panel(self, by: int = 1) -> None:
        if self.is_small:
            names = [None, *PANELS]
            self.change(over=names[(names.index(self.state.over) + by) % len(names)])
        elif by > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_previous_panel(self) -> None:
        self.action_next_panel(-1)

    def action_maximise(self) -> None:
        self.change(alone=not self.state.alone)

    async def action_in_chart(self, action: str) -> None:
        await self.query_one("#chart", Gantt).run_action(action)

    def action_theme(self) -> None:
        choose_theme(self, self.look)

    def action_escape(self) -> None:
        if self.workers.cancel_group(self, "search"):
            self.change(said="the search was given up")
        elif self.state.ghost is not None:
            self.change(ghost=None)
        elif self.state.listing.words:
            self.list_as(words="")
        elif self.state.alone:
            self.change(alone=False)
        elif self.state.over is not None:
            self.change(over=None)
        elif isinstance(self.focused, Panel):
            self.query_one("#chart").focus()
        else:
            self.change(selected=None)

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(help_groups(), None, words=()))

    def action_first_screen(self) -> None:
        self.post_message(ShowFirst())

    def action_quit(self) -> None:
        self.post_message(Quit())

    # Lists of jobs

    def list_as(self, **changed: Any) -> None:
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
        self.post_message(Remember(columns=dict(self.state.listing.layouts)))

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
        from tui.live.outlook import outlook

        look = partial(outlook, self.watch_, context.scene.picture, job)
        said = f"looking ahead for {job_name(job)} ... (esc stops it)"
        self._look_in_thread(said, look, partial(self._show_outlook, job))

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
        from tui.live.outlook import outlook_of_new

        look = partial(outlook_of_new, self.watch_, picture, cluster, job)
        self._look_in_thread("looking for a place ... (esc stops it)", look, self._show_room)

    def _show_room(self, found: tuple[tuple[str, ...], Ghost | None]) -> None:
        told, ghost = found
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
