"""Forecasts for the poll on the live screen, with their score, made outside of the threads that draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from time import thread_time
from typing import NamedTuple, Protocol

from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.board import DAY, Board, Forecasts

PATIENCE = 20.0
"""Largest computing time, in seconds, for scoring the forecasts of earlier polls."""
MOST_JUDGED = 144
"""Largest number of earlier polls whose forecasts are scored."""
EVERY = 60.0
"""Smallest number of seconds between two polls of a cluster whose forecasts are scored."""
STEP = 600.0
"""Largest number of seconds between two polls whose forecasts are made with the same board (the data of forecasts)."""
KEPT_LINES = 2
"""Number of boards (data of forecasts) that are kept: for the newest poll, and for an earlier one on the screen."""


class Polls(Protocol):
    """Source of the polls of a cluster; polls that are no longer in memory are read again."""

    observed: Observed

    @property
    def first(self) -> int: ...

    def picture(self, number: int) -> Cluster | None: ...


class Ahead(NamedTuple):
    """Forecasts for one poll, and the board (the data of forecasts) that made them."""

    picture: int
    board: Board
    forecasts: Forecasts
    is_scored: bool


@dataclass
class Forecaster:
    """Maker of forecasts for polls; for a poll shortly after another it continues the same board and score."""

    polls: Polls

    def __post_init__(self) -> None:
        self._lines: list[Ahead] = []
        self._one = Lock()

    def made(self, picture: int) -> Ahead | None:
        """Return the forecasts for poll number `picture` if they are made already, otherwise None."""
        return next((line for line in tuple(self._lines) if line.picture == picture), None)

    def make(self, picture: int, is_over: Callable[[], bool] = lambda: False) -> Iterator[Ahead]:
        """Yield forecasts: at once without a score if scoring takes time, then with it; ends once `is_over`."""
        with self._one:
            if (known := self.made(picture)) is not None and known.is_scored:
                yield known
                return
            cluster = self.polls.picture(picture)
            if cluster is None or is_over():
                return
            if (line := self._before(picture, cluster)) is not None:
                board = line.board
                board.learn(self._ended(0.0, cluster.at))  # also jobs whose end was reported late
                yield self._keep(Ahead(picture, board, board.add(cluster), line.is_scored))
                return
            board, earlier = Board(self._ended(0.0, cluster.at), EVERY), self._earlier(picture, cluster)
            if not earlier:
                yield self._keep(Ahead(picture, board, board.add(cluster), is_scored=True))
                return
            yield self._keep(Ahead(picture, board, board.add(cluster), is_scored=False))
            if (scored := self._scored(cluster, earlier, is_over)) is not None:
                yield self._keep(Ahead(picture, scored, scored.add(cluster), is_scored=True))

    def _scored(self, cluster: Cluster, earlier: range, is_over: Callable[[], bool]) -> Board | None:
        """Return a board scored on `earlier` polls, on fewer if all take over `PATIENCE` seconds; None if over."""
        board, spent, since = Board(every=0.0), 0.0, 0.0
        for place, number in enumerate(earlier):
            if is_over():
                return None
            if (seen := self.polls.picture(number)) is None:
                continue
            board.learn(self._ended(since, seen.at))  # an earlier forecast knows no later end
            since, began = seen.at, thread_time()
            (board.keep if spent * len(earlier) <= PATIENCE * place else board.see)(seen)
            spent += thread_time() - began
        board.learn(self._ended(since, cluster.at))
        return board

    def _keep(self, made: Ahead) -> Ahead:
        others = [line for line in self._lines if line.board is not made.board and line.picture != made.picture]
        self._lines = [made, *others][:KEPT_LINES]
        return made

    def _before(self, picture: int, cluster: Cluster) -> Ahead | None:
        """Return scored forecasts of at most `STEP` seconds before, whose board can be used again; or None."""
        earlier = (line for line in self._lines if line.is_scored and line.picture < picture)
        return next((line for line in earlier if cluster.at - line.forecasts.at <= STEP), None)

    def _ended(self, since: float, until: float) -> Iterator[ClusterJob]:
        jobs = tuple(self.polls.observed.jobs)
        return (job for job in jobs if job.has_ended and since < (job.end or 0.0) <= until)

    def _earlier(self, picture: int, cluster: Cluster) -> range:
        """Return the numbers of at most `MOST_JUDGED` polls of the day before, at equal distances."""
        observed = self.polls.observed
        now = cluster.at - (observed.origin or 0.0)
        first = max(observed.picture_at(now - DAY), self.polls.first, 0)
        return range(first, picture, max(-(-(picture - first) // MOST_JUDGED), 1))
