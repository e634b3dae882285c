"""Check what the program reports about waits: why a job waited after each step, merged into rows and summaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sim.decisions import reasons_in_rows as in_rows
from sim.decisions import reasons_inferred as inferred
from sim.decisions import reasons_to_wait as k
from sim.decisions.sentences import fields_of, jobs_in
from tests.truth.peers import EASIES
from tests.truth.told import After, goes_down, heads, is_stopped_by, kept_of, line_of, others, taken_at_home
from tests.truth.words import UntrueError, demand, demand_equal, lasts, matched, whole
from tests.truth.world import Work, World, has_room


class WaitStep(NamedTuple):
    """Why a job waits after one step: kind of reason, job named in it, first job in the queue, numbers, and jobs
    ahead."""

    number: int
    """Number of the step, counted from 0"""
    time: float
    kind: type
    blocker: str | None
    head: str | None
    """First job in the queue; None unless the policy plans for one job only"""
    numbers: dict[str, float]
    ahead: int
    free: int
    """Free processors; in a matrix, those of the row that has the most"""
    holders: list[tuple[float, int, int]]
    """(expected end, rank, processors) of each running job"""


def wait_step(after: After, job: Work, number: int) -> WaitStep:
    """Return why the job waits after this step: the policy's reason or, if it gave none, the one that follows from
    decisions and plans."""
    world = after.world
    line = line_of(world, job) if job.rank in world.waiting else []
    free = most_free(world)
    kind, blocker, numbers = why_now(after, job, free)
    return WaitStep(
        number=number,
        time=world.now,
        kind=kind,
        blocker=blocker,
        head=head_now(world),
        numbers={"free": free, **numbers},
        ahead=line.index(job) if job in line else 0,
        free=free,
        holders=sorted((held.ends, rank, held.mask.bit_count()) for rank, held in world.running.items()),
    )


def most_free(world: World) -> int:
    """Return the number of free processors; in a matrix, that of the row that has the most."""
    free = world.free_set().bit_count()
    if world.memo_rows is None:
        return free
    taken = (taken_at_home(world, row).bit_count() for row in world.memo_rows.rows)
    return max((world.size() - held for held in taken), default=free)


def head_now(world: World) -> str | None:
    """Return the name of the first job in the queue; None unless the policy plans for one job only."""
    plans_for_one = world.rules.name in ("easy", "shadow", *EASIES) and world.rules.get("depth", 1) == 1
    head = next(iter(heads(world)), None) if plans_for_one else None
    return None if head is None else head.name


def promises(world: World) -> bool:
    """Return True if the policy, in this state, never moves a reserved start later."""
    rules = world.rules
    if (world.aside and not rules.suspends) or (world.granted and not rules.keeps):
        return False
    return rules.promises


def why_now(after: After, job: Work, free: int) -> tuple[type, str | None, dict[str, float]]:
    """Return (kind of reason, name of the job in it or None, its numbers by name) for a job that waits."""
    world = after.world
    if job.rank not in world.waiting:
        return inferred.AwaitsTurn, None, {}
    if (because := kept_of(after, job)) is not None:
        numbers = {key: value for key, value in fields_of(because).items() if isinstance(value, int | float)}
        return type(because), next((f"J{other.id}" for other in jobs_in(because)), None), numbers
    seen = world.free() if world.memo_rows is None else free
    planned = after.planned.get(job.rank)
    is_kept = bool(world.kept() & world.free_set())  # then the suspended job that resumes next is the head
    if head_now(world) == job.name and not is_kept:
        is_late = job.procs <= free and goes_down(after, job)
        return (k.MachineGoesDown, None, {}) if is_late else (inferred.Heads, None, {"free": free})
    if planned is None:
        stops = is_stopped_by(after)
        return inferred.NotConsidered, None if stops is None else stops.name, {"free": seen}
    if world.memo_rows is not None and job.rank not in world.granted:
        return inferred.RowLater, None, {}
    if job.procs > seen:
        if is_kept:
            return inferred.FewBesideKept, None if world.awaited is None else world.jobs[world.awaited].name, {}
        return k.TooFewFree, None, {"free": seen}
    if goes_down(after, job):
        return k.MachineGoesDown, None, {}
    fits = has_room(world.procs, job.procs, world.now, job.estimate, others(after, job))
    return (k.RoomUnseen if fits else k.PlannedLater), None, {"free": seen}


# Reasons in the past tense
class Past(NamedTuple):
    """Pattern of a sentence on many steps, the kinds of reasons that it stands for, and the pattern of the jobs named
    in it."""

    pattern: str
    kinds: tuple[type, ...]
    many: str = ""


_NEVER = r"(?P<others>.*?)"
PASTS = (
    Past(r"it was first in the queue and fewer than its (?P<procs>[\d,]+) processors were free", (inferred.Heads,)),
    Past(r"fewer than its (?P<procs>[\d,]+) processors were free", (k.TooFewFree,)),
    Past(r"it was first in the queue and no processor was free", (inferred.Heads,)),
    Past(r"no processor was free", (k.TooFewFree,)),
    Past(f"starting it would have delayed {_NEVER}, as was predicted", (k.PredictedToDelay,), "the head of the queue"),
    Past("it would not have ended before the maintenance", (k.MachineGoesDown,)),
    Past(f"starting it would have delayed {_NEVER}", (k.WouldDelay,), "the head of the queue"),
    Past(f"it was too far behind {_NEVER}", (k.BeyondLookahead,), "the head of the queue"),
    Past(f"starting it would have delayed {_NEVER}", (k.WouldDelayPivot,), "the pivots"),
    Past("the free processors were needed too soon by jobs planned before it", (k.PlannedLater,)),
    Past(f"it would have outlasted the window for {_NEVER}", (k.WindowCloses,), "the head"),
    Past(f"it would have delayed {_NEVER} past their latest starts", (k.BreaksBound,), "others"),
    Past("too few running jobs had an xfactor small enough to be suspended for it", (k.NoVictims,)),
    Past("the running jobs with a small enough xfactor were too wide(?: or protected)?", (k.NoVictimAllowed,)),
    Past("its processors became available after the policy had considered it", (k.TurnOver,)),
    Past("too few running jobs had used up their slice", (k.NoSliceOver,)),
    Past("the jobs suspended for it still occupied their processors", (k.AwaitsVictims,)),
    Past("other jobs ran on the processors claimed for it", (k.ClaimTaken,)),
    Past(
        f"it was first in its queue, but {_NEVER} needed too many processors before its planned start",
        (k.PivotLater,),
        "others",
    ),
    Past(f"it would have used processors reserved for {_NEVER}", (k.TouchesReservation,), "others"),
    Past("its speculative run was planned for later", (k.TrialLater,)),
    Past("the policy did not reconsider its plan although there was room", (k.RoomUnseen,)),
    Past("its user had reserved a later start", (k.WaitsForReserved,)),
    Past("its recorded start was later", (k.NotYet,)),
    Past(r"no row of the matrix had (?P<procs>[\d,]+) processors? free", (in_rows.FitsNoRow,)),
    Past(r"no row of the matrix had room for its (?P<procs>[\d,]+) processors? soon enough", (inferred.RowLater,)),
    Past("its row of the matrix had not had a turn yet", (inferred.AwaitsTurn,)),
    Past(f"processors were kept for {_NEVER}", (inferred.FewBesideKept,), "a suspended job"),
    Past(f"the policy stopped at {_NEVER}", (inferred.NotConsidered,), "jobs ahead of it"),
)
_NUMBERS = (
    r"(?:: it needs (?P<needs>[\d,]+), (?P<extra>[\d,]+(?: to [\d,]+)?) extra"
    r"|: at most (?P<most>[\d,]+(?: to [\d,]+)?) in any of (?P<rows>[\d,]+(?: to [\d,]+)?) rows"
    r"|: (?P<free>[\d,]+(?: to [\d,]+)?)(?: free)?"
    r"|, though it would have fitted (?P<fitted>the whole|\S+ of that) time"
    r"|, and it would not have fitted in any (?P<never>case))?"
)


class Wait(NamedTuple):
    """Some steps of a job's wait; `lengths` are the seconds from each step to the next."""

    job: Work
    steps: Sequence[WaitStep]
    lengths: Sequence[float]

    def of(self, kinds: Sequence[type]) -> Wait:
        found = [(s, length) for s, length in zip(self.steps, self.lengths, strict=True) if s.kind in kinds]
        return Wait(self.job, [step for step, _ in found], [length for _, length in found])

    @property
    def seconds(self) -> float:
        return sum(self.lengths)

    def fitting(self) -> float:
        return sum(length for step, length in zip(self.steps, self.lengths, strict=True) if step.free >= self.job.procs)


