"""Also tests sim.decisions.decisions, sim.decisions.reasons_to_wait, sim.decisions.reasons,
sim.decisions.reasons_in_rows, sim.decisions.reasons_inferred, sim.decisions.wording, sim.decisions.words_of_starts,
sim.decisions.words_of_waits."""

import re
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import pytest

from sim.decisions import reasons, reasons_in_rows, reasons_inferred, reasons_on_nodes, reasons_to_wait
from sim.decisions.because import FLAG, JOB, JOBS, MOMENT, NUMBER, SPAN, TEXT, WHOLE, Because
from sim.decisions.decisions import Backfill, Decision, Keep, Reserve
from sim.decisions.matrix import Migrate
from sim.decisions.reasons import BreaksNoBound, EndsBefore, FitsExtra, OfTheHead, WhenFree, WithinBounds
from sim.decisions.reasons_in_rows import MakesWay
from sim.decisions.reasons_on_nodes import AtLimit, NoNodes
from sim.decisions.reasons_to_wait import TooFewFree, WouldDelay
from sim.decisions.sentences import WORDS, Reason, brief, in_words, past, say, why
from sim.support.formatting import clock, clock_near, name, span
from sim.workload.model import Job

DAY, HOUR = 86400, 3600
J1402 = Job(0, "1402", submit=0, procs=64, estimate=4 * HOUR)
J1405 = Job(1, "1405", submit=0, procs=8, estimate=HOUR)
REASONS = [kind for kind in WORDS if kind.__module__ not in (reasons_on_nodes.__name__, reasons_inferred.__name__)]


NAMES = {"row", "to", "lender", "partition"}
"""Fields whose numbers are names"""
TYPES = {
    JOB: Job, JOBS: tuple[Job, ...], MOMENT: float, SPAN: float, WHOLE: int, NUMBER: float, TEXT: str, FLAG: bool,
}  # fmt: skip
"""For each kind of field of a reason: a type of its values"""


def example(cls: type, first: int = 11) -> Any:
    """Return a value of the class `cls` whose numbers are all different and not 0; whole ones begin with `first`."""
    values: dict[str, Any] = {}
    hints = {each.name: TYPES[each.kind] for each in cls.fields} if issubclass(cls, Because) else get_type_hints(cls)
    for index, (field, hint) in enumerate(hints.items()):
        kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
        values[field] = {
            Job: J1402 if field == "job" else J1405,
            int: (11 if field in NAMES else first) + index,
            float: 50000 + 1000 * index,
            str: "text",
            bool: True,
        }.get(kinds[0], TooFewFree(3))
        if str(hint).startswith("tuple"):
            values[field] = (J1405,) if kinds[0] is Job else (0b1100, 0b1)
        elif get_origin(hint) is Literal:
            values[field] = kinds[0]
    return cls(**values)


def is_said(value: Any, sentence: str) -> bool:
    """Return True if the sentence shows `value`: a job by its name, a number in any unit."""
    if isinstance(value, Job):
        return name(value) in sentence
    if isinstance(value, int | float) and not isinstance(value, bool):
        written = (f"{value:,.12g}", f"{value:,.2f}", clock(value), span(value))
        return any(text in sentence for text in written)
    return True


@pytest.mark.parametrize("cls", REASONS, ids=lambda cls: cls.__name__)
def test_every_reason_has_a_sentence_that_shows_its_numbers(cls: type) -> None:
    reason = example(cls)
    told = why(reason, J1402)
    assert not told.endswith(".")
    assert all(is_said(value, told) for value in reason.values()), told


def test_every_reason_has_words() -> None:
    rooms = (reasons, reasons_to_wait, reasons_on_nodes, reasons_in_rows, reasons_inferred)
    classes = (each for room in rooms for each in vars(room).values() if isinstance(each, type))
    assert {each for each in classes if issubclass(each, Because)} - WORDS.keys() == {Because, OfTheHead}


def test_words_of_others_are_quoted() -> None:
    limit = AtLimit("Grp{free}", "{owner}", 1, 2, 3, "{}")
    assert why(limit, J1402) == "Grp{free}: {owner} has 1 of 2 {} in use, it wants 3"
    assert past(NoNodes(9, 9, 2, 0, 1, "nodes", 0, "with 2 {x}"), J1402, str).endswith("that it may use had 2 {x} free")
    new: Any = BrandNew(J1402, 2.5, (J1402, J1405))
    assert why(new, J1405) == 'the policy says "brand new: other J1402, xfactor 2.5, victims J1402 and J1405"'
    away: Any = SendAway(J1405, TooFewFree(3))
    assert say(away) == "send away: job J1405, needs 8 > 3 free"
    assert in_words(SendAway(J1405, new)) == f"send away: job J1405, {why(new, J1405)}"
    assert why(Sly(), J1402) == 'the policy says "so it is\'. It fits: needs 1, 9 free"'
    assert brief(Sly(), J1402)[-1] == '"so it is\'. It fits"'
    assert past(Sly(), J1402, str) == 'the policy says "it had to be"'
    assert say(Keep(J1402, Sly())) == f"J1402 waits: {why(Sly(), J1402)}"


