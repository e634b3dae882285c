"""Base class of policies.

A policy is a frozen dataclass: its fields are its parameters, its docstring is its documentation. It holds no state;
`decide` gets a view of the current state and yields decisions. `view.notes` is its memory, `view.reserved` its plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import unwrap
from itertools import islice
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from sim.machine.turns import Turns
from sim.policies.columns import Column
from sim.policies.orders import OWN, Fcfs, Order, Xfactor
from sim.policies.parameters import as_typed, parameters_of
from sim.workload.model import Job
from sim.workload.shape import Seats

if TYPE_CHECKING:
    from sim.engine.moment import Moment


class CodeRef(NamedTuple):
    """Reference to a file, revision or module with user-defined policies, with the hash of its content."""

    name: str
    """Full path, with `@REVISION` for a file from git; or the name of a module"""
    sha256: str


@dataclass(frozen=True)
class Policy:
    """Base class of all policies."""

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    code: ClassVar[CodeRef | None] = None
    """Reference to the code of a user-defined policy; None for a policy of this library or one defined in a
    notebook.
    """
    keeps_reservations: ClassVar[bool] = False
    """True if a reservation stays until the policy moves it; False if the policy plans all reservations again at each
    pass.
    """

    grants: ClassVar[bool] = False
    """True if the policy keeps reservations that users request, also if an earlier policy granted them"""
    suspends: ClassVar[bool] = False
    """True if the policy suspends jobs or shares processors in time, so that it can continue jobs that an earlier
    policy suspended
    """
    plans: ClassVar[Literal["nobody", "the heads", "everybody"]] = "everybody"
    """Waiting jobs that have a planned start: none, the heads of the queues, or all"""
    plans_by_rank: ClassVar[bool] = False
    """True if the policy plans starts in the order of ranks, jobs of high priority first; False if in queue order.
    The orders differ if the submit times of jobs depend on the run.
    """
    lets_pass: ClassVar[bool] = True
    """True if a job may be backfilled: start before a job ahead of it in the queue"""

    columns: ClassVar[tuple[Column, ...]] = ()
    """Columns of the job tables with numbers that the policy writes into `view.notes`."""
    predicted_ends: ClassVar[Column | None] = None
    """Column of `view.notes` with the end that the policy predicts for each running job; None if the policy relies on
    estimates
    """
    places: ClassVar[bool] = False
    """True if the policy itself chooses the processors of each job, so that the user's choice of a placement has no
    effect
    """

    asks_limits: ClassVar[bool] = False
    """True if the policy itself passes over jobs that a limit holds back (`view.is_held`)."""
    on_nodes: ClassVar[bool] = True
    """True if the policy can run on a machine of nodes; policies that count processors cannot."""

    def queue_order(self) -> Order:
        """Return the order in which `view.queue` lists the waiting jobs."""
        return Fcfs()

    def line_order(self) -> Order:
        """Return the order in which the policy considers waiting jobs; by default that of `view.queue`."""
        return self.queue_order()

    def queues(self) -> tuple[str, ...]:
        """Return the names of the queues; empty if there is only one."""
        return ()

    def limits(self) -> tuple[float, ...]:
        """Return the estimates, in seconds, that separate the queues' classes of jobs; empty if there is one queue."""
        return ()

    def queue_of(self, job: Job) -> int:
        """Return the number of the queue that the job belongs to."""
        return 0

    def planned_nodes(self, notes: Mapping[str, Any]) -> Mapping[int, tuple[float, Seats]]:
        """Return the plans that keep nodes from other jobs, in the order in which they were made: rank of a waiting job
        -> (its planned start, its nodes and amounts). Reasons to wait name these jobs.

        `notes` is the policy's memory (`view.notes`) after its last pass. Reservations are known without this.
        """
        return {}

    @property
    def keeps_limits(self) -> bool:
        """Return True if the policy can run in a workload with limits of users."""
        return not (self.keeps_reservations or self.suspends)

    def promises(self) -> bool:
        """Return True if reservations never move to a later time; enforced by `--check`."""
        return False

    def turns(self) -> Turns | None:
        """Return the clock of the rows of the matrix; None if jobs do not share processors in time."""
        return None

    def most_migrated(self) -> int | None:
        """Return how many tasks may migrate at one instant, None for any number; enforced by `--check`."""
        return None

    def most_rows(self) -> int | None:
        """Return the largest number of rows that the matrix may have; None if the policy has no such limit."""
        return None

    def weighs_xfactors(self) -> bool:
        """Return True if the policy decides by expansion factors, so that screens show them."""
        return isinstance(self.queue_order(), Xfactor)

    def tries(self) -> bool:
        """Return True if the policy has speculative runs of a limited time, and kills jobs not done by then."""
        return False

    def leads(self) -> bool:
        """Return True if the policy does not decide itself but selects another policy."""
        return False

    def first(self) -> Policy:
        """Return the policy that decides at the beginning of a run."""
        return self

    def deciders(self) -> tuple[Policy, ...]:
        """Return the policies that may decide in a run with this one."""
        return (self,)

    def next_policy(self, now: Policy, view: Moment, led: dict[str, float]) -> Policy:
        """Return the policy that decides from now on; called only if this policy selects others (`leads`).

        `now` is the policy that decided so far. `led` is a memory for this method, which is copied when a run is
        branched.
        """
        return now

    def decide(self, now: Any) -> Any:
        """Make the decisions of one pass, by calls on `now` or by yielding them."""
        raise NotImplementedError(f"the policy {self.name!r} decides nothing")


