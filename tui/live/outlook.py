"""Outlook of a waiting job of an observed cluster: a forecast of its start, how good such forecasts were in the last
day, and answers to what-if questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

from sim.cluster.values import Cluster, ClusterJob
from sim.forecast.board import DAY, Board
from sim.forecast.what_if import answers
from sim.forecast.words import answer_lines, forecast_lines
from tui.live.watch import Watch

PATIENCE = 5.0
"""Seconds that scoring earlier forecasts may take."""
MOST_JUDGED = 144
"""Largest number of earlier polls whose forecasts are scored."""
NOTHING = "No other limit, size or partition would let it start more than a minute earlier."


def outlook(
    watch: Watch, picture: int, job: ClusterJob, is_over: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """Return sentences about a waiting job at the poll `picture`. Return nothing if this poll is not stored any more,
    or if `is_over` returns True before the sentences are computed.
    """
    cluster = watch.picture(picture)
    if cluster is None:
        return ()
    origin = watch.observed.origin or 0.0
    ended = [each for each in tuple(watch.observed.jobs) if each.has_ended and (each.end or 0.0) <= cluster.at]
    board, began = Board(ended, every=0.0), monotonic()
    for number in _earlier(watch, picture, cluster.at - origin):
        if is_over():
            return ()
        if monotonic() - began < PATIENCE and (earlier := watch.picture(number)) is not None:
            board.keep(earlier)
    told = list(forecast_lines(cluster, job, board.add(cluster)))
    if is_over():
        return ()
    return *told, *_what_if(cluster, job, board)


def _earlier(watch: Watch, picture: int, now: float) -> range:
    """Return the numbers of at most `MOST_JUDGED` polls of the day before `now`, at equal distances."""
    first = max(watch.observed.picture_at(now - DAY), watch.first, 0)
    return range(first, picture, max(-(-(picture - first) // MOST_JUDGED), 1))


def _what_if(cluster: Cluster, job: ClusterJob, board: Board) -> Iterator[str]:
    found = answers(cluster, job, board.past)
    for each in found:
        yield " ".join(answer_lines(cluster, each))
    if not found:
        yield NOTHING
