"""Outlook of a waiting job: a forecast of its start, how good such forecasts were, and what-if answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.new_job import Ghost, fit_lines, fits_now, ghost_of, new_lines, start_of
from sim.live.forecast.what_if import answers
from sim.live.forecast.words import answer_lines, forecast_lines
from sim.support.errors import NotThereError
from tui.live.forecaster import Ahead
from tui.live.watch import Watch

NOTHING = "No other limit, size, partition or sharing that was tried would let it start more than a minute earlier."
NO_START = "No other limit, size, partition or sharing that was tried would let it start."


def outlook(
    watch: Watch, picture: int, job: ClusterJob, is_over: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """Return sentences about a waiting job; empty if the poll is forgotten, or `is_over` before the end."""
    cluster, forecaster = watch.picture(picture), watch.forecaster
    made = watch.shown_ahead(picture) or forecaster.made(picture) or next(forecaster.make(picture, is_over), None)
    if cluster is None or made is None or is_over():
        return ()
    return *forecast_lines(cluster, job, made.forecasts), *_what_if(cluster, job, made)


def outlook_of_new(
    watch: Watch, picture: int, cluster: Cluster, job: ClusterJob | None, is_over: Callable[[], bool]
) -> tuple[tuple[str, ...], Ghost | None]:
    """Return sentences about a job that does not exist yet, and its place in the plan; without a job, what fits now."""
    if job is None:
        return tuple(fit_lines(cluster, fits_now(cluster))), None
    forecaster = watch.forecaster
    made = watch.shown_ahead(picture) or forecaster.made(picture) or next(forecaster.make(picture, is_over), None)
    if made is None or is_over():
        return (), None
    there, found = start_of(cluster, job, made.board.past, made.forecasts.starts)
    told = tuple(new_lines(there, job, found, made.board.past, made.forecasts.starts))
    with suppress(NotThereError):
        return told, None if found.after is None else ghost_of(cluster, job)
    return told, None


def _what_if(cluster: Cluster, job: ClusterJob, made: Ahead) -> Iterator[str]:
    found = answers(cluster, job, made.board.past, made.forecasts.starts)
    for each in found:
        yield " ".join(answer_lines(cluster, each))
    if not found:
        yield NOTHING if job.id in made.forecasts.starts else NO_START
