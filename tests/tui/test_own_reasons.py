"""The reason of a user-defined policy is shown in quotes wherever reasons are; the policy gives a sentence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import pytest

from sim.comparison.comparison_sentences import what_it_did
from sim.comparison.divergence import account
from sim.decisions.decisions import Keep
from sim.decisions.sentences import Called, Detail, Reason, Span, Time, brief, details, say, why
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.life.life import life_of
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.support.formatting import Clock, clock
from sim.why.evidence import evidence_of
from sim.why.facts import fact_row
from sim.workload.model import Job
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of
from tui.cli import explain
from tui.panels import decisions, queue
from tui.panels.details import numbers
from tui.panels.sentence import sentence

EVENING = 7200
JOBS = ("1 0 2 50 60", "2 5 1 100 100")


@dataclass(frozen=True)
class TooHot:
    until: Annotated[Time, Called("cool again")]
    lasts: Span
    after: Job | None
    degrees: float

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{self.degrees} [b]degrees[/b]\x1b[2J, too hot until {at(self.until)}"


class Named(NamedTuple):
    """A reason that is not a dataclass, with an annotation that names an undefined type."""

    degrees: Fahrenheit  # type: ignore[name-defined]  # noqa: F821

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{self.degrees} degrees"


@dataclass(frozen=True)
class Failing:
    degrees: float
    after: Job

    def sentence(self, job: Job, at: Clock) -> str:
        raise ZeroDivisionError


class Silent(Failing):
    def sentence(self, job: Job, at: Clock) -> str:
        return None  # type: ignore[return-value]


@dataclass(frozen=True)
class Siesta(FirstComeFirstServed):
    """Policy that starts no job before the evening, with a reason of its own."""

    def decide(self, now: Moment) -> None:
        if now.time >= EVENING:
            super().decide(now)
            return
        now.wake(EVENING)
        for job in now.queue:
            now.keep(job, self.reason(now, job))

    def reason(self, now: Moment, job: Job) -> Reason:
        return TooHot(EVENING, EVENING - now.time, None, 41.5)


class Failure(Siesta):
    def reason(self, now: Moment, job: Job) -> Reason:
        return Failing(41.5, job)


def at_noon(lab: Lab, policy: Siesta | None = None) -> Engine:
    engine = Engine(lab.workload(4, *JOBS), policy or Siesta())
    engine.run(5)
    return engine


BRIEF = '"41.5 [b]degrees[/b]?[2J, too hot until 02:00:00"'
SAID = f"the policy says {BRIEF}"
"""The policy's sentence as it is shown in a terminal"""
TOLD = 'the policy says "41.5 [b]degrees[/b]?[2J, too hot until d0 02:00:00"'


def test_own_reasons_say_themselves(lab: Lab) -> None:
    first = at_noon(lab).workload.jobs[0]
    hot = TooHot(EVENING, EVENING, None, 41.5)
    assert why(hot, first, clock) == TOLD.replace("?[2J", "\x1b[2J")
    assert say(Keep(first, hot), clock) == f"J1 waits: {why(hot, first, clock)}"
    whole, short = brief(hot, first, clock)
    assert (f"the policy says {whole}", short) == (why(hot, first, clock), '"41.5 [b]degrees[/b]\x1b[2J"')
    found = evidence_of(at_noon(lab).snapshot(), 0)
    assert found is not None
    rows = [fact_row(fact, found.at) for fact in found.facts]
    assert {('"cool again"', "02:00:00"), ('"lasts"', "2h00"), ('"degrees"', "41.5")} <= set(rows)
    assert details(Named(41.5)) == [Detail("degrees", '"degrees"', 41.5, None)]


@pytest.mark.parametrize("kind", [Failing, Silent])
def test_one_whose_sentence_fails_is_said_by_its_name_and_its_fields(lab: Lab, kind: type[Failing]) -> None:
    first = at_noon(lab).workload.jobs[0]
    assert why(kind(41.5, first), first) == f'the policy says "{kind.__name__.lower()}: degrees 41.5, after J1"'
    assert brief(kind(41.5, first), first)[-1] == f'"{kind.__name__.lower()}"'


def test_the_panels_show_it(lab: Lab) -> None:
    context = context_of(at_noon(lab), selected=0)
    waiting = [row.text for row in queue.draw(context, (110, 9), 0).body if row.rank is not None]
    assert [text.endswith(f"  {BRIEF}") for text in waiting] == [True, True]
    assert '"41.5 [b]degrees[/b]?[2J"\n' in queue.draw(context, (75, 9), 0).text
    assert f"○ J2 waits: {SAID}" in decisions.draw(context, (100, 20), 0).text
    assert SAID in sentence(context, 100).text
    found = evidence_of(context.scene.snapshot, 0)
    assert found is not None
    assert any(line.text.split() == ['"cool', 'again"', "02:00:00"] for line in numbers(context, found, 60))


def test_own_words_reach_every_page(lab: Lab) -> None:
    page = " ".join(explain.render(life_of(lab.workload(4, *JOBS), Siesta(), 0), 100).split())
    assert f"J1 waited 2h00 because {TOLD}." in page
    assert f"For 2h00 (2 steps) {TOLD}" in page
    found = explain.as_dict(life_of(lab.workload(4, *JOBS), Siesta(), 0), {})
    said = TOLD.replace("?[2J", "\x1b[2J")
    assert said in found["summary"]
    assert said in found["story"][1]["told"]
    engine = Engine(lab.workload(4, *JOBS), Siesta())
    engine.curious = True
    engine.run(5)
    assert what_it_did(account(engine, 1, 5)) == "J2 waits: " + TOLD.replace("?[2J", "\x1b[2J")


def test_a_failing_one_breaks_no_panel(lab: Lab) -> None:
    context = context_of(at_noon(lab, Failure()), selected=0)
    assert '"failing: degrees 41.5, after J1"' in queue.draw(context, (110, 9), 0).text
    assert 'J1 waits: the policy says "failing: degrees 41.5, after J1"' in decisions.draw(context, (100, 20), 0).text
    told = 'because the policy says "failing: degrees 41.5, after J1"'
    assert told in " ".join(explain.render(life_of(lab.workload(4, *JOBS), Failure(), 0), 100).split())
