"""Options of a workload, each declared once with its type, range, text form and meaning, and ranges in typed values:
`{1,2,5}`, `{1..5}` and `{0.8..1.4..0.1}` each stand for several values.

The command line, sessions and plans of experiments all read the options from here. This module does not import numpy,
because the command line is parsed without it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, product
from math import inf, prod
from typing import TYPE_CHECKING, Any, Literal

from sim.support.errors import ParameterError
from sim.support.formatting import LATEST, Moment, Step, parse_moment, parse_time, quoted, written_time
from sim.workload.job_changes import parse_changes, parse_jobs, parse_without, written_texts
from sim.workload.outages import parse_machine, parse_outages, written_machine, written_outages

if TYPE_CHECKING:
    from datetime import datetime

MOST_PROCS = 10_000_000
"""Largest number of processors, because each running job needs a bit for each of them."""
SMALLEST, GREATEST = 1e-6, 1e6
"""Factors that an option accepts; others could make times too large or too small for the simulation."""
_KINDS = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}
"""Mapping from the type of an option to what an error says is expected."""
ESTIMATES = "recorded, exact, factor:R, random:R or phi:P"
WITH = " with "
"""Word between a policy and the kind of estimates that replaces those of a run, as in `easy with exact`."""


@dataclass(frozen=True)
class Option:
    """Option of a workload: its type, range, default, and the texts that users see."""

    name: str
    default: Any
    kind: type
    meaning: str
    metavar: str | None = None
    called: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    read: Callable[[str], Any] | None = None
    """Function that parses the option's text. None if the value needs no parsing."""
    write: Callable[[Any], str] | None = None
    many: bool = False
    """True if the option may be repeated; then its texts are joined by semicolons."""

    @property
    def range(self) -> str:
        """Return the allowed values as text."""
        if self.choices:
            return " or ".join(self.choices)
        if self.low is None or self.high is None:
            return "any"
        low, high = (f"{end:,.6f}".rstrip("0").rstrip(".") for end in (self.low, self.high))
        return f"between {low} and {high}{self.unit}"

    def check(self, value: Any) -> None:
        if not (value == self.default or self._allows(value)):
            got = quoted(str(value))[1:-1]
            raise ParameterError(f"{self.called} {'is' if self.choices else 'must be'} {self.range}, got {got}")

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return self.low is None or self.high is None or bool(self.low <= value <= self.high)

    def taken(self, given: object) -> Any:
        """Return the value for a typed or stored value, the default for None; raise an error for another type."""
        if given is None:
            return self.default
        if self.choices and given not in self.choices:
            raise ParameterError(f"option {self.name}: expected {self.range}, got {quoted(str(given))}")
        kinds = (int, float) if self.kind is float else self.kind
        if not isinstance(given, kinds) or (isinstance(given, bool) and self.kind is not bool):
            parts = ", with ; between several" if self.many else ""
            raise ParameterError(f"option {self.name}: expected {_KINDS[self.kind]}{parts}, got {quoted(str(given))}")
        value = self.read(given) if self.read and isinstance(given, str) else given
        self.check(value)
        return value

    def taken_word(self, word: str) -> Any:
        """Return the value of a word from a plan of experiments, in which numbers, yes and no are words."""
        words = {"yes": True, "true": True, "no": False, "false": False}
        try:
            value = words[word] if self.kind is bool else self.kind(word)
        except (KeyError, ValueError):
            raise ParameterError(f"option {self.name}: expected {_KINDS[self.kind]}, got {quoted(word)}") from None
        return self.taken(value)

    def written(self, value: Any) -> Any:
        return self.write(value) if self.write and value is not None else value


def option(default: Any, kind: type, meaning: str, metavar: str | None = None, **about: Any) -> Any:
    return dataclasses.field(default=default, metadata={"kind": kind, "meaning": meaning, "metavar": metavar, **about})


def options_of(cls: Any) -> dict[str, Option]:
    return {field.name: Option(field.name, field.default, **field.metadata) for field in dataclasses.fields(cls)}


# Typed values


