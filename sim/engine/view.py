"""Protocol of one moment of a run: all that the rest of the program may ask of it.

A live run and a snapshot both answer `View`, in the same words. `LiveView` adds what only a live run knows.
It shows the state after the engine's last step; within a step, the state so far. Its values are valid until the run
goes on, and no reader can change the run by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Literal, Protocol, TypeAlias

from sim.decisions.decisions import Decision
from sim.decisions.sentences import Reason
from sim.engine.snapshot import Counts, Entry, Queue, Running, Snapshot, Suspended
from sim.history.past import Switch
from sim.history.running_totals import Totals
from sim.machine.nodes import NodeMachine
from sim.machine.ousterhout_matrix import MatrixPicture, MatrixView
from sim.machine.plan import Ends, Plan
from sim.policies.columns import Column
from sim.policies.policy import Policy
from sim.workload.model import Floats, Job, Jobs
from sim.workload.outages import Outage

Where: TypeAlias = Literal["queue", "running", "suspended", "matrix"]


class View(Protocol):
    """State of a run after one step. Members without a docstring are those of `Snapshot`."""

    @property
    def step(self) -> int: ...
    @property
    def time(self) -> float | None: ...
    @property
    def policy(self) -> str: ...
    @property
    def rules(self) -> Policy: ...
    @property
    def procs(self) -> int: ...
    @property
    def absent(self) -> int: ...
    @property
    def there(self) -> int: ...
    @property
    def outages(self) -> tuple[Outage, ...]: ...
    @property
    def outlook(self) -> tuple[int, Ends]: ...
    @property
    def free(self) -> int: ...
    @property
    def free_set(self) -> int: ...
    @property
    def nodes(self) -> NodeMachine | None: ...
    @property
    def running(self) -> Sequence[Running]: ...
    @property
    def matrix(self) -> MatrixPicture | None: ...
    @property
    def rebuild(self) -> tuple[Decision, ...]: ...
    @property
    def turn_end(self) -> float | None: ...
    @property
    def suspended(self) -> Sequence[Suspended]: ...
    @property
    def dropped(self) -> tuple[int, ...]: ...
    @property
    def awaited(self) -> int | None: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def wanted(self) -> int: ...
    @property
    def most_overtaken(self) -> int: ...
    @property
    def owners(self) -> tuple[int, ...]: ...
    @property
    def division(self) -> tuple[int, ...]: ...
    @property
    def queues(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def printed(self) -> tuple[str, ...]: ...
    @property
    def arrived(self) -> tuple[Job, ...]: ...
    @property
    def completed(self) -> tuple[Job, ...]: ...
    @property
    def decisions(self) -> tuple[Decision, ...]: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def switches(self) -> tuple[Switch, ...]: ...

    @property
    def waiting(self) -> tuple[Job, ...]:
        """Return the jobs of `queue`, from front to back."""

    @property
    def counts(self) -> Counts:
        """Return how many jobs wait, run and are suspended."""

    @property
    def ends(self) -> Ends:
        """Return (expected end, rank, processors) of each running job, sorted; empty if there is a matrix."""

    @property
    def notes(self) -> Mapping[str, Mapping[int, float]]:
        """Return the numbers that `columns` show, by the name of the column."""

    def entry(self, rank: int) -> Entry | None:
        """Return the job among the waiting, suspended or running jobs; None if it has ended or not arrived."""

    def moved(self, rank: int) -> float:
        """Return by how many seconds the planned start of a waiting job moved in this step; 0 for any other job."""


class LiveView(View, Protocol):
    """Present moment of a run. Its `queue` has no reasons to wait; `reasons` finds them, which takes longer."""

    @property
    def takes_turns(self) -> bool:
        """Return True if there is a matrix, whose rows take turns."""

    @property
    def rows(self) -> MatrixView:
        """Return the matrix itself, as it is from now on, to be read only."""

    @property
    def is_led(self) -> bool:
        """Return True if an adaptive policy selects the policies."""

    @property
    def is_to_switch(self) -> bool:
        """Return True if an adaptive policy has chosen another policy, to which the run switches in the next step."""

    @property
    def promises(self) -> bool:
        """Return True if reservations made now never move to a later time."""

    @property
    def jobs(self) -> Jobs:
        """Return all jobs by rank, with their submit times in this run as far as they are known."""

    @property
    def submits(self) -> Floats:
        """Return the submit times of all jobs by rank: those of this run as far as they are known."""

    @property
    def killed(self) -> tuple[Job, ...]:
        """Return the jobs whose speculative run reached its limit in this step; they wait again."""

    @property
    def finished(self) -> int:
        """Return the number of finished jobs."""

    @property
    def left(self) -> int:
        """Return the number of jobs that wait or are suspended."""

    @property
    def crowd(self) -> int:
        """Return the number of jobs that the policy may have to consider: waiting, suspended or in the matrix."""

    @property
    def reserved(self) -> Mapping[int, float]:
        """Return the reserved start of each waiting job that has one, by rank."""

    @property
    def granted(self) -> Mapping[int, float]:
        """Return the granted start of each waiting job whose user requested a reservation, by rank."""

    @property
    def expected(self) -> Mapping[int, float]:
        """Return the planned start, recomputed at each pass, of each waiting job that has one, by rank."""

    def has_come(self, rank: int) -> bool:
        """Return True if the job has been submitted."""

    def where(self, rank: int) -> Where | None:
        """Return where the job is; None before its submission and after its end."""

    def start_of(self, rank: int) -> float | None:
        """Return the first start of the job; None if it has not started."""

    def ran(self, rank: int) -> float:
        """Return the seconds for which the job has run so far; for a finished job its run time."""

    def is_before(self, other: Job, job: Job) -> bool:
        """Return True if the job `other` is in front of the job in queue order, whether or not it still waits."""

    def ahead_of(self, job: Job) -> list[Job]:
        """Return the jobs that wait in front of the job in its own queue, from which it may just have started; empty
        if it is in no queue.
        """

    def reasons(self) -> Mapping[int, Reason]:
        """Return the reasons to wait as a snapshot has them, by rank."""

    def obstacle(self, job: Job) -> Reason | None:
        """Return the limit that holds a waiting job back, or what keeps it off the nodes; None if neither does."""

    def running_plan(self) -> Plan:
        """Return a new plan of the machine with the running jobs and the announced changes."""


_same = attrgetter(*(each.name for each in fields(Snapshot)[:-3]))


def take_snapshot(moment: LiveView, next_time: float | None) -> Snapshot:
    """Return a copy of a moment between two steps; the next step is at `next_time`."""
    nodes = None if moment.nodes is None else moment.nodes.copy()
    queue = moment.queue.frozen(moment.reasons())
    return Snapshot(*(*_same(moment), nodes, queue, next_time))
