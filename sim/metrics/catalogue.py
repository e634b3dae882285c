"""Catalogue of metrics: name, unit, meaning and formula of each, for tables, JSON and screens. Users search it by
meaning, with words of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple, Protocol, TypeVar

from sim.support.errors import ParameterError, similar, suggestion

Unit = Literal["s", "h", "jobs", "times", "share", "factor"]
"""Share is from 0 to 1; a factor is for example a slowdown."""
Better = Literal["smaller", "greater"]


class Metric(NamedTuple):
    """Metric of a schedule; `better` says whether smaller or greater values are better, None if neither is."""

    name: str
    title: str
    unit: Unit
    better: Better | None
    meaning: str
    formula: str = ""
    paper: str = ""
    """Short name of the paper that defines the metric; "" if it is from no paper."""

    @property
    def counted(self) -> str:
        """Return the title, followed by "(jobs)" if the metric is a number of jobs with another title."""
        return f"{self.title} (jobs)" if self.unit == "jobs" != self.title else self.title


class OfEachJob(NamedTuple):
    """Quantity that each job has, as a field of `FinishedJobs`, with its formula."""

    title: str
    unit: Unit
    meaning: str
    formula: str
    paper: str = ""


SPREADS = {
    "wait": OfEachJob(
        "wait", "s", "from submission, or the later start that was asked for, to the first start", "start - due"
    ),
    "turnaround": OfEachJob("turnaround", "s", "from submission to the end", "end - submit"),
    "slowdown": OfEachJob("slowdown", "factor", "turnaround over run time", "(end - submit) / run"),
    "bounded_slowdown": OfEachJob(
        "bounded slowdown", "factor", "1 + idle time over run time, that at least 10 s", "1 + idle / max(run, tau)",
        "ZKP, K",
    ),
}  # fmt: skip
"""Quantities whose mean, median, worst value and standard deviation are metrics, by name"""
SYMBOLS = (
    "submit, start (the first) and end of a job are times; run is its run time, procs its processors; "
    "idle = end - submit - run; due = the start that was asked for, else submit; tau = 10 s; "
    "N processors from T0 (first submission) to T1 (last end)"
)


def _metrics_of_spread(name: str) -> tuple[Metric, ...]:
    title, unit, what, formula, paper = SPREADS[name]
    of = f"({formula})" if " " in formula else formula
    told = (
        ("mean", f"mean {title}", f"{what}, mean over the jobs", f"sum of {of} / jobs"),
        ("median", f"median {title}", f"{what}; half of the jobs have less", f"median of {of}"),
        ("max", f"worst {title}", f"{what}, of the job worst off", f"max of {of}"),
        ("std", f"spread of {title}", f"{what}, standard deviation", f"standard deviation of {of}"),
    )
    return tuple(Metric(f"{how}_{name}", said, unit, "smaller", mean, text, paper) for how, said, mean, text in told)


METRICS: tuple[Metric, ...] = (
    Metric(
        "jobs", "jobs", "jobs", None, "finished jobs; all metrics of jobs are taken over these",
        "number of jobs with an end",
    ),
    Metric(
        "unfinished", "unfinished", "jobs", None, "jobs given up, or left of a run that was cut short; left out",
        "number of jobs without an end",
    ),
    *(entry for name in SPREADS for entry in _metrics_of_spread(name)),
    Metric(
        "mean_bounded_slowdown_z", "mean bounded slowdown (Z)", "factor", "smaller",
        "turnaround over run time, each taken as at least 10 s, mean over the jobs",
        "sum of max(end - submit, tau) / max(run, tau), / jobs", "Z",
    ),
    Metric(
        "mean_width_weighted_slowdown", "mean width-weighted slowdown", "factor", "smaller",
        "turnaround over processors times run time (at least 10 s): jobs of equal work count alike",
        "sum of (end - submit) / (procs * max(run, tau)), / jobs", "ZKP, equation 2",
    ),
    Metric(
        "aggregate_slowdown", "aggregate slowdown", "factor", "smaller",
        "1 + mean delay over mean run time (delay: idle time after the start that was asked for): long jobs weigh more",
        "1 + sum of max(idle - (due - submit), 0) / sum of run", "LS, equation 3",
    ),
    Metric(
        "total_wait_hours", "total wait", "h", "smaller", "the waits of all jobs together",
        "sum of wait / 3600",
    ),
    Metric(
        "mean_recorded_wait", "mean recorded wait", "s", None, "what the trace says that the jobs waited",
        "sum of the waits in the trace / jobs that have one",
    ),
    Metric(
        "later_than_recorded", "later than recorded", "jobs", "smaller",
        "jobs that start later than the trace says they did",
        "number of jobs with start - submit > the wait in the trace",
    ),
    Metric(
        "fairness_users", "fairness between users", "share", "greater",
        "Jain's index of the users' mean bounded slowdowns: 1 if all are equal, 1/n if one of n users bears everything",
        "(sum of m)^2 / (n * sum of m^2), m the mean bounded slowdown of each of n users", "Jain, Chiu & Hawe 1984",
    ),
    Metric(
        "fairness_groups", "fairness between groups", "share", "greater",
        "Jain's index of the mean bounded slowdowns of groups of users: 1 if all are equal, 1/n if one of n bears all",
        "(sum of m)^2 / (n * sum of m^2), m the mean bounded slowdown of each of n groups", "Jain, Chiu & Hawe 1984",
    ),
    Metric(
        "utilization", "utilization", "share", "greater",
        "processor time that made jobs progress, of all there was until the makespan",
        "sum of procs * run / (N * (T1 - T0))", "Z, equation 1",
    ),
    Metric(
        "loss_of_capacity", "loss of capacity", "share", "smaller",
        "processor time that was free while a job waited to start or to resume, of all there was",
        "integral of the free processors while a job waits / (N * (T1 - T0))", "Z, equation 2",
    ),
    Metric(
        "overhead", "overhead", "share", "smaller",
        "processor time that was occupied without lasting progress: switching, suspending, lost work",
        "(occupied processor time - sum of procs * run) / (N * (T1 - T0))", "Z, equation 3",
    ),
    Metric(
        "loss_with_overhead", "loss with overhead", "share", "smaller",
        "loss of capacity and overhead together, as Z counts it for gang scheduling",
        "loss_of_capacity + overhead", "Z, equation 3",
    ),
    Metric(
        "makespan", "makespan", "s", "smaller", "from the first submission to the last end",
        "T1 - T0",
    ),
    Metric(
        "backfilled", "backfilled", "jobs", None, "jobs that started before one ahead of them in the policy's order",
        "number of jobs that started while a job ahead of them waited",
    ),
    Metric(
        "killed", "killed", "jobs", None, "jobs that ended at their estimate, not done",
        "number of jobs with end at their estimate and work left",
    ),
    Metric(
        "preemptions", "preemptions", "times", None, "how often running jobs were suspended",
        "sum of suspensions over the jobs", "K",
    ),
    Metric(
        "migrations", "migrations", "times", None, "how often jobs were moved to other processors",
        "sum of moves over the jobs", "Z",
    ),
    Metric(
        "interruptions", "interruptions", "times", "smaller", "how often jobs lost their work as processors went",
        "sum of restarts after failed processors over the jobs",
    ),
    Metric(
        "migration_cost_hours", "cost of migration", "h", "smaller", "processor time that jobs lost to migrations",
        "processor time stalled by migrations / 3600", "Z",
    ),
    Metric(
        "speculative_kills", "speculative kills", "times", None, "speculative runs that reached their limit",
        "number of speculative runs that reached their limit", "LS",
    ),
    Metric(
        "borrowed", "borrowed processors", "times", None, "how often a processor changed its partition",
        "number of times that a processor changed its partition", "LS",
    ),
    Metric(
        "reservations", "reservations", "jobs", None, "started jobs that had asked for a start time",
        "number of started jobs with due > submit", "LS",
    ),
    Metric(
        "mean_lead", "mean lead", "s", None, "how long before the start they had asked for jobs were submitted",
        "sum of (due - submit) / jobs with due > submit", "LS",
    ),
    Metric(
        "missed_reservations", "missed reservations", "jobs", "smaller",
        "jobs with a reservation that started later than they had asked for",
        "number of jobs with due > submit and start > due", "LS",
    ),
    Metric(
        "mean_reservation_delay", "mean reservation delay", "s", "smaller",
        "how much later than asked for, mean over all jobs with a reservation",
        "sum of max(start - due, 0) / reservations", "LS",
    ),
    Metric(
        "max_reservation_delay", "worst reservation delay", "s", "smaller",
        "how much later than asked for, of the job worst off",
        "max of (start - due) over the reservations", "LS",
    ),
    Metric(
        "guarantee_ratio_median", "guaranteed over actual wait", "factor", "smaller",
        "the first guaranteed wait over the actual one, median of the jobs that had to wait; 1 is exact",
        "median of (first guaranteed start - due) / (start - due) of the jobs with start > due", "ZKP, figure 16",
    ),
)  # fmt: skip

FRAGMENTATION: tuple[Metric, ...] = (
    Metric(
        "fragmentation", "fragmentation", "share", "smaller",
        "processor time that was free on nodes where no waiting job had room, of all there was",
        "integral of the free cores of nodes on which no task, or node's share, of a waiting job fits / (N * (T1 - "
        "T0)); of runs of more than 4,000 steps at 4,000 moments",
    ),
    Metric(
        "fragmentation_memory", "fragmentation by memory", "share", "smaller",
        "the part where a waiting job had enough cores on the node, but too little memory",
        "fragmentation where a job would fit with more memory",
    ),
    Metric(
        "fragmentation_gpus", "fragmentation by GPUs", "share", "smaller",
        "the part where only GPUs or other countable resources were missing",
        "fragmentation where a job would fit with more GPUs or other countable resources",
    ),
    Metric(
        "fragmentation_cores", "fragmentation by cores", "share", "smaller",
        "the part where too few cores were free on the node",
        "fragmentation where a job would fit with more free cores",
    ),
    Metric(
        "fragmentation_place", "fragmentation by place", "share", "smaller",
        "the part on nodes that no waiting job may use: other partitions, other features, or exclusive jobs",
        "fragmentation where no waiting job may use the node",
    ),
)  # fmt: skip
"""Metrics that exist only for a machine of nodes, not for one of equal processors."""

FAIRNESS: tuple[Metric, ...] = (
    Metric(
        "mean_passed", "passed by", "jobs", "smaller", "mean number of later arrivals that started before a job",
        "sum over the jobs of later submissions that started before / jobs",
    ),
    Metric(
        "max_passed", "most passed by", "jobs", "smaller", "most later arrivals that started before one job",
        "max over the jobs of later submissions that started before",
    ),
    Metric(
        "passes_in_the_way", "passes in the way", "share", "smaller",
        "share of passes in which the passing job held processors that the passed job needed",
        "passes that held processors which the job could have had / passes",
    ),
    Metric(
        "mean_fair_delay", "mean delay by later jobs", "s", "smaller",
        "mean delay caused by jobs that arrived later (Sabin and Sadayappan)",
        "sum of max(start - fair start, 0) / jobs", "Sabin & Sadayappan 2005",
    ),
    Metric(
        "max_fair_delay", "worst delay by later jobs", "s", "smaller",
        "longest delay of a job caused by jobs that arrived later",
        "max of (start - fair start)", "Sabin & Sadayappan 2005",
    ),
    Metric(
        "unfair_starts", "delayed by later jobs", "jobs", "smaller",
        "jobs that start later than they would if no job arrived after them",
        "number of jobs with start > fair start", "Sabin & Sadayappan 2005",
    ),
)  # fmt: skip
"""Metrics for which every job needs a run of its own, so that they are computed only on request."""

TAILS = (90, 95, 99)


def _quantile_metric(name: str, share: int) -> Metric:
    of = SPREADS[name]
    title = f"{share} % of {of.title}s"
    meaning, formula = f"{share} % of the jobs have at most this {name}", f"{share} % quantile of {of.formula}"
    return Metric(f"p{share}_{name}", title, of.unit, "smaller", meaning, formula, of.paper)


_TAILS = (_quantile_metric(name, share) for name in SPREADS for share in TAILS)
MEASURED: tuple[Metric, ...] = (*METRICS, *_TAILS, *FRAGMENTATION)
"""All metrics that a results file has for a run; those of fragmentation only on a machine of nodes."""
_BY_NAME = {entry.name: entry for entry in (*METRICS, *FRAGMENTATION, *FAIRNESS)}


def metric(name: str) -> Metric:
    """Return the metric of that name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ParameterError(f"no metric {name!r}{meant(name, tuple(_BY_NAME.values()))}") from None


