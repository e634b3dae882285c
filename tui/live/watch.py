"""Threads that observe a cluster or read a recording, so that the screen is not delayed."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any, Protocol

from sim.live.cluster.changes import PollEvent, changes
from sim.live.cluster.observed import Observed, sharing
from sim.live.cluster.pace import Pace
from sim.live.cluster.recording import Scratch
from sim.live.cluster.values import Cluster, ClusterJob, ClusterSource
from sim.stops.grammar import Stop
from sim.support.errors import SchedscopeError
from sim.workload.formats.zone import zone_here
from tui.live.chart import ChartMaker, Wish
from tui.live.instants import OfPicture
from tui.live.scene import LiveScene, State, strip_of

if TYPE_CHECKING:
    from sim.live.forecast.board import Forecasts
    from tui.live.forecaster import Ahead, Forecaster

AGAIN = 5.0
"""Seconds after which a recording is checked again for new polls."""
LEAST_PAST = 86400.0
"""Least time in seconds for which a live screen remembers jobs that have ended."""
PATIENCE = 1.0
"""Seconds to wait until a thread has ended, so that its last poll is still recorded."""
BLOCK = 60
"""Number of polls that are examined together when a search goes back in time."""
PAUSE = 0.25
"""Seconds for which a poll must stay on the screen until forecasts are made for it."""
REST = 4.0
"""Pause after making the forecasts for a poll of a live cluster, as a multiple of the time that this took."""
STALE = 2
"""Number of polls after which a forecast is no longer shown."""
BATCH = 0.4
"""Seconds of reading a recording after which the polls that were read are shown."""


class Older(Protocol):
    """Store of polls that are too old to be kept in memory, from which they are read again."""

    def at(self, time: float) -> Cluster: ...


class Recorded(Older, Protocol):
    """Recording of a cluster from which polls and the jobs before the first poll can be read."""

    def times(self) -> tuple[float, ...]: ...

    def history(self) -> tuple[ClusterJob, ...]: ...


class Keeps(Protocol):
    """Store to which polls are written, such as a recording."""

    def add(self, cluster: Cluster) -> None: ...

    def add_history(self, jobs: Iterable[ClusterJob]) -> None: ...


Hear = Callable[[LiveScene], None]
Fail = Callable[[Exception], object]


class Watch:
    """Observation of a cluster: one thread gets polls, another adds them to the history and makes scenes."""

    def __init__(self, begin: State, past: float = inf) -> None:
        self.state = begin
        self._older: Older | None = None
        self.observed = Observed(zone_here(), past)
        self._maker = ChartMaker()
        self._hear: Hear = lambda scene: None
        self._wish = Wish()
        self._is_wished = False
        self._came: deque[Cluster] = deque()
        self._past: tuple[ClusterJob, ...] = ()
        self._changed = Condition()
        self._over, self._wake = Event(), Event()
        self._threads: list[Thread] = []
        self._drawn: tuple[int, int] | None = None
        self.looks_ahead = True
        """True if forecasts are made for the poll on the screen."""
        self._forecaster: Forecaster | None = None
        self._ahead: Ahead | None = None
        self._on_screen = -1
        """Number of the poll that is shown; -1 before the first."""

    # For the screen

    def begin(self, hear: Hear, fail: Fail) -> None:
        """Start the threads; one calls `hear` with each new scene, `fail` gets an error that ends a thread."""
        self._hear = hear

        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except Exception as error:
                fail(error)

        for work in (self._bring, self._make, *([self._look_ahead] if self.looks_ahead else [])):
            thread = Thread(target=guarded, args=(work,), daemon=True, name=work.__name__)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End the threads, waiting briefly; one that waits for a command of the scheduler ends only with it."""
        self._over.set()
        self._wake.set()
        with self._changed:
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(PATIENCE)

    def poll_now(self) -> None:
        """Poll a cluster now, or as soon as its pace permits. A recording is read again anyway."""

    def wish(self, wish: Wish) -> None:
        with self._changed:
            if wish != self._wish:
                self._wish, self._is_wished = wish, True
                self._changed.notify_all()

    def search(
        self, stops: Iterable[Stop], since: int, forwards: bool, is_over: Callable[[], bool] = lambda: False
    ) -> int | None:
        """Return the number of the nearest poll after or before `since` that meets a condition, or None."""
        wanted = tuple(stops)

        def meeting(places: range) -> Iterator[int]:
            return (place for place in places if not is_over() and self.met(wanted, place))

        if forwards:
            return next(meeting(range(since + 1, len(self.observed.moments))), None)
        first = max(self.first, 0)
        for end in range(since, first + 1, -BLOCK):  # each picture is made from the one before
            if found := tuple(meeting(range(max(end - BLOCK, first + 1), end))):
                return found[-1]
        return None

    def met(self, stops: Iterable[Stop], picture: int) -> Stop | None:
        """Return the first stop that this poll meets, compared with the poll before, or None."""
        before = self._instant(picture - 1) if picture > self.first else None
        after = self._instant(picture)
        if after is None or before is None:
            return None
        return next((stop for stop in stops if stop.fires(before, after)), None)

    def _instant(self, picture: int) -> OfPicture | None:
        cluster = self.picture(picture)
        if cluster is None:
            return None
        return OfPicture(self.observed, picture, cluster, self._happened(picture, cluster))

    def _happened(self, picture: int, cluster: Cluster) -> tuple[PollEvent, ...]:
        """Return the events since the poll before; if they are not kept, they are computed again."""
        kept = self.observed.happened(picture)
        return changes(self.picture(picture - 1), cluster) if kept is None else kept

    @property
    def first(self) -> int:
        return self.observed.first_known if self._older is not None else self.observed.first_kept

    def picture(self, number: int) -> Cluster | None:
        """Return the state at the poll with this number; None if that is not stored any more."""
        kept, older = self.observed.at(number), self._older
        if kept is None and older is not None and 0 <= number < len(self.observed.moments):
            with suppress(SchedscopeError):
                return older.at(self.observed.moments[number] + (self.observed.origin or 0.0))
        return kept

    # The thread that makes scenes

    def _make(self) -> None:
        while not self._over.is_set():
            with self._changed:
                self._changed.wait_for(self._has_work, timeout=1.0)
                wish, self._is_wished = self._wish, False
                is_new, self._shown = wish is not self._shown, wish  # what comes from now on makes another scene
                came, self._came = self._came, deque()
                past, self._past = self._past, ()
            for cluster in came:
                self.observed.add(cluster)
                self._maker.unused.see(cluster)
            if past:
                self.observed.add_past(past)
            if self._over.is_set() or self.observed.last is None:
                continue
            scene = self._scene(wish)
            at = (len(self.observed.moments), self._column(scene))
            if scene is not None and (came or past or at != self._drawn or is_new):
                self._drawn = at
                self._hear(scene)
            if scene is None:
                self._shown = None  # tried again, as an old poll may be readable later
            if came:
                gc.collect()  # drawn lines refer to themselves; left to itself the collector waits for hours

    _shown: Wish | None = None
    """Wish of the last scene; None if something else that a scene shows has changed since."""

    def _has_work(self) -> bool:
        return self._is_wished or bool(self._came) or bool(self._past) or self._over.is_set()

    @staticmethod
    def _column(scene: LiveScene | None) -> int:
        """Return the chart's column of the present, 0 without one; when it changes, the chart is drawn again."""
        chart = None if scene is None else scene.chart
        return 0 if chart is None else chart.view.first + chart.view.column_of(chart.clock)

    def _scene(self, wish: Wish) -> LiveScene | None:
        observed = self.observed
        newest = len(observed.moments) - 1
        picture = newest if wish.picture is None else min(max(wish.picture, self.first), newest)
        cluster = self.picture(picture)
        if cluster is None:
            return None
        events = self._happened(picture, cluster)
        clock = observed.moments[picture]
        if wish.picture is None and not self.state.title:
            clock = max(time.time() - (observed.origin or 0.0), clock)  # now moves by the clock
        chart = None
        if wish.camera is not None:
            chart = self._maker.make(observed, cluster, clock, wish.camera, wish)
        known = max(observed.moments[-1], clock)
        return LiveScene(
            cluster=cluster,
            observed=observed,
            clock=clock,
            picture=picture,
            pictures=newest + 1,
            chart=chart,
            strip=strip_of(observed, known, wish.marks),
            events=events,
            state=self.state,
            follows=wish.picture is None,
            forecasts=self._forecasts(picture),
        )

    # The thread that makes forecasts

    @property
    def forecaster(self) -> Forecaster:
        """Return the maker of forecasts, made when needed, because it imports policies."""
        if self._forecaster is None:
            from tui.live.forecaster import Forecaster

            self._forecaster = Forecaster(self)
        return self._forecaster

    def _look_ahead(self) -> None:
        """Make the forecasts for the poll on the screen, once it has stayed there for `PAUSE` seconds."""
        refused = -1  # poll whose data no forecast can be made from, such as a node without cores
        while True:
            picture = self._on_screen
            if self._over.wait(PAUSE):
                return
            is_behind = picture in (-1, refused) or picture != self._on_screen or self.state.reading is not None
            if is_behind or (self._ahead is not None and self._ahead.picture == picture and self._ahead.is_scored):
                continue
            began = time.monotonic()
            try:
                for made in self.forecaster.make(picture, partial(self._is_left, picture)):
                    self._ahead = made
                    with self._changed:
                        self._is_wished, self._shown = True, None
                        self._changed.notify_all()
            except SchedscopeError:
                refused = picture
            if not self.state.title:
                self._over.wait(REST * (time.monotonic() - began))

    def _is_left(self, picture: int) -> bool:
        return self._over.is_set() or self._wish.picture not in (None, picture)

    def shown_ahead(self, picture: int) -> Ahead | None:
        """Return the forecasts on the screen with their board, if they were made for poll number `picture`."""
        found = self._ahead
        return found if found is not None and found.picture == picture else None

    def _forecasts(self, picture: int) -> Forecasts | None:
        """Return the latest forecasts, if they were made for this poll or for one shortly before."""
        self._on_screen, ahead = picture, self._ahead
        return ahead.forecasts if ahead is not None and 0 <= picture - ahead.picture <= STALE else None

    # The thread that brings pictures

    def _bring(self) -> None:
        raise NotImplementedError

    def _push(self, clusters: Iterable[Cluster], past: tuple[ClusterJob, ...] = (), **changed: Any) -> None:
        """Hand over new polls and past jobs to the thread that makes scenes, and change fields of the state."""
        with self._changed:
            self._came.extend(clusters)
            self._past = self._past + past
            self.state = replace(self.state, **changed)
            self._is_wished = True
            self._shown = None
            self._changed.notify_all()


