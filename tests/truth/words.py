"""Templates of sentences: each splits a sentence into the values in it and passes them to a check.

Times are written by `exactly`, so that they can be read back without rounding. A length of time stands for all lengths
that are rounded to it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")

COUNTS: Counter[str] = Counter()
"""Number of sentences checked so far, by the name of their kind."""


class UntrueError(AssertionError):
    """A sentence is false."""


def exactly(seconds: float) -> str:
    """Return a time as text with all digits, so that it can be read back exactly."""
    return f"@{float(seconds)!r}@"


class Lasts(NamedTuple):
    """A length of time as written: the shortest and the longest length that are rounded to it, in seconds."""

    low: float
    high: float

    def is_about(self, seconds: float) -> bool:
        return self.low - 1e-6 <= seconds <= self.high + 1e-6


def lasts(written: str) -> Lasts:
    """Return the shortest and the longest length of time that are written like this."""
    sign = -1 if written.startswith("-") else 1
    parts = [float(part.replace(",", "")) for part in re.findall(r"[\d,]+(?:\.\d)?", written)]
    if "d" in written:
        value, half = parts[0] * 86400 + parts[1] * 3600, 1800.0 + 30
    elif "h" in written:
        value, half = parts[0] * 3600 + parts[1] * 60, 30.0
    elif "m" in written:
        value, half = parts[0] * 60 + parts[1], 0.5
    else:
        value, half = parts[0], 0.05 if "." in written else 0.5
    low, high = sorted((sign * (value - half), sign * (value + half)))
    return Lasts(low, high)


class Tenths(NamedTuple):
    """A decimal number as written; it stands for all numbers that are rounded to it."""

    text: str

    def is_about(self, value: float) -> bool:
        decimals = len(self.text.partition(".")[2])
        return abs(float(self.text.replace(",", "")) - value) <= 0.5000001 * 10.0**-decimals


def whole(written: str) -> int:
    return int(written.replace(",", ""))


Names: TypeAlias = tuple[list[str], int]
"""(names that a sentence shows, number of further jobs)"""


def names(written: str) -> Names:
    parts = re.split(r", | and ", written)
    more = re.fullmatch(r"([\d,]+) more", parts[-1])
    return (parts[:-1], whole(more[1])) if more else (parts, 0)


_PARTS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "n": (r"(-?[\d,]+)", whole),
    "t": (r"@(-?[\w.+-]+)@", float),
    "s": (r"(-?[\d.,]+(?:s|m\d\d|h\d\d|d\d+h))", lasts),
    "x": (r"(-?[\d.,]+(?:e[+-]?\d+)?|inf)", Tenths),
    "j": (r"(J\d+)", str),
    "js": (r"((?:J\d+|[\d,]+ more)(?:(?:, | and )(?:J\d+|[\d,]+ more))*)", names),
    "any": (r"(.*)", str),
    "p": (r"([\d -]+)", str),
}


class Template:
    """Pattern of a sentence with fields: {n} a number, {t} a time, {s} a length of time, {x} a decimal, {j} a job, {js}
    several jobs, {any} any text."""

    def __init__(self, text: str) -> None:
        self._converters: list[Callable[[str], Any]] = []
        pieces = re.split(r"\{(\w+)\}", text)
        self.takes_any = text in ("{any}", "{any}.")
        """True if it matches every sentence, so that it is used only if no other template matches"""
        pattern = re.escape(pieces[0])
        for kind, rest in zip(pieces[1::2], pieces[2::2], strict=True):
            part, converter = _PARTS[kind]
            pattern += part + re.escape(rest)
            self._converters.append(converter)
        pattern = pattern.replace(r"\(s\)", "s?").replace(r"\(is\)", "(?:is|are)")
        self._pattern = re.compile(pattern, re.DOTALL)

    def read(self, sentence: str) -> list[Any] | None:
        """Return the values in the sentence; None if the template does not match it."""
        match = self._pattern.fullmatch(sentence)
        return match and [convert(found) for convert, found in zip(self._converters, match.groups(), strict=True)]


Reading: TypeAlias = Callable[..., None]
READINGS: dict[type, list[tuple[Template, Reading]]] = {}


def reads(kind: type, *templates: str) -> Callable[[Reading], Reading]:
    """Return a decorator that registers a function as check of these sentences; it is called with what a sentence is
    about, then with the values in it."""

    def register(reading: Reading) -> Reading:
        known = READINGS.setdefault(kind, [])
        known.extend((Template(text), reading) for text in templates)
        known.sort(key=lambda each: each[0].takes_any)  # whatever the order of imports
        return reading

    return register


MUTANTS: Counter[tuple[str, str, bool]] = Counter()
"""How often numbers were changed, by (kind of sentence, text around the number, True if the check detected the
change)"""
MISPLACED: Counter[tuple[str, str, bool]] = Counter()
"""How often a sentence without numbers replaced another one, by (kind, sentence, True if the check detected it)"""
are_changed: ContextVar[bool] = ContextVar("are_changed", default=False)
"""True while the tests also change sentences, to see whether the checks detect it"""
ENOUGH = 8
"""Number of changes after which a pattern is not changed again"""
_WITHOUT_NUMBERS: dict[tuple[str, ...], dict[str, type]] = {}
"""For the types of what a sentence is about: the sentences without numbers that were checked with such arguments, and
their kinds"""


def read_aloud(kind: type, sentence: str, *given: Any) -> None:
    """Check a sentence of this kind; `given` is what it is about. Raise UntrueError if it is false or has no check."""
    COUNTS[kind.__name__] += 1
    _read(kind, sentence, given)
    if are_changed.get():
        token = are_changed.set(False)  # quoted sentences are changed by their own checks
        _change(kind, sentence, given)
        _misplace(kind, sentence, given)
        are_changed.reset(token)


def tried(kind: type, sentence: str, *given: Any) -> Iterator[UntrueError]:
    """Yield the error if the sentence is false or has no check."""
    try:
        read_aloud(kind, sentence, *given)
    except UntrueError as false:
        yield false


def matched(pattern: str, told: str, flags: int = 0) -> re.Match[str]:
    """Return the match of the whole text; raise UntrueError if there is none."""
    if (match := re.fullmatch(pattern, told, flags)) is None:
        raise UntrueError(f"nobody reads {told!r}")
    return match


def _change(kind: type, sentence: str, given: Sequence[Any]) -> None:
    """Change each number of the sentence in turn, and count in `MUTANTS` whether the check detects it."""
    for number in re.finditer(r"\d+", sentence):
        before, after = sentence[: number.start()], sentence[number.end() :]
        pattern = kind.__name__, re.sub(r"\d+", "#", f"{sentence[:20]} ... {before[-15:]}|{after[:15]}")
        if MUTANTS[*pattern, True] + MUTANTS[*pattern, False] < ENOUGH:
            other = f"{before}{int(number[0]) + 2:0{len(number[0])}}{after}"
            MUTANTS[*pattern, _is_false(kind, other, given)] += 1


def _misplace(kind: type, sentence: str, given: Sequence[Any]) -> None:
    """Check other sentences without numbers in place of this one, and count in `MISPLACED` whether that is detected."""
    about = tuple("decision" if hasattr(each, "say") else type(each).__name__ for each in given)
    others = _WITHOUT_NUMBERS.setdefault(about, {})
    for other, its in others.items():
        if other != sentence and MISPLACED[its.__name__, other, True] < ENOUGH:
            MISPLACED[its.__name__, other, _is_false(its, other, given)] += 1
    if re.search("[a-z]", sentence) and not re.search(r"\d", sentence):
        others[sentence] = kind


def _read(kind: type, sentence: str, given: Sequence[Any]) -> None:
    for template, reading in READINGS.get(kind, ()):
        places = template.read(sentence)
        if places is not None:
            try:
                reading(*given, *places)
            except UntrueError as false:
                raise UntrueError(f"{kind.__name__}: {sentence!r}: {false}") from None
            return
    raise UntrueError(f"nobody reads {kind.__name__}: {sentence!r}")


def _is_false(kind: type, sentence: str, given: Sequence[Any]) -> bool:
    try:
        _read(kind, sentence, given)
    except Exception:  # an error means that it is not accepted
        return True
    return False


def demand(is_so: object, *instead: object) -> None:
    if not is_so:
        raise UntrueError("; ".join(map(str, instead)) or "it is not so")


def demanded(found: T | None, *instead: object) -> T:
    demand(found is not None, *instead)
    assert found is not None
    return found


def demand_one(options: Iterable[T], reading: Callable[[T], None], *instead: object) -> None:
    """Check that `reading` accepts one of the options; otherwise raise the last error."""
    false = UntrueError(*instead)
    for option in options:
        try:
            return reading(option)
        except UntrueError as untrue:
            false = untrue
    raise false


def demand_equal(said: object, true: object, what: str = "") -> None:
    demand(said == true, f"{what} said {said}, true {true}")
