"""Plan of a sweep: the runs that result from traces, policies and options whose values can have ranges. Each run has a
key.

All combinations of the factors' values are run. Only factors that advance together are not combined: their first values
belong together, then their second values, and so on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from itertools import product
from math import prod
from typing import Any, NamedTuple, get_args

from sim.lab.kept import JOBS
from sim.lab.measured import Cut
from sim.machine.processors import Placement
from sim.metrics.measure import GROUPS, PARTIES
from sim.policies import parse_policy
from sim.policies.own.loading import code_of
from sim.policies.policy import Policy, full_policy, written_policy
from sim.session.trace_ref import TraceRef
from sim.support.errors import NotThereError, ParameterError, near
from sim.support.formatting import Moment, listed, quoted, written_time
from sim.timeline.scenario import parse_switch, split_switch
from sim.workload.options import MOST_VALUES, OPTIONS, Option, expand
from sim.workload.source import Source, find

NONE = "none"


def parse_switches(text: str) -> tuple[tuple[Moment, str], ...]:
    """Return (time, spec) of each change of the policy during a run; raise an error for a wrong one."""
    return () if text == NONE else tuple(map(parse_switch, text.split(";")))


def split_switches(text: str) -> tuple[tuple[Moment, str], ...]:
    """Return (time, spec) of each change; policies are not checked, as user-defined code would have to run."""
    return () if text == NONE else tuple(map(split_switch, text.split(";")))


def _written_switches(switches: tuple[tuple[Moment, str], ...]) -> str:
    return ";".join(f"{written_time(time)}={spec}" for time, spec in switches) or NONE


BESIDE = {
    "placement": Option(
        "placement", "lowest", str, "Which free processors a job gets.", choices=get_args(Placement)
    ),
    "switch": Option(
        "switch", (), str, "From T on the policy is SPEC (or T=SPEC;T=SPEC, or none).", "T=SPEC", read=parse_switches,
        write=_written_switches,
    ),
}  # fmt: skip
"""Mapping from name to option, for those options of a run that do not belong to its workload."""
VARIED = OPTIONS | BESIDE
"""Mapping from name to option, for all options that a plan can vary."""
FACTORS = ("trace", *(name for name in VARIED if name != "seed"), "seed", "policy")
"""Names of the factors, the slowest varying first, so that runs of the same jobs follow each other."""
DEFAULTS = {"seed": ("0",), "policy": ("easy",)}


class Run(NamedTuple):
    """Run of a plan, with everything that determines its result."""

    key: str
    """Hash of all other fields; it identifies the run."""
    trace: str
    """Name of the trace as the user typed it."""
    sha256: str
    options: tuple[tuple[str, Any], ...]
    """(name, value) of every option of the run's workload; a value has the form in which a user would type it."""
    policy: str
    """Spec of the policy, without those parameters that have their default value."""
    parameters: str
    """Spec of the policy with all its parameters."""
    code: str
    """Hashes of the user-defined files of policy, order and switches, joined by "+"; "" if all are built-in."""
    cut: str
    placement: Placement = "lowest"
    switch: str = NONE

    @property
    def switches(self) -> tuple[tuple[Moment, str], ...]:
        return split_switches(self.switch)

    @property
    def source(self) -> Source:
        return Source.of_options(self.trace, dict(self.options))


