"""Limits and weights of a recording under given policies: the one place where every run of a recording gets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from sim.policies.backfill.recorded import Recorded
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import parse_policy, policy_of
from sim.policies.slurm_config import spec_of
from sim.support.errors import ParameterError
from sim.support.formatting import listed
from sim.workload.model import RecordedWorkload, Workload

BARE = "slurm"
"""Spec of the policy that takes its weights from the recording; a spec with parameters is used as it is."""
OF_SLURM = ("sacct", "slog")
"""Formats of traces that Slurm scheduled."""


def under(workload: Workload, policies: Sequence[Policy | str]) -> tuple[Workload, list[Policy]]:
    """Return the workload and the policies for a run under these policies, the first of which begins.

    A recording gives the policy `slurm` without parameters its weights. The run keeps the recorded limits of accounts,
    users, QOS and arrays if all of the policies can keep limits. Recorded starts need none. Other workloads are
    returned as they are.
    """
    chosen = [policy_of(weighed(policy, workload)) for policy in policies]
    if not isinstance(workload, RecordedWorkload):
        return workload, chosen
    can_limit = all(policy.keeps_limits and policy.name != Recorded.name for policy in chosen)
    limits = workload.recorded if can_limit and workload.recorded is not None else workload.limits
    return replace(workload, limits=limits, recorded=None, settings=""), chosen


def weighed(policy: Policy | str, workload: Workload) -> Policy | str:
    """Return the policy, or its spec; the policy `slurm` without parameters has the weights that a recording holds."""
    if not isinstance(workload, RecordedWorkload) or not workload.settings:
        return policy
    spec = recorded_weights(workload)[0] if _is_bare(policy) else ""
    return parse_policy(spec) if spec and isinstance(policy, Policy) else spec or policy


def _is_bare(policy: Policy | str) -> bool:
    return policy == (BARE if isinstance(policy, str) else parse_policy(BARE))


def unweighed(form: str, workload: Workload, policies: Iterable[Policy | str]) -> str:
    """Return a sentence on the missing weights of a trace of Slurm if these policies include `slurm` without
    parameters, otherwise "". `form` is the format of the trace.
    """
    has_weights = isinstance(workload, RecordedWorkload) and recorded_weights(workload)[0]
    if form not in OF_SLURM or has_weights or not any(map(_is_bare, policies)):
        return ""
    hint = "schedscope policies --slurm-conf FILE prints the spec with those of the site"
    return f"slurm has default weights and backfill parameters, because the trace has none; {hint}"


def recorded_weights(workload: RecordedWorkload) -> tuple[str, list[str]]:
    """Return (spec of the policy `slurm` with the recorded weights, names of weights that need data which the recording
    lacks). The spec is "" if the recording says nothing of priorities.
    """
    with suppress(ParameterError):
        spec, unknown = spec_of(workload.settings)
        return spec, lacking(workload, unknown)
    return "", []


def with_recorded(spec: str, workload: Workload) -> str:
    """Return the spec of the policy `slurm` with the recorded value of each parameter that it does not give. Return ""
    if it has them already, or for another policy, or if the recording says nothing of priorities.
    """
    name, _, given = spec.strip().partition(":")
    if name != BARE or not given or not isinstance(workload, RecordedWorkload):
        return ""
    names = {part.partition("=")[0].strip() for part in given.split(",")}
    weights = recorded_weights(workload)[0].partition(":")[2].split(",")
    kept = [part for part in weights if part and part.partition("=")[0] not in names]
    with suppress(ParameterError):
        whole = parse_policy(f"{BARE}:{','.join([*kept, given])}")
        return "" if whole == parse_policy(spec) else written_policy(whole)
    return ""


def lacking(workload: Workload, weights: Sequence[str]) -> list[str]:
    shape = workload.shape
    known = {} if shape is None else {"QOS": shape.qos, "the tree of accounts": shape.accounts}
    return [weight for weight in weights if not known.get(weight)]


def unlimited(workload: Workload, policies: Sequence[Policy]) -> list[str]:
    """Return the names of those policies that cannot keep the recorded limits; empty if there are no limits."""
    has_limits = isinstance(workload, RecordedWorkload) and workload.recorded is not None
    return [policy.name for policy in policies if not policy.keeps_limits] if has_limits else []


def unkept(names: Iterable[str]) -> str:
    """Return a sentence on the policies with these names, which cannot keep the recorded limits; "" without names.

    >>> unkept(["conservative", "conservative"])
    'conservative cannot keep limits of users, so the recorded ones do not count'
    """
    named = listed(dict.fromkeys(names))
    return f"{named} cannot keep limits of users, so the recorded ones do not count" if named else ""
