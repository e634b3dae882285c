"""Any error of a policy in a pass stops the run there, with a message of one line; a run never hangs."""

from __future__ import annotations

import builtins
import json
import linecache
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Thread, get_ident
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from sim.decisions.decisions import Decision, Start, Wake
from sim.decisions.reasons import Fits
from sim.engine import engine as engines
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.engine.policy_calls import give_up, patience, unanswered
from sim.policies import Policy
from sim.policies.backfill.easy import Easy
from sim.policies.orders import Fcfs, Order
from sim.support import captured_output
from sim.support.errors import DecisionError, PolicyError
from sim.workload.model import Job

if TYPE_CHECKING:
    from tests.sim.conftest import Lab


@dataclass(frozen=True)
class Odd(Policy):
    """Policy that starts a job at 0 and does something wrong (`does`) from 10 on."""

    does: Callable[[Moment], Any] = field(default=lambda view: None)
    name = "odd"

    def decide(self, view: Moment) -> Iterator[Decision]:
        if view.now < 10:
            return iter([Start(job, Fits(view.free)) for job in view.arrived])
        return self.does(view)  # type: ignore[no-any-return]


def recurse(view: Moment) -> Any:
    return recurse(view)


def divide(view: Moment) -> Iterator[Decision]:
    yield Wake(1 / 0)


def start_nobody(view: Moment) -> Iterator[Decision]:
    yield from (Start(job.replaced(rank=7), Fits(view.free)) for job in view.arrived)


def read_nonsense(view: Moment) -> Any:
    return json.loads("{")


def look_at_the_matrix(view: Moment) -> Any:
    return view.matrix


def yield_calls(view: Moment) -> Iterator[Decision]:
    yield from Easy().decide(view)  # type: ignore[misc, func-returns-value]


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise ValueError


def raise_unreadable(view: Moment) -> Any:
    raise UnreadableError


def say_too_much(view: Moment) -> Any:
    raise ValueError("x" * 10_000)


def interrupt(view: Moment) -> Any:
    raise KeyboardInterrupt


def take_len_away(view: Moment) -> Any:
    vars(builtins)["len"] = None
    return len(view.queue)


def broken(lab: Lab, does: Callable[[Moment], Any]) -> Engine:
    return Engine(lab.workload(2, "1 0 1 5 5", "2 10 1 5 5"), Odd(does))


def test_error_is_reported_with_functions_that_the_policy_took_away(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured_output, "_BUILTINS", vars(builtins).copy())
    monkeypatch.setattr(captured_output, "_VALUES", [*vars(builtins).values()])
    linecache.getlines(__file__)  # known lines are looked up with `len`
    engine, own_len, told = broken(lab, take_len_away), len, ""
    try:
        engine.run()
    except Exception as error:
        vars(builtins)["len"] = own_len
        told = str(error)
    assert "odd failed after step 2, at d0 00:00:10: TypeError: 'NoneType' object is not callable (" in told
    assert "in take_len_away: return len(view.queue)" in told


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (divide, "ZeroDivisionError: .*test_policy_calls.py:\\d+ in divide"),
        (recurse, "RecursionError: .*test_policy_calls.py:\\d+ in recurse"),
        (read_nonsense, "JSONDecodeError: .*test_policy_calls.py:\\d+ in read_nonsense"),
        (
            raise_unreadable,
            "UnreadableError: its message cannot be read .*test_policy_calls.py:\\d+ in raise_unreadable",
        ),
        (
            lambda view: view.queue[0].runtime,
            "AttributeError: .*; policies cannot see run times, only .*policy_calls.py",
        ),
        (lambda view: view.shadw(view.queue[0]), "AttributeError: .*; did you mean 'shadow'[?] .*policy_calls.py"),
        (say_too_much, "ValueError: x{500}[.]{3} .*test_policy_calls.py:\\d+ in say_too_much"),
        (lambda view: sys.exit(0), "SystemExit: 0 .*test_policy_calls.py"),
        (
            yield_calls,
            "TypeError: 'NoneType' object is not iterable; .* write only Easy\\(\\).decide\\(view\\) .*in yield_calls",
        ),
    ],
)
def test_a_policy_that_breaks_down_says_which_when_and_where(
    lab: Lab, does: Callable[[Moment], Any], says: str
) -> None:
    engine = broken(lab, does)
    with pytest.raises(PolicyError, match=f"odd failed after step 2, at d0 00:00:10: {says}"):
        engine.run()
    assert engine.history.steps == 2


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (start_nobody, "job 2 cannot start: it is not waiting .*test_policy_calls.py:\\d+ in <genexpr>"),
        (look_at_the_matrix, "a policy without turns has no matrix .*test_policy_calls.py:\\d+ in look_at_the_matrix"),
        (
            lambda view: [None],
            "a policy cannot yield an object of type NoneType: expected .*test_policy_calls.py:\\d+ in decide",
        ),
    ],
)
def test_a_decision_that_is_refused_says_which_when_and_where(
    lab: Lab, does: Callable[[Moment], Any], says: str
) -> None:
    with pytest.raises(DecisionError, match=f"odd failed after step 2, at d0 00:00:10: {says}"):
        broken(lab, does).run()


def test_who_interrupts_a_policy_is_told_where_it_was(lab: Lab) -> None:
    with pytest.raises(
        KeyboardInterrupt, match=r"while odd decided after step 2, at d0 00:00:10 .*test_policy_calls.py"
    ):
        broken(lab, interrupt).run()