@dataclass(frozen=True)
class SweepPlan:
    """Runs of a sweep, and what is measured in them; all combinations of the values on the `axes` are run."""

    axes: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]
    """For each axis: (name, values) of its factors, which have equally many values and advance together."""
    groups: tuple[str, ...] = ()
    cut: str = ""
    keep: str = ""
    """"jobs" if the jobs of each run are stored, otherwise ""."""

    @classmethod
    def of(
        cls,
        factors: Mapping[str, Sequence[str]],
        together: Iterable[Sequence[str]] = (),
        groups: Sequence[str] = (),
        cut: str = "",
        keep: str = "",
    ) -> SweepPlan:
        """Return the plan for factors with values as typed; each sequence in `together` advances together."""
        for name in factors:
            if name not in FACTORS:
                raise ParameterError(f"there is no {quoted(name)} to vary{near(name, FACTORS)}")
        values = {name: _expanded(name, given) for name, given in {**DEFAULTS, **factors}.items() if given}
        if "trace" not in values:
            raise ParameterError("a plan needs a trace: a file, or the name of a sample")
        axes = _axes(values, together)
        if (runs := prod(len(axis[0][1]) for axis in axes)) > MOST_VALUES:
            raise ParameterError(
                f"a plan of {runs:,} runs: at most {MOST_VALUES:,} are made; narrow a range, or make several"
            )
        if keep not in ("", JOBS):
            raise ParameterError(f"a sweep can keep jobs, got {quoted(keep)}")
        return cls(axes, tuple(map(_group, dict.fromkeys(groups))), Cut.of(cut).written, keep)

    @property
    def asked(self) -> tuple[str, ...]:
        return (*self.groups, *([self.keep] if self.keep else []))

    def __len__(self) -> int:
        """Return the number of combinations of values; several of them can stand for the same run."""
        return prod(len(axis[0][1]) for axis in self.axes)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        factors = dict(factor for axis in self.axes for factor in axis)
        return {name: tuple(dict.fromkeys(factors[name])) for name in FACTORS if name in factors}

    def settings(self) -> Iterator[dict[str, str]]:
        along = (range(len(axis[0][1])) for axis in self.axes)
        for places in product(*along):
            yield {name: values[at] for axis, at in zip(self.axes, places, strict=True) for name, values in axis}

    def runs(self) -> Iterator[Run]:
        """Yield every run once; policies are created only to check specs, traces are read only to hash them."""
        seen = set()
        for run in self.runs_of_settings():
            if run.key not in seen:
                seen.add(run.key)
                yield run

    def runs_of_settings(self) -> Iterator[Run]:
        """Yield a run for each setting of the factors; two settings may give the same run."""
        policies = {spec: _Named.of(spec) for spec in self.values["policy"]}
        hashes = {trace: _hash(trace) for trace in self.values["trace"]}
        options_of = cache(_options)
        switches = {text: _Switched.of(text) for text in self.values.get("switch", (NONE,))}
        for setting in self.settings():
            trace, policy = setting.pop("trace"), policies[setting.pop("policy")]
            switched, placement = switches[setting.pop("switch", NONE)], _placement(setting.pop("placement", "lowest"))
            options = options_of(tuple(setting.items()))
            changed = {name: value for name, value in options if value != OPTIONS[name].written(OPTIONS[name].default)}
            made_of = {"trace": hashes[trace], "options": changed, "policy": policy.identity, "version": version()}
            beside = {"cut": self.cut, "switch": switched.identity, "placement": placement.replace("lowest", "")}
            made_of |= {name: value for name, value in beside.items() if value}
            key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:32]
            code = "+".join(filter(None, (policy.code, switched.code)))
            yield Run(
                key, trace, hashes[trace], options, policy.spec, policy.full, code, self.cut, placement, switched.text
            )

    @property
    def draws(self) -> bool:
        """Return True if some runs of the plan use random numbers, so that the seed changes results."""
        values = self.values
        drawn = any(word.startswith(("random", "phi")) for word in values.get("estimates", ()))
        drawn = drawn or "high" in values or any(word != NONE for word in values.get("resample", ()))
        return drawn or any(float(share) for share in values.get("reserve", ()))

    def with_traces(self, place: Any) -> SweepPlan:
        """Return the plan with the name of each trace replaced by the result of `place(name)`."""
        axes = tuple(
            tuple((name, tuple(map(place, values)) if name == "trace" else values) for name, values in axis)
            for axis in self.axes
        )
        return replace(self, axes=axes)


