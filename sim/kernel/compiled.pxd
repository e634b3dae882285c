# Of which type everything is in the files of `parts.SOURCES`, where they are compiled as one.

cimport cython
from libc.math cimport pow

cdef double A_MOMENT, APART, INFINITE, LAST, TAU, EARLY, NOTHING
cdef int FCFS, FIRSTFIT, EASY, RELAXED, RECORDED, CONSERVATIVE, REPLAN, SELECTIVE, IMMEDIATE, DEEP, GANG
cdef int NOBODY, BY_START, BY_QUEUE, MULTIQUEUE
cdef int ENOUGH, LATER, OVER, FULL, NEVER, FEW, WIDTH, SUSPENDED, A_WORD, KINDS_OF_JOBS, SHARED
cdef int SPECULATIVE, CUT, TO_START, TO_END, MOVED, IN_ROWS, FIRST, SPANS
cdef int XFACTOR, DELAY, WARD, WFP3, UNICEF, RANDOM, RANDOM_LENGTH, RANDOM_DELAY, A_RUN
cdef double A_LOT
cdef unsigned long long GOLDEN, MIXING, MIXING_MORE

@cython.locals(middle=Py_ssize_t)
cdef Py_ssize_t time_before(double[::1] column, double value, Py_ssize_t low, Py_ssize_t high) noexcept
cdef inline Py_ssize_t time_near(double[::1] column, double value, Py_ssize_t near, Py_ssize_t count) noexcept
@cython.locals(middle=Py_ssize_t)
cdef Py_ssize_t time_up_to(double[::1] column, double value, Py_ssize_t low, Py_ssize_t high) noexcept
@cython.locals(middle=Py_ssize_t)
cdef Py_ssize_t number_before(int[::1] column, int value, Py_ssize_t low, Py_ssize_t high) noexcept
@cython.locals(place=Py_ssize_t, index=Py_ssize_t)
cdef Py_ssize_t least_of(double[::1] column, Py_ssize_t count) noexcept
@cython.locals(place=Py_ssize_t)
cdef Py_ssize_t place_of(int[::1] column, Py_ssize_t count, int value) noexcept
@cython.locals(found=Py_ssize_t, place=Py_ssize_t)
cdef Py_ssize_t places_up_to(double[::1] column, Py_ssize_t count, double value, int[::1] places) noexcept
@cython.locals(index=Py_ssize_t, number=int, place=Py_ssize_t)
cdef void most_first(int[::1] column, Py_ssize_t count, int[::1] by, int[::1] into) noexcept
@cython.locals(index=Py_ssize_t)
cdef bint are_same(int[::1] column, int[::1] other, Py_ssize_t count) noexcept
@cython.locals(same=Py_ssize_t)
cdef Py_ssize_t common_pairs(
    int[::1] first, int[::1] second, Py_ssize_t count, int[::1] other, int[::1] other_second, Py_ssize_t other_count
) noexcept
@cython.locals(rest=double, turns=double, whole=long)
cdef long turns_for(double work, double a_turn) noexcept
@cython.locals(rest=double, turns=double, whole=long)
cdef long whole_turns(double time, double slice) noexcept
@cython.locals(ended=long, cycles=long, more=long, a_turn=double, index=long, rest=double)
cdef void count_progress(
    double gone, double slice, double overhead, long count, long now, double[::1] made
) noexcept
@cython.locals(index=Py_ssize_t)
cdef void differences(double[::1] first, double[::1] second, Py_ssize_t count, double[::1] into) noexcept
@cython.locals(total=double, place=Py_ssize_t)
cdef double sum_at(double[::1] column, tuple places) except? -1
@cython.locals(total=double, index=Py_ssize_t)
cdef double sum_of_products(int[::1] column, int[::1] places, double[::1] by, Py_ssize_t count) noexcept
cdef void add_job(
    int[::1] ranks, int[::1] bands, double[::1] ran, double[::1] whole, double[::1] need, Py_ssize_t count, int rank,
    double its_ran, double its_whole
) noexcept
cdef void remove_job(
    int[::1] ranks, int[::1] bands, double[::1] ran, double[::1] whole, double[::1] need, Py_ssize_t count,
    Py_ssize_t place
) noexcept
@cython.locals(least=double, index=Py_ssize_t)
cdef double make_progress(
    double[::1] ran, double[::1] need, double[::1] whole, Py_ssize_t count, double[::1] gain, int[::1] which
) noexcept
@cython.locals(index=Py_ssize_t, place=Py_ssize_t)
cdef void ends_in_order(
    double now, double by, int[::1] ranks, double[::1] estimate, double[::1] ran, Py_ssize_t count, double[::1] ends,
    int[::1] order
) noexcept
@cython.locals(place=Py_ssize_t)
cdef Py_ssize_t insert_pair(double[::1] first, int[::1] second, Py_ssize_t count, double value, int number) noexcept
@cython.locals(place=Py_ssize_t)
cdef Py_ssize_t remove_pair(double[::1] first, int[::1] second, Py_ssize_t count, double value, int number) noexcept
@cython.locals(place=Py_ssize_t)
cdef void move_pair(double[::1] first, int[::1] second, Py_ssize_t count, double was, double value,
                    int number) noexcept
@cython.locals(place=Py_ssize_t)
cdef void insert_three(double[::1] first, int[::1] second, int[::1] third, Py_ssize_t count, double value, int number,
                       int more) noexcept
@cython.locals(place=Py_ssize_t)
cdef void remove_three(double[::1] first, int[::1] second, int[::1] third, Py_ssize_t count, double value,
                       int number) noexcept
