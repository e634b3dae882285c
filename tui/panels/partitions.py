"""Panel with the partitions: processors that each has now (own, borrowed and lent), and the jobs that wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.engine.snapshot import Queued, Snapshot
from sim.support.formatting import count, listed, name, processors
from tui.chart.colours import partition_hue
from tui.chart.partition_names import partition_limits, partition_names
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, width_of, wrapped
from tui.panels.context import Context, joined, swatch, taught, written
from tui.panels.folding import drawn_columns, fold

TITLE = "Partitions"
SIGNS = {"runs": ("█", "#"), "free": ("▁", "."), "borrowed": ("▚", "%"), "idle": ("▖", ":"), "lent": ("─", "-")}
LEGEND = {"runs": "in use", "free": "free", "borrowed": "borrowed", "idle": "borrowed, free", "lent": "lent"}
LINES = 4


class Part(NamedTuple):
    number: int
    name: str
    own: int
    first: int
    """Processors that the partition owned when the machine was divided, as bits."""
    used: int
    """Processors of the partition on which jobs run, as bits."""
    borrowed: tuple[tuple[int, int], ...]
    """Pairs (partition that owned them at the division, borrowed processors as bits)."""
    lent: tuple[tuple[int, int], ...]
    waiting: int
    pivot: Queued | None


def draw_partitions(context: Context, size: Size, first: int = 0) -> Sheet:
    shown = context.scene.snapshot
    if not shown.owners:
        return taught(TITLE, context, size, *_no_partitions(shown))
    width, height = size
    parts = list(parts_of(shown))[::-1]  # from the top, as their lanes in the chart
    legend = _legend(context, parts, width)
    many = min(max((height - len(legend)) // len(parts), 2), LINES)
    made = [list(_lines(context, part, width)) for part in parts]
    body = [told for lines in made for told in (lines if many == LINES else lines[:many])]
    if height >= len(body) + len(legend):
        body += legend
    wants = sum(map(len, made)) + len(legend)
    note = f"{shown.free:,} of {processors(shown.there)} free"
    if len(TITLE) + len(note) + 4 > width:
        note = f"{shown.free:,} of {count(shown.there, 'proc')} free"
    return Sheet(TITLE, (), tuple(body), 0, len(body), note, wants=wants)


def told_at(context: Context, size: Size, column: int, row: int) -> str:
    """Return which partition has the processors under the pointer, and which owned them at the division."""
    shown = context.scene.snapshot
    if not shown.owners or not 0 <= column < drawn_columns(shown.procs, size[0]):
        return ""
    columns = drawn_columns(shown.procs, size[0])
    low, high = column * shown.procs // columns, max((column + 1) * shown.procs // columns - 1, 0)
    which = f"processor {low:,}" if high <= low else f"processors {low:,}–{high:,}"
    owner, first = (
        next((p for p, own in enumerate(of) if own >> low & 1), None) for of in (shown.owners, shown.division)
    )
    if owner is None:
        return which
    was = f", originally {name_of(shown, first)}" if first not in (owner, None) and first is not None else ""
    return f"{which}: {'free' if shown.free_set >> low & 1 else 'in use'}, owned by {name_of(shown, owner)}{was}"


def _no_partitions(shown: Snapshot) -> tuple[str, ...]:
    if shown.queues:
        return ("No partitions yet: the machine is divided at the first step.",)
    policy = shown.policy.partition(":")[0]
    return (
        f"No partitions: under {policy} a job can have any processors.",
        "multiqueue divides the machine into one partition per class of estimates. This panel shows which processors "
        "each partition owns, lends and borrows.",
    )


def parts_of(shown: Snapshot) -> Iterator[Part]:
    everywhere = range(len(shown.owners))
    queues: list[list[Queued]] = [[] for _ in everywhere]
    for queued in shown.queue:
        queues[queued.place].append(queued)
    for number, own in enumerate(shown.owners):
        waiting, first = queues[number], shown.division[number]
        yield Part(
            number=number,
            name=name_of(shown, number),
            own=own,
            first=first,
            used=own & ~shown.free_set,
            borrowed=tuple((q, own & shown.division[q]) for q in everywhere if q != number and own & shown.division[q]),
            lent=tuple((q, first & shown.owners[q]) for q in everywhere if q != number and first & shown.owners[q]),
            waiting=len(waiting),
            pivot=_pivot(waiting),
        )


def name_of(shown: Snapshot, partition: int) -> str:
    names = partition_names(shown)
    return names[partition] if partition < len(names) else f"partition {partition}"


def _pivot(waiting: Sequence[Queued]) -> Queued | None:
    """Return the pivot: the first waiting job without a granted reservation, high priority first; or None."""
    candidates = [queued for queued in waiting if not queued.reserved]
    return min(candidates, key=lambda queued: not queued.job.high, default=None)


# Lines


def _lines(context: Context, part: Part, width: int) -> Iterator[Line]:
    yield _heading(context, part, width)
    yield line(*_bar(context, part, width))
    yield _queue(context, part, width)
    yield from wrapped(written(_loans(context, part), context), width, "dim")


def _heading(context: Context, part: Part, width: int) -> Line:
    limits = partition_limits(context.scene.snapshot)[part.number]
    label = written(f"{part.name} {limits}".rstrip(), context)
    facts = _facts(part, width - text.cells(label) - 4, not context.scene.has_lanes)
    room = width - width_of(facts) - 4
    label = text.shorten(label, max(room, 0))
    gap = " " * max(room + 1 - text.cells(label), 1)
    return line(swatch(partition_hue(part.number)), " ", Span(label, "strong"), gap, *facts)


def _facts(part: Part, room: int, is_told: bool) -> list[Span]:
    """Return how many processors are in the partition and free and, if `is_told`, borrowed and lent."""
    size, free = part.own.bit_count(), (part.own & ~part.used).bit_count()
    procs, idle = count(size, "proc"), Span(f" · {free:,} free", "dim")
    borrowed, lent = (sum(n.bit_count() for _, n in those) for those in (part.borrowed, part.lent))
    if not is_told or (not borrowed and not lent):
        return [Span(procs), idle]
    style = "warm" if size < part.first.bit_count() else "good"
    loans = [f"{borrowed:,} borrowed"] * bool(borrowed) + [f"{lent:,} lent"] * bool(lent)
    loan, short = Span(f" · {size - borrowed:,} own, {', '.join(loans)}", style), Span(f" · {', '.join(loans)}", style)
    said = [Span(procs), loan, idle], [Span(procs), loan], [Span(procs), short], [Span(f"{size:,}"), short]
    fitting = (spans for spans in said if width_of(spans) <= room)
    return next(fitting, [Span(procs), idle])


def _pieces(part: Part) -> list[tuple[int, str, str]]:
    """Return groups (processors as bits, state, style); borrowed and lent ones have the other's colour."""
    used, hue = part.used, f"hue:{partition_hue(part.number)}"
    shown = [(used & part.first, "runs", hue), (part.own & ~used & part.first, "free", hue)]
    for other, loan in part.borrowed:
        shown += [
            (loan & used, "borrowed", f"hue:{partition_hue(other)}"),
            (loan & ~used, "idle", f"hue:{partition_hue(other)}"),
        ]
    return shown + [(lent, "lent", f"hue:{partition_hue(other)}") for other, lent in part.lent]