class Live(Watch):
    """Observation of a live scheduler; all polls are stored in `aside`, which `stop` closes; few are in memory."""

    def __init__(
        self, source: ClusterSource, every: float = 60.0, since: float = 86400.0, keeps: Keeps | None = None,
        aside: Scratch | None = None,
    ) -> None:  # fmt: skip
        self._pace = Pace.of(every)
        super().__init__(State(every=self._pace.every), max(since, LEAST_PAST))
        self._source, self._since, self._keeps, self._older = source, since, keeps, aside
        self._aside = aside
        self._has_past = False
        self._last: Cluster | None = None
        self._begun = 0.0

    def stop(self) -> None:
        super().stop()
        if self._aside is not None:
            self._aside.close()
            self._aside = self._older = None

    def poll_now(self) -> None:
        self._push([], due=time.time() + self._pace.soonest(time.monotonic() - self._begun))
        self._wake.set()

    def _bring(self) -> None:
        while not self._over.is_set():
            self._begun = time.monotonic()
            self._ask()
            self._wake.clear()
            if not self._over.is_set():
                self._wake.wait(self._pace.left(time.monotonic() - self._begun))
                self._over.wait(self._pace.soonest(time.monotonic() - self._begun))

    def _ask(self) -> None:
        try:
            cluster = self._last = sharing(self._source.snapshot(), self._last)
            self._pace = self._pace.after(cluster.cost)
            self._put_aside(cluster)
            self._push([cluster], trouble="", every=self._pace.wait, due=self._due())
            past: tuple[ClusterJob, ...] = ()
            if not self._has_past:
                self._has_past = True
                past = self._source.history(cluster.at - self._since)
                self._push([], past)
            self._keep(cluster, past)
        except SchedscopeError as error:
            since = self._last.at if self._last is not None else self.state.since or time.time()
            self._pace = self._pace.after(None)
            self._push([], trouble=str(error), since=since, due=self._due())

    def _due(self) -> float:
        return time.time() + self._pace.left(time.monotonic() - self._begun)

    def _put_aside(self, cluster: Cluster) -> None:
        """Store a poll in the file `aside`; if that fails, go on without it: older polls are then lost."""
        if self._aside is None:
            return
        try:
            self._aside.add(cluster)
        except SchedscopeError:
            self._aside = self._older = None

    def _keep(self, cluster: Cluster, past: tuple[ClusterJob, ...]) -> None:
        """Add to the recording; if writing fails, show the reason and go on."""
        if self._keeps is None:
            return
        try:
            if past:
                self._keeps.add_history(past)
            self._keeps.add(cluster)
        except SchedscopeError as error:
            self._push([], unrecorded=str(error))
        else:
            if self.state.unrecorded:
                self._push([], unrecorded="")


class Replayed(Watch):
    """Observation read from a recording, from its beginning on; new polls are read while it is still being written."""

    def __init__(self, recording: Recorded, title: str) -> None:
        super().__init__(State(title=title, reading=0.0))
        self._recording = self._older = recording

    def _bring(self) -> None:
        done = 0
        while not self._over.is_set():
            try:
                times = self._recording.times()
                for batch, share in self._batches(times, done):
                    past = self._recording.history() if not done else ()
                    self._push(batch, past, reading=share, trouble="")
                    done += len(batch)
            except SchedscopeError as error:
                self._push([], trouble=str(error), since=time.time())
            self._over.wait(AGAIN)

    def _batches(self, times: tuple[float, ...], done: int) -> Iterator[tuple[list[Cluster], float | None]]:
        batch: list[Cluster] = []
        began = time.monotonic()
        for place in range(done, len(times)):
            if self._over.is_set():
                return
            batch.append(self._recording.at(times[place]))
            is_last = place == len(times) - 1
            if is_last or time.monotonic() - began > BATCH:
                yield batch, None if is_last else (place + 1) / len(times)
                batch, began = [], time.monotonic()
