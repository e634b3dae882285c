"""Watching of a policy's file for `schedscope test --watch`: each version is compared with the last."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, repeat
from queue import Empty, SimpleQueue
from typing import TypeAlias

from sim.authoring import BrokenRule
from sim.authoring.bench import SHOWN, BenchRun, Version, changes, first_difference, pass_change, version_of
from sim.comparison.comparison_sentences import changed, what_it_did
from sim.comparison.differences import Versus
from sim.metrics.aggregates import Value
from sim.metrics.catalogue import metric
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock, count, listed, percent, printable, shortened, span
from sim.workload.model import Workload
from sim.workload.samples import SAMPLES
from tui.cli.terminal import progress, say, shows_unicode
from tui.look.text import plain, table
from tui.replay.file_watch import FileWatch

FailureLines: TypeAlias = Callable[[str, Policy, BrokenRule], list[str]]
"""Function that writes the jobs on which a policy breaks a rule to a file, and returns lines about them"""
Saved: TypeAlias = Policy | str
"""Policy of a file that was saved, or one line on why that file has no usable policy"""
TITLES = ("mean wait", "worst wait", "fairness")
WORDS = {1: "better", 0: "worse"}
LONGEST_NAME = 16
EVERY = 0.2
"""Seconds after which waiting for a saved file is interrupted, so that the user can stop the program"""


class SupersededError(Exception):
    """Error that stops a test, because the file was saved again meanwhile."""


def watch(spec: str, workloads: Mapping[str, Workload], count: int, seed: int, tell_failure: FailureLines) -> None:
    """Test the policy `spec` at once, and whenever a file with its code is saved, until the user interrupts."""
    saves = SimpleQueue[Saved]()
    watcher = FileWatch(lambda _, renewed: saves.put(renewed[spec]), saves.put)
    saves.put(_loaded(spec))
    watcher.follow([spec])
    try:
        bench = Bench(spec, workloads, count, seed, tell_failure, is_over=lambda: not saves.empty())
        for saved in _each(saves):
            bench.show(saved)
    finally:
        watcher.close()


def _loaded(spec: str) -> Saved:
    try:
        return parse_policy(spec)
    except SchedscopeError as error:
        return str(error)


def _each(saves: SimpleQueue[Saved]) -> Iterator[Saved]:
    while True:
        try:
            yield saves.get(timeout=EVERY)
        except Empty:
            continue


class Bench:
    """Tester of the saved versions of a policy against the last one that passed the tests."""

    def __init__(
        self, spec: str, workloads: Mapping[str, Workload], count: int, seed: int, tell_failure: FailureLines,
        is_over: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._spec, self._workloads, self._count, self._seed = spec, workloads, count, seed
        self._tell_failure, self._is_over = tell_failure, is_over
        self._tested: object = None
        self._number = 0
        self._before: tuple[int, Version] | None = None

    def show(self, saved: Saved) -> None:
        """Test a saved version, unless it is the same as before, and print a report."""
        code = saved if isinstance(saved, str) else (saved.code, saved)
        if code == self._tested:
            return
        self._tested = code
        self._number += 1
        title = f"version {self._number}, {datetime.now():%H:%M:%S}"
        try:
            lines = [*self._report(saved, title), ""]
            say("\n".join(lines if shows_unicode() else map(plain, lines)))
        except SupersededError:
            self._tested = None
            say(f"{title}: saved again before its tests ended\n")

    def _report(self, saved: Saved, title: str) -> list[str]:
        if isinstance(saved, str):
            return [f"{title}: {printable(saved)}"]
        try:
            with progress(self._count + len(SAMPLES) + len(self._workloads), "testing") as bar:

                def on_try() -> None:
                    if self._is_over():
                        raise SupersededError
                    if bar is not None:
                        bar.update(1)

                version = version_of(saved, self._workloads, count=self._count, seed=self._seed, on_try=on_try)
        except SchedscopeError as error:  # on a trace: the tests have passed
            return [f"{title}: {printable(str(error))}"]
        if version.report.failure is not None:
            first, *more = map(printable, self._tell_failure(self._spec, saved, version.report.failure))
            return [f"{title}: {first}", *(f"  {line}" for line in more)]
        before, self._before = self._before, (self._number, version)
        passed = f"{title}: passed {count(version.report.tried, 'workload')}"
        if before is None:
            return [passed, *_notes(version), *_first(version)]
        return [
            f"{passed}; against version {before[0]}",
            *_notes(version, before[1].report.notes),
            *_against(before[1], version, self._spec),
        ]


def _notes(version: Version, known: Collection[str] = ()) -> list[str]:
    return [f"  {printable(note)}" for note in version.report.notes if note not in known]


def _first(version: Version) -> list[str]:
    heads = ["", *TITLES]
    rows = [[_name(run), *(_value(name, run.values[name]) for name in SHOWN)] for run in version.runs]
    return [*table([heads, *rows], indent=2), f"  a pass takes {_pass(version)}; save the file to compare"]


def _against(before: Version, now: Version, spec: str) -> list[str]:
    """Return lines on changed metrics, the first decision that differs, and the time of a decision pass."""
    runs = list(changes(before, now))
    rows = [[_name(run), *_cells(metrics)] for run, metrics in runs if any(e.first != e.second for e in metrics)]
    lines = list(_summary(runs))
    if rows:
        heads = ["", *chain.from_iterable((title, "") for title in TITLES)]
        lines += table([heads, *rows], ["left", *["right", "left"] * len(SHOWN)], indent=2)  # type: ignore[list-item]
    side = pass_change(before, now)
    was = "" if before.seconds is None else f", before {1000 * before.seconds:,.2f} ms"
    lines.append(f"  a pass takes {_pass(now)}{was}{'' if side is None else f': {WORDS[side]}'}")
    return [*lines, *_first_difference(before, now, spec)]


def _first_difference(before: Version, now: Version, spec: str) -> list[str]:
    found = first_difference(before, now)
    if found is None:
        return [f"  no job starts, stops or ends at another time on any of {count(len(now.runs), 'workload')}"]
    run, parting, accounts = found
    lines = [f"  first difference: {_name(run)}, {clock(parting.time)}"]
    for who, told in zip(("before", "now"), accounts, strict=True):
        heads = chain([who], repeat(""))
        lines += [f"    {head:<8}{printable(what_it_did(each))}" for head, each in zip(heads, told, strict=False)]
    return [*lines, f"    schedscope watch {run.opened} --policy {shlex.quote(spec)} --at '#{parting.steps[1]}'"]


def _summary(runs: Sequence[tuple[BenchRun, Sequence[Versus]]]) -> Iterator[str]:
    for side, word in WORDS.items():
        told = []
        for place, title in enumerate(TITLES):
            names = [_name(run) for run, metrics in runs if metrics[place].better == side]
            told += [f"{title} on {listed(names, 2)}"] if names else []
        if told:
            yield f"  {word}: {'; '.join(told)}"


def _cells(metrics: Iterable[Versus]) -> Iterator[str]:
    for entry in metrics:
        yield _value(entry.metric.name, entry.second)
        yield f"{changed(entry)} {'' if entry.better is None else WORDS[entry.better]}".strip()


def _value(name: str, value: Value) -> str:
    return percent(value) if metric(name).unit == "share" else span(value)


def _name(run: BenchRun) -> str:
    name = printable(shortened(run.workload.name, LONGEST_NAME))
    return f"{name}, {count(len(run.workload), 'job')}" if run.has_namesake else name


def _pass(version: Version) -> str:
    growth = version.report.growth
    if growth is None:
        return "an unknown time"
    many, seconds = growth.points[-1]
    return f"{1000 * seconds:,.2f} ms with {many:,} jobs waiting"