def test_a_policy_that_only_asks_for_timers_is_stopped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "IN_VAIN_AT_THE_END", 100)
    with pytest.raises(
        PolicyError,
        match="odd keeps setting timers without deciding anything: 100 in a row at step 104, at d0 00:01:51",
    ):
        broken(lab, lambda view: iter([Wake(view.now + 1)])).run()


def test_timers_are_not_in_vain_while_jobs_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "IN_VAIN_AT_THE_END", 100)

    def watch(view: Moment) -> Iterator[Decision]:
        yield from (Start(job, Fits(view.free)) for job in view.arrived)
        if view.now < 500:
            yield Wake(view.now + 1)

    engine = Engine(lab.workload(2, "1 10 1 900 900"), Odd(watch))
    engine.run()
    assert engine.history.steps == 492


def test_time_that_stands_still_is_no_progress_though_a_job_runs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "IN_VAIN_AT_THE_END", 100)

    def hurry(view: Moment) -> Iterator[Decision]:
        yield from (Start(job, Fits(view.free)) for job in view.arrived)
        yield Wake(view.now + 1e-9)

    with pytest.raises(
        PolicyError,
        match="odd keeps setting timers without deciding anything: 100 in a row at step 102, at d0 00:00:10",
    ):
        Engine(lab.workload(2, "1 10 1 900 900"), Odd(hurry)).run()


class EndlessError(Exception):
    def __str__(self) -> str:
        while True:
            sleep(0.001)


def raise_endless(view: Moment) -> Any:
    raise EndlessError


def test_a_message_that_takes_too_long_is_left_out(lab: Lab) -> None:
    where = r"EndlessError: its message cannot be read \(.*test_policy_calls.py:\d+ in raise_endless"
    with pytest.raises(PolicyError, match=where), patience(0.2):
        broken(lab, raise_endless).run()


def never(view: Moment) -> Any:
    while True:
        try:
            sleep(0.001)
        except Exception:
            continue


def test_endless_pass_is_stopped_from_another_thread(lab: Lab) -> None:
    engine, told = broken(lab, never), list[str]()

    def run() -> None:
        try:
            engine.run()
        except PolicyError as error:
            told.append(str(error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    while (asked := unanswered(thread.ident or 0))[1] < 0.1:
        sleep(0.01)
    assert asked[0] == "test_policy_calls.py"
    while thread.is_alive():  # once does not do if it comes during garbage collection
        give_up(thread.ident or 0)
        thread.join(0.5)
    assert re.search(r"odd failed after step 2, at d0 00:00:10: stopped: no decision for \d+ s \(", told[0])
    assert unanswered(thread.ident or 0) == unanswered(get_ident()) == ("", 0)


WATCHED = """
import gc
from threading import Thread
from time import sleep

from sim import Engine, read
from sim.engine.policy_calls import unanswered


class Circle:
    def __init__(self):
        self.it = self

    def __del__(self):
        sleep(0)  # whoever waits for the interpreter has it now


def work():
    for _ in range(200):
        Engine(read("z-figure7"), "easy", curious=True).run()
    print("done", end="")


thread = Thread(target=work)
thread.start()
gc.set_threshold(3, 1, 1)
while thread.is_alive():
    Circle()
    unanswered(thread.ident)
"""


def test_who_decides_is_never_hurt_by_who_watches() -> None:
    """Python 3.11 crashes if one thread reads another thread's stack during garbage collection."""
    watched = subprocess.run([sys.executable, "-c", WATCHED], timeout=60, capture_output=True)
    assert (watched.returncode, watched.stdout) == (0, b"done")


@dataclass(frozen=True)
class NoKey(Order):
    def key(self, job: Job, now: float) -> float:
        return 1 / (job.rank - job.rank)


@dataclass(frozen=True)
class Astray(Odd):
    """The same with an invalid queue order and an invalid clock of turns."""

    order: Any = Fcfs
    clock: Any = lambda: None

    def queue_order(self) -> Order:
        return self.order()  # type: ignore[no-any-return]

    def turns(self) -> Any:
        return self.clock()

    def queues(self) -> tuple[str, ...]:
        return "one", "two"

    def queue_of(self, job: Job) -> int:
        return 7 if job.rank else 1 // 0


def exit_it() -> Any:
    sys.exit(3)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (
            Astray(order=NoKey),
            "odd failed after step 0, at d0 00:00:00: ZeroDivisionError: .*test_policy_calls.py:\\d+ in key",
        ),
        (Astray(order=exit_it), "odd failed at the beginning: SystemExit: 3 .*test_policy_calls.py:\\d+ in exit_it"),
        (
            Astray(clock=lambda: {0: 0}[1]),
            "odd failed at the beginning: KeyError: 1 .*test_policy_calls.py:\\d+ in <lambda>",
        ),
        (Astray(clock=lambda: 7), "odd: turns.. is expected to give Turns or None, got 7"),
    ],
)
def test_what_a_policy_raises_when_it_is_not_asked_to_decide_is_told_too(lab: Lab, policy: Policy, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        Engine(lab.workload(1, "1 0 1 5 5"), policy).run()


def test_a_queue_that_is_not_there_is_the_first(lab: Lab) -> None:
    engine = Engine(lab.workload(2, "1 10 1 5 5", "2 10 1 5 5"), Astray(does=lambda view: []))
    engine.step()
    assert [queued.place for queued in engine.snapshot().queue] == [0, 0]
