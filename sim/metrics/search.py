"""Search for metrics by their meaning, with words that users may choose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Protocol, TypeVar

from sim.support.errors import similar, suggestion

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

    >>> from sim.metrics.catalogue import METRICS
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
