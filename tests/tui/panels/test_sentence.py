from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment
from sim.policies import Policy
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, engine_of
from tui.panels.sentence import sentence


@dataclass(frozen=True)
class Forgetful(Policy):
    """Policy that starts arriving jobs that fit, and never considers the others again."""

    name = "forgetful"

    def decide(self, view: Moment) -> Iterator[Decision]:
        yield from (Start(job, Fits(view.free)) for job in view.arrived if job.procs <= view.free)


def test_sentence_is_about_what_is_selected(lab: Lab) -> None:
    engine = lab.run(Forgetful(), 4, "1 0 4 10 10", "2 5 4 10 10", until=10)
    told = sentence(context_of(engine), 100).text
    assert told == "The run has stalled with 1 unfinished job: forgetful makes no further decisions."
    told = sentence(context_of(engine_of("z-figure4", "easy", until=600), selected=2), 100).text
    assert (
        told == "J3 is first in the queue: needs 8 > 1 free. Planned for 00:20:00. J5 and J2 will have ended by then."
    )
    context = context_of(lab.run("fcfs", 4, "1 0 4 100 100", until=0), selected=0)
    later = replace(context, scene=replace(context.scene, clock=30.0))
    assert "It has run for 30s of at most 1m40." in sentence(later, 200).text
    engine = engine_of("z-figure4", "easy", until=600)
    context = context_of(engine)
    then = replace(context.scene.snapshot, free=6)
    walked = replace(context, decision=1, scene=replace(context.scene, then=then), visible=frozenset({"decisions"}))
    assert sentence(walked, 100).text == "◐ Before decision 2 of 2: 6 of 10 processors are free, 2 jobs wait."


@pytest.mark.parametrize("width", [20, 46, 66])
def test_it_never_is_wider_than_its_line_and_drops_whole_clauses_first(width: int, lab: Lab) -> None:
    context = context_of(lab.run("easy", 4, "1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11", until=2))
    assert (
        sentence(context, width).text
        == {
            20: "J2 is first in the …",
            46: "J2 is first in the queue: needs 4 > 1 free.",
            66: "J2 is first in the queue: needs 4 > 1 free. Planned for 00:00:12.",
        }[width]
    )


def test_sentence_leaves_what_panels_show() -> None:
    context = context_of(engine_of("z-figure4", "easy", until=600))
    told = sentence(replace(context, visible=frozenset({"decisions"})), 220).text
    assert told == (
        "J3 is first in the queue: needs 8 > 1 free. Planned for 00:20:00. J5 and J2 will have ended by then. "
        "1 job waits behind it. 9 of 10 processors are busy. The next step is at 00:18:20."
    )
    context = context_of(engine_of("lublin-128", "easy", until=817746))
    told = sentence(replace(context, visible=frozenset({"decisions"})), 220).text
    assert told.startswith("J398 heads the queue. 13 jobs wait behind it. 128 of 128 processors are busy.")
    context = context_of(engine_of("z-figure4", "easy", until=600), selected=3)
    assert sentence(context, 200).text.startswith("J4 has waited 9m30: needs 4 > 2 extra")
    assert sentence(replace(context, visible=frozenset({"details"})), 200).text.startswith("◐ J5 is backfilled")
    context = context_of(engine_of("z-figure4", "easy", until=40), selected=2)
    told = sentence(replace(context, visible=frozenset({"details", "decisions"})), 200).text
    assert "J3 heads the queue. " in told
    assert "needs 8" not in told
