"""Parsers of the tree of accounts with its shares, and of the settings of priorities and backfill."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sim.live.cluster.values import Share

MOST_SHARES = 100_000
"""Largest number of accounts and users that are kept."""
MOST_LETTERS = 64
_FIRST = re.compile(r"ClusterName=\S* Account=(\S*) UserName=([^\s(]*)(?:\(\d+\))? .*\bID=(\d{1,15})\s*$", re.ASCII)
_SHARES = re.compile(r"\s+SharesRaw/Norm/Level/Factor=(\d{1,15}|parent)/", re.ASCII)
_USAGE = re.compile(r"\s+UsageRaw/Norm/Efctv=(\d{1,18}(?:\.\d{1,9})?)/", re.ASCII)
_PARENT = re.compile(r"\s+ParentAccount=([^\s(]*)")
_USE_PARENT = 0x7FFFFFFF
"""Number that Slurm stores for shares of an entry that takes part with the entries of its parent."""
_SETTINGS = re.compile(r"(Priority\w{1,40}|SchedulerParameters)\s*=\s*(.{1,1000}?)\s*")


def shares(text: str) -> tuple[Share, ...]:
    """Return the tree of accounts with the users in them, from the text of `scontrol show assoc_mgr`."""
    found: dict[str, Share] = {}
    for account, user, id, lines in _associations(text):
        raw, used, above = (_first(pattern, lines) for pattern in (_SHARES, _USAGE, _PARENT))
        if raw is None or used is None or len(found) >= MOST_SHARES:
            continue
        own = None if raw == "parent" or int(raw) == _USE_PARENT else int(raw)
        parent = account if user else (above or "")[:MOST_LETTERS]
        found[id] = Share(id, account, user, parent, own, float(used))
    return tuple(found.values())


def _associations(text: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield (account, user, number, indented lines that follow) for each association."""
    known: tuple[str, str, str] | None = None
    below = list[str]()
    for line in (*text.splitlines(), ""):
        if known and line[:1].isspace():
            below.append(line)
            continue
        if known:
            yield *known, below
        match = _FIRST.match(line)
        known, below = (match[1][:MOST_LETTERS], match[2][:MOST_LETTERS], match[3]) if match else None, []


def _first(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    return next((match[1] for line in lines if (match := pattern.match(line))), None)


def settings(text: str) -> str:
    """Return the lines of `scontrol show config` that say how priorities and backfill work.

    >>> settings("ClusterName = c\\nPriorityWeightAge       = 1000\\nSchedulerParameters = (null)\\n")
    'PriorityWeightAge=1000'
    """
    found = (_SETTINGS.fullmatch(line) for line in text.splitlines())
    return "\n".join(f"{match[1]}={match[2]}" for match in found if match and match[2].strip() not in ("", "(null)"))
