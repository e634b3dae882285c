from dataclasses import replace

from tests.tui.scenes import context_of, engine_of
from tui.look.palette import DARK
from tui.panels import queue
from tui.panels.context import Context
from tui.panels.partitions import draw_partitions, parts_of


def figure_1(until: float, has_lanes: bool = False, **fields: object) -> Context:
    context = context_of(engine_of("ls-figure1", "multiqueue", until=until), **fields)  # type: ignore[arg-type]
    return context if has_lanes else replace(context, scene=replace(context.scene, chart=None))


def test_each_partition_shows_its_processors_its_queue_and_its_loans() -> None:
    assert draw_partitions(figure_1(8000), (60, 13)).text.splitlines() == [
        "Partitions   4 of 30 processors free",
        "▇▇ long ≥ 2h47       22 procs · 10 own, 12 borrowed · 0 free",
        "▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚  ▚▚▚▚▚▚              ████████████████████",
        "1 job waits · pivot J8 needs 8, planned for 03:33:20",
        "10 at first · borrowed: 9 from short and 3 from medium",
        "▇▇ medium 16m40–2h47        4 procs · 4 own, 6 lent · 4 free",
        "                    ────────────▁▁▁▁▁▁▁▁",
        "no job waits",
        "10 at first · lent: 3 to short and 3 to long",
        "▇▇ short < 16m40         4 procs · 1 own, 3 borrowed, 9 lent",
        "──────────────────██      ▚▚▚▚▚▚",
        "1 job waits · pivot J7 needs 14, planned for 03:20:00",
        "10 at first · borrowed: 3 from medium · lent: 9 to long",
        "█ in use, ▁ free, ▚ borrowed, ─ lent",
    ]


def test_loans_are_not_said_again_where_the_lanes_have_them() -> None:
    context = figure_1(8000, has_lanes=True)
    told = draw_partitions(context, (60, 6)).text
    assert "long ≥ 2h47" in told
    assert "borrowed" not in told
    assert not any("borrowed" in row.text for row in queue.draw(context, (60, 20), 0).body)


def test_in_ascii_every_sign_is_ascii_and_different() -> None:
    sheet = draw_partitions(figure_1(8000, look=DARK.with_mode("ascii")), (60, 30))
    bars = sheet.body[9].text + sheet.body[-1].text
    assert bars.isascii()
    assert bars.startswith("------------------##      %%%%%%")


def test_pivots_follow_priority_and_reservations() -> None:
    engine = engine_of("lublin-128", "multiqueue")
    engine.advance(160)
    shown = engine.snapshot()
    for part in parts_of(shown):
        queue = [queued for queued in shown.queue if queued.place == part.number]
        assert part.waiting == len(queue)
        assert part.pivot == (queue[0] if queue else None)
    engine = engine_of("lublin-128", "multiqueue:speculate=180")
    while not any(part.waiting and part.pivot is None for part in parts_of(engine.snapshot())):
        assert engine.step()
    assert "1 job waits · no pivot: all starts are reserved" in draw_partitions(context_of(engine), (60, 13)).text


def test_what_partitions_own_is_the_whole_machine_at_every_step() -> None:
    engine = engine_of("ls-figure1", "multiqueue")
    while engine.step():
        parts = list(parts_of(engine.snapshot()))
        assert sum(part.own.bit_count() for part in parts) == 30
        borrowed = sum(loan.bit_count() for part in parts for _, loan in part.borrowed)
        assert borrowed == sum(away.bit_count() for part in parts for _, away in part.lent)
        assert all(
            part.own.bit_count() - part.first.bit_count()
            == sum(loan.bit_count() for _, loan in part.borrowed) - sum(away.bit_count() for _, away in part.lent)
            for part in parts
        )


def test_missing_partitions_are_explained() -> None:
    told = draw_partitions(context_of(engine_of("z-figure4", "easy", steps=1)), (80, 10)).text
    assert "No partitions: under easy a job can have any processors." in told
    assert "multiqueue divides the machine" in told
    assert (
        "divided at the first step" in draw_partitions(context_of(engine_of("ls-figure1", "multiqueue")), (60, 9)).text
    )