def read_part(wait: Wait, told: str, length: str = "") -> Wait:
    """Check one reason in a summary, its numbers and its length; return the steps with this reason.

    Two kinds of reason may share one sentence.
    """
    false = UntrueError(f"{told!r} was no reason: {sorted({step.kind.__name__ for step in wait.steps})}")
    for past in PASTS:
        match = re.fullmatch(past.pattern + _NUMBERS, told)
        some = wait.of(past.kinds)
        if match is None or not some.steps:
            continue
        try:
            read_places(some, match.groupdict(), past.many)
            demand(not length or lasts(length).is_about(some.seconds), f"{told}: {some.seconds}")
        except UntrueError as untrue:
            false = untrue
        else:
            return some
    raise false


def read_places(wait: Wait, parts: Mapping[str, str], many: str) -> None:
    """Check the processors, jobs and numbers in one sentence; `parts` are its fields, `many` is the text for several
    jobs."""
    if parts.get("procs"):
        demand_equal(whole(parts["procs"]), wait.job.procs, "its processors")
    if many:
        read_blockers(wait, parts["others"], many)
    read_numbers(wait, parts)


def read_blockers(wait: Wait, told: str, many: str) -> None:
    """Check the jobs that the sentence names as blocking for the longest time, and for how long each did."""
    seconds: dict[str, float] = {}
    for step, length in zip(wait.steps, wait.lengths, strict=True):
        if step.blocker is not None:
            seconds[step.blocker] = seconds.get(step.blocker, 0) + length
    seconds = {name: length for name, length in seconds.items() if length} or seconds
    if len(seconds) <= 1:
        demand_equal(told, next(iter(seconds), many), "named")
        return
    match = matched(rf"{many} \((.*)\)", told)
    named = re.findall(r"(J\d+) for ([\w.]+)", match[1])
    more = re.search(r"([\d,]+) more$", match[1])
    demand_equal(len(named) + (whole(more[1]) if more else 0), len(seconds), "how many")
    for name, length in named:
        demand(lasts(length).is_about(seconds.get(name, -1)), f"{name}: {seconds.get(name)}")
    least = min(seconds[name] for name, _ in named)
    demand(all(seconds[name] <= least for name in seconds.keys() - dict(named).keys()), "others were it longer")