@cython.locals(place=Py_ssize_t)
cdef void set_numbers(int[::1] column, Py_ssize_t first, Py_ssize_t many, int value) noexcept
cdef void insert_range(int[::1] first, int[::1] last, Py_ssize_t count, Py_ssize_t place, int one, int other) noexcept
cdef void remove_ranges(int[::1] first, int[::1] last, Py_ssize_t count, Py_ssize_t place, Py_ssize_t many) noexcept
cdef bint comes_before(double value, int number, double other, int than) noexcept
@cython.locals(begin=Py_ssize_t, step=Py_ssize_t, index=Py_ssize_t, value=double, number=int, place=Py_ssize_t)
cdef void sort_pairs(double[::1] first, int[::1] second, Py_ssize_t count, double[::1] other_first,
                     int[::1] other_second) noexcept
@cython.locals(many=Py_ssize_t, index=Py_ssize_t)
cdef void merge_pairs(double[::1] first, int[::1] second, Py_ssize_t begin, Py_ssize_t middle, Py_ssize_t end,
                      double[::1] other_first, int[::1] other_second) noexcept
@cython.locals(value=double)
cdef double power(double base, double exponent) noexcept
@cython.locals(word=cython.ulonglong)
cdef double drawn(unsigned long long lots, int rank) noexcept
cdef void forget_last(double[::1] first, int[::1] second) noexcept
cdef void insert_in_order(int[::1] column, int value, Py_ssize_t low, Py_ssize_t high) noexcept
@cython.locals(index=Py_ssize_t)
cdef void copy_times(double[::1] column, double[::1] other, Py_ssize_t count) noexcept
@cython.locals(index=Py_ssize_t)
cdef void copy_numbers(int[::1] column, int[::1] other, Py_ssize_t count) noexcept
cdef void insert_time(double[::1] column, Py_ssize_t count, Py_ssize_t place, double value) noexcept
cdef void insert_number(int[::1] column, Py_ssize_t count, Py_ssize_t place, int value) noexcept
cdef void begin_steps(double[::1] times, int[::1] numbers, double time, int number) noexcept
cdef void insert_step(
    double[::1] times, int[::1] numbers, Py_ssize_t count, Py_ssize_t place, double time, int number
) noexcept
cdef void remove_step(double[::1] times, int[::1] numbers, Py_ssize_t count, Py_ssize_t place) noexcept
cdef void remove_number(int[::1] column, Py_ssize_t count, Py_ssize_t place) noexcept
cdef void remove_times(double[::1] column, Py_ssize_t count, Py_ssize_t place, Py_ssize_t many) noexcept
cdef void remove_numbers(int[::1] column, Py_ssize_t count, Py_ssize_t place, Py_ssize_t many) noexcept


cdef class Plan:
    cdef public double[::1] at
    cdef public int[::1] free
    cdef public Py_ssize_t count
    cdef bint begins_sooner

    cpdef void clear(self) noexcept
    @cython.locals(times=double[::1], numbers=int[::1], last=Py_ssize_t, index=Py_ssize_t, time=double)
    cdef void make(self, double now, int free, double[::1] at, int[::1] more, Py_ssize_t count) noexcept
    cdef void become(self, Plan other) noexcept
    @cython.locals(index=Py_ssize_t)
    cdef void advance(self, double now) noexcept
    @cython.locals(at=double[::1], free=int[::1], count=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t,
                   index=Py_ssize_t)
    cdef void take(self, double start, double end, int procs) noexcept
    @cython.locals(at=double[::1], free=int[::1], count=Py_ssize_t, index=Py_ssize_t, candidate=double, end=double)
    cdef double earliest(self, int procs, double duration, double after) noexcept
    @cython.locals(at=double[::1], free=int[::1], end=double, index=Py_ssize_t)
    cdef bint fits(self, int procs, double start, double duration) noexcept
    @cython.locals(at=double[::1], free=int[::1], found=double, until=double, first=double, index=Py_ssize_t,
                   step=double)
    cdef double gap_before(self, Py_ssize_t last, double start, int procs, double duration, double after) noexcept


cdef class RowPlan(Plan):
    cdef bint only_rises
    cdef void begin(self, double now, int free) noexcept
    @cython.locals(at=double[::1], free=int[::1], end=double, index=Py_ssize_t)
    cdef bint stay_free(self, int procs, double span) noexcept
    cdef void note(self, double at, int by) noexcept
    @cython.locals(at=double[::1], numbers=int[::1], count=Py_ssize_t, last=Py_ssize_t, index=Py_ssize_t)
    cdef void add_up(self, double now, int free) noexcept
    cdef void _cut_off(self, Py_ssize_t count, Py_ssize_t kept) noexcept
    @cython.locals(at=double[::1], free=int[::1], kept=Py_ssize_t, index=Py_ssize_t)
    cdef void simplify(self) noexcept


