"""Check the partition panel and the matrix panel: their texts, and their drawings for each processor."""

import re
from collections import Counter
from collections.abc import Iterator

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from tests.truth.frames import SIZE, Frame, Noted, headings_of, lent_of, loans_of
from tests.truth.queues import pivots_of, starts_of
from tests.truth.words import Lasts, demand, demand_equal, reads
from tests.truth.world import Work
from tui.look.sheets import Line
from tui.panels import matrix_panel, partitions
from tui.panels.matrix_panel import chips

# Partitions


class Partition:
    """Kind of line in the partition panel: a partition's heading, bar, queue or loans."""


def of_partitions(frame: Frame) -> Iterator[tuple[type, str]]:
    if not frame.world.owners:
        return
    sheet = partitions.draw_partitions(frame.context, SIZE)
    yield Noted, f"partitions: {sheet.note}"
    lines = [line.text for line in sheet.body]
    for place, number in enumerate(reversed(range(len(frame.world.owners)))):
        heading, bar, waits, loans = lines[4 * place : 4 * place + 4]
        yield Partition, f"{number}: {' '.join(heading[3:].split())}"
        procs = frame.world.procs
        signs = "".join(bar[(2 * place + 1) * len(bar) // (2 * procs)] for place in range(procs))
        yield Partition, f"{number}: {signs}"
        yield Partition, f"{number}: {waits}"
        yield Partition, f"{number}: {loans}"


@reads(Noted, "partitions: {n} of {n} processor(s) free")
def _(frame: Frame, free: int, of: int) -> None:
    demand_equal((free, of), (frame.world.free_set().bit_count(), frame.world.size()))


@reads(Partition, "{n}: {any} {n} proc{any} · {n} free")
def _(frame: Frame, number: int, name: str, size: int, loans: str, free: int) -> None:
    own = frame.world.owners[number]
    demand_equal((size, free), (own.bit_count(), (own & frame.world.free_set()).bit_count()))
    demand_equal(name, headings_of(frame)[number])
    loans_there = [*lent_of(frame, number)]
    sums = ", ".join(f"{sum(lent.values())} {kind}" for kind, lent in loans_there)
    mine = size - sum(sum(lent.values()) for kind, lent in loans_there if kind == "borrowed")
    demand_equal(loans.removeprefix("s"), f" · {mine} own, {sums}" if sums else "")


@reads(Partition, "{n}: no job waits")
def _(frame: Frame, number: int) -> None:
    demand_equal(_those_of(frame, number), [])


def _those_of(frame: Frame, number: int) -> list[Work]:
    return [job for job in frame.waiting if frame.world.rules.class_of(job) == number]


@reads(Partition, "{n}: {n} job{any} · no pivot: all starts are reserved")
def _(frame: Frame, number: int, many: int, waits: str) -> None:
    demand_equal(many, len(_those_of(frame, number)))
    demand(number not in pivots_of(frame.world))


@reads(Partition, "{n}: {n} job{any} · pivot {j} needs {n}, planned for {any}")
def _(frame: Frame, number: int, many: int, waits: str, pivot: str, needs: int, at: str) -> None:
    job = pivots_of(frame.world)[number]
    demand_equal((many, pivot, needs), (len(_those_of(frame, number)), job.name, job.procs))
    demand_equal(at, frame.at(starts_of(frame.world)[job.rank]))


@reads(Partition, "{n}: {n} at first · {any}")
def _(frame: Frame, number: int, first: int, loans: str) -> None:
    demand_equal(first, frame.world.division[number].bit_count())
    demand_equal(loans, " · ".join(loans_of(frame, number)) or "none borrowed, none lent")


@reads(Partition, "{n}: {any}")
def _(frame: Frame, number: int, signs: str) -> None:
    own, first, free = frame.world.owners[number], frame.world.division[number], frame.world.free_set()
    true = ""
    for place in range(frame.world.procs):
        mine, was_mine, idle = (bool(mask >> place & 1) for mask in (own, first, free))
        true += ("█▁" if was_mine else "▚▖")[idle] if mine else "─" if was_mine and _is_owned(frame, place) else " "
    demand_equal(signs, true)


def _is_owned(frame: Frame, place: int) -> bool:
    return any(own >> place & 1 for own in frame.world.owners)


# The matrix


class Turning:
    """Kind of line in the matrix panel: a row, the active row, or a phase of the last rebuild."""


def of_matrix(frame: Frame) -> Iterator[tuple[type, str]]:
    shown = frame.sight.step.shown
    if frame.world.memo_rows is None or shown.matrix is None or not shown.matrix.rows:
        return
    sheet = matrix_panel.draw_matrix(frame.context, SIZE)
    yield Turning, f"turn: {sheet.note}"
    for line in sheet.head:
        if re.match(r" *\d+ $", line.spans[0].text):
            yield Turning, _row(frame, line)
    for line in chips(frame.context, *SIZE):
        done = dict[str, str]()
        for each in filter(lambda span: span.action, line.spans):
            done[each.action] = done.get(each.action, "") + each.text
        yield Turning, "done: " + "; ".join(" ".join(told.split()) for told in done.values())


def _row(frame: Frame, line: Line) -> str:
    """Return the jobs that the panel draws in the row, as text, column by column; ~ marks a replica."""
    label, *spans, turn = line.spans
    there = [(each.action, "╱" in each.text) for each in spans for _ in each.text]
    procs, many = frame.world.procs, len(there)
    who = [there[(2 * place + 1) * many // (2 * procs)] for place in range(procs)]
    guests = {action for action, is_guest in there if is_guest}
    told = [f"{'~' * (action in guests)}{action[12:-1]}" if action else "-" for action, _ in who]
    return f"row {label.text.strip()}: {' '.join(told)}{turn.text.rstrip()}"


@reads(Turning, "row {n}: {any}")
def _(frame: Frame, number: int, told: str) -> None:
    row, columns = frame.world.memo_rows.row(number), frame.world.memo_rows.columns
    true = []
    for place in range(frame.world.procs):
        there = [rank for rank in row.home | row.guests if columns[rank] >> place & 1]
        true.append("~" * (there[0] in row.guests) + str(there[0]) if there else "-")
    on_turn = frame.rows.on_turn
    demand_equal(told, " ".join(true) + " ◂" * (on_turn is not None and on_turn.number == number))


@reads(Turning, "turn: one row, no turns")
def _(frame: Frame) -> None:
    demand_equal(len(frame.world.memo_rows.rows), 1)


@reads(Turning, "turn: row {n} ◂ {s} of {s} left")
def _(frame: Frame, number: int, left: Lasts, long: Lasts) -> None:
    rows = frame.rows
    assert rows.on_turn is not None
    demand_equal(number, rows.on_turn.number)
    true = rows.turn_began + rows.slice - frame.clock
    demand(left.is_about(true) and long.is_about(rows.slice), true)


DID = {
    m.Place: "placed", m.Rehome: "moved", m.Migrate: "migrated", m.Stall: "stalled", m.Replicate: "replicated",
    m.ReserveRow: "planned", d.Keep: "kept waiting",
}  # fmt: skip


@reads(Turning, "done: {any}")
def _(frame: Frame, told: str) -> None:
    true: list[tuple[str, Counter[type]]] = []
    for each in frame.after.decisions:
        if isinstance(each, m.Phase):
            true.append((each.name, Counter()))
        elif true:
            true[-1][1][type(each)] += 1
    done = (", ".join(f"{many[kind]} {did}" for kind, did in DID.items() if many[kind]) for _, many in true)
    demand_equal(told, "; ".join(f"{name} {each}".strip() for (name, _), each in zip(true, done, strict=True)))