def _bar(context: Context, part: Part, width: int) -> Iterator[Span]:
    """Yield a bar of the whole machine in which only the partition's processors are drawn, each at its position."""
    shown = _pieces(part)
    cells = [
        (" ", "") if seen.part is None else (_sign(context, shown[seen.part][1]), shown[seen.part][2])
        for seen in fold([processors for processors, _, _ in shown], context.scene.snapshot.procs, width)
    ]
    yield from joined(cells)


def _sign(context: Context, kind: str) -> str:
    return SIGNS[kind][not context.unicode]


def _queue(context: Context, part: Part, width: int) -> Line:
    if part.waiting == 0:
        return line(Span("no job waits", "dim"))
    many = f"{count(part.waiting, 'job')} {'waits' if part.waiting == 1 else 'wait'}"
    if part.pivot is None:
        return line(
            Span(many),
            Span(text.shorten(written(" · no pivot: all starts are reserved", context), width - len(many)), "dim"),
        )
    job, at = part.pivot.job, part.pivot.planned
    planned = f", planned for {context.at(at)}" if at is not None else ""
    told = f" · pivot {name(job)} needs {job.procs:,}{planned}"
    return line(Span(many), Span(text.shorten(written(told, context), width - len(many)), "dim"), rank=job.rank)


def _loans(context: Context, part: Part) -> str:
    shown = context.scene.snapshot
    borrowed = listed(f"{there.bit_count():,} from {name_of(shown, other)}" for other, there in part.borrowed)
    lent = listed(f"{there.bit_count():,} to {name_of(shown, other)}" for other, there in part.lent)
    told = [*([f"borrowed: {borrowed}"] if borrowed else []), *([f"lent: {lent}"] if lent else [])]
    return " · ".join([f"{part.first.bit_count():,} at first", *(told or ["none borrowed, none lent"])])


def _legend(context: Context, parts: Sequence[Part], width: int) -> list[Line]:
    drawn = {kind for part in parts for processors, kind, _ in _pieces(part) if processors}
    told = (f"{_sign(context, kind)} {meaning}" for kind, meaning in LEGEND.items() if kind in drawn)
    return wrapped(", ".join(told), width, "dim")