@pytest.mark.parametrize("cls", [*REASONS, *get_args(Decision)], ids=lambda cls: cls.__name__)
def test_large_numbers_have_separators_in_every_sentence(cls: type) -> None:
    made = example(cls, first=1_234_500)
    wide = J1402.replaced(id="12345678", procs=2_345_678)
    if isinstance(made, Because):
        told = why(made, wide)
    else:
        told = say(made._replace(job=wide) if hasattr(made, "job") else made)
    assert not re.search(r"\d{5}", told.replace(name(wide), "")), told


@pytest.mark.parametrize("cls", get_args(Decision), ids=lambda cls: cls.__name__)
def test_every_decision_has_a_sentence(cls: type) -> None:
    decision = example(cls)
    told = decision.say(clock)
    assert told == say(decision)
    if hasattr(decision, "because"):
        assert "needs 64 > 3 free" in told
    if hasattr(decision, "job"):
        assert "J1402" in told


def test_sentences_say_what_decides() -> None:
    told = say(Reserve(J1402, 12 * DAY + 5 * HOUR + 600, WhenFree(free=40, then=71)))
    assert told == "J1402 is planned for d12 05:10:00: needs 64 > 40 free now; 71 free then"
    at = clock_near(12 * DAY)
    told = say(Backfill(J1405, EndsBefore(J1402, 12 * DAY + 5 * HOUR, 12 * DAY + 4 * HOUR)), at)
    assert told == "J1405 is backfilled on 8 processors: ends at 04:00:00, before J1402's start at 05:00:00"
    assert why(EndsBefore(J1402, 18000, 18000), J1405, at) == "ends at d0 05:00:00, just when J1402 is to start"
    told = why(FitsExtra(J1402, 18000, extra=36), J1405, clock_near(0))
    assert told == "needs 8 of the 36 extra processors that J1402 leaves free at 05:00:00"
    told = say(Keep(J1405, WouldDelay(J1402, shadow=18000, ends=59460, extra=7)), clock_near(0))
    assert told == "J1405 waits: needs 8 > 7 extra and would end at 16:31:00 > J1402's start at 05:00:00"
    assert (
        why(WithinBounds(J1402, 720), J1405)
        == "all other waiting jobs can still start in time; the tightest is J1402 with 12m00 to spare"
    )
    assert why(BreaksNoBound(J1402, 720, 0), J1405).endswith("except J1402, already 12m00 past its latest start")
    assert why(BreaksNoBound(J1402, 720, 2), J1405).endswith("past its latest start, and 2 others past theirs")
    reason = MakesWay(J1402, cost=60, other=None)
    assert why(reason, J1405) == "moves aside for J1402; costs 60 processor-seconds"
    assert why(reason, J1402).startswith("jobs in J1402's columns of that row move to other columns")
    told = say(Migrate(J1405, 3, 0b11110000, 10, reason))
    assert told.startswith("J1405 migrates to columns 4-7 of row 3, losing 10s of its own turns: moves aside for J1402")


class BrandNew(NamedTuple):
    """A reason type for which the program has no sentence."""

    other: Job
    xfactor: float
    victims: tuple[Job, ...]
    limit: int | None = None


class SendAway(NamedTuple):
    """A decision type for which the program has no sentence."""

    job: Job
    because: Any


class Sly(NamedTuple):
    """A user-defined policy's reason that imitates the program's sentences."""

    def sentence(self, job: Job, at: object) -> str:
        return 'so it is". It fits: needs 1, 9 free'

    def past(self, job: Job, others: object) -> str:
        return "it had to be"


@pytest.mark.parametrize(
    ("given", "said"), [("over quota", "over quota"), (1.5, "1.5"), (None, "None"), ([], "nothing"), (Sly, "sly")]
)
def test_plain_value_as_a_reason_is_quoted_as_it_is(given: Reason, said: str) -> None:
    assert why(given, J1402) == f'the policy says "{said}"'
