"""Fields of the present moment, and their copy."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from sim.decisions.decisions import Decision
from sim.decisions.matrix import ReserveRow
from sim.engine.copies import copied
from sim.engine.queue import Queue
from sim.engine.releases import Releases
from sim.engine.resting import Resting
from sim.engine.sharing import Sharing
from sim.engine.stay import Stay, Stays
from sim.history.ledger import Ledger
from sim.history.past import Switch
from sim.history.running_totals import RunningTotals
from sim.machine.plan import Plan
from sim.machine.processors import Machine
from sim.policies.policy import Policy
from sim.support.errors import DecisionError
from sim.workload.limits import LimitUse
from sim.workload.model import Job, Jobs
from sim.workload.outages import Outage
from sim.workload.share_tree import ShareTree


class Fields:
    """Fields of the present moment. They begin with an underscore: only modules of `sim.engine` change them."""

    _policy: Policy
    _chosen: Policy
    """Policy that decides now, and the policy with which the user began the run"""
    _machine: Machine
    _share_tree: Callable[[], ShareTree]
    """Function that returns a new tree of the machine's accounts"""
    _jobs: Jobs
    """All jobs by rank, including jobs that have not arrived"""
    _waiting: Queue
    _ledger: Ledger

    def __init__(self) -> None:
        self._leader: Policy | None = None
        """Adaptive policy that selects the next policy after each step; None for any other policy"""
        self._led: dict[str, float] = {}
        """Mapping from name to value, for the values that the adaptive policy keeps from one step to the next"""
        self._successor: Policy | None = None
        """Policy that the adaptive policy has selected for the next step; None if the present policy stays"""
        self._curious = False
        """True if a user watches the run. This changes only which reasons are recorded, never a decision."""
        self._step = 0
        self._time = 0.0
        self._procs = 0
        """Largest number of processors that the machine ever has."""
        self._has_limits = False
        """True if users, accounts or arrays have limits on what runs"""
        self._node_times: tuple[float, ...] = ()
        """Times at which reservations of nodes begin or end, or users withdraw waiting jobs."""
        self._free = 0
        self._outages: tuple[Outage, ...] = ()
        """Known periods in which processors are unavailable, including past ones."""
        self._ahead: tuple[tuple[float, int], ...] = ()
        """Known future changes of the machine, in order of time, as (time, processors that are down from then until the
        next change, as bits)
        """
        self._closes: float = inf
        """Time of the next announced maintenance of the whole machine; inf if none is known. No job that would still
        run then may start
        """
        self._submitted = 0
        """Number of jobs that have arrived, which are the first ones by rank. In a run with `releases`: one more than
        the highest rank that has arrived
        """
        self._releases: Releases | None = None
        """Submissions in a run in which jobs wait for the start or end of others; None if all submit times are fixed"""
        self._limits: LimitUse | None = None
        """Amount in use of each limit of a user, account or array; None if the workload has no limits"""
        self._tally = RunningTotals()
        self._switches: tuple[Switch, ...] = ()
        # Events of this instant
        self._arrived: list[Job] = []
        self._completed: list[Job] = []
        self._killed: list[Job] = []
        self._ended_early = False
        self._interrupted: list[Job] = []
        """Jobs that were interrupted in this step because their processors went down, and that now wait again"""
        self._ousted: list[Job] = []
        """Jobs whose processors went down in this step, including jobs that ended in the same step"""
        self._renewed: list[Job] = []
        """Jobs whose reservations were dropped because of a failure, in the order in which they are planned again"""
        self._resized = self._upset = False
        """True if the machine changed in this step (`resized`), and if plans were dropped because of that (`upset`)"""
        self._dropped: tuple[int, ...] = ()
        """Ranks of the jobs that were cancelled because the machine will never again have enough processors"""
        self._moved: dict[int, float] = {}
        """For the rank of each job whose planned start moved in this step: seconds by which it moved. Starts planned in
        rows of a matrix are included only if a user watches the run
        """
        self._decisions: list[Decision] = []
        """Decisions of the last step in order, with reasons to wait; empty if no user watches the run"""
        self._printed: list[str] = []
        """Lines that a user-defined policy printed in the last step"""
        # Places of the jobs
        self._running: dict[int, Stay] = {}
        self._stays = Stays()
        """Stays of the running jobs, in order of their expected ends"""
        self._stay_count = 0
        """Number of stays on processors that have begun"""
        self._suspended: dict[int, int] = {}
        self._suspended_since: dict[int, float] = {}
        self._resting = Resting(self._suspended)
        self._awaited: int | None = None
        """Rank of the suspended job that resumes next; its processors are kept free. None if there is no such job"""
        self._sharing: Sharing | None = None
        """Ousterhout matrix with the clock of its rows and the progress of its jobs; None if rows take no turns"""
        self._rebuild: tuple[Decision, ...] = ()
        """Decisions of the last rebuild of the matrix, phase by phase; empty if no user watches the run"""
        # Plans
        self._reserved: dict[int, float] = {}
        self._before: dict[int, float] = {}
        """For the rank of each job: start that the previous pass reserved. Filled only for policies that make all
        reservations anew at each pass
        """
        self._lasts: dict[int, float] = {}
        """For each rank whose reservation is not as long as the estimate: length of the reservation in seconds"""
        self._granted: dict[int, float] = {}
        """For the rank of each waiting job whose user requested a reservation: its start, kept at policy switches"""
        self._promises = False
        """True if reservations made now are promises, which never move to a later time"""
        self._expected: dict[int, float] = {}
        self._expected_row: dict[int, int] = {}
        """For the rank of each job with a start planned in the matrix: row in which it is expected to start"""
        self._row_planned: dict[int, float] = {}
        """For the rank of each job: its planned start in a row as last written to the history. A new start is written
        only if it differs by at least a turn
        """
        self._not_passed: list[ReserveRow] = []
        """Planned starts in rows from the last rebuild, written to the history when a job is next placed in the matrix.

        If a user watches the run the list is empty, because planned starts are written at once.
        """
        self._kept_plan: Plan | None = None
        self._timers: list[tuple[float, int, float]] = []
        """Heap of timers (time, rank, since), at which the policy makes a pass.

        (time, rank, inf): the job's reservation is due. (time, -1, inf): the policy requested a pass at this time.
        (time, rank, since): the timer is valid only while the job stays on the processors that it has held since the
        time `since`.
        """
        self._wakes: set[tuple[float, int, float]] = set()
        self._wake_at = inf
        """Time of the next pass that the policy requested in its last pass; inf for no request. A request is valid
        until the next pass, which may make another
        """
        self._notes: dict[str, Any] = {}
        # Passes around what a policy does not support (`sim.engine.inherited`)
        self._is_around = False
        """True while a policy decides that is not shown jobs with granted reservations, nor the processors of the
        awaited job
        """
        self._only: frozenset[int] | None = None
        """Ranks of the jobs that the policy is shown; None for all"""
        self._passed_over: set[int] = set()
        """Ranks of the jobs that the policy is not shown in this pass, because starting them is not permitted"""
        self._said: set[Decision] | None = None
        """Plans and reasons of this pass, which is repeated at a start that is not permitted; None if all are"""
        self._planned_again: set[int] = set()
        """Ranks of the jobs that the present repetition of the pass has planned"""
        self._held_back: list[int] | None = None
        """Ranks of the jobs that limits hold back, if the pass is repeated when they change"""

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse what a policy assigns. Compiled code sets its own fields without this call, other code by `_`."""
        if not name.startswith("_"):
            raise DecisionError(f"a policy cannot set {name} of the moment: it acts by now.start(...)")
        object.__setattr__(self, name, value)

    def _take(self, other: Fields) -> None:
        """Take over a copy of the fields of another moment, between two steps. The jobs, the queue and the results of
        jobs are left out: a checkpoint stores them in another form.
        """
        self._policy, self._chosen = other._policy, other._chosen
        self._machine, self._share_tree = other._machine.copy(), other._share_tree
        self._stay_count, self._leader = other._stay_count, other._leader
        self._successor, self._step = other._successor, other._step
        self._time, self._procs, self._has_limits = other._time, other._procs, other._has_limits
        self._node_times, self._free, self._outages = other._node_times, other._free, other._outages
        self._ahead, self._closes, self._submitted = other._ahead, other._closes, other._submitted
        self._switches, self._ended_early, self._resized = other._switches, other._ended_early, other._resized
        self._dropped, self._awaited, self._rebuild = other._dropped, other._awaited, other._rebuild
        self._promises, self._wake_at, self._upset = other._promises, other._wake_at, other._upset
        self._led, self._releases = copied(other._led), None if other._releases is None else other._releases.copy()
        self._limits, self._tally = None if other._limits is None else other._limits.copy(), other._tally.copy()
        self._arrived, self._completed = other._arrived.copy(), other._completed.copy()
        self._killed, self._interrupted = other._killed.copy(), other._interrupted.copy()
        self._ousted, self._renewed, self._moved = other._ousted.copy(), other._renewed.copy(), other._moved.copy()
        self._decisions, self._printed = other._decisions.copy(), other._printed.copy()
        self._running, self._stays = other._running.copy(), other._stays.copy()
        self._suspended, self._suspended_since = other._suspended.copy(), other._suspended_since.copy()
        self._resting = Resting(self._suspended)
        self._sharing = None if other._sharing is None else other._sharing.copy()
        self._reserved, self._before, self._lasts = other._reserved.copy(), other._before.copy(), other._lasts.copy()
        self._granted, self._expected = other._granted.copy(), other._expected.copy()
        self._expected_row, self._row_planned = other._expected_row.copy(), other._row_planned.copy()
        self._not_passed = other._not_passed.copy()
        self._kept_plan = None if other._kept_plan is None else other._kept_plan.copy()
        self._timers, self._wakes, self._notes = other._timers.copy(), other._wakes.copy(), copied(other._notes)
