"""Plan of a sweep as a TOML file, with the same factors as on the command line. Code in it runs only if the user
agrees.

traces = ["KTH-SP2-1996-2.swf.gz"]         # next to the plan, or samples
policies = ["easy", "relaxed:omega={0,1,2}"]
seeds = 5
groups = ["class"]                         # also measured
keep = "jobs"                              # the jobs of each run, too: for distributions
cut = "10%,5%"                             # not measured: the first and the last jobs
zip = [["load", "estimates"]]              # these advance together

[options]
load = "{0.8..1.4..0.1}"
estimates = ["exact", "factor:{1..6}"]
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sim.lab.plan import VARIED, SweepPlan
from sim.policies import parse_policy
from sim.policies.own.consent import Proof, agree
from sim.policies.own.naming import code_in
from sim.support.errors import FileError, ParameterError, near
from sim.support.files import TextKind
from sim.support.formatting import listed, quoted
from sim.workload.options import expand

T = TypeVar("T")
_WORDS = ("traces", "policies", "seeds", "groups", "keep", "cut", "zip", "options")


class PlanError(FileError):
    """Error in a plan file."""


PLAN = TextKind("plan", 2**20, PlanError)


@dataclass
class AskedPlan:
    """Content of a plan file: the values of the factors as written in the file, and the plan's other keys."""

    factors: dict[str, list[str]] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    cut: str = ""
    keep: str = ""

    def plan(self) -> SweepPlan:
        return SweepPlan.of(self.factors, self.together, self.groups, self.cut, self.keep)


def seeds(many: int) -> str:
    if many < 1:
        raise ParameterError(f"seeds are counted from 1, got {many}")
    return f"{{0..{many - 1}}}"


def read_plan(path: str | Path, trust: bool = False) -> AskedPlan:
    """Return the content of a plan file, whose folder relative paths start from; `trust`: its code may run."""
    text = PLAN.read(path)
    return _PlanReader(path, text, PLAN.toml(text, path)).asked(trust)


class _PlanReader:
    """Reader of a plan file, whose errors name the line of the wrong value."""

    def __init__(self, path: str | Path, text: str, found: dict[str, Any]) -> None:
        self._path, self._lines, self._found = path, text.splitlines(), found
        self._folder = os.path.dirname(os.fspath(path))

    def asked(self, trust: bool) -> AskedPlan:
        for name in self._found:
            if name not in _WORDS:
                raise self._error_at(name, f"there is no {quoted(name)} in a plan{near(name, _WORDS)}")
        factors = {"trace": [self._path_in_folder(trace) for trace in self._values("traces")]}
        factors["policy"] = [self._code_beside(spec) for spec in self._values("policies")]
        options = self._found.get("options", {})
        if not isinstance(options, dict):
            raise self._error_at("options", "options are a table: [options]")
        switches = [self._switches_beside(text) for text in self._values("switch", options)]
        self._consent([*factors["policy"], *(spec for text in switches for spec in _specs(text))], trust)
        for spec in factors["policy"]:
            self._checked("policies", parse_policy, spec)
        factors["seed"] = self._seeds()
        for name in options:
            if name not in VARIED:
                raise self._error_at(name, f"no option {quoted(name)}{near(name, VARIED)}")
            factors[name] = switches if name == "switch" else self._values(name, options)
            for word in factors[name]:
                self._checked(name, VARIED[name].taken_word, word)
        cut, keep = self._texts_of("cut"), self._texts_of("keep")
        return AskedPlan(
            {name: values for name, values in factors.items() if values},
            [self._texts_of(0, dict(enumerate([names])), "zip") for names in self._list("zip")],
            self._texts_of("groups"),
            cut[0] if cut else "",
            keep[0] if keep else "",
        )

    def _seeds(self) -> list[str]:
        match self._found.get("seeds"):
            case None:
                return []
            case bool():
                raise self._error_at("seeds", "seeds are a number of them, or a list")
            case int() as many:
                return [self._checked("seeds", lambda word: seeds(int(word)), str(many))]
        return self._values("seeds")

    def _list(self, name: str) -> list[Any]:
        given = self._found.get(name, [])
        return given if isinstance(given, list) else [given]

    def _texts_of(self, name: Any, table: dict[Any, Any] | None = None, called: str = "") -> list[str]:
        given = (self._found if table is None else table).get(name, [])
        return [self._text_of(called or name, value) for value in (given if isinstance(given, list) else [given])]

    def _values(self, name: str, table: dict[str, Any] | None = None) -> list[str]:
        return [value for word in self._texts_of(name, table) for value in self._checked(name, expand, word)]

    def _checked(self, name: str, read: Callable[[str], T], word: str) -> T:
        try:
            return read(word)
        except ParameterError as error:
            raise self._error_at(name, str(error)) from None

    def _text_of(self, name: str, value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, str | int | float):
            raise self._error_at(name, f"{name}: expected words or numbers, or a list of them")
        return str(value)

    def _path_in_folder(self, trace: str) -> str:
        path = os.path.join(self._folder, trace)
        return path if os.path.exists(path) else trace

    def _code_beside(self, spec: str) -> str:
        for named in code_in(spec):
            if named.is_file and not os.path.isabs(named.source):
                spec = spec.replace(named.source, os.path.join(self._folder or os.curdir, named.source), 1)
        return spec

    def _switches_beside(self, text: str) -> str:
        for spec in _specs(text):
            text = text.replace(f"={spec}", f"={self._code_beside(spec)}", 1)
        return text

    def _consent(self, specs: Iterable[str], trust: bool) -> None:
        """Raise an error if a spec names user-defined code, unless `trust` is True (the user has agreed to run it)."""
        code = [named for spec in specs for named in code_in(spec)]
        if code and not trust:
            heads = listed(dict.fromkeys(named.head for named in code))
            raise PlanError(f"it runs code: {heads}; if you trust it, add --trust", self._path)
        agree(code, Proof.OPTION)

    def _error_at(self, name: str, what: str) -> PlanError:
        is_there = re.compile(rf"""\s*\[*\s*["']?{re.escape(name)}["']?\s*[=\].]""")
        return PlanError(
            what, self._path, next((at for at, line in enumerate(self._lines, 1) if is_there.match(line)), 0)
        )


def _specs(switches: str) -> list[str]:
    return [spec for part in switches.split(";") if (spec := part.partition("=")[2])]