def read_numbers(wait: Wait, parts: Mapping[str, str | None]) -> None:
    """Check the smallest and the largest value of each number over the steps."""
    for key, of in (("extra", "extra"), ("most", "free"), ("rows", "rows"), ("free", "free")):
        if (told := parts.get(key)) is not None:
            values = [step.numbers[of] for step in wait.steps]
            low, _, high = told.partition(" to ")
            demand_equal((whole(low), whole(high or low)), (min(values), max(values)), key)
    if (needs := parts.get("needs")) is not None:
        demand_equal(whole(needs), wait.job.procs, "needs")
    if (fitted := parts.get("fitted")) is not None:
        true = wait.fitting()
        demand(true > 0 and (fitted == "the whole") == (true == wait.seconds), f"it fitted {true} of {wait.seconds}")
        demand(fitted == "the whole" or lasts(fitted.removesuffix(" of that")).is_about(true), true)
    elif parts.get("never"):
        demand_equal(wait.fitting(), 0, "it fitted")


def read_parts(wait: Wait, told: str) -> None:
    """Check a row's reasons: one reason and the number of jobs ahead, or several reasons with the share of each."""
    if re.match(r"[\d.]\S* ", told):
        many = 0
        for part in told.split("; "):
            length, _, reason = part.partition(" ")
            many += len(read_part(wait, reason, length).steps)
        demand_equal(many, len(wait.steps), "steps for these reasons")
        return
    reason, _, ahead = told.partition("; ")
    some = read_part(wait, reason)
    demand_equal(len(some.steps), len(wait.steps), "steps for that reason")
    read_ahead(wait, ahead)


