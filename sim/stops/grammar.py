"""Conditions to stop at, such as `queue > 50 and not backfill`: read by a small grammar, never evaluated as code.

    stop       all {"or" all}                          measure    queue wanted utilization free running ...
    all        one {"and" one}                         event      backfill  start  head slips  missed reservation ...
    one        "not" one | "(" stop ")" | condition    deed       starts ends arrives considered backfilled ...
    condition  measure is | "time" moment | "step" number | moment | event | whose id deed | [whose id] own
    is         relation value | "changes"                  "waits" may be followed by: "because" reason
    whose      "job" | "user"                              reason  too few free, would delay ... or "part of it"
    own        "number" name is | "line" number | ["variable"] name is, of the policy's code

A condition is about one step. A stop *holds* after a step, and *fires* when it is met: `queue > 50` once, when
the queue has grown; `backfill` at every step with a backfilled job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sim.engine.snapshot import Snapshot
from sim.stops.combinations import AllOf, AnyOf, Node, Not, One, Reading
from sim.stops.conditions import (
    MOST,
    RELATIONS,
    WORD,
    Changes,
    Compared,
    Condition,
    Findings,
    Happens,
    Number,
    NumberChanges,
    OfJob,
    OfUser,
    OnLine,
    OwnNumber,
    StepNumber,
    Variable,
    WaitsBecause,
)
from sim.stops.instants import Instant, OfMoment
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES, REACHED, REASONS, SPELLINGS, Unit
from sim.support.errors import ParameterError, SchedscopeError, near, similar
from sim.support.formatting import A_TIME, Moment, Step, parse_moment, parse_time
from sim.workload.model import Field, Header, Workload

_LONGEST, _DEEPEST = 2000, 40
"""Largest number of characters of a condition, and greatest depth to which brackets and `not` are nested."""
_MOST_NAMES = 20
_TOKEN = re.compile(rf'\s*(?:(?P<quoted>"[^"]*")|(?P<sign>>=|<=|!=|==|[()<>=])|(?P<word>{WORD})|(?P<odd>\S))')
_MOMENT = re.compile(r"#?\d|d\d", re.ASCII)
_EVENTS = {**EVENTS, **CHANGES}
_WORDS = (*MEASURES, *_EVENTS, "job")


class StopError(SchedscopeError):
    """Condition that cannot be parsed, with the allowed words, and the position in the text from 0."""

    def __init__(self, what: str, position: int) -> None:
        self.position = position
        super().__init__(what)


@dataclass(frozen=True)
class Stop:
    """Condition to stop at, asked by states before (None: first step) and after a step: instants or snapshots."""

    root: Node
    conditions: tuple[Condition, ...]
    """Single conditions in the order of their values in a reading (values after one step)."""

    @property
    def text(self) -> str:
        return self.root.text

    @property
    def hint(self) -> str:
        return self.root.hint

    @property
    def cheap(self) -> bool:
        """Return True if the history alone shows whether the condition is met, without repeating steps."""
        return all(condition.in_columns for condition in self.conditions)

    @property
    def reads_code(self) -> bool:
        """Return True if the condition is about lines or variables of the policy, so that its code must be recorded."""
        return any(
            isinstance(condition, OnLine) or isinstance(getattr(condition, "number", None), Variable)
            for condition in self.conditions
        )

    def read(self, instant: Instant, before: Reading | None = None) -> Reading:
        """Return the values after a step; a number that a step does not have keeps its value `before`."""
        now = tuple(condition.read(instant) for condition in self.conditions)
        if before is None:
            return now
        return tuple(old if new == {} else new for old, new in zip(before, now, strict=True))

    def findings(self, before: Reading | None, after: Reading, instant: Instant) -> Findings:
        """Yield the jobs and values of the conditions that hold after a step; of `not`, none does."""
        for at, condition in enumerate(self.conditions):
            was = None if before is None else before[at]
            if condition.holds(was, after[at]):
                yield from condition.findings(was, instant)

    def holds(self, before: Instant | Snapshot | None, after: Instant | Snapshot) -> bool:
        return self.root.holds(self._read(before), self.read(_instant(after)))

    def fires(self, before: Instant | Snapshot | None, after: Instant | Snapshot) -> bool:
        was = self._read(before)
        return self.root.fires(was, self.read(_instant(after), was))

    def _read(self, instant: Instant | Snapshot | None) -> Reading | None:
        return None if instant is None else self.read(_instant(instant))


def _instant(step: Instant | Snapshot) -> Instant:
    return OfMoment(step) if isinstance(step, Snapshot) else step


# Parser


class Token(NamedTuple):
    """Word, sign or bracket of the text, with its position; the last token is empty."""

    text: str
    position: int
    is_quoted: bool = False

    @property
    def word(self) -> str:
        return "" if self.is_quoted else self.text.lower()


def parse_stop(
    text: str,
    workload: Workload | None = None,
    now: float = 0.0,
    numbers: Collection[str] | None = None,
    variables: Collection[str] | None = None,
) -> Stop:
    """Return the condition that a text describes; jobs, users and dates in it must exist in the workload, if given.

    A time of day alone belongs to the day of `now`. `numbers` holds the names of the numbers that the policy writes for
    waiting jobs, and `variables` the names of the variables in its code. None allows any name.

    >>> parse_stop("Queue>50 and not  (backfill or job J17 starts)").text
    'queue > 50 and not (backfill or job J17 starts)'
    >>> parse_stop("backfil")
    Traceback (most recent call last):
    sim.stops.grammar.StopError: no condition 'backfil'; did you mean 'backfill'?
    """
    return _Parser(text, workload, now, numbers, variables).parse()


class _Parser:
    """Recursive-descent parser, with one method per rule of the grammar."""

    def __init__(
        self,
        text: str,
        workload: Workload | None,
        now: float,
        numbers: Collection[str] | None,
        variables: Collection[str] | None,
    ) -> None:
        self._text, self._workload, self._now = text, workload, now
        self._numbers, self._variables = numbers, variables
        if len(text) > _LONGEST:
            raise self._error(f"a condition of more than {_LONGEST:,} letters is too long", _LONGEST)
        self._tokens = list(self._split())
        self._place = self._depth = 0
        self._conditions: list[Condition] = []

    def parse(self) -> Stop:
        root = self._any_of()
        if self._token.text:
            raise self._error(f'expected "and", "or" or the end of the condition, got {self._token.text!r}')
        return Stop(root, tuple(self._conditions))

    # Tokens

    def _split(self) -> Iterable[Token]:
        for match in _TOKEN.finditer(self._text.rstrip()):
            kind = match.lastgroup or "odd"
            position = match.start(kind)
            if kind == "odd":
                raise self._error(f"unexpected {match[kind]!r}", position)
            text = match[kind].strip('"') if kind == "quoted" else match[kind]
            yield Token(text, position, kind == "quoted")
        yield Token("", len(self._text.rstrip()))

    @property
    def _token(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._token
        self._place += bool(token.text or token.is_quoted)
        return token

    def _take_word(self, word: str) -> bool:
        if self._token.word != word:
            return False
        self._take()
        return True

    def _error(self, what: str, position: int | None = None) -> StopError:
        return StopError(what, self._token.position if position is None else position)

    # Rules

    def _any_of(self) -> Node:
        parts = [self._all_of()]
        while self._take_word("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self) -> Node:
        parts = [self._parse_one()]
        while self._take_word("and"):
            parts.append(self._parse_one())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _parse_one(self) -> Node:
        position = self._token.position
        if self._take_word("not"):
            self._descend(position)
            part: Node = Not(self._parse_one())
        elif self._take_word("("):
            self._descend(position)
            part = self._any_of()
            if not self._take_word(")"):
                raise self._error(f"expected ) for the ( at {position + 1}")
        else:
            return self._condition()
        self._depth -= 1
        return part

    def _descend(self, position: int) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"brackets and not are nested more than {_DEEPEST} deep", position)

    def _condition(self) -> One:
        if _MOMENT.match(self._token.word) and not self._token.word.isdecimal():
            return self._numbered(self._level("time"))
        token = self._take()
        word = SPELLINGS.get(token.word, token.word)
        if word in ("job", "user"):
            condition: Condition = self._of_jobs(word)
        elif word == "number":
            condition = self._own_number(None)
        elif word == "line" and self._token.word.isdecimal():
            condition = OnLine(int(self._number("number")))
        elif word == "variable":
            condition = self._variable(self._take())
        elif word in MEASURES:
            condition = self._level(word)
        elif self._is_of_number(token) and self._may_be_variable(token):
            condition = self._variable(token)
        else:
            condition = self._event(token)
        return self._numbered(condition)

    def _is_of_number(self, name: Token) -> bool:
        follows = self._token.word
        return follows in RELATIONS or (follows == "changes" and f"{name.word} changes" not in CHANGES)

    def _may_be_variable(self, token: Token) -> bool:
        """Return True for a variable's name, or a word more similar to one than to any measure or event."""
        if not token.text.isidentifier() or similar(token.word, _WORDS):
            return token.text in (self._variables or ())
        return self._variables is None or bool(similar(token.text, self._variables))

    def _numbered(self, condition: Condition) -> One:
        self._conditions.append(condition)
        return One(condition, len(self._conditions) - 1)

    def _own_number(self, who: OfJob | None) -> Compared | NumberChanges:
        token = self._take()
        if not token.text or token.word in RELATIONS:
            raise self._error(
                "expected the name of one of the policy's numbers, as in number usage > 100", token.position
            )
        if self._numbers is not None and token.text not in self._numbers:
            others = near(token.text, self._numbers) or "; none is written here"
            raise self._error(f"no number {token.text!r}{others}", token.position)
        return self._of_number(OwnNumber(token.text, who), token.text)

    def _of_number(self, number: Number, name: str) -> Compared | NumberChanges:
        if self._take_word("changes"):
            return NumberChanges(number)
        return Compared(number, self._relation(name), self._signed_number())

    def _variable(self, name: Token) -> Compared | NumberChanges:
        if not name.text.isidentifier():
            what = "expected the name of a variable of the policy's code, as in variable shadow > 3600"
            raise self._error(what, name.position)
        if self._variables is not None and name.text not in self._variables:
            others = near(name.text, self._variables) or "; no policy runs here whose code has any"
            if len(self._variables) > _MOST_NAMES and not similar(name.text, self._variables):
                others = f"; there is {', '.join(sorted(self._variables)[:_MOST_NAMES])} and more"
            raise self._error(f"no variable {name.text!r} in the policy's code{others}", name.position)
        return self._of_number(Variable(name.text), name.text)

    def _parse_reason(self, who: OfJob) -> WaitsBecause:
        token = self._token
        if token.is_quoted and token.text:
            return WaitsBecause(who, self._take().text.lower())
        words = []
        while self._token.text and self._token.word not in ("and", "or", ")"):
            words.append(self._take().word)
        reason = " ".join(words)
        if reason not in REASONS:
            refusal = Token(reason, token.position)
            hint = similar(reason, REASONS) or f"; others are {', '.join(list(REASONS)[1:4])} and more"
            raise self._error(
                f"expected a reason such as too few free, or part of its sentence in quotes{_got_text(refusal)}{hint}",
                token.position,
            )
        return WaitsBecause(who, reason)

    def _of_jobs(self, whose: str) -> OfJob | WaitsBecause | Compared | NumberChanges:
        """Parse a condition about a job, or about any job of a user (`whose` is the word that was read)."""
        who = self._take()
        if not who.text or (who.text in "()<=>=" and not who.is_quoted):
            example = "the id of a job, as in job 17 starts" if whose == "job" else "a user, as in user ann starts"
            raise self._error(f"expected {example}", who.position)
        deed = self._take()
        if deed.word not in (*DEEDS, "number"):
            raise self._error(_unknown("unknown job event", deed, (*DEEDS, "number")), deed.position)
        try:
            meant = self._checked_condition(whose, who.text, "" if deed.word == "number" else deed.word)
        except SchedscopeError as error:
            raise self._error(getattr(error, "what", str(error)), who.position) from None
        if deed.word == "number":
            return self._own_number(meant)
        return self._parse_reason(meant) if deed.word == "waits" and self._take_word("because") else meant

    def _checked_condition(self, whose: str, name: str, deed: str) -> OfJob:
        """Return the condition that `deed` happens to a job or a user's; raise an error for an unknown `name`."""
        workload = self._workload
        if whose == "job":
            return OfJob(name if workload is None else workload.ids[workload.rank_of(name)], deed)
        if workload is None:
            raise ParameterError("conditions on a user need an open trace")
        return OfUser(name, deed, workload.number_of(Field.USER, name))

    def _level(self, measure: str) -> Compared | NumberChanges:
        unit = MEASURES[measure].unit
        if measure not in REACHED and self._take_word("changes"):
            return NumberChanges(StepNumber(measure))
        relation = self._relation(measure)
        if unit not in ("time", "moment") and not (measure == "step" and self._token.word.startswith("#")):
            return Compared(StepNumber(measure), relation, self._number(unit))
        value = self._parse_moment(parse_moment if measure in REACHED else parse_time)
        if isinstance(value, Step):
            return Compared(StepNumber("step"), relation, value.number)
        return Compared(StepNumber(measure), relation, value)

    def _relation(self, measure: str) -> str:
        token = self._token
        relation = "=" if token.word == "==" else token.word
        if relation in RELATIONS:
            self._take()
            return relation
        if measure in REACHED:
            return ">="
        raise self._error(f"expected > < >= <= = != or changes after {measure}{_got_text(token)}")

    def _signed_number(self) -> float:
        return -self._number("number", "-") if self._token.word.startswith("-") else self._number("number")

    def _number(self, unit: Unit, sign: str = "") -> float:
        example, token = ("a share like 0.6 or 60%" if unit == "share" else "a number like 50"), self._take()
        number = token.word.removeprefix(sign).removesuffix("%")
        is_percent = unit == "share" and (number != token.word or self._take_word("%"))
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", number):
            raise self._error(f"expected {example}{_got_text(token)}", token.position)
        return self._checked(float(number) / (100 if is_percent else 1), token)

    def _parse_moment(self, parse: Callable[[str, float], Moment]) -> float | Step:
        first, words = self._token, []
        while _MOMENT.match(self._token.word):
            words.append(self._take().word)
        try:
            moment = parse(" ".join(words), self._now)
            if isinstance(moment, datetime):
                moment = (self._workload.header if self._workload else Header()).seconds_at(moment)
        except ParameterError as error:
            is_none = len(words) != 1 and str(error).startswith(A_TIME)
            what = f"expected a time like 12d4h30m or 90s{_got_text(first)}" if is_none else str(error)
            raise self._error(what, first.position) from None
        return moment if isinstance(moment, Step) else self._checked(moment, first)

    def _checked(self, value: float, token: Token) -> float:
        if value > MOST:
            raise self._error(f"{token.text} is out of range", token.position)
        return value

    def _event(self, token: Token) -> Condition:
        two = f"{token.word} {self._token.word}"
        if two in _EVENTS:
            self._take()
        event = two if two in _EVENTS else token.word
        if event in CHANGES:
            return Changes(event)
        if event in EVENTS:
            return Happens(event)
        seconds = {name.partition(" ")[2]: name for name in _EVENTS if name.startswith(f"{token.word} ")}
        if seconds:
            raise self._error(_unknown(f"{token.word} does not", self._token, seconds))
        if not token.text:
            raise self._error("expected a condition, such as queue > 50 or backfill", token.position)
        hint = similar(token.word, _WORDS) or "; there is queue > 50, job 17 starts, backfill, head slips and more"
        raise self._error(f"no condition {token.text!r}{hint}", token.position)


def _got_text(token: Token) -> str:
    return f", got {token.text!r}" if token.text else ""


def _unknown(refusal: str, token: Token, known: Iterable[str]) -> str:
    words = ", ".join(known)
    if not token.text:
        return f"expected one of {words}"
    return f"{refusal} {token.text!r}" + (similar(token.word, known) or f"; expected one of {words}")
