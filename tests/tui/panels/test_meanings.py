import re

import pytest

from sim.metrics.catalogue import metric
from tests.tui.scenes import context_of, engine_of
from tui.look.sheets import Line, Span, line
from tui.panels import details, numbers_so_far, queue
from tui.panels.context import Context
from tui.panels.meanings import PANELS, title_meaning
from tui.panels.run_comparison import LABELS, LEVEL, SO_FAR

SPECS = ("fcfs", "easy", "conservative", "selective:sf=1.5", "multiqueue:speculate=180", "gang-backfill")


def under(spec: str) -> Context:
    engine = engine_of("lublin-128", spec, steps=233)
    waiting = engine.snapshot().queue
    return context_of(engine, selected=waiting[0].job.rank if waiting else 0)


def unknown(context: Context, lines: list[Line], words: str) -> set[str]:
    found = [(each, word) for each in lines for word in re.finditer(words, each.text)]
    assert found
    return {word[0] for each, word in found if not context.told(each, word.start(), None)}


@pytest.mark.parametrize("spec", SPECS)
def test_every_heading_and_every_name_of_a_number_is_reported(spec: str) -> None:
    context = under(spec)
    numbers = list(numbers_so_far.draw_metrics(context, (50, 30)).head)
    assert unknown(context, numbers, r"[a-z]{3,}(?: [a-z]+)*(?=  )") == set()
    table = queue.draw(context, (200, 30), 0)
    assert not table.head or unknown(context, list(table.head), r"\S+(?: \S+)*") == set()


@pytest.mark.parametrize("spec", SPECS)
def test_every_fact_about_who_waits_is_reported(spec: str) -> None:
    context = under(spec)
    body = details.draw(context, (80, 99), 0).body
    heading = next((at for at, each in enumerate(body) if each.text == "In numbers"), None)
    if heading is not None:
        facts = [each for each in body[heading + 1 : heading + 4] if each.text]
        assert unknown(context, facts, r"^\S+(?: \S+)*(?=  )") == set()


def test_every_number_of_two_runs_is_reported() -> None:
    context = under("easy")
    for key in (*LEVEL, *SO_FAR):
        assert context.told(line(LABELS.get(key, metric(key).title)), 0, None)


def test_a_number_means_what_stands_before_it() -> None:
    context = under("easy")
    row = line(
        Span("worst wait", "dim"), Span("  "), Span("8h39", "strong"), "  ", Span("backfilled", "dim"), " 36 of 62"
    )
    meant = [context.told(row, column, None) for column in (0, 13, 19, 30)]
    assert meant[0] == meant[1] != meant[2] == meant[3]
    assert all(meant)
    assert context.told(line("J3 waits: needs 8 > 6 free"), 20, None) == ""


def test_a_panel_says_what_it_is_for() -> None:
    assert title_meaning("Queue").startswith(PANELS["Queue"])
    assert title_meaning("J3").startswith(PANELS["Job"])