def read_summary(wait: Wait, told: str) -> None:
    """Check the summary of a whole wait: each reason with its share, or the only reason if it held for 95 % of the
    time."""
    told = re.sub(r"(?:, | and )[\d,]+ more$", "", told)
    merged = [step._replace(kind=k.TooFewFree) if step.kind is inferred.Heads else step for step in wait.steps]
    wait = wait._replace(steps=merged)
    shares = re.split(r"(?:^|; |, | and )(?=[\d.]\S* because )", told)
    if len(shares) == 1:
        true = seconds_of(wait, told)
        demand(true >= 0.95 * wait.seconds, f"{true} of {wait.seconds}")
        return
    for share in filter(None, shares):
        length, _, reason = share.partition(" because ")
        true = seconds_of(wait, reason)
        demand(lasts(length).is_about(true), f"{reason}: {true}")


def seconds_of(wait: Wait, told: str) -> float:
    """Return for how many seconds the job waited for the reason `told`; two kinds of reason may share one sentence."""
    true = 0.0
    for past in PASTS:
        if re.fullmatch(past.pattern + _NUMBERS, told):
            try:
                true += read_part(
                    wait._replace(
                        steps=[s for s in wait.steps if s.kind in past.kinds], lengths=wait.of(past.kinds).lengths
                    ),
                    told,
                ).seconds
            except UntrueError:
                continue
    demand(true > 0, f"{told!r} was no reason")
    return true


def read_ahead(wait: Wait, told: str) -> None:
    """Check the number of jobs ahead at the first and the last of the steps, and the first job in the queue."""
    first, last = wait.steps[0].ahead, wait.steps[-1].ahead
    match = matched(
        r"(?P<only>J\d+) ahead of it|"
        r"(?P<first>[\d,]+) jobs? ahead of it(?:, (?P<last>none|[\d,]+) at the end)?"
        r"(?:, (?P<head>J\d+) first in the queue)?|",
        told,
    )
    if match["only"]:
        demand_equal((first, last), (1, 1), "ahead")
        demand_equal({match["only"]}, {step.head for step in wait.steps}, "the head")
        return
    said = whole(match["first"] or "0")
    at_last = said if match["last"] is None else 0 if match["last"] == "none" else whole(match["last"])
    demand_equal((said, at_last), (first, last), "ahead at first, at last")
    if match["head"]:
        demand_equal({match["head"]}, {step.head for step in wait.steps}, "the head")


def read_missing(wait: Wait, told: str, moment: Callable[[str], float], name_of: Callable[[int], str]) -> None:
    """Check which running jobs held the processors that the job lacked after the first step; `moment` reads a time,
    `name_of` gives the name of a rank."""
    if not told:
        return
    first, job = wait.steps[0], wait.job
    match = matched(r" It lacked ([\d,]+)( more)? processors?, due from (.*)\.", told)
    lacking = job.procs - first.free
    demand_equal((whole(match[1]), bool(match[2])), (lacking, lacking < job.procs), "it needed, more")
    need, come = [], 0
    for end, rank, procs in first.holders:
        if come >= lacking:
            break
        need.append((name_of(rank), procs, end))
        come += procs
    said = re.findall(r"(J\d+) \(([\d,]+), until ([^)]*)\)", match[3])
    more = re.search(r"([\d,]+) more", match[3])
    demand_equal(len(said) + (whole(more[1]) if more else 0), len(need), "how many")
    true = need if not more else [*need[:2], need[-1]]
    demand_equal([name for name, _, _ in said], [name for name, _, _ in true], "from whom")
    for (_, procs, until), (_, held, end) in zip(said, true, strict=True):
        demand_equal((whole(procs), moment(until)), (held, int(end)), "processors, until")
