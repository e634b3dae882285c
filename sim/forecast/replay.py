"""Jobs of a cluster's recording, made ready to run again under policies on the machine, and with the limits and the
settings of Slurm, that the recording knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.errors import ParameterError
from sim.policies.backfill.recorded import Recorded
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy
from sim.policies.slurm_config import spec_of
from sim.workload.formats.slog import is_recording
from sim.workload.model import Trace, Workload
from sim.workload.source import Source, find

if TYPE_CHECKING:  # other traces are read without these
    from sim.cluster.recording import Recording
    from sim.cluster.values import Cluster
    from sim.forecast.agreement import Seen

BARE = "slurm"
"""Spec of the policy that takes its weights from the recording; a spec with parameters is used as it is."""


@dataclass(frozen=True)
class Replay:
    """Jobs to simulate, of a recording or of any other trace."""

    trace: Trace
    workload: Workload
    """The jobs without the limits of the recording, which not every policy can keep."""
    seen: Seen | None = None
    """Facts that only the pictures (polled states) of the recording have; None for any other trace."""

    def under(self, *policies: Policy) -> Workload:
        """Return the workload to run under these policies: with the recorded limits of accounts, users, QOS and arrays
        if all of the policies can keep limits. Recorded starts need none.
        """
        can_limit = all(policy.keeps_limits and policy.name != Recorded.name for policy in policies)
        return self._limited() if can_limit else self.workload

    def unlimited(self, *policies: Policy) -> list[str]:
        """Return the names of those policies that cannot keep the recorded limits; empty if there are no limits."""
        names = [policy.name for policy in policies if not policy.keeps_limits]
        return names if names and self._limited().limits is not None else []

    def _limited(self) -> Workload:
        from sim.forecast.agreement import limited

        return self.workload if self.seen is None else limited(self.workload, self.seen)

    def settled(self, spec: str) -> tuple[str, list[str]]:
        """Return (spec of a policy, names of weights that need data which the recording lacks). The policy `slurm`
        without parameters has the weights that the recording holds; any other spec stays as it is.
        """
        if spec == BARE and self.seen is not None and self.seen.settings:
            with suppress(ParameterError):  # the settings may say nothing of priorities
                spec, unknown = spec_of(self.seen.settings)
                return spec, self.lacking(unknown)
        return spec, []

    def lacking(self, weights: Sequence[str]) -> list[str]:
        """Return those names of weights for which the recording has no data."""
        shape = self.workload.shape
        known = {} if shape is None else {"QOS": shape.qos, "the tree of accounts": shape.accounts}
        return [weight for weight in weights if not known.get(weight)]


def replay_of(source: Source, heard: Callable[[float], object] | None = None) -> Replay:
    """Return the jobs of a source. For a recording all its pictures are read; `heard` is called with the share of the
    file that has been read.
    """
    path = find(source.trace)
    if not is_recording(path):
        return Replay(*source.read(heard=heard))
    from sim.cluster.recording import Recording
    from sim.forecast.agreement import Seen, as_polled, as_they_came

    recording = Recording(path)
    seen = Seen.of(_heard(recording, heard))
    trace = source.read_trace(has_limits=bool(seen.last.limits))
    if source.held == "eligible":
        trace = as_they_came(trace, seen)
    workload = source.made(Workload.of(trace, source.procs, source.machine))
    return Replay(trace, as_polled(workload, seen), seen)


def settled(policy: Policy, replay: Replay) -> Policy:
    """Return the policy with the weights that the recording holds if it is `slurm` with its default parameters."""
    return parse_policy(replay.settled(BARE)[0]) if policy == parse_policy(BARE) else policy


def _heard(recording: Recording, heard: Callable[[float], object] | None) -> Iterator[Cluster]:
    many = len(recording.times())
    for number, cluster in enumerate(recording.pictures(), 1):
        yield cluster
        if heard is not None:
            heard(min(number / many, 1.0))
