"""Parser of text from Slurm's commands: lists of hosts, records of `Key=value` words, and nodes from `scontrol`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, product

MOST_HOSTS = 100_000
"""Largest number of hosts in one list; Slurm itself handles 65,533."""
MOST_KEPT = 1000
"""Most characters, and most hosts, of a list of hosts whose result is cached."""
_BRACKET = re.compile(r"\[([0-9,-]{1,200000})\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_KEY = re.compile(r"(?:(?<=\s)|^)([A-Za-z][\w:/]{0,63})=")
WHOLE = ("NODE", "TOPO")
"""Words after `Exclusive=` (since 26.05) for whole nodes, and for whole blocks of nodes that are close together."""
NOT_YET = "FUTURE"
"""State of a node that does not exist yet, although it is configured."""
GONE = frozenset({
    "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "UNKNOWN", "NOT_RESPONDING",
})  # fmt: skip
"""States of a node on which no job can start."""


def gives_whole_nodes(record: Mapping[str, str]) -> bool:
    """Return True if jobs get whole nodes, by `Exclusive` (since 26.05) or `OverSubscribe` of the partition.

    >>> gives_whole_nodes({"OverSubscribe": "EXCLUSIVE:4"}), gives_whole_nodes({"OverSubscribe": "FORCE:4"})
    (True, False)
    >>> gives_whole_nodes({"Exclusive": "TOPO", "OverSubscribe": "NO"}), gives_whole_nodes({"Exclusive": "USER"})
    (True, False)
    """
    return record.get("OverSubscribe", "").startswith("EXCLUSIVE") or record.get("Exclusive") in WHOLE


def hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in Slurm's list notation, in its order; text in another form is taken as one name.

    >>> hosts("n[1-3,07],gpu[01-02]b,login"), hosts("None assigned"), hosts("n[1-999999999]")
    (('n1', 'n2', 'n3', 'n07', 'gpu01b', 'gpu02b', 'login'), (), ('n[1-999999999]',))
    """
    if not text or text in ("None assigned", "(null)", "Unknown"):
        return ()
    return (_hosts_cached(text) if len(text) <= MOST_KEPT else ()) or _spread_out(text)


@lru_cache(4096)
def _hosts_cached(text: str) -> tuple[str, ...]:
    """Return the names of the hosts of a list; empty if it has too many to be cached."""
    names = _spread_out(text)
    return names if len(names) <= MOST_KEPT else ()


def _spread_out(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for part in _split_at_commas(text):
        spread = _expanded_part(part, MOST_HOSTS - len(names))
        if spread is None:
            return (text,)
        names += spread
    return tuple(names)


def _split_at_commas(text: str) -> Iterator[str]:
    depth = begin = 0
    for at, letter in enumerate(text):
        if letter in "[]":
            depth += 1 if letter == "[" else -1
        elif letter == "," and not depth:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _expanded_part(part: str, most: int) -> list[str] | None:
    """Return the names of one part of a list; None if it is malformed or has more than `most`."""
    pieces = _BRACKET.split(part)  # text, numbers, text, numbers, ..., text
    choices: list[list[str]] = []
    count = 1
    for at, piece in enumerate(pieces):
        choice = [piece] if at % 2 == 0 else _numbers(piece, most)
        if choice is None or any(mark in piece for mark in "[]"):
            return None
        count *= len(choice)
        if count > most:
            return None
        choices.append(choice)
    return ["".join(words) for words in product(*choices)]


def _numbers(text: str, most: int) -> list[str] | None:
    numbers: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if not match:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first < most - len(numbers):
            return None
        numbers += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return numbers


def fields(record: str) -> dict[str, str]:
    """Return the `Key=value` words of a record by key; values may contain blanks, and the first of a key counts.

    Reasons and comments are at the end of a record, so text that a user wrote cannot replace a field.

    >>> fields("NodeName=n1 CPUTot=4 OS=Linux 6.1 #1 State=IDLE Reason=disk State=DOWN")
    {'NodeName': 'n1', 'CPUTot': '4', 'OS': 'Linux 6.1 #1', 'State': 'IDLE', 'Reason': 'disk'}
    """
    found: dict[str, str] = {}
    keys = list(_KEY.finditer(record))
    for key, after in zip(keys, [*keys[1:], None], strict=True):
        value = record[key.end() : after.start() if after else len(record)]
        found.setdefault(key[1], value.strip())
    return found


def records(text: str, first: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each record, which begins with the key `first`, on one line (`scontrol -o`) or several."""
    begins = [match.start() for match in re.finditer(rf"^{re.escape(first)}=", text, re.MULTILINE)]
    for begin, end in pairwise([*begins, len(text)]):
        yield fields(text[begin:end])


def states(text: str) -> frozenset[str]:
    """Return the states of a node as a set of words.

    >>> sorted(states("IDLE+DRAIN")), sorted(states("DOWN*+DRAIN"))
    (['DRAIN', 'IDLE'], ['DOWN', 'DRAIN'])
    """
    return frozenset(filter(None, re.split(r"[^A-Z_]+", text.upper())))
