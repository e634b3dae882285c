"""Texts of forecasts, of their score, and of answers to what-if questions."""

from __future__ import annotations

from collections.abc import Iterator

from sim.cluster.dates import date
from sim.cluster.values import Cluster, ClusterJob
from sim.forecast.board import DayScore, Forecasts
from sim.forecast.expected import Expected, why_unknown
from sim.forecast.ranges import SHARE
from sim.forecast.score import FAR
from sim.forecast.what_if import FELT, Answer, in_words
from sim.formatting import count, listed, percent, printable, span

MOST_NAMED = 3
_ALIKE = 60.0
"""Largest length in seconds of a span of time that is written as a single time."""


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
    if around is not None:
        low, high = (_date(time, cluster) for time in around)
        middle = _date(found.middle, cluster)
        return f"Our forecast: {low} to {high} for {percent(SHARE, 0)} of such jobs, the middle {middle}."
    if found.high - found.low < _ALIKE:
        return f"Our forecast: {_date(found.high, cluster)}, if no other job comes."
    low, high = _date(found.low, cluster), _date(found.high, cluster)
    return f"Our forecast: {low} if jobs end as early as a tenth of them did, {high} if all run to their limits."


def score_note(forecasts: Forecasts) -> str:
    """Return the score of the forecasts of the last day in a few words; "" if none can be judged yet."""
    if forecasts.ours is None:
        return ""
    slurm = "" if forecasts.slurm is None else f", Slurm's {percent(forecasts.slurm.far, 0)}"
    inside = "" if forecasts.inside is None else f"; {percent(forecasts.inside, 0)} of starts in range"
    return f"forecasts within {span(FAR)}: ours {percent(forecasts.ours.far, 0)}{slurm}{inside}"


def score_line(forecasts: Forecasts) -> str:
    """Return a sentence on how accurate the forecasts of the last day were; "" if there is no start yet to judge them
    by.
    """
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


def _when(start: Expected, cluster: Cluster) -> str:
    low, high = _date(start.low, cluster), _date(start.high, cluster)
    return high if start.high - start.low < _ALIKE else f"{low} to {high}"


def _date(time: float, cluster: Cluster) -> str:
    return "now" if time <= cluster.at else date(time, cluster.at)


def answer_lines(cluster: Cluster, told: Answer) -> Iterator[str]:
    """Yield sentences that tell the answer to a what-if question."""
    change = in_words(told.change)
    if told.after is None:
        yield f"With {change}: {printable(told.why) or 'no forecast'}."
        return
    after = _when(told.after, cluster)
    if told.before is None:
        yield f"With {change} it would start {after}; as it is, there is no forecast."
    elif abs(told.gain) < FELT:
        yield f"With {change} it would start about as before, {after}."
    else:
        yield f"With {change} it would start {after} instead of {_when(told.before, cluster)}."
    if told.later:
        named = listed((f"J{printable(id)} by {span(by)}" for id, by in told.later), most=MOST_NAMED)
        yield f"{count(len(told.later), 'other job')} would start later: {named}."
    elif told.gain >= FELT:
        yield f"No other job would start more than {span(FELT)} later."
    if told.earlier:
        yield f"{count(told.earlier, 'other job')} would start earlier."
