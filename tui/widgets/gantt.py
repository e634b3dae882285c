"""Widget with the chart of a run (Gantt chart): it draws a scene and reports what the user does."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region
from textual.message import Message

from sim.support.formatting import printable_lines
from sim.workload.model import Workload
from tui.chart.axis import CLOCK, Axis
from tui.chart.cells.cells import Brush, Cells, Runs
from tui.chart.cells.edges import margin, margin_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.hover import Pictured, Spot, job_span, measured, spot_at
from tui.chart.node_rows import has_bands
from tui.chart.scale import Camera
from tui.look.palette import DARK, Hue, Look, Tone, ink
from tui.look.themes import Printable
from tui.widgets.cell_rows import Inked, RowWidget

_NAMED = 5
"""Width in columns in which the names of most jobs fit."""
_A_PAN = 8
"""Number of columns, or of rows of cells, by which one key press moves the chart."""


class _Looking(NamedTuple):
    camera: Camera
    axis: Axis
    now: float


class Gantt(RowWidget, can_focus=True):
    """Widget with the chart of a scene. It stores the camera, and sends a message when the camera moves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "zoom(1)", "closer", show=False, id="chart.zoom_in"),
        Binding("minus", "zoom(-1)", "wider", show=False, id="chart.zoom_out"),
        Binding("right_curly_bracket", "zoom_processors(1)", "fewer processors", show=False, id="chart.taller"),
        Binding("left_curly_bracket", "zoom_processors(-1)", "more processors", show=False, id="chart.flatter"),
        Binding("shift+left,h,less_than_sign", "pan(-1)", "earlier", show=False, id="chart.earlier"),
        Binding("shift+right,l,greater_than_sign", "pan(1)", "later", show=False, id="chart.later"),
        Binding("shift+up,pageup", "pan_processors(1)", "higher processors", show=False, id="chart.higher"),
        Binding("shift+down,pagedown", "pan_processors(-1)", "lower processors", show=False, id="chart.lower"),
        Binding("K", "space_by_event", "space by event, or by the clock", show=False, id="chart.by_event"),
        Binding(
            "M",
            "toggle_rows",
            "lanes (rows of the matrix, partitions, nodes by use), processors by number, or nodes with their memory",
            show=False,
            id="chart.rows",
        ),
        Binding("n", "follow", "follow now, or the next match", show=False, id="chart.follow"),
        Binding("0", "fit_all", "whole run", show=False, id="chart.fit_all"),
        Binding("A", "fit_first", "as at first", show=False, id="chart.fit_first"),
        Binding("o", "fit_job", "fit the job", show=False, id="chart.fit_job"),
    ]

    class CameraChanged(Message):
        """Message that the camera has moved; `by_size` is True if only the size of the widget changed."""

        def __init__(self, gantt: Gantt, camera: Camera, by_size: bool) -> None:
            self.gantt, self.camera, self.by_size = gantt, camera, by_size
            super().__init__()

        @property
        def control(self) -> Gantt:
            return self.gantt

    class Hovered(Message):
        """Message that the mouse moved to a job or None, and to a place, None outside of the chart."""

        def __init__(self, rank: int | None, spot: Spot | None) -> None:
            self.rank, self.spot = rank, spot
            super().__init__()

    class Picked(Message):
        """Message that the chart was clicked; `rank` is the job there, or None if the place is free."""

        def __init__(self, gantt: Gantt, rank: int | None, spot: Spot | None = None) -> None:
            self.gantt, self.rank, self.spot = gantt, rank, spot
            super().__init__()

    class Measured(Message):
        """Message of a drag that measures time; `span` is (begin, end) when the button is released, until then None."""

        def __init__(self, gantt: Gantt, told: str, span: tuple[float, float] | None = None) -> None:
            self.gantt, self.told, self.span = gantt, told, span
            super().__init__()

    def __init__(
        self, workload: Workload, camera: Camera | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._workload = workload
        """Workload of the scene drawn last; another than at first if the machine changed"""
        self._camera = camera
        self._scene: Pictured | None = None
        self._selected: int | None = None
        self._brush = Brush(DARK)
        self._cells: Cells | None = None
        self._changed: dict[tuple[int, int, int], Runs] = {}
        """Cells by (row, first column, end column) that was drawn last; empty if Textual applies filters"""
        self._by_clock: Camera | None = None
        """Last camera with columns of equal times, for the return from columns of equal numbers of events"""
        self._spot: Spot | None = None
        self._seen: tuple[float, float] | None = None
        """Span of time that stays visible if the size of the widget changes; None to keep the camera's scale"""
        self._grabbed: tuple[int, int, _Looking] | None = None
        """Column, row, and camera with axis and time when a drag of the chart began; None at any other time"""
        self._measured: tuple[events.MouseEvent, events.MouseEvent] | None = None
        self.is_pointed_at = False
        """True to draw the mouse pointer into the chart, for viewers of a shared screen or a projector."""
        self._pointer: tuple[int, int] | None = None

    # Input

    def show(self, scene: Pictured, look: Look) -> None:
        """Draw this scene; only rows that changed are sent to the terminal."""
        left = self._label_columns
        self._scene = scene
        if scene.chart is not None and scene.chart.workload is not self._workload:
            self._workload = scene.chart.workload
        if self._label_columns != left:
            self._fit_size()
        if look is not self._brush.look:
            self._brush = Brush(look)
            self._forget()
            self._fit_size()
        if self._camera is not None and self._camera.held is not None and (looking := self._looking()):
            self._use_camera(looking.camera)
        self._redraw()

    @property
    def selected(self) -> int | None:
        return self._selected

    @selected.setter
    def selected(self, rank: int | None) -> None:
        if rank != self._selected:
            self._selected = rank
            self._redraw()

    @property
    def camera(self) -> Camera | None:
        return self._camera

    @camera.setter
    def camera(self, camera: Camera) -> None:
        """Set the camera, adapted to the widget's size, without sending a message."""
        inner = self._inner
        sized = camera.sized(inner.columns, inner.rows * self._folds)
        self._camera, self._seen = sized, self._seen if sized == self._camera else None

    @property
    def is_fitted(self) -> bool:
        inner, camera = self._inner, self._camera
        return camera is not None and (camera.columns, camera.rows) == (inner.columns, inner.rows * self._folds)

    def turning(self, pages: bool) -> Camera | None:
        """Return a camera that keeps the present visible, by pages or by scrolling; None if its place is unknown."""
        if (looking := self._looking()) is None:
            return None
        return looking.camera.paging(looking.now) if pages else looking.camera.following()

    # Drawing

    def cells(self, y: int, begin: int, end: int) -> list[Segment]:
        drawn = self._cells
        if drawn is None or y >= len(drawn.chars) or end > drawn.chars.shape[1]:
            return [Segment(" " * (end - begin), Style(bgcolor=self._brush.look.background))]
        made = self._brush.draw(drawn, y, begin, end)
        for known in self.get_line_filters():
            made = known.apply(made, self.background_colors[1])
        return made

    def changed_cells(self, y: int, begin: int, end: int) -> list[Segment] | Inked:
        runs = self._changed.get((y, begin, end))
        return self.cells(y, begin, end) if runs is None else Inked(runs, self._brush)

    def get_line_filters(self) -> list[LineFilter]:
        """Return the filters, except that for unprintable characters, which every cell has passed."""
        return [known for known in super().get_line_filters() if not isinstance(known, Printable)]

    def _redraw(self) -> None:
        width, height = self.size
        if self._scene is None or self._scene.chart is None or not width or not height:
            return
        before = self._cells
        planned = None if self._selected is None else self._scene.planned_start(self._selected)
        self._cells = paint(self._scene.chart, self._brush.look, Size(width, height), self._selected, planned)
        self._draw_measure(self._cells)
        self._draw_pointer(self._cells)
        if changed := self._cells.changed(before):
            runs = [] if self.get_line_filters() else self._brush.runs(self._cells, changed)
            self._changed = dict(zip(changed, runs, strict=False))
            self.refresh(*(Region(begin, row, end - begin, 1) for row, begin, end in changed))

    def _draw_pointer(self, drawn: Cells) -> None:
        """Draw the mouse pointer into the picture, for viewers who do not hold the mouse."""
        if self.is_pointed_at and self._pointer is not None:
            x, y = self._pointer
            drawn.write(y, x, "*" if self._brush.look.ascii else "●", ink(Hue.ACCENT, Tone.STRONG), ink(Hue.NONE))

    @property
    def _inner(self) -> Size:
        chart = None if self._scene is None else self._scene.chart
        return chart_size(Size(*self.size), self._workload.procs, () if chart is None else chart.labels)

    @property
    def _label_columns(self) -> int:
        chart = None if self._scene is None else self._scene.chart
        return margin(self._workload.procs) if chart is None else margin_of(chart.workload.procs, chart.labels)

    @property
    def _folds(self) -> int:
        return 1 if self._brush.look.patterned else 2

    def _forget(self) -> None:
        self._cells = None
        self._changed.clear()

    def on_resize(self) -> None:
        self._forget()
        self._fit_size()
        self._redraw()

    def _fit_size(self) -> None:
        if not self.size.width or not self.size.height:
            return
        inner = self._inner
        rows = inner.rows * self._folds
        if self._camera is None:
            self._use_camera(Camera.on(self._workload, inner.columns, rows), by_size=True)
        elif self._seen is not None:
            self.see(self._seen, by_size=True)
        else:
            self._use_camera(self._camera.sized(inner.columns, rows), by_size=True)

    # Looking elsewhere

    def see(self, window: tuple[float, float] | None, by_size: bool = False) -> None:
        """Show this span of time, also after changes of size; None shows the first view."""
        inner = self._inner
        first = Camera.on(self._workload, inner.columns, inner.rows * self._folds)
        self._use_camera(first if window is None else first.fitting(*window), by_size)
        self._seen = window

    def _use_camera(self, camera: Camera, by_size: bool = False) -> None:
        if camera != self._camera:
            self._camera, self._seen = camera, None
            self.post_message(self.CameraChanged(self, camera, by_size))

    @property
    def _clock(self) -> float:
        return 0.0 if self._scene is None else self._scene.clock

    def _looking(self) -> _Looking | None:
        """Return camera, axis and present; None before a chart is drawn, or until its axis is of the camera's kind."""
        chart = self._scene.chart if self._scene else None
        if self._camera is None or chart is None or chart.view.axis.by_event != self._camera.by_event:
            return None
        axis = chart.view.axis
        return _Looking(self._camera.held_on(axis), axis, axis.place(self._clock))

    def action_zoom(self, rungs: int) -> None:
        if looking := self._looking():
            self._use_camera(looking.camera.zoomed(rungs, looking.now))

    def enlarge(self, seconds: float) -> None:
        """Zoom in until the bar of a job that runs for this many seconds is wide enough for its name."""
        if (looking := self._looking()) and not looking.camera.by_event:
            camera = looking.camera
            at = None if camera.follow else camera.columns // 2
            while camera.per_column * _NAMED > seconds and (closer := camera.zoomed(1, looking.now, at)) != camera:
                camera = closer
            self._use_camera(camera)

    def action_zoom_processors(self, steps: int) -> None:
        if self._camera is not None:
            self._use_camera(self._camera.stretched(steps, self._workload.procs))

    def action_pan(self, direction: int) -> None:
        if looking := self._looking():
            self._use_camera(looking.camera.panned(direction * _A_PAN, looking.now))

    def action_space_by_event(self) -> None:
        """Change between columns of equal time and of equal numbers of events; the present time stays visible."""
        if self._camera is None or self._scene is None or self._scene.chart is None:
            return
        view, was = self._scene.chart.view, self._camera
        middle = view.time_at(view.columns / 2)  # in the past: what is to come has few events
        held = None if view.shows(self._clock) or middle > self._clock else middle
        if not was.by_event:
            self._by_clock = was
            self._use_camera(was.spaced(by_event=True, held=held))
            return
        before = (self._by_clock or Camera.on(self._workload, was.columns, was.rows)).sized(was.columns, was.rows)
        before = replace(before, low=was.low, high=was.high, by_rows=was.by_rows)
        stays = held is None and before.view(self._clock).shows(self._clock)
        self._use_camera(before if stays else before.spaced(by_event=False, held=held).held_on(CLOCK))

    def action_pan_processors(self, direction: int) -> None:
        if self._camera is not None:
            self._use_camera(self._camera.lifted(direction * _A_PAN * self._folds, self._workload.procs))

    def action_toggle_rows(self) -> None:
        """Change the vertical order of the chart: in lanes, by processor number, or by nodes with their memory."""
        chart, camera = self._scene.chart if self._scene is not None else None, self._camera
        if camera is not None and chart is not None:
            can = has_bands(chart.band_cores, camera.low, camera.high, camera.rows)
            self._use_camera(camera.reordered(bool(chart.lanes or (chart.by_owner and chart.memory is None)), can))

    def action_follow(self) -> None:
        if self._camera is not None:
            self._use_camera(self._camera.following())

    def action_fit_all(self) -> None:
        if (looking := self._looking()) is None or self._scene is None or not len(self._workload):
            return
        axis, known = looking.axis, max(self._scene.known, self._clock)
        begin, end = axis.place(float(self._workload.submit[0])), min(axis.place(known), axis.last)
        self._use_camera(looking.camera.fitting(begin, end))

    def action_fit_first(self) -> None:
        inner = self._inner
        self._use_camera(Camera.on(self._workload, inner.columns, inner.rows * self._folds))

    def action_fit_job(self) -> None:
        looking, chart = self._looking(), self._scene.chart if self._scene else None
        if looking is None or chart is None or self._selected is None:
            raise SkipAction  # the screen says that no job is selected
        if (lasts := job_span(chart, self._selected)) is not None:
            begin, end = map(looking.axis.place, lasts)
            about = max((end - begin) * 0.2, 1.0 if looking.axis.by_event else 10.0)
            self._use_camera(looking.camera.fitting(begin - about, end + about))

    # The mouse

    def _spot_at(self, event: events.MouseEvent) -> Spot | None:
        if self._scene is None or self._scene.chart is None:
            return None
        row = event.y * self._scene.chart.view.rows // max(self._inner.rows, 1)
        return spot_at(self._scene.chart, event.x - self._label_columns, row)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.is_pointed_at:
            self._pointer, self.tooltip = (event.x, event.y), None
            self._redraw()
        if self._measured is not None:
            self._measure(event)
            return
        if self._grabbed is not None:
            self._drag(event)
            return
        spot = self._spot_at(event)
        rank = spot.rank if spot else None
        if spot != self._spot:
            if rank is None or self._spot is None or self._spot.rank != rank:
                self.tooltip = None if self.is_pointed_at else self._hover_text(spot)
            self._spot = spot
            self.post_message(self.Hovered(rank, spot))

    def _hover_text(self, spot: Spot | None) -> Content | None:
        if self._scene is None or self._scene.chart is None or spot is None:
            return None
        scene = self._scene
        dates = self._brush.look.calendar
        told = scene.hover_free(spot, dates) if spot.rank is None else scene.hover(spot.rank, dates)
        return Content(printable_lines(told))

    def on_leave(self) -> None:
        if self._pointer is not None:
            self._pointer = None
            self._redraw()
        if self._spot is not None:
            self._spot = None
            self.post_message(self.Hovered(None, None))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.shift or event.button == 3:
            self._measured = event, event
            self.capture_mouse()
        elif event.button == 1 and (looking := self._looking()):
            self._grabbed = event.x, event.y, looking
            self.capture_mouse()

    def _measure(self, event: events.MouseMove) -> None:
        """Store the pointer as the end of the measured span, and report the span's time and processors."""
        assert self._measured is not None
        self._measured = self._measured[0], event
        self._tell_measured(self._measured, is_over=False)
        self._redraw()

    def _tell_measured(self, between: tuple[events.MouseEvent, events.MouseEvent], is_over: bool) -> None:
        one, other = map(self._spot_at, between)
        if one is not None and other is not None and self._scene is not None and self._scene.chart is not None:
            begin, end = sorted((one.time, other.time))
            told = measured(self._scene.chart, one, other, self._brush.look.calendar)
            self.post_message(self.Measured(self, told, (begin, end) if is_over and end > begin else None))

    def _draw_measure(self, cells: Cells) -> None:
        if self._measured is None:
            return
        (x, _), (to, y) = ((event.x, event.y) for event in self._measured)
        begin, end = sorted((x, to))
        ends, bar = ("||", "-") if self._brush.look.ascii else ("├┤", "─")
        told = f"{ends[0]}{bar * (end - begin - 1)}{ends[1]}" if end > begin else ends[0]
        cells.write(y, begin, told, ink(Hue.ACCENT, Tone.TEXT_STRONG), ink(Hue.ACCENT, Tone.STRONG))

    def _drag(self, event: events.MouseMove) -> None:
        assert self._grabbed is not None
        x, y, (camera, _, now) = self._grabbed
        if event.x != x:
            camera = camera.panned(x - event.x, now)
        self._use_camera(camera.lifted((event.y - y) * self._folds, self._workload.procs))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """End a drag; if the pointer has not moved since the button was pressed, handle it as a click."""
        grabbed, self._grabbed = self._grabbed, None
        self.release_mouse()
        if self._measured is not None:
            between, self._measured = self._measured, None
            self._tell_measured(between, is_over=True)
            self._redraw()
        if grabbed is not None and (event.x, event.y) == grabbed[:2]:
            spot = self._spot_at(event)
            self.post_message(self.Picked(self, spot.rank if spot else None, spot))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self._sideways(event, -1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self._sideways(event, 1)

    def _sideways(self, event: events.MouseEvent, direction: int) -> None:
        event.prevent_default()
        event.stop()
        self.action_pan(direction)

    def _wheel(self, event: events.MouseEvent, steps: int) -> None:
        event.prevent_default()
        event.stop()
        spot, looking = self._spot_at(event), self._looking()
        if looking is None or spot is None:
            return
        if event.shift:
            self._use_camera(looking.camera.stretched(steps, self._workload.procs, spot.processor))
        else:
            self._use_camera(looking.camera.zoomed(steps, looking.now, event.x - self._label_columns))
