"""View of a policy: the present moment, without the run times that only the engine knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sim.machine.nodes import Leftover
from sim.machine.plan import Plan
from sim.machine.profile import Extra
from sim.workload.model import Job

Ends = Sequence[tuple[float, int, int]]
"""(expected end, rank, processors) of running jobs, sorted."""


class RunningJob(Protocol):
    """A job's present stay on processors."""

    @property
    def job(self) -> Job: ...

    @property
    def since(self) -> float:
        """Beginning of the stay."""

    @property
    def expected_end(self) -> float:
        """End by the estimate."""

    @property
    def ran_before(self) -> float:
        """Seconds that the job had run before this stay."""

    def ran_by(self, now: float) -> float:
        """Return how long the job will have run by then, over all its stays, if it stays until then."""

    @property
    def runs(self) -> bool:
        """True if it can be suspended: no speculative run, and not being suspended or resumed."""


class View(Protocol):
    """The state at one pass; it changes as the engine applies each yielded decision."""

    @property
    def now(self) -> float:
        """Time of this pass."""

    @property
    def procs(self) -> int:
        """Number of processors available now."""

    @property
    def there(self) -> int:
        """Available processors, as a set of bits."""

    @property
    def resized(self) -> bool:
        """True if processors went down or became available at this instant."""

    @property
    def closes(self) -> float:
        """Begin of the next announced maintenance of the whole machine; no job may start that would still run then."""

    @property
    def free(self) -> int:
        """Number of free processors."""

    @property
    def queue(self) -> list[Job]:
        """Waiting jobs in the policy's order: a copy."""

    @property
    def arrived(self) -> Sequence[Job]:
        """Jobs submitted at this instant, by rank."""

    @property
    def completed(self) -> Sequence[Job]:
        """Jobs completed at this instant, by rank; empty if the pass is repeated."""

    @property
    def finished(self) -> Sequence[tuple[float, int]]:
        """(end, rank) of every completed job, sorted; under an earlier policy as well."""

    @property
    def killed(self) -> Sequence[Job]:
        """Jobs whose speculative run reached its limit at this instant; they wait again."""

    @property
    def ousted(self) -> Sequence[Job]:
        """Jobs whose processors went down at this instant; they wait again, or are cancelled."""

    @property
    def ended_early(self) -> bool:
        """True if a job completed at this instant before its expected end."""

    @property
    def ends(self) -> Ends:
        """Expected ends of running jobs."""

    @property
    def reserved(self) -> Mapping[int, float]:
        """rank -> planned start of each reservation."""

    @property
    def running(self) -> Mapping[int, RunningJob]:
        """rank -> present stay on processors of every job that is on any."""

    @property
    def suspended(self) -> Mapping[int, int]:
        """rank -> processors of the suspended job, on which it resumes, unless it resumes on others."""

    @property
    def free_set(self) -> int:
        """Free processors, as a set of bits."""

    @property
    def owners(self) -> Sequence[int]:
        """partition -> the processors that it owns; empty without partitions."""

    def held(self, rank: int) -> int:
        """Return the processors that a running job holds."""

    def ran(self, rank: int) -> float:
        """Return how long a job has run so far, over all its stays; of a finished job its run time."""

    def remaining_estimate(self, rank: int) -> float:
        """Return a job's estimate minus its progress."""

    @property
    def plan(self) -> Plan:
        """Running jobs up to their expected ends, and reservations; copy it to try things."""

    def running_plan(self) -> Plan:
        """Return running jobs only, as a plan of the policy's own."""

    @property
    def notes(self) -> dict[str, Any]:
        """Memory of the policy: plain data that a checkpoint can copy, or objects with a `copy` method."""

    @property
    def curious(self) -> bool:
        """True for a watched run: then give the reason why each considered job waits."""

    @property
    def machine_ahead(self) -> Ends:
        """(time, -1, change of the number of processors) of each known future change of the machine."""

    def fits(self, job: Job) -> bool:
        """Return True if the job may start or resume now: enough processors are free, and it is `in_time`."""

    @property
    def has_nodes(self) -> bool:
        """True if the machine consists of nodes, so that free cores may be of no use to a job."""

    def has_room(self, job: Job) -> bool:
        """Return True if what a reservation holds for the job is free, or if it fits without a reservation."""

    def partitions(self, job: Job) -> tuple[int, ...]:
        """Return the partitions of nodes that the job names, by number; (-1,) for the whole machine."""

    def lack(self, job: Job) -> tuple[int, int, int, int, str]:
        """Return free cores, nodes that have any, places found and needed, and their unit; on nodes only."""

    def beside(self, head: Job, extra: int, ends: Ends | None = None) -> Extra | Leftover:
        """Return what is left when `head` starts at its shadow: it `admits` jobs that would end later."""

    def in_time(self, job: Job) -> bool:
        """Return True if its remaining estimate ends before the next announced maintenance of the machine."""

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        """Return when `job` fits, and how many extra processors are free then.

        `ends` says when running jobs are expected to end, if not by their estimates.
        """

    def only(self, jobs: Iterable[Job]) -> View:
        """Return a view in which only these jobs wait, for another policy; it changes with this one."""

    def job(self, rank: int) -> Job:
        """Return the job of that rank."""
