"""Check what `explain` reports about a job's time in a matrix against the job's position after each step."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tests.truth.lives import RowStep
from tests.truth.teller import Row, Teller, often, read_length
from tests.truth.words import demand, demand_equal, demanded, reads, whole

_RANGE = r"[\d,]+(?: to [\d,]+)?"
_COST = (
    r"(?:; it migrated (?P<often>once|twice|[\d,]+ times))?"
    r"(?:(?:; it | and )was charged (?P<owed>\S+) of its turns for migrations)?"
)
ALONE = re.compile(
    rf"(?:(Started)|From here)(?:(?<=Started):)? its row was the only one, so it ran without interruption{_COST}\."
)
TURNS = re.compile(
    rf"(?P<first>Started: its row got its first turn\. )?For (?P<lasted>\S+) its row was one of "
    rf"(?P<rows>{_RANGE}) that took turns"
    r"(?:; it ran for (?P<share>\S+) % of that time)?\. "
    rf"It was in (?:one row only|(?P<own>{_RANGE}) of them: (?:in more than one for (?P<replicated>[^ ;]+?))?"
    r"(?: and )?(?:in all of them, so without interruption, for (?P<alone>[^ ;]+?))?)"
    rf"(?:; its home row changed (?P<moved>once|twice|[\d,]+ times))?{_COST}\."
)


def _of(head: str) -> Any:
    return lambda teller, *told: read_share(teller, head.format(*told))


for _head in ("Started: its row {}", "From here its row {}", "For {} its row was {}"):
    reads(Row, _head.replace("{}", "{any}"))(_of(_head))


def read_share(teller: Teller, told: str) -> None:
    place, stay, begin = begun_at(teller)
    until, ran = teller.record.left[place]
    steps = stay[begin:]
    lengths = [then - now for now, then in pairwise([*(step.time for step in steps), until])]
    if alone := ALONE.fullmatch(told):
        demand_equal(max(step.rows for step in steps), 1, "rows")
        demand_equal(bool(alone[1]), teller.time == teller.life.start, "it started")
        read_cost(teller, alone.groupdict(), place)
        return
    match = demanded(TURNS.fullmatch(told), f"nobody reads {told!r}")
    demand_equal(bool(match["first"]), teller.time == teller.life.start, "it started")
    read_length(match["lasted"], until - teller.time)
    is_range(match["rows"], [step.rows for step in steps])
    is_range(match["own"] or "1", [step.own for step in steps])
    is_share(match["share"], ran - steps[0].ran, until - teller.time)
    pairs = list(zip(steps, lengths, strict=True))
    is_sum(match["replicated"], sum(length for step, length in pairs if 1 < step.own < step.rows), match["own"])
    is_sum(match["alone"], sum(length for step, length in pairs if step.own == step.rows), match["own"])
    homes = sum(was.home != now.home for was, now in pairwise(stay))
    demand_equal(often(match["moved"]) if match["moved"] else 0, homes, "its home became another")
    read_cost(teller, match.groupdict(), place)


def begun_at(teller: Teller) -> tuple[int, Sequence[RowStep], int]:
    """Return (index of the stay in the matrix whose turns begin at the row's time, its steps, index of its first step
    with a turn)."""
    for place, stay in enumerate(teller.record.in_rows):
        begin = next((at for at, step in enumerate(stay) if not step.new), None)
        if begin is not None and stay[begin].time == teller.time:
            return place, stay, begin
    demand(False, "it does not come on turn then")
    raise AssertionError


def is_range(told: str, values: list[int]) -> None:
    low, _, high = told.partition(" to ")
    demand_equal((whole(low), whole(high or low)), (min(values), max(values)), "rows")


def is_share(told: str | None, ran: float, lasted: float) -> None:
    if told is None:
        demand(not ran or not lasted, f"it ran for {ran}")
        return
    percent = 100 * ran / lasted
    if told.startswith(("<", ">")):
        demand(0 < percent < 0.5 if told == "<1" else 99.5 <= percent < 100 + 1e-9, percent)
    else:
        demand(abs(percent - float(told)) <= 0.5 + 1e-6, percent)


def is_sum(told: str | None, seconds: float, own: str | None) -> None:
    if told is not None:
        read_length(told, seconds)
    elif own is not None:
        demand(seconds < 1e-6, f"{seconds} are not told")


def read_cost(teller: Teller, parts: dict[str, Any], place: int) -> None:
    """Check how often the job migrated in stay `place`, and the seconds charged to it for migrations."""
    there = [(stall, own) for stay, stall, own in teller.record.moves if stay == place]
    demand_equal(often(parts["often"]) if parts["often"] else 0, sum(own for _, own in there), "migrations")
    owed = sum(stall for stall, _ in there)
    read_length(parts["owed"], owed) if parts["owed"] else demand_equal(owed, 0, "owed")