@cache
def version() -> str:
    """Return the version of this program, stored with each run: another version may give other results."""
    return metadata.version("schedscope")


def _expanded(name: str, given: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(value for text in given for value in expand(text))
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def _axes(
    values: Mapping[str, tuple[str, ...]], together: Iterable[Sequence[str]]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]:
    """Return the axes in the order of `FACTORS`; factors that advance together are where the first of them is."""
    taken: dict[str, Sequence[str]] = {}
    for names in together:
        if missing := [name for name in names if name not in values]:
            raise ParameterError(f"zip: {quoted(missing[0])} has no values{near(missing[0], values)}")
        if again := [name for name in names if name in taken]:
            raise ParameterError(f"zip: {again[0]} can advance with one other only")
        lengths = {name: len(values[name]) for name in names}
        if len(set(lengths.values())) > 1:
            told = listed(f"{name} has {many:,}" for name, many in lengths.items())
            raise ParameterError(f"zip: what advances together has as many values, but {told}")
        taken |= dict.fromkeys(names, names)
    axes: dict[tuple[str, ...], None] = {}
    for name in FACTORS:
        if name in values and name not in taken:
            axes[name,] = None
        elif name in values:
            axes[tuple(sorted(taken.get(name, (name,)), key=FACTORS.index))] = None
    nested = {name: tuple(dict.fromkeys(of)) for name, of in values.items() if name not in taken}
    return tuple(tuple((name, (dict(values) | nested)[name]) for name in axis) for axis in axes)


def _group(name: str) -> str:
    names = [group.name for group in (*GROUPS, *PARTIES)]
    if name not in names:
        raise ParameterError(f"no groups {quoted(name)}{near(name, names)}")
    return name


def _options(setting: Iterable[tuple[str, str]]) -> tuple[tuple[str, Any], ...]:
    """Return (name, value) of every option of the workload, checked and written in one uniform form."""
    given = {name: OPTIONS[name].written(OPTIONS[name].taken_word(text)) for name, text in setting}
    source = Source.of_options("", given)
    return tuple((name, option.written(value)) for name, option, value in source.values)


class _Named(NamedTuple):
    """Policy of a plan: specs without defaults and with all parameters, `identity`, and hash of its code."""

    spec: str
    full: str
    identity: str
    code: str

    @classmethod
    def of(cls, spec: str) -> _Named:
        policy = parse_policy(spec)
        return cls(written_policy(policy), full_policy(policy), identity(policy), hash_of_code(policy))


class _Switched(NamedTuple):
    """Switches of a run: text, an identity with the full specs, and the hashes of user-defined code."""

    text: str
    identity: str
    code: str

    @classmethod
    def of(cls, text: str) -> _Switched:
        made = [(written_time(time), _Named.of(spec)) for time, spec in parse_switches(text)]
        told = ";".join(f"{time}={named.spec}" for time, named in made) or NONE
        identity = ";".join(f"{time}={named.identity}" for time, named in made)
        return cls(told, identity, "+".join(filter(None, (named.code for _, named in made))))


def _placement(text: str) -> Placement:
    placement: Placement = VARIED["placement"].taken(text)
    return placement


def identity(policy: Policy) -> str:
    """Return the spec with all parameters; user-defined code is identified by its hash instead of its path."""
    told = full_policy(policy)
    for cls, ref in code_of(policy).items():
        told = told.replace(cls.name, f"{ref.sha256}:{cls.__name__}", 1)
    return told


def hash_of_code(policy: Policy) -> str:
    return "+".join(dict.fromkeys(ref.sha256 for ref in code_of(policy).values()))


def _hash(trace: str) -> str:
    path = os.fspath(find(trace))
    ref = TraceRef.of(path)
    if not ref.sha256:
        raise NotThereError(f"{path}: many runs need a file that can be read again, and this is none")
    return ref.sha256