def parse_window(text: str) -> tuple[float | datetime, float | datetime]:
    """Return (begin, end) of `T0,T1`, infinite if missing; the first comma that separates two times counts.

    >>> parse_window("1d,36h"), parse_window("7d,"), parse_window("1,200d,1,300d")
    ((86400.0, 129600.0), (604800.0, inf), (103680000.0, 112320000.0))
    """
    commas = [at for at, letter in enumerate(text) if letter == ","]
    if not commas or len(text) > 1000:
        raise ParameterError(f"a window is two times like 1d,36h, got {quoted(text)}")
    for at in commas[:-1]:
        with suppress(ParameterError):
            return _end(text[:at], -inf), _end(text[at + 1 :], inf)
    return _end(text[: commas[-1]], -inf), _end(text[commas[-1] + 1 :], inf)


def _end(text: str, default: float) -> float | datetime:
    if not text.strip():
        return default
    moment = parse_moment(text)
    if isinstance(moment, Step):
        raise ParameterError(f"a window takes times or dates, not steps; got {quoted(text)}")
    return moment


def _written_window(window: tuple[Moment, Moment]) -> str:
    return ",".join(map(written_time, window))


# Declarations


@dataclass(frozen=True)
class TransformOptions:
    """Transforms in the order of application, except that `feedback` precedes `load`, and `overrun` is last."""

    window: tuple[float | datetime, float | datetime] | None = option(
        None, str, "Only jobs submitted from T0 until T1 (like 30d,37d).", "T0,T1", read=parse_window,
        write=_written_window,
    )  # fmt: skip
    widen: float = option(
        1.0, float, "Multiply the jobs' processors by F (at most all there are).", "F", called="the widening factor",
        low=SMALLEST, high=GREATEST,
    )  # fmt: skip
    resample: Literal["none", "weeks", "users", "hyper-erlang", "lublin", "sud"] = option(
        "none",
        str,
        "Replace the jobs at random: shuffle weeks, draw users, or generate as many from a model "
        "(fitted, Lublin's, ZKP's).",
        called="the kind of random jobs",
        choices=("none", "weeks", "users", "hyper-erlang", "lublin", "sud"),
    )
    jobs: int | None = option(
        None, int, "Simulate only the first N jobs.", "N", called="the number of jobs", low=0, high=LATEST
    )
    load: float = option(
        1.0, float, "Divide the times between arrivals by F.", "F", called="the load factor", low=SMALLEST,
        high=GREATEST,
    )  # fmt: skip
    stretch: float = option(
        1.0, float, "Multiply run times and estimates by F.", "F", called="the stretch factor", low=SMALLEST,
        high=GREATEST,
    )  # fmt: skip
    offline: bool = option(False, bool, "Submit all jobs at time 0.")
    estimates: str = option("recorded", str, f"{ESTIMATES}.", "MODEL")
    high: float | None = option(
        None, float, "Give a random share of the jobs high priority.", "FRACTION",
        called="the fraction of high priority jobs", low=0, high=1,
    )  # fmt: skip
    priority_from: Literal["queue"] | None = option(
        None, str, "Take high priority from the queue field.", called="where priorities come from", choices=("queue",)
    )
    reserve: float = option(
        0.0, float, "Let this random share of the jobs request a reserved start.", "FRACTION",
        called="the fraction of reservations", low=0, high=1,
    )  # fmt: skip
    lead: float = option(
        86400.0, str, "Reserved starts are at most T after submission.", "T", called="the lead of reservations", low=0,
        high=LATEST, unit=" seconds", read=parse_time, write=written_time,
    )  # fmt: skip
    seed: int = option(0, int, "Seed of everything random.", "N", called="the seed", low=0, high=2**62)
    overrun: Literal["kill", "grow"] = option(
        "kill", str, "Kill jobs at their estimate, or increase the estimates of longer jobs.",
        called="the overrun rule", choices=("kill", "grow"),
    )  # fmt: skip
    feedback: bool = option(
        False, bool, "Submit a job when the one before it has ended and its user has thought (SWF fields 17, 18)."
    )


