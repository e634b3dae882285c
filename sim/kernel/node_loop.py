"""Fast loop on a machine of nodes, for policies whose passes ask what fits now and when the head of the queue will fit.

A refused request is remembered until resources are freed. The free resources at the shadow time, at which the head
fits, are kept from pass to pass. Each end or start changes them, and only an end can make the shadow time earlier. They
are computed again after an end less than four microseconds from another, because rounding decides which ends are equal.
"""

from __future__ import annotations

from sim.decisions.decisions import Reserve, Start
from sim.decisions.reasons import FitsBeside, FitsExtra, WhenFree, WhenRoom
from sim.history.decision_log import form_of
from sim.kernel.arrays import numbers, time_before, time_up_to, times, words
from sim.kernel.calls import IN_ORDER
from sim.kernel.loop import Loop
from sim.kernel.node_cores import NodeCores
from sim.kernel.node_states import Runs
from sim.kernel.nodes import MOST_LOGGED, Nodes
from sim.kernel.present import NEVER
from sim.machine import cython
from sim.machine.columns import INFINITE, Numbers, Word, lowest_bit
from sim.machine.moment import APART, MOMENT

FITS_EXTRA: int = form_of(Start, FitsExtra)
FITS_BESIDE: int = form_of(Start, FitsBeside)
WHEN_FREE: int = form_of(Reserve, WhenFree)
WHEN_ROOM: int = form_of(Reserve, WhenRoom)
UNKNOWN = 1 << 30
"""Number of places for a class of requests that no search has counted yet"""


