"""Parsers of `scontrol show assoc_mgr`: the tree of accounts with its shares, and limits with their current use. And of
licenses, and of the settings of priorities and backfill.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sim.live.cluster.values import Limit, Share

MOST_SHARES = 100_000
MOST_LETTERS = 64
_FIRST = re.compile(r"ClusterName=\S* Account=(\S*) UserName=([^\s(]*)(?:\(\d+\))? .*\bID=(\d{1,15})\s*$", re.ASCII)
_SHARES = re.compile(r"\s+SharesRaw/Norm/Level/Factor=(\d{1,15}|parent)/", re.ASCII)
_USAGE = re.compile(r"\s+UsageRaw/Norm/Efctv=(\d{1,18}(?:\.\d{1,9})?)/", re.ASCII)
_PARENT = re.compile(r"\s+ParentAccount=([^\s(]*)")
_USE_PARENT = 0x7FFFFFFF
"""Number that Slurm stores for shares of an entry that takes part with the entries of its parent."""
_SETTINGS = re.compile(r"(Priority\w{1,40}|SchedulerParameters)\s*=\s*(.{1,1000}?)\s*")
MOST_LIMITS = 100_000
_AMOUNT = re.compile(r"(?:^|,)(?:([\w/:.-]{1,64})=)?(\d{1,15})(?:\((\d{1,15}(?:\.\d{1,9})?)\))?(?=,|$)", re.ASCII)
"""Limit of one resource, with the amount in use in parentheses unless it is for a single job."""
_KEY = re.compile(r"(?:^|\s)((?:Grp|Max|Min)[A-Za-z]{2,30})=(\S*)", re.ASCII)
_ASSOCIATION = re.compile(r"\s*ClusterName=\S* Account=(\S*) UserName=([^\s(]*)")
_USER = re.compile(r"^UserName=([^\s(]+)\((\d+)\)", re.M)
_QOS = re.compile(r"\s*QOS=([^\s(]+)")
_LICENSE = re.compile(r"^LicenseName=(\S{1,200})\s+Total=(\d{1,15})\s+Used=(\d{1,15})\s", re.M | re.ASCII)
_OF = {"Account Limits": "qos of an account", "User Limits": "qos of a user"}


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


def limits(text: str) -> tuple[Limit, ...]:
    """Return all limits that have a number, with their current use."""
    users = {number: name for name, number in _USER.findall(text)}
    found: list[Limit] = []
    for kind, name, line in _lines(text, users):
        for key in _KEY.finditer(line):
            for what, most, used in _AMOUNT.findall(key[2]):
                if len(found) < MOST_LIMITS:
                    amount = float(most), float(used or 0)
                    found.append(Limit(kind, name, f"{key[1]}={what}" if what else key[1], *amount))
    return tuple(found)


def licenses(text: str) -> tuple[Limit, ...]:
    """Return a limit for each license: how many of it there are, and how many of these are in use."""
    found = _LICENSE.findall(text)[:MOST_LIMITS]
    return tuple(Limit("license", name, "license", float(most), float(used)) for name, most, used in found)


def _lines(text: str, users: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (kind of the owner, name of the owner, line) for each line with a limit.

    A user's name is followed by the account (`anna of physics`). In a limit within a QOS, the name of the user or
    account is followed by the QOS (`anna in high`). Older versions write a user of a QOS as a number; `users` maps
    these to names.
    """
    kind = name = qos = part = ""
    for line in text.splitlines():
        if match := _ASSOCIATION.match(line):
            account, user = match[1], match[2]
            kind, name, qos = ("user", f"{user} of {account}", "") if user else ("account", account, "")
        elif match := _QOS.match(line):
            kind, name, qos, part = "qos", match[1], match[1], ""
        elif qos and line.strip() in _OF:
            part = _OF[line.strip()]
        elif part and line.strip() and "=" not in line:
            one = line.strip().partition("(")[0]
            kind, name = part, f"{users.get(one, one) if part == 'qos of a user' else one} in {qos}"
        if kind:
            yield kind, name, line