_ALIKE = {
    "max": "worst longest largest maximum maximal highest most peak",
    "min": "least smallest shortest",
    "mean": "average avg expected",
    "median": "middle typical p50",
    "std": "spread deviation variance variability stddev",
    "wait": "waiting delay queueing queue latency pending",
    "turnaround": "response flow sojourn residence",
    "slowdown": "stretch expansion xfactor",
    "utilization": "utilisation usage used busy full load occupancy efficiency",
    "makespan": "length duration span completion",
    "loss": "fragmentation waste wasted idle unused lost",
    "fairness": "fair jain equity justice unfair",
    "killed": "kill aborted terminated",
    "preemptions": "preempt preempted preemption suspended suspension suspensions",
    "migrations": "moved moves",
    "backfilled": "backfill backfilling overtake overtook",
    "jobs": "count number throughput finished",
    "p95": "tail percentile quantile",
}
_SAME = {word: base for base, words in _ALIKE.items() for word in words.split()}
_FILLING = {"the", "of", "a", "an", "and", "in", "over", "time", "per", "how", "is", "to", "by", "what", "all", "job"}


class Searchable(Protocol):
    """Protocol of things that can be searched for: they have a name, a title and a meaning in words."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def meaning(self) -> str: ...


E = TypeVar("E", bound=Searchable)


def words_of(text: str) -> list[str]:
    """Return the words of a text, with one word for all synonyms, and without words such as "the".

    >>> words_of("Worst waiting times"), words_of("mean_bounded_slowdown")
    (['max', 'wait'], ['mean', 'bounded', 'slowdown'])
    """
    found = []
    for word in re.findall(r"[a-z0-9]+", text.lower().replace("_", " ")):
        for form in (word, word.removesuffix("s")):
            if form in _SAME or form in _ALIKE:
                found.append(_SAME.get(form, form))
                break
        else:
            found.append(word.removesuffix("s") if len(word) > 3 else word)
    return [word for word in found if word not in _FILLING]


def search(text: str, entries: Iterable[E]) -> list[E]:
    wanted = words_of(text)
    scored = [(_score(wanted, entry), at, entry) for at, entry in enumerate(entries)]
    return [entry for score, _, entry in sorted(scored, key=lambda item: (-item[0], item[1])) if score > 0]


def _score(wanted: Sequence[str], entry: Searchable) -> float:
    """Return how well an entry fits, 0 if not at all; words in its name count most, other words less."""
    name, meaning = set(words_of(entry.name)), set(words_of(f"{entry.title} {entry.meaning}"))
    hits = sum(1.0 if word in name else 0.4 if word in meaning else -0.5 for word in wanted)
    return hits - 0.05 * len(name.difference(wanted)) if hits > 0 else 0.0


def meant(text: str, entries: Sequence[Searchable]) -> str:
    """Return the end of an error message: names spelled similarly or, failing that, of similar meaning.

    >>> meant("worst wait", METRICS)
    "; did you mean 'max_wait'?"
    >>> meant("nonsense", METRICS)
    '; schedscope metrics lists them'
    """
    by_letters = similar(text, [entry.name for entry in entries])
    found = search(text, entries)
    wanted = set(words_of(text))
    if found and (not by_letters or wanted <= set(words_of(found[0].name))):
        best = [entry.name for entry in found if _score(list(wanted), entry) >= _score(list(wanted), found[0]) - 0.02]
        return suggestion(best[:3])
    return by_letters or "; schedscope metrics lists them"


def respelled(text: str, entries: Sequence[Searchable]) -> str:
    """Return the words with each unknown one as the known one most like it, if that finds an entry; else ""."""
    names = {word for entry in entries for word in entry.name.split("_")}
    known = {*_ALIKE, *_SAME, *_FILLING, *names}

    def mended(word: str) -> str:
        close = () if word in known else (get_close_matches(word, words, 1, 0.7) for words in (_ALIKE, _SAME, names))
        return next((found[0] for found in close if found), word)

    words = " ".join(map(mended, text.lower().split()))
    return words if words != text.lower() and search(words, entries) else ""
