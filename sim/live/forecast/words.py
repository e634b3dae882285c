"""Texts of forecasts, of their score, and of answers to what-if questions."""

from __future__ import annotations

from collections.abc import Iterator

from sim.live.cluster.dates import date
from sim.live.cluster.reasons import after_deadline
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.board import DayScore, Forecasts
from sim.live.forecast.expected import why_unknown
from sim.live.forecast.ranges import SHARE
from sim.live.forecast.score import FAR
from sim.live.forecast.what_if import FELT, Answer, in_words, later_lines
from sim.support.formatting import percent, printable, span


def forecast_lines(cluster: Cluster, job: ClusterJob, forecasts: Forecasts) -> Iterator[str]:
    """Yield sentences with the expected start of a waiting job and the score of such forecasts."""
    yield forecast_in_words(cluster, job, forecasts)
    if job.id in forecasts.starts and (told := score_line(forecasts)):
        yield told


def forecast_in_words(cluster: Cluster, job: ClusterJob, forecasts: Forecasts) -> str:
    """Return a sentence with the expected start of a waiting job, or with the reason why there is no forecast."""
    found, around = forecasts.starts.get(job.id), forecasts.ranges.get(job.id)
    if found is None:
        return f"No forecast of ours: {printable(why_unknown(cluster, job))}."
    middle, late = _date(found.middle, cluster), after_deadline(cluster, job, found.middle)
    if around is None:
        return f"Our forecast: {middle}; too few starts are known for a range{late}."
    low, high = (_date(time, cluster) for time in around)
    return f"Our forecast: {low} to {high} for {percent(SHARE, 0)} of such jobs, the middle {middle}{late}."


def score_note(forecasts: Forecasts) -> str:
    """Return the score of the forecasts of the last day in a few words; "" if none can be judged yet."""
    if forecasts.ours is None:
        return ""
    slurm = "" if forecasts.slurm is None else f", Slurm's {percent(forecasts.slurm.far, 0)}"
    inside = "" if forecasts.inside is None else f"; {percent(forecasts.inside, 0)} of starts in range"
    return f"forecasts within {span(FAR)}: ours {percent(forecasts.ours.far, 0)}{slurm}{inside}"


def score_line(forecasts: Forecasts) -> str:
    """Return a sentence on how accurate the forecasts of the last day were; "" if there is no start yet."""
    if forecasts.ours is None:
        return ""
    within, early = _score(forecasts.ours)
    told = f"In the last day {within} of our forecasts were within {span(FAR)} of the start ({early} too early)"
    if forecasts.slurm is not None:
        within, early = _score(forecasts.slurm)
        told += f", and {within} of Slurm's ({early})"
    inside = "" if forecasts.inside is None else f"; {percent(forecasts.inside, 0)} of the starts were inside our range"
    return f"{told}{inside}."


def _score(score: DayScore) -> tuple[str, str]:
    return percent(score.far, 0), percent(score.early, 0)


def _about(time: float, cluster: Cluster) -> str:
    date = _date(time, cluster)
    return date if date == "now" else f"about {date}"


def _date(time: float, cluster: Cluster) -> str:
    return "now" if time <= cluster.at else date(time, cluster.at)


def answer_lines(cluster: Cluster, told: Answer) -> Iterator[str]:
    change = in_words(told.change)
    if told.after is None:
        yield f"With {change}: {printable(told.why) or 'no forecast'}."
        return
    before, after = told.before, _about(told.after.middle, cluster)
    if before is None:
        yield f"With {change} it would start {after}; as it is, there is no forecast."
    elif abs(told.after.middle - before.middle) >= FELT:
        yield f"With {change} it would start {after} instead of {_about(before.middle, cluster)}."
    else:
        late, was_late = _about(told.after.high, cluster), _about(before.high, cluster)
        if_long = f"; if jobs run long, {late} instead of {was_late}" if abs(told.gain) >= FELT else ""
        yield f"With {change} it would start as before, {_about(before.middle, cluster)}{if_long}."
    yield from later_lines(told)