# fmt: off
OPTIONS = {
    "procs": Option(
        "procs", None, int, "Processors (default: the trace's).", "N", low=1, high=MOST_PROCS,
        called="the number of processors",
    ),
    "machine": Option(
        "machine", (), str, "Size of the machine from T on: N processors. Repeatable.", "T=N",
        called="a size of the machine", read=parse_machine, write=written_machine, many=True,
    ),
    "outage": Option(
        "outage",
        (),
        str,
        "Announced maintenance of the whole machine; with ': 0-63' an unannounced failure of those processors; "
        "or a CSV file with from,to,processors,announced. Repeatable.",
        "T0..T1",
        called="an outage",
        read=parse_outages,
        write=written_outages,
        many=True,
    ),
    **options_of(TransformOptions),
    "without": Option(
        "without", (), str, "Withdraw a job, as if it had never been submitted. Repeatable.", "JOB",
        called="a withdrawn job", read=parse_without, write="; ".join, many=True,
    ),
    "change": Option(
        "change", (), str, "Change procs, estimate, run or submit of a job: J17:procs=4,estimate=2h. Repeatable.",
        "JOB:FIELD=VALUE", called="a change of a job", read=parse_changes, write=written_texts, many=True,
    ),
    "add": Option(
        "add", (), str, "Add a job, PROCESSORSxRUNTIME/ESTIMATE@SUBMIT like 5x10m@d3. Repeatable.", "JOB",
        called="an added job", read=parse_jobs, write=written_texts, many=True,
    ),
    "count": Option(
        "count", "cpus", str, "Count CPUs or nodes of a sacct dump as processors.", choices=("cpus", "nodes")
    ),
    "held": Option(
        "held", "eligible", str, "Arrival time of held jobs of a sacct dump.", choices=("eligible", "submit")
    ),
    "nodes": Option(
        "nodes", None, str, "Machine of nodes: the text of 'scontrol -o show node' and 'show partition', or TOML.",
        "FILE",
    ),
    "zone": Option("zone", None, str, "Time zone of a sacct dump's times (default: this machine's).", "NAME"),
}
# fmt: on
"""Options by name, in the order of the help: the machine first, reading of the trace last."""


MOST_VALUES = 100_000
"""Largest number of values that one text with ranges may stand for; also the largest number of runs of a plan."""
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?"
_SPAN = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?", re.ASCII)


def expand(text: str) -> list[str]:
    """Return all texts that `text`, which may have ranges, stands for. The values of the last range vary fastest.

    >>> expand("relaxed:omega={0,1,inf}"), expand("{0.8..1.2..0.2}"), expand("{3..1}")
    (['relaxed:omega=0', 'relaxed:omega=1', 'relaxed:omega=inf'], ['0.8', '1.0', '1.2'], ['3', '2', '1'])
    """
    pieces = re.split(r"\{([^{}]*)\}", text)
    if any("{" in piece or "}" in piece for piece in pieces):
        raise ParameterError(
            f"{quoted(text)}: a range is like {{1,2,5}}, {{1..5}} or {{0.8..1.4..0.1}}, none in another"
        )
    ranges = [_Values(inner, text) for inner in pieces[1::2]]
    if (many := prod(values.count for values in ranges)) > MOST_VALUES:
        raise ParameterError(f"{quoted(text)} stands for {many:,} values; at most {MOST_VALUES:,} are taken")
    return ["".join(chain(*zip(pieces[::2], (*chosen, ""), strict=True))) for chosen in product(*ranges)]


class _Values:
    """Values of one range (the text between braces), counted before they are listed to refuse a huge one early."""

    def __init__(self, inner: str, text: str) -> None:
        self._parts = [part.strip() for part in inner.split(",")]
        self._spans = [_SPAN.fullmatch(part) for part in self._parts]
        for part, span in zip(self._parts, self._spans, strict=True):
            if not part or (".." in part and span is None):
                raise ParameterError(
                    f"{quoted(text)}: {quoted(part)} is no value and no range like 1..5 or 0.8..1.4..0.1"
                )
        self.count = sum(1 if span is None else _steps(span, text) for span in self._spans)

    def __iter__(self) -> Iterator[str]:
        for part, span in zip(self._parts, self._spans, strict=True):
            if span is None:
                yield part
            else:
                first, _, step = _numbers(span)
                yield from (f"{first + step * at:f}" for at in range(_steps(span, part)))


def _numbers(span: re.Match[str]) -> tuple[Decimal, Decimal, Decimal]:
    first, last = Decimal(span[1]), Decimal(span[2])
    step = abs(Decimal(span[3] or 1))
    return first, last, step if last >= first else -step


def _steps(span: re.Match[str], text: str) -> int:
    first, last, step = _numbers(span)
    if not step:
        raise ParameterError(f"{quoted(text)}: a range in steps of 0 has no end")
    return int((last - first) / step) + 1
