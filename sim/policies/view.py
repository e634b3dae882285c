"""View of a policy: the present moment, without the run times that only the engine knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sim.machine.nodes import Leftover
from sim.machine.plan import Plan
from sim.machine.profile import Extra
from sim.workload.model import Job

Ends = Sequence[tuple[float, int, int]]
"""(expected end, rank, processors) of what runs, sorted."""


class RunningJob(Protocol):
    """A job's present stay on processors."""

    @property
    def job(self) -> Job: ...

    @property
    def since(self) -> float:
        """When it began."""

    @property
    def expected_end(self) -> float:
        """When it ends by the estimate."""

    @property
    def ran_before(self) -> float:
        """How long the job had run before this stay."""

    def ran_by(self, now: float) -> float:
        """How long the job will have run by then, over all its stays, if it stays until then."""

    @property
    def runs(self) -> bool:
        """Is it a run that can be suspended (and not a speculative one, nor a suspending or resuming job)?"""


class View(Protocol):
    """The state at one pass. It changes as the engine applies each decision that is yielded."""

    @property
    def now(self) -> float:
        """The instant of this pass."""

    @property
    def procs(self) -> int:
        """The size of the machine: of what is there of it now."""

    @property
    def there(self) -> int:
        """The processors that are there, as a set of bits."""

    @property
    def resized(self) -> bool:
        """Have processors gone or come back at this instant?"""

    @property
    def closes(self) -> float:
        """When the whole machine goes down next, as far as that was announced: nothing may start that reaches there."""

    @property
    def free(self) -> int:
        """Processors that nothing occupies."""

    @property
    def queue(self) -> list[Job]:
        """The jobs that wait, in the policy's order: a copy."""

    @property
    def arrived(self) -> Sequence[Job]:
        """The jobs that were submitted at this instant, by rank."""

    @property
    def completed(self) -> Sequence[Job]:
        """The jobs that completed at this instant, by rank; not told again where a pass is asked for again."""

    @property
    def finished(self) -> Sequence[tuple[float, int]]:
        """(end, rank) of every job that has completed so far, sorted; under an earlier policy as well."""

    @property
    def killed(self) -> Sequence[Job]:
        """The jobs whose speculative run reached its limit at this instant; they wait again."""

    @property
    def ousted(self) -> Sequence[Job]:
        """The jobs that held processors which went at this instant; they wait again, or are given up."""

    @property
    def ended_early(self) -> bool:
        """Did some job complete at this instant before its expected end?"""

    @property
    def ends(self) -> Ends:
        """When what runs is expected to end."""

    @property
    def reserved(self) -> Mapping[int, float]:
        """rank -> planned start, of the reservations that stand."""

    @property
    def running(self) -> Mapping[int, RunningJob]:
        """rank -> the present stay on processors, of every job that is on any."""

    @property
    def suspended(self) -> Mapping[int, int]:
        """rank -> the processors that the suspended job had; it goes on on them, unless it is resumed on others."""

    @property
    def free_set(self) -> int:
        """The free processors, as a set of bits."""

    @property
    def owners(self) -> Sequence[int]:
        """partition -> the processors that it owns; empty where there are no partitions."""

    def held(self, rank: int) -> int:
        """The processors that a running job holds."""

    def ran(self, rank: int) -> float:
        """How long a job has run so far, over all its stays; of a finished job its run time."""

    def remaining_estimate(self, rank: int) -> float:
        """A job's estimate less the progress that it has made."""

    @property
    def plan(self) -> Plan:
        """Running jobs until their expected ends and the reservations that stand; copy it to try things."""

    def running_plan(self) -> Plan:
        """Running jobs alone, as a plan of the policy's own."""

    @property
    def notes(self) -> dict[str, Any]:
        """Memory of the policy: plain data that a checkpoint can copy, or objects with a `copy` method."""

    @property
    def curious(self) -> bool:
        """True for a watched run: then give the reason why each considered job waits."""

    @property
    def machine_ahead(self) -> Ends:
        """(when, -1, how many processors more) of the changes of the machine that are known to come."""

    def fits(self, job: Job) -> bool:
        """May the job start, or go on, now: are enough processors free, and is it `in_time`?"""

    @property
    def has_nodes(self) -> bool:
        """True if the machine consists of nodes, so that free cores may be of no use to a job."""

    def has_room(self, job: Job) -> bool:
        """Return True if what a reservation holds for the job is free, or if it fits without a reservation."""

    def lack(self, job: Job) -> tuple[int, int, int, int, str]:
        """Return free cores, nodes that have any, places found and needed, and their unit; on nodes only."""

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra | Leftover:
        """Return what is left when `head` starts at its shadow: it `admits` jobs that would end later."""

    def in_time(self, job: Job) -> bool:
        """Would it end before the machine goes down as announced, by what is left of its estimate?"""

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        """Return when `job` fits, and how many extra processors are free then.

        `ends` says when running jobs are expected to end, if not by their estimates.
        """

    def only(self, jobs: Iterable[Job]) -> View:
        """Return a view in which these jobs alone wait, to ask another policy about; it changes as this one does."""

    def job(self, rank: int) -> Job:
        """The job of that rank."""