cdef class Sets:
    cdef public int words
    cdef public object array
    cdef public unsigned long long[::1] of

    @cython.locals(word=int)
    cdef void become(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(word=int)
    cdef void add(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(word=int)
    cdef void drop(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(word=int)
    cdef void keep(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(bit=cython.ulonglong)
    cdef void add_one(self, Py_ssize_t number, int processor) noexcept
    @cython.locals(word=int)
    cdef bint meets(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(kept=Py_ssize_t, index=Py_ssize_t, number=int)
    cdef Py_ssize_t keep_apart(
        self, int[::1] numbers, Py_ssize_t count, Py_ssize_t first, int[::1] which, Py_ssize_t low, Py_ssize_t high,
        Py_ssize_t common
    ) noexcept
    @cython.locals(kept=Py_ssize_t, count=Py_ssize_t, index=Py_ssize_t, number=int, place=Py_ssize_t)
    cdef Py_ssize_t movable(
        self, int[::1] numbers, Py_ssize_t low, Py_ssize_t high, Py_ssize_t first, int[::1] which, Py_ssize_t many,
        int[::1] home, int[::1] found, Py_ssize_t common
    ) noexcept
    @cython.locals(found=Py_ssize_t, hopeful=Py_ssize_t, begun=Py_ssize_t, index=Py_ssize_t, number=int,
                   place=Py_ssize_t)
    cdef Py_ssize_t spread(
        self, int[::1] numbers, Py_ssize_t count, Py_ssize_t first, int[::1] which, Py_ssize_t many, Py_ssize_t full,
        int[::1] left, Py_ssize_t common, int[::1] into, int[::1] places
    ) noexcept
    @cython.locals(word=int)
    cdef bint exceeds(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(rest=cython.ulonglong)
    cdef int first_after(self, Py_ssize_t number, int processor) noexcept
    @cython.locals(word=int, rest=cython.ulonglong, processor=int)
    cdef int first_beside(self, Py_ssize_t number, Py_ssize_t other) noexcept
    @cython.locals(word=int, at=Py_ssize_t, rest=cython.ulonglong)
    cdef int take(self, Py_ssize_t number, Py_ssize_t other, int count) noexcept
    cdef object move(self, Py_ssize_t number, Py_ssize_t other, int count)


cdef class Waiters:
    cdef public int[::1] keeper, then, before, first

    @cython.locals(then=int)
    cdef void keep(self, int rank, Py_ssize_t keeper) noexcept
    @cython.locals(keeper=Py_ssize_t, then=int, before=int)
    cdef void forget(self, int rank) noexcept


cdef class Present:
    # The jobs
    cdef public double[::1] submit, estimate, runtime, recorded, length
    cdef public int[::1] procs, place_of, rank_at, width
    cdef public bint in_order_of_arrival, all_recorded
    # The policy
    cdef public int depth, kind, compress, starts_as, passes_as, spares_as, plans_as, moves_as
    cdef public double omega
    cdef public bint by_runtime, promises
    # The present
    cdef public double now, arrives, leaves
    cdef public long credit
    cdef public int free, head, extra
    cdef public Py_ssize_t arriving, waiting, running, holes, pieces, reservations, arrived, coming
    cdef public Py_ssize_t completed, moves
    cdef public int[::1] queue, end_rank, end_procs, leave_rank, hole_first, hole_last, held_at, planned_in
    cdef public int[::1] latest
    cdef public double[::1] end_at, leave_at, expected, planned, reserved_at
    cdef public int[::1] reserved_rank, tried_procs, tried_moves, turn, done, moved_rank, grown_for, seen
    cdef public int grown
    cdef public double[::1] tried_for, tried_from, tried_to, left, moved_by
    cdef public Plan plan, draft
    cdef public bint is_due, is_reserved, is_fresh, is_sharp, ended_early
    cdef public double shadow
    cdef public long started, backfilled
    cdef public int[::1] over, over_in
    cdef public Py_ssize_t overs
    # The history and the ledger
    cdef double[::1] h_time, h_free, h_start, h_end, h_started, h_numbers
    cdef int[::1] h_waiting, h_decided, h_begun, h_rank, h_end_step
    cdef long[::1] h_wanted
    cdef long long[::1] h_place
    cdef unsigned char[::1] h_ended_by, h_form
    cdef int[::1] h_started_in, h_about, h_head, h_ranges
    cdef double[::1] l_start, l_promised, l_ran
    cdef unsigned char[::1] l_backfilled
    cdef public Py_ssize_t step, most_steps, begun, most_begun, decided, most_decided, ranged, most_ranged, leeway

    @cython.locals(overs=Py_ssize_t)
    cdef void _complete(self, int rank, double now) noexcept
    @cython.locals(stretch=Py_ssize_t)
    cdef void _end_stretch(self, int rank, double now, int because) noexcept
    @cython.locals(expected=double, running=Py_ssize_t, procs=int)
    cdef void _leave(self, int rank, double now) noexcept
    @cython.locals(ranges=int[::1], firsts=int[::1], lasts=int[::1], holes=Py_ssize_t, many=Py_ssize_t,
                   index=Py_ssize_t, end=Py_ssize_t, first=int, last=int, place=Py_ssize_t, joins=bint)
    cdef void _give_back(self, Py_ssize_t at, int procs) noexcept
    @cython.locals(place=int, now=double, running=Py_ssize_t, begun=Py_ssize_t, rank=int, procs=int, expected=double)
    cdef void _start(self, Py_ssize_t index, int form, int head, double one, double two, bint passes) noexcept
    @cython.locals(ranges=int[::1], firsts=int[::1], lasts=int[::1], place=Py_ssize_t, at=Py_ssize_t,
                   whole=Py_ssize_t, first=int, last=int, many=int)
    cdef void _hold(self, int rank, int procs) noexcept
    @cython.locals(row=Py_ssize_t)
    cdef void _note(self, int form, int rank, int head, double one, double two, double three) noexcept
    cdef void _moves(self, int rank, double at, double was) noexcept
    cdef void _promise(self, int rank, double at) noexcept
    cdef void _make_plan(self) noexcept
    @cython.locals(plan=Plan, grown=int, at=double[::1], free=int[::1], count=Py_ssize_t, index=Py_ssize_t)
    cdef void _make_room(self, double start, double end, int procs) noexcept
    cdef void _reserve(self, int rank, double at, int form, double one, double two) noexcept
    cdef void _forget(self, int rank) noexcept
    @cython.locals(at=double)
    cdef void _stands_no_more(self, int rank, double now, double expected, int procs) noexcept


cdef class Conservative(Present):
    @cython.locals(now=double, rank=int, at=double, index=Py_ssize_t, passes=bint, place=int)
    cdef void _decide_conservative(self) noexcept
    @cython.locals(index=Py_ssize_t)
    cdef bint _asks_again(self) noexcept
    @cython.locals(plan=Plan, now=double, tried=Py_ssize_t, moves=Py_ssize_t, at=double[::1], free=int[::1],
                   tried_procs=int[::1], tried_for=double[::1], tried_from=double[::1], tried_to=double[::1],
                   tried_moves=int[::1], left=double[::1], rank=int, start=double, procs=int,
                   length=double, before=double, last=Py_ssize_t, hope=double, index=Py_ssize_t, moved=Py_ssize_t,
                   earlier=double, seen=int[::1], grown_for=int[::1], procs_of=int[::1],
                   length_of=double[::1], planned=double[::1], count=Py_ssize_t, walks=bint, remembers=bint)
    cdef void _compress(self) noexcept
    @cython.locals(count=Py_ssize_t, index=Py_ssize_t, rank=int)
    cdef Py_ssize_t _line_up(self) noexcept
    @cython.locals(plan=Plan, end=double, until=double, moves=Py_ssize_t)
    cdef void _bring_forward(self, int rank, int procs, double length, double was, double at) noexcept


cdef class Loop(Conservative):
    @cython.locals(now=double, leeway=Py_ssize_t)
    cpdef int run(self, double until, long steps, long credit, long a_step)
    @cython.locals(leave_at=double[::1], running=Py_ssize_t, time=double, follows=double, arrives=double,
                   timer=double, latest=double)
    cdef double _next_time(self) except? -1
    @cython.locals(until=double, latest=double, index=Py_ssize_t, timer=double)
    cdef double _latest(self, double time, double arrives) noexcept
    @cython.locals(index=Py_ssize_t, time=double)
    cdef double _is_due_after(self, double now) noexcept
    @cython.locals(index=Py_ssize_t, time=double)
    cdef double _wakes(self, double after, double until) noexcept
    @cython.locals(leeway=Py_ssize_t)
    cdef bint _has_room(self) noexcept
    @cython.locals(index=Py_ssize_t, rank=Py_ssize_t, last=Py_ssize_t)
    cdef int _happen(self, double now) except -1
    @cython.locals(leave_at=double[::1], leave_rank=int[::1], done=int[::1], first=Py_ssize_t, count=Py_ssize_t,
                   rank=int, place=Py_ssize_t, index=Py_ssize_t)
    cdef void _complete_jobs(self, double now) noexcept
    @cython.locals(kind=int)
    cdef int _decide(self) except -1
    @cython.locals(index=Py_ssize_t, passes=bint, form=int)
    cdef void _decide_firstfit(self) noexcept
    @cython.locals(index=Py_ssize_t, now=double, place=int, recorded=double, late=double)
    cdef void _decide_recorded(self) noexcept
    @cython.locals(queue=int[::1], width=int[::1], head=int, index=Py_ssize_t, had=bint, shadow=double, extra=int,
                   until=double, is_easy=bint, stays=bint, wait=double, place=int, ends=double)
    cdef void _decide_easy(self) noexcept
    @cython.locals(queue=int[::1], width=int[::1], free=int, waiting=Py_ssize_t, place=int)
    cdef Py_ssize_t _next_to_pass(self, Py_ssize_t index, double until, int extra) noexcept
    @cython.locals(needs=int, free=int, at=Py_ssize_t, shadow=double, until=double, ends=double[::1], procs=int[::1],
                   running=Py_ssize_t)
    cdef void _cast_shadow(self, int head) noexcept
    @cython.locals(shadow=double, was=double)
    cdef void _reserve_head(self, int head, bint had) noexcept
    @cython.locals(draft=Plan, now=double, index=Py_ssize_t, passes=bint, tried=Py_ssize_t, tried_procs=int[::1],
                   tried_for=double[::1], tried_to=double[::1], place=int, rank=int, procs=int, length=double,
                   at=double, last=Py_ssize_t, form=int)
    cdef void _decide_replan(self) noexcept
    @cython.locals(had=bint)
    cdef void _plan_anew(self, int rank, double at, double one) noexcept
    @cython.locals(draft=Plan, now=double, index=Py_ssize_t, heads=int, place=int, procs=int, length=double, at=double)
    cdef void _decide_deep(self) noexcept


cdef class OrderedLoop(Loop):
    cdef public int by
    cdef public object order, seed
    cdef public double weight, alpha
    cdef public double[::1] by_length, by_width, by_queue, keys, other_keys
    cdef public int[::1] ranks, other_ranks

    cdef int _decide(self) except -1
    @cython.locals(queue=int[::1], rank_at=int[::1], ranks=int[::1], waiting=Py_ssize_t, width=int[::1],
                   length=double[::1], procs=int[::1], estimate=double[::1], index=Py_ssize_t, rank=int)
    cdef void _stand_anew(self) except *
    @cython.locals(keys=double[::1], ranks=int[::1], now=double, submit=double[::1], estimate=double[::1], by=int,
                   weight=double, by_length=double[::1], procs=int[::1], looked=double, alpha=double,
                   by_width=double[::1], by_queue=double[::1], index=Py_ssize_t, rank=int, waited=double, key=double)
    cdef void _find_keys(self) except *
    @cython.locals(keys=double[::1], ranks=int[::1], now=double, submit=double[::1], estimate=double[::1], by=int,
                   weight=double, lots=cython.ulonglong, index=Py_ssize_t, rank=int, number=double)
    cdef void _draw_keys(self) except *


cdef class CountedLoop(Loop):
    cdef public long wanted

    @cython.locals(rank=Py_ssize_t, index=Py_ssize_t)
    cdef int _happen(self, double now) except -1


cdef class Suspension(CountedLoop):
    cdef public bint seats_apart, is_waited_for
    cdef public int takes_as, resumes_as, returns_as, suspends_as
    cdef public Sets sets
    cdef public Py_ssize_t idle_set, tried_set, watched_set, came_set, apart_set, waited_for_set, theirs_set
    cdef public list whole_sets
    cdef public double[::1] since, paused_at, taker_at
    cdef public int[::1] preempted, paused_in, fitting, taker, scratch
    cdef public Py_ssize_t paused, fits_count, takers
    cdef public long preemptions
    cdef public Waiters pauses, stands_at

    cdef double _whole(self, double seconds) noexcept
    cdef double _urgency(self, int rank) noexcept
    cdef void _comes_to_run(self, int rank, double ran) noexcept
    cdef void _has_left(self, int rank) noexcept
    cdef void _is_set_aside(self, int rank, double ran) noexcept
    cdef void _is_taken_up(self, int rank) noexcept
    @cython.locals(idle=Py_ssize_t)
    cdef bint _has_room(self) noexcept
    @cython.locals(index=Py_ssize_t, free=int, queue=int[::1], procs=int[::1])
    cdef void _go_on(self) noexcept
    @cython.locals(at=double)
    cdef void _line_taker_up(self, int rank) noexcept
    @cython.locals(procs=int)
    cdef bint _fits(self, int rank) noexcept
    @cython.locals(index=Py_ssize_t)
    cdef bint _somebody_fits(self) noexcept
    @cython.locals(sets=Sets, idle=Py_ssize_t, came=Py_ssize_t, watched=Py_ssize_t, processor=int, rank=int,
                   index=Py_ssize_t)
    cdef void _find_room(self) noexcept
    @cython.locals(free=int, missing=int, sets=Sets)
    cdef void _take_room(self, int rank) noexcept
    @cython.locals(rank=int)
    cdef void _find_waited_for(self) noexcept
    cdef void _start_there(self, int rank, int form, double number) noexcept
    @cython.locals(index=Py_ssize_t)
    cdef void _resume(self, int rank, int form, double number) noexcept
    @cython.locals(now=double, running=Py_ssize_t, begun=Py_ssize_t, ran=double, estimate=double, expected=double,
                   leaves=double)
    cdef void _begin(self, int rank) noexcept
    cdef void _give_back(self, Py_ssize_t at, int procs) noexcept
    @cython.locals(now=double, running=Py_ssize_t, ran=double, begins=double, leaves=double, index=Py_ssize_t)
    cdef void _suspend(self, int rank, int by, double one, double two, double three) noexcept
    cdef void _pause(self, int rank, double ran) noexcept
    @cython.locals(sets=Sets, index=Py_ssize_t, missing=int)
    cdef void _place_among(self, int rank, Py_ssize_t count) noexcept
    @cython.locals(kept=Py_ssize_t, victims=int[::1], index=Py_ssize_t, rank=int)
    cdef Py_ssize_t _spare_unneeded(self, Py_ssize_t count, int found, int needed) noexcept


cdef class SelectiveLoop(Suspension):
    cdef public double sf, tick, limit
    cdef public double[::1] low, height, bare_height, rung_at, prices, hoped, moment, least, due_at, slowed
    cdef public int[::1] category, rung_of, priced_at, due_rank, ended, changed
    cdef public Py_ssize_t rungs, stamp, dues, nobody
    cdef public Waiters keepers
    cdef public bint stood
    cdef public double first, turn_at
    cdef public int turn_rank

    @cython.locals(now=double, tick=double, ticks=double, has_ticked=bint, is_calm=bint, before=Py_ssize_t,
                   index=Py_ssize_t, soon=double, end=double, at=double)
    cdef int _decide(self) except -1
    @cython.locals(place=Py_ssize_t, grown=double[::1], index=Py_ssize_t)
    cpdef void wake(self, double at) noexcept
    @cython.locals(at=double, rank=int)
    cdef void _take_turns(self) noexcept
    @cython.locals(now=double, sf=double, index=Py_ssize_t, rank=int, count=Py_ssize_t)
    cdef bint _find_turn(self, double last_at, int last) noexcept
    @cython.locals(at=double)
    cdef void _consider(self, int rank, double last_at, int last) noexcept
    @cython.locals(estimate=double, xfactor=double)
    cdef double _xfactor(self, int rank) noexcept
    cdef double _urgency(self, int rank) noexcept
    @cython.locals(count=Py_ssize_t, mine=double, victims=int[::1], sets=Sets, is_new=bint, index=Py_ssize_t,
                   other=int, estimate=double, ran=double, own=double)
    cdef void _preempt(self, int rank) noexcept
    @cython.locals(needed=int, found=int, count=Py_ssize_t, widest=int, index=Py_ssize_t, other=int)
    cdef Py_ssize_t _choose(self, int rank, double mine) noexcept
    @cython.locals(estimate=double)
    cdef void _comes_to_run(self, int rank, double ran) noexcept
    cdef void _has_left(self, int rank) noexcept
    @cython.locals(height=double, kind=int)
    cdef void _stand(self, int rank) noexcept
    cdef void _step_down(self, int rank) noexcept
    @cython.locals(kind=int, index=Py_ssize_t, rank=int, ran=double, idle=double, was=double)
    cdef void _count_finished(self) noexcept
    cdef double _price(self, int procs) noexcept
    @cython.locals(needed=int, widest=int, index=Py_ssize_t, its=int)
    cdef double _priced(self, int procs) noexcept
    @cython.locals(estimate=double)
    cdef void _is_set_aside(self, int rank, double ran) noexcept
    cdef void _is_taken_up(self, int rank) noexcept
    @cython.locals(estimate=double, moment=double)
    cdef double _moment(self, int rank, double least) noexcept
    @cython.locals(was=double, index=Py_ssize_t)
    cdef void _become_due(self, int rank, double moment) noexcept
    @cython.locals(rank=int)
    cdef void _release(self, Py_ssize_t keeper) noexcept
    cdef void _hope(self, int rank) noexcept
    @cython.locals(keeper=Py_ssize_t, toll=double, barrier=int, widest=int, sets=Sets, index=Py_ssize_t, other=int,
                   procs=int)
    cdef void _find(self, int rank) noexcept
    @cython.locals(first=double, rank=int)
    cdef double _soonest(self, double soon, double before) noexcept
    @cython.locals(rank=int, moment=double)
    cdef double _soonest_of(self, Py_ssize_t index, double soon, double first, bint looked) noexcept


cdef class ImmediateLoop(Suspension):
    cdef public double slice
    cdef public int[::1] is_to_wake, served_of
    cdef public double[::1] served_at
    cdef public Py_ssize_t served

    @cython.locals(index=Py_ssize_t, is_disappointed=bint, rank=int)
    cdef int _decide(self) except -1
    @cython.locals(ran=double)
    cdef double _urgency(self, int rank) noexcept
    cdef void _has_left(self, int rank) noexcept
    @cython.locals(over=double)
    cdef double _slice_over(self, int rank) noexcept
    @cython.locals(index=Py_ssize_t, rank=int, suffering=double, place=Py_ssize_t)
    cdef void _find_served(self) noexcept
    @cython.locals(ran=double)
    cdef double _suffering(self, int rank) noexcept
    @cython.locals(needed=int, found=int, count=Py_ssize_t, place=Py_ssize_t, first=Py_ssize_t, index=Py_ssize_t,
                   other=int)
    cdef bint _preempt(self, int rank) noexcept
    @cython.locals(soonest=double, next_of=int, index=Py_ssize_t, rank=int, over=double)
    cdef void _wake_next(self) noexcept
    cdef void _wake(self, double at, int rank) noexcept
    @cython.locals(place=Py_ssize_t)
    cdef void _forget_wake(self, int rank) noexcept


cdef class Partitions(CountedLoop):
    cdef public int borrows_as, partitions
    cdef public bint has_borrowed
    cdef public long borrowed
    cdef public list whole_sets, boundaries
    cdef public object boundary_step
    cdef public Sets sets
    cdef public Py_ssize_t idle_set, owned_set, lent_set
    cdef public int[::1] partition_of, idle

    @cython.locals(partition=int)
    cdef void _hold(self, int rank, int procs) noexcept
    @cython.locals(partition=int)
    cdef void _give_back(self, Py_ssize_t at, int procs) noexcept
    @cython.locals(sets=Sets, idle=int[::1], lent_set=Py_ssize_t, lender=int, partition=int, lent=int)
    cdef void _borrow(self, int rank, int to, int lacking) noexcept
    cdef void _move_boundaries(self) noexcept


cdef class MultiQueueLoop(Partitions):
    cdef public int beside_as, trial_as, due_as, early_as, highs
    cdef public bint tries, stands, drafted, has_moved
    cdef public double next_due, short_at, touched_at
    cdef public int untaken, short_of, touched_of
    cdef public long cut_in, all_cuts, told_in
    cdef public object kinds
    cdef public Py_ssize_t pivots, placed, stamp, planned_trials, cuts
    cdef public int[::1] spare, spared_in, pivot, firsts, stage, trials, cut
    cdef public double[::1] pivot_at, whole_estimate, whole_runtime

    @cython.locals(waiting=Py_ssize_t)
    cdef bint _has_room(self) noexcept
    cdef int _decide(self) except -1
    @cython.locals(index=Py_ssize_t, tried=int, told=Py_ssize_t, rank=Py_ssize_t, is_calm=bint, apart=bint)
    cdef int _make_pass(self) except -1
    @cython.locals(done=int[::1], kept=Py_ssize_t, index=Py_ssize_t, rank=int, at=Py_ssize_t)
    cdef void _complete_no_cut(self) noexcept
    @cython.locals(place=int)
    cdef void _complete(self, int rank, double now) noexcept
    cdef void _cut(self, int rank, int place, double now) noexcept
    @cython.locals(index=Py_ssize_t)
    cdef void _line_up_for_trial(self, int rank) noexcept
    @cython.locals(lasts=double, at=double)
    cdef void _plan_trial(self, int rank) noexcept
    @cython.locals(index=Py_ssize_t, rank=int, at=double, lasts=double)
    cdef void _start_trials(self) noexcept
    @cython.locals(place=Py_ssize_t)
    cdef void _try(self, Py_ssize_t index, int rank, int form, double two) noexcept
    @cython.locals(lasts=double)
    cdef bint _fits_instead(self, int rank, double at, double lasts) noexcept
    @cython.locals(rank=Py_ssize_t)
    cdef bint _somebody_high_came(self) noexcept
    @cython.locals(index=Py_ssize_t, rank=int, at=double)
    cdef void _expect_pivots(self) noexcept
    @cython.locals(queue=int[::1], width=int[::1], free=int, waiting=Py_ssize_t, idle=int[::1], pivot_at=double[::1],
                   place=int, procs=int, rank=int, partition=int, own=int, ends=double, until=double)
    cdef void _serve_queues(self, Py_ssize_t index) noexcept
    @cython.locals(procs=int, own=int, ends=double, has_room=bint, head=int, at=double, is_own=bint)
    cdef bint _pass_pivots(self, Py_ssize_t index, int rank, int partition) noexcept
    @cython.locals(stretch=Py_ssize_t)
    cdef void _run(self, Py_ssize_t index, int form, int head, double one, double two, int three, bint passes) noexcept
    @cython.locals(rank=int, partition=int, was=int, length=double, at=double)
    cdef void _join(self, int place) noexcept
    cdef void _step_aside(self, int partition) noexcept
    @cython.locals(place=int, rank=int)
    cdef void _hand_on(self, Py_ssize_t index, int partition) noexcept
    cdef void _move(self) noexcept
    @cython.locals(spare=int, start=double, index=Py_ssize_t)
    cdef int _spare(self, int partition) noexcept
    @cython.locals(place=int, at=double)
    cdef void _place_pivots(self, int last) noexcept
    @cython.locals(place=int, at=double)
    cdef void _draft_placed(self) noexcept
    @cython.locals(at=double[::1], free=int[::1], index=Py_ssize_t, count=Py_ssize_t, until=double)
    cdef bint _fits_beside(self, int procs, double ends) noexcept
    @cython.locals(at=double[::1], free=int[::1], index=Py_ssize_t, count=Py_ssize_t, until=double)
    cdef bint _touches_no_trial(self, int procs, double ends) noexcept


cdef class Clock(CountedLoop):
    cdef public object turns, tick
    cdef public int size, cycle, on_turn
    cdef public Py_ssize_t rows
    cdef public tuple ids
    cdef public double since, begin, slice, overhead, a_turn
    cdef public bint is_known, has_turned, has_other_rows
    cdef public int[::1] order, empty
    cdef public double[::1] made, to_be_made, share, seconds

    cpdef set_clock(self)
    cdef void _ask_clock(self) except *
    @cython.locals(made=double[::1])
    cdef void _share_out(self, double to) noexcept
    cdef void _count_progress(self) noexcept
    @cython.locals(ended=long, place=long, index=long)
    cdef void _advance(self, double to) noexcept
    cdef void _settle_clock(self, double now) except *
    @cython.locals(since=double, cycle=long, many=long, a_turn=double, overhead=double, whole=long, ended=long, turn=long,
                   rest=double, end=double)
    cdef double _finish(self, tuple places, double work) except? -1
    @cython.locals(cycle=long, its=long, place=long, turn=long)
    cdef long _turn_of(self, tuple places, long number) except -1
    @cython.locals(seconds=double[::1], before=double[::1])
    cdef double _empty_until(self, double to) noexcept


cdef class Sharing(Clock):
    cdef public int mpl, most_tasks
    cdef public long looked_in
    cdef public int[::1] set_at, placed, home, stands, band_of, members, new, scratch, id_of, room, is_row
    cdef public int[::1] replica_of, replica_in
    cdef public double[::1] ran, whole, need, stall, gain
    cdef public Py_ssize_t standing, news, replicas, copies, settled, apart, spare
    cdef public Py_ssize_t row_set, full_set, every_set, open_set
    cdef public list rows_of, written, bands, past_bands, alone, whole_sets
    cdef public set gone
    cdef public dict rows_at, band_at, places_at
    cdef public object kinds
    cdef public bint may_stall, migrates
    cdef public Sets sets

    cdef void _rebuild(self) except *
    @cython.locals(arrives=double, time=double, begins=double, index=Py_ssize_t)
    cdef double _next_time(self) except? -1
    @cython.locals(first=double, its=Py_ssize_t, since=double, need=double[::1], band_of=int[::1], place=Py_ssize_t,
                   end=double, soon=double, near=int[::1], count=Py_ssize_t, ends=double)
    cdef double _next_end(self, double before) except? -1
    @cython.locals(cycle=int, on_turn=int, turn=int)
    cdef double _first_stand(self, int rank) noexcept
    @cython.locals(crowd=Py_ssize_t)
    cdef bint _has_room(self) noexcept
    @cython.locals(is_event=bint)
    cdef int _decide(self) except -1
    @cython.locals(gain=double[::1], share=double[::1], done=int[::1], count=Py_ssize_t, least=double, index=Py_ssize_t,
                   rank=int, place=Py_ssize_t, places=tuple, band=int)
    cdef void _elapse(self, double to) except *
    @cython.locals(least=double, index=Py_ssize_t, rank=int, gained=double, lost=double, needs=double)
    cdef double _make_up(self) noexcept
    @cython.locals(slot=int, index=Py_ssize_t, place=Py_ssize_t)
    cdef void _leave(self, int rank, double now) noexcept
    cdef void _rows_go_on(self, double now) except *
    @cython.locals(kept=Py_ssize_t, slot=int, index=Py_ssize_t, rank=int)
    cdef void _begin(self, double now) noexcept
    cdef void _is_on_turn(self, int rank, double now) noexcept
    @cython.locals(place=Py_ssize_t, rank=int, written=list, rows_of=list, migrates=bint)
    cdef void _write_places(self, double now) except *
    @cython.locals(rows=tuple, begun=Py_ssize_t)
    cdef void _write_place(self, Py_ssize_t place, int rank, double now) except *
    cdef bint _has_migrated(self, int rank) except -1
    @cython.locals(band=int)
    cdef void _join_band(self, Py_ssize_t place, int rank, tuple rows) except *
    @cython.locals(band=int)
    cdef void _leave_band(self, Py_ssize_t place) except *
    @cython.locals(rows=tuple, band=int)
    cdef void _place_bands(self) except *
    @cython.locals(place=Py_ssize_t)
    cdef void _find_need(self, int rank) noexcept
    @cython.locals(index=Py_ssize_t, slot=int)
    cdef int _slot_of(self, int row) noexcept
    cdef void _name(self, Py_ssize_t slot, int row) except *
    @cython.locals(standing=Py_ssize_t, whole=double)
    cdef void _stand(self, int rank, int slot, double ran) except *
    cdef void _settle_in(self, int rank, int slot) except *
    cdef void _note_columns(self, int rank) except *
    cdef void _leave_row(self, int rank, int slot) noexcept
    @cython.locals(slot=int)
    cdef void _leave_replicas(self, int rank) except *
    @cython.locals(replicas=Py_ssize_t)
    cdef void _stand_too(self, int rank, int slot) except *
    @cython.locals(replica_of=int[::1], replica_in=int[::1], stands=int[::1], rows_of=list, index=Py_ssize_t, rank=int,
                   slot=int)
    cdef void _replicate(self, Py_ssize_t first, Py_ssize_t last) except *
    cdef void _stand_no_more(self, int rank, int slot) except *
    @cython.locals(index=Py_ssize_t)
    cdef void _keep_replicas(self, Py_ssize_t kept) except *
    @cython.locals(row=int)
    cdef int _next_row(self) except -1
    cdef void _find_spare(self) except *
    cdef void _open_row(self) except *
    @cython.locals(kept=Py_ssize_t, index=Py_ssize_t, slot=int)
    cdef void _drop_empty_rows(self) except *


cdef class GangLoop(Sharing):
    cdef public bint backfills, is_still, are_reserved
    cdef public object teller
    cdef public int rebuilds, found, comes_to
    cdef public int[::1] planned_row, ranked, were_ranked, next_of, next_in
    cdef public int[::1] by_end
    cdef public double[::1] row_planned, ends, spans_tried, tried_after
    cdef public int[::1] tried_in, tries, tried_near
    cdef public Py_ssize_t passed, rest, planned_of, trial, many_ranked
    cdef public list plans, lined_up

    @cython.locals(is_as_it_was=bint, stood=Py_ssize_t)
    cdef void _rebuild(self) except *
    @cython.locals(many=Py_ssize_t, ranked=int[::1])
    cdef bint _rank_rows(self) noexcept
    @cython.locals(sets=Sets, rows=Py_ssize_t, index=Py_ssize_t, row=int, turn=Py_ssize_t, hopeful=Py_ssize_t,
                   many=Py_ssize_t, place=Py_ssize_t, home=int[::1], scratch=int[::1], ranked=int[::1])
    cdef void _compact(self) except *
    @cython.locals(index=Py_ssize_t, rank=int)
    cdef void _compact_into(self, int target, int row, Py_ssize_t hopeful) except *
    @cython.locals(ran=double, procs=int, span=double, plan=RowPlan)
    cdef bint _may_move(self, int rank, int target) except -1
    @cython.locals(slot=int)
    cdef void _schedule(self) except *
    @cython.locals(index=Py_ssize_t, passes=bint, stood=Py_ssize_t, comes=Py_ssize_t)
    cdef void _schedule_all(self) except *
    @cython.locals(mpl=int, waiting=Py_ssize_t, queue=int[::1], procs_of=int[::1], most=int, plan=RowPlan, rank=int,
                   turn=Py_ssize_t)
    cdef Py_ssize_t _next_to_come(self, Py_ssize_t index) except -1
    @cython.locals(rank=int, procs=int, span=double, slot=int, plan=RowPlan)
    cdef void _come_to_row(self, Py_ssize_t index, bint passes) except *
    @cython.locals(index=Py_ssize_t)
    cdef void _plan_rest(self) except *
    @cython.locals(rank=int, slot=int)
    cdef void _place_first(self) except *
    cdef bint _has_row_for(self, int procs) except -1
    cdef void _keep(self, int rank, int place) noexcept
    @cython.locals(best=int, index=Py_ssize_t, slot=int, plan=RowPlan)
    cdef int _fullest(self, int procs, double span) except? -1
    @cython.locals(rows=int, rank=int, place=int)
    cdef void _place_in_new_row(self, Py_ssize_t index, double span, bint passes) except *
    @cython.locals(free=int, rank=int, row=int, for_so_long=double)
    cdef void _place(self, Py_ssize_t index, int slot, double span, bint passes) except *
    @cython.locals(rank=int, sets=Sets, procs=int)
    cdef void _come_in(self, Py_ssize_t index, int slot, bint passes) except *
    @cython.locals(sets=Sets, ranks=int[::1], slots=int[::1], count=Py_ssize_t, kept=Py_ssize_t, index=Py_ssize_t)
    cdef void _fill(self) except *
    @cython.locals(slot=int, plan=RowPlan)
    cdef void _forget_plans(self) except *
    @cython.locals(plan=RowPlan, now=double, mpl=int, rank=int, many=Py_ssize_t, index=Py_ssize_t, start=double,
                   is_simple=bint)
    cdef RowPlan _plan_reserved(self, int slot)
    @cython.locals(now=double, mpl=int, home=int[::1], procs=int[::1], placed=int[::1], ends=double[::1], rank=int,
                   end=double, last=Py_ssize_t, plan=RowPlan, index=Py_ssize_t, at=double[::1], free=int[::1])
    cdef void _plan_rows(self, Py_ssize_t stood) except *
    @cython.locals(plan=RowPlan)
    cdef void _plan_spare(self) except *
    @cython.locals(procs=int, span=double, at=double, slot=int, plan=RowPlan)
    cdef void _reserve_row(self, int rank) except *
    @cython.locals(tries=Py_ssize_t, place=Py_ssize_t, like=Py_ssize_t, longest=double, turn=Py_ssize_t,
                   own=Py_ssize_t, best=double, found=Py_ssize_t, is_known=bint, slots=Py_ssize_t, index=Py_ssize_t,
                   plan=RowPlan, after=double, near=Py_ssize_t, count=Py_ssize_t, until=Py_ssize_t, end=double)
    cdef double _soonest(self, int procs, double span) except? -1
    @cython.locals(place=Py_ssize_t, rank=int, at=double)
    cdef void _write_passed(self, Py_ssize_t index) noexcept


cdef class MigratingLoop(GangLoop):
    cdef public double cost
    cdef public int tasks, tasks_aside
    cdef public int[::1] migrated_in, aside
    cdef public Py_ssize_t asides, taken_set

    cdef void _rebuild(self) except *
    cdef bint _has_migrated(self, int rank) except -1
    @cython.locals(has_moved=bint, index=Py_ssize_t, row=int, turn=Py_ssize_t, place=Py_ssize_t, rank=int)
    cdef bint _compact_migrating(self) except -1
    cdef bint _moves_to(self, int rank, int row, int target) except -1
    @cython.locals(procs=int)
    cdef bint _can_bring(self, int rank, int target) noexcept
    @cython.locals(size=int, aside=int, cost=double, first=double, second=double, index=Py_ssize_t)
    cdef void _bring(self, int rank, int row, int target) except *
    @cython.locals(has_changed=bint, place=Py_ssize_t)
    cdef void _fill_migrating(self) except *
    @cython.locals(index=Py_ssize_t, slot=int, cost=double)
    cdef bint _finds_row_migrating(self, int rank) except -1
    @cython.locals(index=Py_ssize_t, other=int)
    cdef bint _can_replicate(self, int rank, int slot) noexcept
    @cython.locals(place=Py_ssize_t, other=int)
    cdef void _find_in_the_way(self, int rank, int slot) noexcept
    @cython.locals(index=Py_ssize_t, rank=int)
    cdef void _move_aside(self, int for_rank, int slot, why) except *
    @cython.locals(sets=Sets, procs=int)
    cdef void _migrate(self, int rank, int slot, int beside, why) except *
    cdef void _lose(self, int rank, why) except *