def code_of(policy: Policy) -> CodeType:
    code: CodeType = unwrap(type(policy).decide).__code__
    return code


def is_own(policy: Policy) -> bool:
    """Return True if the policy, or the order of its queue, comes from a user's file or module."""
    return policy.code is not None or type(policy.queue_order()).__module__.startswith(OWN)


def columns_of(policy: Policy) -> tuple[Column, ...]:
    """Return all columns of numbers that the policy and the order of its queue add to the job tables."""
    try:
        columns = (*policy.columns, *policy.queue_order().columns)
    except Exception:  # user code may raise anything
        return ()
    return tuple(column for column in columns if isinstance(column, Column))[:MOST_COLUMNS]


def plans_of(policy: Policy, notes: Mapping[str, Any], most: int) -> dict[int, tuple[float, Seats]]:
    """Return the first `most` plans that the policy tells by `planned_nodes`; none if it tells them in another form."""
    try:
        told = islice(policy.planned_nodes(notes).items(), most)
        return {int(rank): (float(at), seats) for rank, (at, seats) in told if isinstance(seats, Seats)}
    except Exception:  # user code may raise anything
        return {}


MOST_COLUMNS = 8


def order_field(default: Order) -> Any:
    """Return a dataclass field for an order of the queue, whose parameters the user can also set."""
    return dataclasses.field(default=default)


@dataclass(frozen=True)
class Ordered(Policy):
    """Base class of policies with a parameter for the order of the queue."""

    order: Order = order_field(Fcfs())

    def queue_order(self) -> Order:
        return self.order


def default_order(cls: type[Policy]) -> Order | None:
    for field in dataclasses.fields(cls):
        if isinstance(field.default, Order):
            return field.default
    return None


def written_policy(policy: Policy) -> str:
    """Return the shortest spec (`name:key=value`) that gives this policy."""
    default = default_order(type(policy))
    parts = []
    if default is not None and policy.queue_order() != default:
        order = policy.queue_order()
        is_other = type(order) is not type(default)
        parts += [f"order={order.name}"] if is_other else []
        parts += _changed(order, None if is_other else default)
    parts += _changed(policy)
    return policy.name + (":" + ",".join(parts) if parts else "")


def full_policy(policy: Policy) -> str:
    """Return the spec of this policy with all its parameters, including defaults."""
    holders: list[Policy | Order] = [policy]
    parts = []
    if default_order(type(policy)) is not None:
        holders.insert(0, policy.queue_order())
        parts = [f"order={policy.queue_order().name}"]
    for holder in holders:
        parts += [f"{name}={as_typed(getattr(holder, name))}" for name in parameters_of(type(holder))]
    return policy.name + (":" + ",".join(parts) if parts else "")


def _changed(holder: Policy | Order, usual: Order | None = None) -> list[str]:
    return [
        f"{name}={as_typed(getattr(holder, name))}"
        for name, parameter in parameters_of(type(holder)).items()
        if getattr(holder, name) != (parameter.default if usual is None else getattr(usual, name))
    ]