@cython.cclass
class NodeLoop(NodeCores):
    """Fast loop whose machine has nodes."""

    def __init__(
        self, jobs: int, procs: int, most_running: int, nodes: int, kinds: int, sign: int, most_cores: int
    ) -> None:
        NodeCores.__init__(self, jobs, procs, most_running, nodes, kinds, sign, most_cores)
        self.begins_with = numbers(0)
        """Free amounts of each node when the loop begins"""
        self.nodes, self.then = Nodes(self.asked), Nodes(self.asked)
        """Two objects: `nodes` has the nodes as they are now, `then` as they will be at the shadow time, when the head
        of the queue fits
        """
        self.then_head, self.then_at = -1, 0.0
        """Rank of the head of the queue for which `then` (the nodes at its shadow time) was computed, -1 for none; and
        this shadow time
        """
        self.may_be_sooner = self.may_be_later = False
        """Two flags: True if the shadow time may have become earlier since it was computed; True if it may have become
        later
        """
        # Seats of running jobs
        self.seats_at, self.seats_of = numbers(jobs), numbers(jobs)
        """For each running job, by rank: index in `seats` at which its runs of nodes begin, and number of these runs"""
        self.most_seats: int = 2 * procs + nodes
        self.seats, self.other_seats = Runs(self.most_seats), Runs(self.most_seats)
        """Runs of nodes of running jobs, and space to move them"""
        self.held = times(jobs * kinds)
        """For each job, by rank, and kind of resource: amount that it holds while it runs"""
        self.seated = 0
        self.marks, self.run_at = words((nodes + 63) // 64), numbers(nodes)
        # Memory of searches
        self.freed = self.changes = 1
        """Two counters: increased whenever resources are freed; increased whenever resources are freed or taken"""
        self.refused = self.spared = self.fits_at = numbers(0)
        """For each request, the value of a counter at three events. When it last did not fit: `freed` (or `changes` if
        `grows` is 0); when it last would not have delayed the head, and when it last fit: `changes`
        """
        self.delays_at, self.delays_from = numbers(0), numbers(0)
        """For each class of requests: value of `changes` when a request last would have delayed the head; and the
        number of its tasks or nodes that would do so. A request for as many or more would delay the head, too
        """
        self.places = self.looked_at = self.freed_before = numbers(0)
        """For each class of requests: upper bound for the number of its places (tasks or nodes) on all nodes, or
        `UNKNOWN`; and the values of `Nodes.logged` and `Nodes.freed` when it was computed
        """
        self.chosen_for, self.chosen_at = -1, 0
        """Request of the last successful search among the nodes, and the value of `changes` then"""
        self.walk_at = 0
        """Value of `changes` when the last walk through candidates began"""

    def begin_nodes(self) -> None:
        """Set up what depends on the free resources of the nodes."""
        self.nodes.begin(self.begins_with)
        self.nodes.is_logging = True
        self.pieces += self.asked.nodes  # a range of cores that are taken may end at each node

    # Seats

    def _hold(self, rank: int, procs: int) -> None:
        request, nodes, asked = self.asked.of[rank], self.nodes, self.asked
        if self.chosen_for != request or self.chosen_at != self.changes:
            nodes.choose(request)
        if self.seated + nodes.runs > self.most_seats:
            self._move_seats()
        seats = self.seats
        for run in range(nodes.runs):
            node = nodes.chosen.node[run]
            self.run_at[node] = run
            mark: Word = 1
            self.marks[node >> 6] |= mark << (node & 63)
        first = self.seats_at[rank] = self.seated
        place = self.h_place[self.begun] = self.held_at[rank] = self.ranged
        at, kinds, its, follows = place + 1, asked.kinds, request * asked.kinds, -1
        for word in range(nodes.sets.words):
            bits: Word = self.marks[word]
            self.marks[word] = 0
            while bits:
                node = 64 * word + lowest_bit(bits)
                bits &= bits - 1
                run = self.run_at[node]
                many, count = nodes.chosen.many[run], nodes.chosen.tasks[run]
                cores = asked.each[its] * count + asked.once[its]
                at = self._take_run(node, node + many, count, cores, place + 1, at)
                if node == follows and seats.tasks[self.seated - 1] == count:
                    seats.many[self.seated - 1] += many
                else:
                    seats.node[self.seated], seats.many[self.seated], seats.tasks[self.seated] = node, many, count
                    self.seated += 1
                follows = node + many
        self.seats_of[rank] = self.seated - first
        nodes.shift(seats, first, self.seated, request, -1)
        for kind in range(kinds):
            self.held[rank * kinds + kind] = nodes.sums[kind]
        nodes.count(seats, first, self.seated, request, -1)
        for kind in range(kinds):
            self.held[rank * kinds + kind] -= nodes.sums[kind]
        self.h_ranges[place] = pieces = (at - place) // 2
        self.pieces += pieces
        self.ranged = at
        self.changes += 1

    def _move_seats(self) -> None:
        """Move the runs of the running jobs to the beginning of the columns of runs, to make space at the end."""
        end, moved = 0, self.other_seats
        for index in range(self.running):
            rank = self.end_rank[index]
            first, last = self.seats_at[rank], self.seats_at[rank] + self.seats_of[rank]
            self.seats_at[rank] = end
            for run in range(first, last):
                moved.take(end, self.seats, run)
                end += 1
        self.other_seats, self.seats, self.seated = self.seats, moved, end

    def _shift(self, nodes: Nodes, rank: int, sign: int) -> None:
        """Add the resources that the running job holds to the free ones of `nodes` if `sign` is 1; subtract them if it
        is -1.
        """
        at, kinds = self.seats_at[rank], self.asked.kinds
        nodes.shift(self.seats, at, at + self.seats_of[rank], self.asked.of[rank], sign)
        for kind in range(kinds):
            nodes.sums[kind] += sign * self.held[rank * kinds + kind]

    def _shift_chosen(self, request: int, sign: int) -> None:
        """Let tasks of the request, on the nodes of its last search, take their resources at the shadow time if `sign`
        is -1, or give them back if it is 1.
        """
        nodes = self.nodes
        self.then.shift(nodes.chosen, 0, nodes.runs, request, sign)
        self.then.count(nodes.chosen, 0, nodes.runs, request, sign)

    # Events

    def _leave(self, rank: int, now: float) -> None:
        if self.then_head >= 0:
            self._foresee_end(rank, now)
        Loop._leave(self, rank, now)
        self._shift(self.nodes, rank, 1)
        self.freed += 1
        self.changes += 1

    def _start(self, index: int, form: int, head: int, one: float, two: float, passes: bool) -> None:
        rank = self.rank_at[self.queue[index]]
        Loop._start(self, index, form, head, one, two, passes)
        if self.then_head >= 0:
            self._foresee_start(rank)

    # Questions

    def _fits(self, job: int) -> bool:
        request = self.asked.of[job]
        stamp = self.freed if self.asked.grows[request] else self.changes
        if self.refused[request] == stamp:
            return False
        if self.fits_at[request] == self.changes:
            return True
        if self.nodes.lacks(request) or self._is_short(request):
            self.refused[request] = stamp
            return False
        if self.nodes.choose(request):
            self._note_choice(request)
            return True
        self._note_refusal(request, stamp)
        return False

    def _note_choice(self, request: int) -> None:
        """Remember that nodes for the request are chosen."""
        self.chosen_for, self.chosen_at = request, self.changes
        self.fits_at[request] = self.changes

    def _note_refusal(self, request: int, stamp: int) -> None:
        """Remember that a search found too few nodes for the request; `stamp` is the counter of `refused`."""
        self.chosen_for = -1
        self.refused[request] = stamp
        if self.nodes.short and self.nodes.can_count(request):
            self._note_places(self.asked.like[request], self.asked.count[request] - self.nodes.short)

    def _note_places(self, like: int, places: int) -> None:
        """Remember that there are at most this number of places for the class of requests now."""
        self.places[like], self.looked_at[like] = places, self.nodes.logged
        self.freed_before[like] = self.nodes.freed

    def _is_short(self, request: int) -> bool:
        """Return True if there are too few places for the request, by the last failed search for its class and the
        nodes freed since.
        """
        like, needs, nodes = self.asked.like[request], self.asked.count[request], self.nodes
        places, since = self.places[like], self.looked_at[like]
        if needs <= places:
            return False
        if since == nodes.logged:
            return True
        widest = self.asked.widest[like]
        if needs > places + (nodes.freed - self.freed_before[like]) * self.asked.most_room[widest]:
            return True
        if nodes.logged - since > MOST_LOGGED:
            self.places[like] = UNKNOWN
            return False
        places += nodes.places_freed(widest, since)
        self._note_places(like, places)
        return needs > places

    def _delays(self, request: int) -> bool:
        """Return True if the request is known to delay the head."""
        like = self.asked.like[request]
        return self.delays_at[like] == self.changes and self.asked.count[request] >= self.delays_from[like]

    def _note_delay(self, request: int, places: int) -> None:
        """Remember that the request would delay the head now, already with this number of its tasks or nodes."""
        like = self.asked.like[request]
        if self.delays_at[like] != self.changes or places < self.delays_from[like]:
            self.delays_at[like], self.delays_from[like] = self.changes, places

    def _has_room_for(self, job: int) -> bool:
        return self._fits(job)

    def _walk(self, head: int, until: float, extra: int, tail: str) -> None:
        if self.walk_at != self.changes or not self._come_last():
            self.walked_in = NEVER  # a job refused in another state may be able to start now
        self.walk_at = self.changes
        Loop._walk(self, head, until, extra, tail)

    def _come_last(self) -> bool:
        """Return True if the new jobs are last in the queue, so that their starts change nothing for the others."""
        for rank in range(self.arriving - self.arrived, self.arriving):
            if self.place_of[rank] < self.queue[max(self.waiting - self.arrived, 0)]:
                return False
        return True

    def _first_able(self, places: Numbers, count: int) -> int:
        index = self.at
        while index < count:
            job = self.rank_at[places[index]]
            request = self.asked.of[job]
            if self.refused[request] != self.freed or not self.asked.grows[request]:
                if self.now + self.length[places[index]] <= self.latest_end:
                    if not self.in_order or self._fits(job):
                        return index
                elif not self._must_delay(request) and (not self.in_order or self._may_pass(job)):
                    return index
            index += 1
        return count

    def _may_pass(self, job: int) -> bool:
        """Return False if a job that would end after the shadow time does not fit, or if it would delay the head."""
        request, head, asked = self.asked.of[job], self.walks_behind, self.asked
        if head < 0 or head != self.then_head or asked.first[request + 1] != asked.first[request] + 1:
            return self._fits(job)
        if self._delays(request):
            return False
        if self.fits_at[request] == self.changes:
            return True
        if self.nodes.lacks(request) or self._is_short(request):
            self.refused[request] = self.freed if asked.grows[request] else self.changes
            return False
        self._foresee(head)
        if not self._can_watch(asked.of[head]):
            return self._fits(job)
        if self.nodes.choose_beside(request, self.then, self.then.room - self._needs(head)):
            self._note_choice(request)
            self.spared[request] = self.changes
            return True
        if self.nodes.short:
            self._note_refusal(request, self.freed if asked.grows[request] else self.changes)
        else:
            self.chosen_for = -1
            self._note_delay(request, asked.count[request] - self.nodes.left)
        return False

    def _must_delay(self, request: int) -> bool:
        """Return True if the request would leave all nodes together too little for the head at the shadow time."""
        head, kinds = self.walks_behind, self.asked.kinds
        if head < 0 or head != self.then_head:
            return False
        for kind in range(kinds):
            left = self.then.sums[kind] - self.asked.total[request * kinds + kind]
            if left < self.asked.total[self.asked.of[head] * kinds + kind]:
                return True
        return False

    def _spares(self, job: int, head: int, extra: int) -> bool:
        request, then, nodes = self.asked.of[job], self.then, self.nodes
        if self._delays(request):
            return False
        if self.spared[request] == self.changes:
            return True
        self._foresee(head)
        if self.chosen_for != request or self.chosen_at != self.changes:
            nodes.choose(request)
            self.chosen_for, self.chosen_at = request, self.changes
        if self._can_watch(self.asked.of[head]):
            needs = self._needs(head)
            spares = then.keeps(needs, nodes.chosen, 0, nodes.runs, request)
        else:
            self._shift_chosen(request, -1)
            spares = then.choose(self.asked.of[head])
            self._shift_chosen(request, 1)
        if not spares and self.asked.grows[self.asked.of[head]]:
            self._note_delay(request, self.asked.count[request])
        return spares

    def _cast_shadow(self, head: int) -> None:
        self._foresee(head)
        self.shadow, self.extra = self.then_at, 0  # which job may pass the head is no matter of processors

    # The shadow time

    def _needs(self, job: int) -> int:
        """Return the number of places that the job needs: tasks or nodes."""
        return self.asked.count[self.asked.of[job]]

    def _can_watch(self, request: int) -> bool:
        """Return True if `then` keeps count of the places for this request on all nodes at the shadow time. If it does
        not yet, begin to count, provided that the count alone decides whether the request fits.
        """
        if self.then.watched != request and self.then.can_count(request):
            self.then.begin_to_watch(request)
        return self.then.watched == request

    def _fits_then(self, request: int) -> bool:
        """Return True if the request fits at the shadow time."""
        if self.then.lacks(request):
            return False
        if self._can_watch(request):
            return self.then.room >= self.asked.count[request]
        return self.then.choose(request)

    def _foresee(self, head: int) -> None:
        """Update `then`, the free resources at the shadow time, and the shadow time itself, so that they hold for this
        head.
        """
        request = self.asked.of[head]
        is_past = self.then_head != head or self.then_at <= self.now + MOMENT
        if is_past or (self.may_be_later and not self._fits_then(request)):
            self._look_ahead(head)
        elif self.may_be_sooner:
            self._look_back(head)
        self.may_be_sooner = self.may_be_later = False

    def _look_ahead(self, head: int) -> None:
        """Find the shadow time of the head: let the running jobs end one after another until the head fits."""
        then, request, index, moment = self.then, self.asked.of[head], 0, -INFINITE
        then.become(self.nodes)
        while index < self.running:
            end = self.end_at[index]
            if end > moment + MOMENT:
                if moment > -INFINITE and self._fits_then(request):
                    break
                moment = end
            self._shift(then, self.end_rank[index], 1)
            index += 1
        self.then_head, self.then_at = head, moment
        self.changes += 1

    def _look_back(self, head: int) -> None:
        """Move the shadow time back to earlier ends of running jobs, as long as the head would fit then."""
        ends, ranks, then, request = self.end_at, self.end_rank, self.then, self.asked.of[head]
        last = time_up_to(ends, self.then_at + MOMENT, 0, self.running)
        while last:
            first, end = last, ends[last - 1]
            if end < self.then_at - APART:  # all jobs that should have ended at that time have ended
                self.then_at = end
            while first and ends[first - 1] == end:
                first -= 1
            if end != self.then_at or (first and end - ends[first - 1] <= APART):
                self._look_ahead(head)
                return
            if not first or self._lacks_without(first, last, request):
                return
            if last == first + 1 and self._can_watch(request):
                at, other = self.seats_at[ranks[first]], self.asked.of[ranks[first]]
                if not then.keeps(self._needs(head), self.seats, at, at + self.seats_of[ranks[first]], other):
                    return
            for index in range(first, last):
                self._shift(then, ranks[index], -1)
            if not self._fits_then(request):
                for index in range(first, last):
                    self._shift(then, ranks[index], 1)
                return
            self.then_at, last = ends[first - 1], first
            self.changes += 1

    def _lacks_without(self, first: int, last: int, request: int) -> bool:
        """Return True if all nodes together lack something for the request at the shadow time.

        The running jobs from index `first` to before `last` of the expected ends are assumed to hold their resources at
        that time.
        """
        for kind in range(self.asked.kinds):
            left = self.then.sums[kind]
            for index in range(first, last):
                left -= self.held[self.end_rank[index] * self.asked.kinds + kind]
            if left < self.asked.total[request * self.asked.kinds + kind]:
                return True
        return False

    def _foresee_end(self, rank: int, now: float) -> None:
        """Update the free resources at the shadow time, just before a running job ends."""
        expected = self.expected[rank]
        if not self._goes_on(expected):
            self.then_head = -1
        elif expected > self.then_at + MOMENT:
            self._shift(self.then, rank, 1)
            self.may_be_sooner = True
        elif expected > now:
            self.may_be_sooner = True

    def _foresee_start(self, rank: int) -> None:
        """Update the free resources at the shadow time, just after a job has started."""
        expected = self.expected[rank]
        if rank == self.then_head or not self._goes_on(expected):
            self.then_head = -1
        elif expected > self.then_at + MOMENT:
            self._shift(self.then, rank, -1)
            self.may_be_later = True

    def _goes_on(self, expected: float) -> bool:
        """Return True if, after a job with this expected end starts or ends, the old shadow time is still a bound: a
        start makes it later only, an end earlier only. Then it is not computed again from the beginning.
        """
        if not self.asked.grows[self.asked.of[self.then_head]]:
            return False
        if expected > self.then_at + APART:
            return True
        index = time_before(self.end_at, expected - APART, 0, self.running)
        while index < self.running and self.end_at[index] <= expected + APART:
            if self.end_at[index] != expected:
                return False
            index += 1
        return True

    # Calls

    def _start_job(self, job: int, form: int, head: int, one: float, two: float) -> None:
        if form == FITS_EXTRA:
            form, two = FITS_BESIDE, 0.0
        Loop._start_job(self, job, form, head, one, two)

    def _start_in_order(self) -> int:
        while self.waiting and self._fits(self.rank_at[self.queue[0]]):
            self._start(0, IN_ORDER, -1, self.free, 0.0, False)
        return self.rank_at[self.queue[0]] if self.waiting else -1

    def _plan_job(self, job: int, at: float, form: int, head: int, one: float, two: float) -> None:
        if form == WHEN_FREE:
            form, one, two = WHEN_ROOM, 0.0, 0.0
        Loop._plan_job(self, job, at, form, head, one, two)
