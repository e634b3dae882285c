"""Also tests sim.stops.combinations, sim.stops.conditions, sim.stops.vocabulary."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions import reasons_to_wait
from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import InOrder
from sim.decisions.reasons_to_wait import TooFewFree
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.engine.snapshot import Snapshot
from sim.policies import Policy, parse_policy
from sim.policies.columns import Column
from sim.stops.conditions import RELATIONS
from sim.stops.grammar import StopError, parse_stop
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES, REASONS, kind_of
from sim.support.formatting import Clock
from sim.workload.model import Field, Header, Job
from tests.sim.conftest import Lab


def snapshots(engine: Engine) -> list[Snapshot]:
    """Return the snapshots of a run: before its first step and after each step."""
    seen = [engine.snapshot()]
    while engine.step():
        seen.append(engine.snapshot())
    return seen


def fires(stop: str, seen: list[Snapshot]) -> list[float | None]:
    parsed = parse_stop(stop)
    return [after.time for before, after in pairwise(seen) if parsed.fires(before, after)]


@pytest.fixture
def narrow(lab: Lab) -> list[Snapshot]:
    jobs = ("1 0 2 50 60", "2 5 4 100 100", "3 10 2 40 40", "4 12 1 500 500")
    return snapshots(Engine(lab.workload(4, *jobs), parse_policy("easy")))


# Reading
@pytest.mark.parametrize(("typed", "best"), [
    ("queue>50", "queue > 50"), ("Queue == 3", "queue = 3"), ("utilisation < 60 %", "utilization < 0.6"),
    ("utilization < 0.6", "utilization < 0.6"), ("wait > 90m", "wait > 1h30m"), ("wait > 7.5", "wait > 7.5s"),
    ("time 12d 4h", "time 12d4h"), ("time >= 3600", "time 1h"), ("time < 1h", "time < 1h"), ("step 1200", "step 1200"),
    ("Line 41", "line 41"), ("variable shadow >= -2.5", "variable shadow >= -2.5"),
    ("shadow>3600 and backfill", "variable shadow > 3600 and backfill"), ("JOB w0!3 Ends", "job w0!3 ends"),
    ('job "my job" starts', 'job "my job" starts'), ("job and starts and backfill", "job and starts and backfill"),
    ("missed  reservation", "missed reservation"),
    ("start and (arrival or completion)", "start and (arrival or completion)"),
    ("(start and arrival) or completion", "start and arrival or completion"),
    ("not not ((backfill))", "not not backfill"),
])  # fmt: skip
def test_what_is_typed_has_one_best_form(typed: str, best: str) -> None:
    assert parse_stop(typed).text == best
    assert parse_stop(best) == parse_stop(typed)


@pytest.mark.parametrize(
    ("typed", "position", "said"),
    [
        ("", 0, "expected a condition, such as queue > 50"),
        ("   ", 0, "expected a condition"),
        ("queu > 50", 0, "no condition 'queu'; did you mean 'queue'?"),
        ("variable > 5", 9, "expected the name of a variable of the policy's code"),
        ("shadow > high", 9, "expected a number like 50, got 'high'"),
        ("queue 50", 6, "expected > < >= <= = != or changes after queue, got '50'"),
        ("queue >", 7, "expected a number like 50"),
        ("queue > many", 8, "expected a number like 50, got 'many'"),
        ("utilization < much", 14, "expected a share like 0.6 or 60%, got 'much'"),
        ("wait > 2 parsecs", 9, "the end of the condition, got 'parsecs'"),
        ("wait > 2y", 7, "a time is seconds or like 12d4h30m"),
        ("wait > 1 2", 7, "expected a time like 12d4h30m or 90s, got '1'"),
        ("job 17", 6, "expected one of arrives, considered, starts"),
        ("job 17 start", 7, "unknown job event 'start'; did you mean 'starts'"),
        ("job > 3", 4, "expected the id of a job"),
        ("head falls", 5, "head does not 'falls'; expected one of slips, changes"),
        ("missed", 6, "expected one of reservation"),
        ("(backfill", 9, "expected ) for the ( at 1"),
        ("backfill)", 8, "the end of the condition, got ')'"),
        ("backfill and", 12, "expected a condition"),
        ("job 2 waits because quota", 20, "part of its sentence in quotes, got 'quota'"),
        ("job 2 waits because too few fre or print", 20, "did you mean 'too few free'?"),
        ("job 2 waits because", 19, "others are would delay, predicted to delay, "),
        ("number > 3", 7, "the name of one of the policy's numbers"),
        ("number usage", 12, "expected > < >= <= = != or changes after usage"),
        ("backfill ! start", 9, "the end of the condition"),
        ('job "17 starts', 4, "unexpected"),
        ("queue > 99999999999999999999", 8, "is out of range"),
        ("(" * 50 + "backfill" + ")" * 50, 40, "brackets and not are nested more than"),
        ("not " * 999 + "backfill", 2000, "too long"),
    ],
)
def test_an_error_says_where_and_what_would_work(typed: str, position: int, said: str) -> None:
    with pytest.raises(StopError) as error:
        parse_stop(typed)
    assert said in str(error.value)
    assert error.value.position == position


USERS = replace(
    Lab().workload(4, "1 0 1 5 5", "2 0 1 9 9", "17 3 4 5 5"),
    user=np.array([1, 0, 1]), names={Field.USER: ("ann", "my bob")}, header=Header(unix_start=1_795_219_200),
)  # fmt: skip


@pytest.mark.parametrize(("typed", "best"), [
    ("time d12 04:30", "time 12d4h30m"), ("d12 04:31:07 and queue > 5", "time 12d4h31m7s and queue > 5"),
    ("time < 04:30", "time < 2d4h30m"), ("2026-11-21 04:30", "time 4h30m"), ("time >= 2026-11-22", "time 1d"),
    ("#1,200", "step 1200"), ("step < #1200", "step < 1200"), ("time #7 or start", "step 7 or start"),
    ("2h05", "time 2h5m"), ("job j17 starts", "job 17 starts"), ("user ann starts", "user ann starts"),
    ('not user "my bob" ends', 'not user "my bob" ends'),
])  # fmt: skip
def test_of_a_trace_there_are_dates_users_and_times_as_they_are_printed(typed: str, best: str) -> None:
    assert parse_stop(typed, USERS, now=2 * 86400.0).text == best
    assert parse_stop(best, USERS) == parse_stop(typed, USERS, now=2 * 86400.0)


@pytest.mark.parametrize(
    ("typed", "position", "said"),
    [
        ("user bob starts", 5, "no job of a user 'bob'"),
        ("user ann", 8, "expected one of arrives"),
        ("user", 4, "expected a user, as in user ann starts"),
        ("job 99 starts", 4, "no job '99' among the 3 jobs that are simulated"),
        ("time 2026-02-30", 5, "is in no calendar"),
        ("wait > 2026-11-21", 7, "a time is seconds or like 12d4h30m"),
        ("queue > #5", 8, "expected a number like 50, got '#5'"),
        ("17", 0, "no condition '17'"),
    ],
)
def test_what_the_trace_does_not_have_is_said(typed: str, position: int, said: str) -> None:
    with pytest.raises(StopError) as error:
        parse_stop(typed, USERS)
    assert said in str(error.value)
    assert error.value.position == position


def test_stops_of_users_and_dates_need_the_trace() -> None:
    seen = snapshots(Engine(USERS, "fcfs"))
    starts, ends = parse_stop('user "my bob" starts', USERS), parse_stop("user ann ends", USERS)
    assert [b.time for a, b in pairwise(seen) if starts.fires(a, b)] == [0, 9]
    assert [b.time for a, b in pairwise(seen) if ends.fires(a, b)] == [9]
    with pytest.raises(StopError, match="the trace does not say when it began"):
        parse_stop("2026-11-21")


@given(text=st.text() | st.text('abdehlnoqstu 0159.><=!()"%dhms', max_size=40))
def test_garbage_is_refused_and_nothing_else_happens(text: str) -> None:
    with suppress(StopError):
        parsed = parse_stop(text)
        assert parse_stop(parsed.text) == parsed


NUMBERS = st.integers(0, 10**15).map(str) | st.floats(0, 1e6).map(lambda number: f"{number:f}")
TIMES = st.integers(0, 10**9).map(str) | st.sampled_from(["2h", "12d4h30m", "12d 4h 30m", "0s", "1.5h"])
IDS = st.from_regex(r"[A-Za-z0-9_.!-]{1,8}", fullmatch=True) | st.text(
    st.characters(exclude_characters='"', exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8
).map('"{}"'.format)
VALUES = {"number": NUMBERS, "share": NUMBERS, "time": TIMES, "moment": TIMES}
LEVELS = st.one_of(
    *(
        st.tuples(st.just(name), st.sampled_from(list(RELATIONS)), VALUES[measure.unit])
        for name, measure in MEASURES.items()
    )
).map(" ".join)
CONDITIONS = (
    LEVELS | st.sampled_from([*EVENTS, *CHANGES]) | st.builds("job {} {}".format, IDS, st.sampled_from(list(DEEDS)))
)
STOPS = st.recursive(
    CONDITIONS,
    lambda parts: st.one_of(
        parts.map("not ({})".format),
        st.lists(parts, min_size=2, max_size=3).map(" and ".join),
        st.lists(parts, min_size=2, max_size=3).map(" or ".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda some: "(" + ") and (".join(some) + ")"),
    ),
    max_leaves=6,
)


@given(typed=STOPS)
def test_reading_the_best_form_gives_the_same_stop(typed: str) -> None:
    parsed = parse_stop(typed)
    assert parse_stop(parsed.text) == parsed
    assert parsed.hint


# Holding and firing
def test_stops_fire_at_their_moments(narrow: list[Snapshot]) -> None:
    assert fires("queue > 0", narrow) == [5]
    assert fires("queue < 1", narrow) == [150]
    waiting = parse_stop("queue > 0")
    assert [now.time for now in narrow if waiting.holds(None, now)] == [5, 10, 12, 50]
    assert fires("arrival", narrow) == [0, 5, 10, 12]
    assert fires("completion", narrow) == [50, 150, 650]
    assert fires("not queue > 0", narrow) == [150]
    assert fires("queue > 0 and time 30s", narrow) == [50]
    assert fires("backfill and queue > 0", narrow) == [10]
    assert fires("queue > 0 or backfill", narrow) == [5, 10]


@pytest.mark.parametrize(("stop", "times"), [
    ("job 3 arrives", [10]), ("job 3 starts", [10]), ("job J3 backfilled", [10]), ("job 2 backfilled", []),
    ("job 1 ends", [50]), ("job 4 considered", [12, 50, 150]), ("backfill", [10]),
    ("start and not backfill", [0, 50, 150]), ("time 40s", [50]), ("step 2", [5]), ("free = 0", [10]),
    ("utilization > 90%", [10]), ("wanted >= 5", [12]), ("wait > 30s", [50]), ("running = 2", [10]),
    ("head changes", [5, 50]),
])  # fmt: skip
def test_when_it_fires(narrow: list[Snapshot], stop: str, times: list[float]) -> None:
    assert fires(stop, narrow) == times


def test_reservations_and_preemptions_are_events(lab: Lab) -> None:
    jobs = ("1 0 2 50 50", "2 5 4 100 100", "3 10 2 80 80")
    seen = snapshots(Engine(lab.workload(4, *jobs), parse_policy("relaxed:omega=2")))
    assert fires("backfill", seen) == [10]
    assert fires("head slips", seen) == fires("job 2 moves", seen) == [10]
    workload = lab.workload(4, "1 0 4 50 50", "2 5 4 10 10")
    booked = replace(workload, reserve=np.array([np.nan, 20.0]))
    assert fires("missed reservation", snapshots(Engine(booked, parse_policy("multiqueue")))) == [50]
    workload = lab.workload(4, "1 0 4 7200 7200", "2 0 4 60 60")
    seen = snapshots(Engine(workload, parse_policy("selective:sf=1.5")))
    assert fires("suspend", seen) == fires("job 1 suspended", seen) == fires("suspended > 0", seen) == [60]
    assert fires("resume", seen) == fires("job 1 resumes", seen) == [120]


# Authors of policies
class Quota(NamedTuple):
    most: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"user {job.user} has more than {self.most} already"


@dataclass(frozen=True)
class Fair(Policy):
    """Policy that counts how often a job was passed over, and starts it at the third attempt at the earliest."""

    name = "fair"
    columns = (Column("passed"),)

    def decide(self, view: Moment) -> Iterator[Decision]:
        passed = view.notes.setdefault("passed", {})
        for job in view.queue:
            passed[job.rank] = passed.get(job.rank, 0) + 1
            if job.procs > view.free:
                yield Keep(job, TooFewFree(view.free))
            elif passed[job.rank] < 3:
                yield Keep(job, Quota(1))
            else:
                yield Start(job, InOrder(view.free))


@pytest.fixture
def counted(lab: Lab) -> list[Snapshot]:
    """Return the snapshots of a run: job 1 is passed over at 0 and 1, job 2 from 1 on, because job 1 leaves too few
    processors."""
    jobs = ("1 0 3 9 9", "2 1 2 9 9", "3 2 1 9 9", "4 3 1 9 9", "5 4 1 9 9")
    return snapshots(Engine(lab.workload(4, *jobs), Fair()))


@pytest.mark.parametrize(("typed", "at"), [
    ("job 1 waits", [0, 1]), ("job 2 waits because too few free", [2, 3, 4]),
    ('job 2 waits because "has more than 1"', [1]), ('job 2 waits because "quota"', [1]), ("number passed > 2", [3]),
    ("job 2 number passed > 2", [3]), ("job 1 number passed > 99 or number nothing > 0", []),
])  # fmt: skip
def test_authors_of_policies_stop_at_reasons_and_numbers(typed: str, at: list[float], counted: list[Snapshot]) -> None:
    assert fires(typed, counted) == at


@pytest.mark.parametrize(
    ("typed", "known", "said"),
    [
        ("number nothing > 5", {"usage", "passed"}, "no number 'nothing'; there is passed, usage"),
        ("job 2 number pased > 5", {"usage", "passed"}, "no number 'pased'; did you mean 'passed'?"),
        ("number nothing > 5", set[str](), "no number 'nothing'; none is written here"),
    ],
)
def test_unknown_number_is_refused_if_all_are_known(typed: str, known: set[str], said: str) -> None:
    with pytest.raises(StopError) as error:
        parse_stop(typed, numbers=known)
    assert str(error.value) == said
    assert error.value.position == typed.index("number ") + len("number ")


def test_unknown_word_is_no_variable_if_all_are_known() -> None:
    with pytest.raises(StopError, match=r"^no condition 'nosuch'; there is queue > 50, job 17 starts"):
        parse_stop("nosuch > 3", variables={"shadow", "extra"})
    assert parse_stop("shadow > 3", variables={"shadow"}).text == "variable shadow > 3"


@pytest.mark.parametrize(
    ("typed", "known", "said"),
    [
        ("variable nothing > 5", {"shadow", "extra"}, "; there is extra, shadow"),
        ("shado > 5", {"shadow", "extra"}, "; did you mean 'shadow'?"),
        ("variable nothing > 5", set[str](), "; no policy runs here whose code has any"),
        ("variable nothing > 5", {f"v{n:02}" for n in range(50)}, "v18, v19 and more"),
    ],
)
def test_unknown_variable_is_refused_if_all_are_known(typed: str, known: set[str], said: str) -> None:
    with pytest.raises(StopError) as error:
        parse_stop(typed, variables=known)
    assert str(error.value).startswith("no variable ")
    assert str(error.value).endswith(said)
    assert error.value.position == typed.removesuffix(" > 5").rfind(" ") + 1


@pytest.mark.parametrize(
    "typed", [*(f"job 3 waits because {reason}" for reason in REASONS), 'number "own value" <= -1.5', "job 3 waits"]
)
def test_what_is_written_of_a_policy_is_read_again(typed: str, lab: Lab) -> None:
    workload = lab.workload(4, "3 0 1 1 1")
    assert parse_stop(parse_stop(typed, workload).text, workload) == parse_stop(typed, workload)


def test_reasons_keep_the_names_that_sessions_have() -> None:
    """Not by class: a class that is renamed still needs its old name in conditions."""
    assert set(REASONS) >= {
        "at limit", "awaits victims", "before others", "behind in partition", "beyond lookahead", "breaks bound",
        "claim taken", "fits no row", "leaves no room", "machine goes down", "no nodes", "no slice over",
        "no victim allowed", "no victims", "nodes kept", "nodes reserved", "not yet", "own claimed",
        "own columns taken", "own gone", "pivot later", "planned later", "predicted to delay", "room unseen",
        "too few free", "touches reservation", "trial later", "turn over", "waits for own", "waits for reserved",
        "window closes", "would delay", "would delay pivot",
    }  # fmt: skip
    assert (REASONS["too few free"], REASONS["own gone"]) == (reasons_to_wait.TooFewFree, reasons_to_wait.OwnGone)
    assert kind_of(reasons_to_wait.OwnGone) == "own gone"
