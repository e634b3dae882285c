"""Check every line of the job panel and of the decisions panel, and that none is missing.

Sentences and numbers that the panels share with Why are checked elsewhere; here they must only appear unchanged.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions import reasons_in_rows as in_rows
from sim.decisions.reasons_to_wait import TooFewFree
from sim.life.job_state import JobReader
from sim.support.formatting import clock, clock_near, span
from sim.why.evidence import evidence_of
from sim.why.explanation import passed_by
from sim.why.facts import PassedBy, fact_row
from sim.workload.model import Trace
from tests.truth.lives import Record
from tests.truth.loans import told_decision
from tests.truth.runs import Run, Step
from tests.truth.stories import NUMBERS
from tests.truth.teller import often
from tests.truth.told import After
from tests.truth.words import Lasts, Names, Tenths, UntrueError, demand, demand_equal, read_aloud, reads, whole
from tests.truth.world import Work
from tui.look.palette import DARK
from tui.panels import decisions, details
from tui.panels.context import Context
from tui.replay.scene import About, Scene, StripScene
from tui.replay.stage import OwnNumbers

SIZE = 500, 100
BEGIN = (d.Start, d.Backfill, d.Resume, d.Suspend, m.Place)
PLANS = (d.Reserve, m.ReserveRow, d.Expect)


class Sight(NamedTuple):
    """A step of a run as the screen shows it, with one selected job."""

    run: Run
    step: Step
    number: int
    after: After
    job: Work
    record: Record
    numbers: OwnNumbers | None = None
    usage: Sequence[float] = ()
    """Past usage of the job's user after each step, for orders that use it"""

    def said(self, decision: d.Decision) -> str:
        """Return the sentence with which the panels show a decision."""
        return told_decision(self.after.world, decision, self.at)

    @property
    def context(self) -> Context:
        workload, shown, rank = self.run.workload, self.step.shown, self.job.rank
        job = JobReader(workload, rank).at(self.run.engine.history, shown)
        strip = StripScene(0.0, 0.0, 0.0, (), ())
        scene = Scene(shown, self.step.now, self.number, False, None, strip, job, decisions=shown.decisions)
        if self.numbers is not None:
            scene = replace(scene, numbers=self.numbers.found)
        about = About("random", "", workload, Trace("random", "swf", (), workload.submit.reshape(-1, 1)))
        return Context(about, scene, DARK, rank)

    def at(self, seconds: float) -> str:
        return clock_near(self.step.now)(seconds)

    @property
    def passed(self) -> PassedBy:
        workload = self.run.workload
        job = workload.jobs[self.job.rank].replaced(submit=self.job.submit)
        return passed_by(self.run.engine.history.as_of(self.number), job, workload.outages)

    def is_known(self, told: str) -> bool:
        """Return True if the panels can show the fact `told`; a predicted run time only before the first start."""
        return not told.startswith("predicted ") or (self.state == "waiting" and not self.record.cuts)

    @property
    def considers(self) -> bool:
        """Return True if the panel shows considered decisions: the job is in the queue, suspended or running."""
        return self.state in ("waiting", "suspended", "running", "in the matrix")

    @property
    def status(self) -> str:
        """Return the panel's word for a waiting or suspended job: "rejected", "planned" or "not considered"."""
        rank, world = self.job.rank, self.after.world
        kinds = d.Keep if rank in world.waiting else (d.Keep, d.Suspend)
        if rank == world.awaited:
            return "planned"
        if any(isinstance(e, kinds) and e.job.rank == rank for e in self.after.decisions):
            return "rejected"
        return "planned" if rank in self.after.planned else "not considered"

    @property
    def events(self) -> list[tuple[str, str]]:
        """Return (time, event) of everything that happened to the job; of its planned starts only the first."""
        job, world, found = self.job, self.after.world, list[tuple[str, str]]()
        if job.rank in world.came:
            found.append((self.at(job.submit), "submitted"))
        plans = 0
        for time, decision in self.record.decided:
            plans += isinstance(decision, PLANS)
            if isinstance(decision, d.Keep | m.Replicate | m.Rehome) or (isinstance(decision, PLANS) and self.expects):
                continue
            if not isinstance(decision, PLANS) or plans == 1:
                found.append((self.at(time), self.said(decision).removeprefix(f"{job.name} ")))
        if job.rank in world.finished:
            end = world.end_of[job.rank]
            found.append((self.at(end), f"ended, {span(end - job.submit)} after its submission"))
        return found

    @property
    def expects(self) -> bool:
        """Return True if the run was under multiqueue before, whose plans within a pass appear in no step."""
        return any(step.shown.policy.startswith("multiqueue") for step in self.run.steps[: self.number])

    @property
    def state(self) -> str:
        world, rank = self.after.world, self.job.rank
        if rank in world.waiting:
            return "waiting"
        if rank in world.aside:
            return "suspended"
        if world.memo_rows is not None and rank in world.memo_rows.columns:
            return "in the matrix"
        if rank in world.running:
            return "running"
        if rank in world.finished:
            return "killed" if world.killed[rank] else "finished"
        return "cancelled" if rank in world.came else "not submitted"


def read_panels(sight: Sight) -> Iterator[UntrueError]:
    """Yield each false or missing line of the job panel and of the decisions panel."""
    sheet = details.draw(sight.context, SIZE, 0)
    sections = _sections([line.text for line in sheet.body])
    told: list[tuple[type, str]] = [(State, sheet.note), *((Asked, line) for line in sections.pop(""))]
    found = evidence_of(sight.step.shown, sight.job.rank, sight.at, sight.passed)
    if found is None:
        told += [(Standing, line) for line in sections.pop("Now")]
    else:
        rows = [" ".join(fact_row(fact, sight.at)) for fact in found.facts]
        for title, true in (("Now", [*map(sight.after.world.named, found.clauses)]), ("In numbers", rows)):
            if [" ".join(line.split()) for line in sections.pop(title, [])] != true:
                yield UntrueError(f"Panel: {title}: Why says {true}")
    for title, lines in sections.items():
        told += [(KINDS[title], line) for line in lines if re.search("[a-z]", line) and sight.is_known(line)]
    told += [(Deciding, line) for line in _of_the_step(sight)]
    for kind, sentence in told:
        try:
            read_aloud(kind, sentence, sight)
        except UntrueError as false:
            yield false
    yield from _are_all_there(sight, sections)


def _sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines under each title of the panel; the key "" has those above the first title."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for before, line in zip(["", *lines], lines, strict=False):
        if not line:
            continue
        if not before and found[""]:
            title = line
            found[title] = []
        else:
            found[title].append(line)
    return found


def _of_the_step(sight: Sight) -> list[str]:
    """Return the lines of the decisions panel, its note last."""
    sheet = decisions.draw(replace(sight.context, selected=None), SIZE, 0)
    return [*filter(None, (line.text for line in sheet.body)), f"note: {sheet.note}"]


def _are_all_there(sight: Sight, sections: Mapping[str, Sequence[str]]) -> Iterator[UntrueError]:
    """Yield an error for each line that the panel should have and does not."""
    above = _told_above(sight)
    own = [
        told
        for each in sight.after.decisions
        if _rank(each) == sight.job.rank and (told := sight.said(each)) not in above
    ]
    shown = [line[2:] for line in sections.get("Considered", ())]
    if sight.considers and len(shown) < 12 and [line for line in shown if line in own] != own:
        yield UntrueError(f"Considered: {shown}, true {own}")
    events = [line[12:] if line[2:3] == ":" else line.split("  ", 1)[1][2:] for line in sections.get("Life", ())]
    if sight.expects:
        plans = ("is planned for", "is expected to start at")
        events = [told for told in events if not told.startswith(plans)]
    if len(events) < 60 and events != [told for _, told in sight.events]:
        yield UntrueError(f"Event: {events}, true {sight.events}")


def _told_above(sight: Sight) -> list[str]:
    """Return the decisions to let the job wait whose reason already appears in the explanation above them."""
    found = evidence_of(sight.step.shown, sight.job.rank, sight.at, sight.passed)
    known = "" if found is None else sight.after.world.named(" ".join(found.clauses))
    kept = (each for each in sight.after.decisions if isinstance(each, d.Keep) and each.job.rank == sight.job.rank)
    return [told for each in kept if (told := sight.said(each)).partition(": ")[2] in known]


def _rank(decision: d.Decision) -> int | None:
    job = getattr(decision, "job", None)
    return None if job is None else job.rank


# The job


class State:
    """Kind of line in the job panel: the state of the job, in a word or two."""


@reads(State, "{any}")
def _(sight: Sight, told: str) -> None:
    state, _, rest = told.partition(", ")
    demand_equal(state, sight.state, "state")
    if state in ("waiting", "suspended"):
        verb = "start" if state == "waiting" else "resume"
        demand_equal(rest, {"rejected": f"could not {verb}"}.get(sight.status, sight.status))
    else:
        demand_equal(rest, "")


class Asked:
    """Kind of line in the job panel: what the job requests."""


@reads(Asked, "▇▇ {n} of {n} processor(s) · estimate {s}")
def _(sight: Sight, procs: int, of: int, estimate: Lasts) -> None:
    demand_equal((procs, of, of), (sight.job.procs, sight.after.world.procs, sight.after.world.size()))
    demand(estimate.is_about(sight.job.estimate))


@reads(Asked, "▇▇ {n} processor(s), {n} there now · estimate {s}")
def _(sight: Sight, procs: int, there: int, estimate: Lasts) -> None:
    demand_equal((procs, there), (sight.job.procs, sight.after.world.size()))
    demand(there < sight.after.world.procs and estimate.is_about(sight.job.estimate))


@reads(Asked, "submitted {any}")
def _(sight: Sight, told: str) -> None:
    job, due = sight.job, sight.after.world.due(sight.job.rank)
    whose = f" · user {job.user}" * (job.user >= 0) + " · high priority" * job.high
    asked = "" if job.reserve is None else f" · asked to start at {clock(job.reserve)}"
    demand_equal(told, f"{'when the jobs before it allow it' if due is None else clock(due)}{whose}{asked}")


class Standing:
    """Kind of line in the job panel: on a job that has not arrived yet, or that has ended or been cancelled."""


@reads(Standing, "{j} will be submitted {any}: {n} processor(s) for at most {s}.")
def _(sight: Sight, name: str, when: str, procs: int, long: Lasts) -> None:
    job, due = sight.job, sight.after.world.due(sight.job.rank)
    true = "when the jobs that it waits for allow it" if due is None else f"at {sight.at(due)}"
    demand_equal((name, when, procs), (job.name, true, job.procs))
    demand(long.is_about(job.estimate) and sight.state == "not submitted", sight.state)


@reads(Standing, "{j} ended at {any} after waiting {s}.", "{j} ended at {any} without waiting.")
def _(sight: Sight, name: str, at: str, waited: Lasts | None = None) -> None:
    has_ended(sight, name, at, waited, "finished")


@reads(
    Standing,
    "{j} was killed at its estimate at {any} after waiting {s}.",
    "{j} was killed at its estimate at {any} without waiting.",
)
def _(sight: Sight, name: str, at: str, waited: Lasts | None = None) -> None:
    has_ended(sight, name, at, waited, "killed")


def has_ended(sight: Sight, name: str, at: str, waited: Lasts | None, how: str) -> None:
    job, world = sight.job, sight.after.world
    demand_equal((name, at, how), (job.name, sight.at(world.end_of[job.rank]), sight.state))
    true = max(0.0, world.first_start[job.rank] - max(job.submit, job.reserve or 0))
    demand(true == 0 if waited is None else waited.is_about(true) and true > 0, true)


@reads(Standing, "{j} is cancelled: it needs {n} processor(s) and at most {n} will ever be available.")
def _(sight: Sight, name: str, needs: int, most: int) -> None:
    """Check `most` against the decision that cancelled the job, as fewer processors may be available by now."""
    demand_equal((name, needs, sight.state), (sight.job.name, sight.job.procs, "cancelled"))
    demand_equal(most, next(decision.most for _, decision in sight.record.decided if isinstance(decision, d.Drop)))


class Considered:
    """Kind of line in the job panel: a decision about the job, or about another job that blocks it."""


@reads(Considered, "… and {n} other decision{any}")
def _(sight: Sight, others: int, end: str) -> None:
    lines = _sections([line.text for line in details.draw(sight.context, SIZE, 0).body])["Considered"]
    shown = len(_told_above(sight)) + len(lines) - 1
    demand_equal((others, end), (len(sight.after.decisions) - shown, "s" * (others != 1)))


@reads(Considered, "{any}")
def _(sight: Sight, told: str) -> None:
    same = [decision for decision in sight.after.decisions if sight.said(decision) == told[2:]]
    demand(same, "nobody decided it")
    named = re.search(rf"\b{sight.job.name}\b", told)
    demand(named or any(isinstance(decision, BEGIN) for decision in same), "it has nothing to do with it")


class Factor:
    """Kind of line in the job panel: how the job's xfactor changed."""


@reads(Factor, "from 1 to {x}: flat while it runs, rising while it waits or is suspended")
def _(sight: Sight, xfactor: Tenths) -> None:
    job, world = sight.job, sight.after.world
    until = world.end_of[job.rank] if job.rank in world.finished else world.now
    true = (until - job.submit - world.progress(job.rank) + job.estimate) / job.estimate
    demand(xfactor.is_about(true), true)


class Moved:
    """Kind of line in the job panel: how the job's planned start moved."""


@reads(Moved, "from {any} to {any}, moved {any}")
def _(sight: Sight, first: str, last: str, moved: str) -> None:
    plans = sight.record.plans_written
    if any(isinstance(decision, m.ReserveRow) for _, decision in sight.record.decided):
        world = sight.after.world
        anew = world.taken_over >= sight.job.submit or sight.record.interrupted
        demand_equal(", or replanned" in moved, bool(anew))
        demand(", in rows: moves of a turn or more" in moved)
    now = sight.after.planned.get(sight.job.rank)
    demand_equal(first, sight.at(plans[0]))
    true = plans[-1] if now is None else now.at
    demand(last == sight.at(true), true)
    moves = [after - before for before, after in pairwise(plans) if abs(after - before) > 1e-6]
    later = sum(move > 0 for move in moves)
    turns = r"(?:, in rows: moves of a turn or more(?:, or replanned)?)?"
    match = re.fullmatch(rf"([^(]*?){turns}(?: \((?:([\d,]+) earlier)?(?:, )?(?:([\d,]+) later)?\))?", moved)
    demand(match is not None, f"nobody reads {moved!r}")
    assert match is not None
    many = 0 if match[1] == "0 times" else often(match[1])
    demand_equal(
        (many, whole(match[2] or "0"), whole(match[3] or "0")), (len(moves), len(moves) - later, later), "moved"
    )


class Noted:
    """Kind of line in the job panel: how one of the policy's own numbers changed. It is followed for a job while it
    waits, for a user through the run.
    """


@reads(Noted, "{any} from {any} to {any}: {any}", "{any} {any}: {any}")
def _(sight: Sight, name: str, *told: str) -> None:
    meaning, written = NUMBERS[name]
    demand(told[-1].startswith(meaning), "what it is")
    values = sight.usage if name == "usage" else [value for _, value in sight.record.numbers[name]]
    for said, true in zip((told[0], told[-2]), (values[0], values[-1]), strict=True):
        demand(written(said).is_about(true), true)


class Event:
    """Kind of line in the job panel: an event in the job's life."""


@reads(Event, "{any}")
def _(sight: Sight, told: str) -> None:
    at, _, what = told.partition("  ")
    if more := re.fullmatch(r"… ([\d,]+) more events?", what):
        demand_equal(whole(more[1]), len(sight.events) - 60, "more events")
    elif plan := re.fullmatch(r"is expected to start at (.*) \(not reserved\)", what[2:]):
        then = [(sight.at(time), sight.at(start)) for time, start in became(sight.record)]
        demand((at, plan[1]) in then, "it was not planned so then")
    else:
        said = [(sight.at(time), sight.said(e)) for time, e in sight.record.decided]
        said += sight.events
        demand((at, what[2:]) in [(time, told.removeprefix(f"{sight.job.name} ")) for time, told in said], said)


def became(record: Record) -> list[tuple[float, float]]:
    """Return (time, new planned start) of each change of the job's planned start."""
    pairs = pairwise([(0.0, None), *record.planned])
    return [(time, now) for (_, was), (time, now) in pairs if now is not None and now != was]


KINDS: dict[str, type] = {
    "Considered": Considered,
    "Expansion factor": Factor,
    "Planned start": Moved,
    "The policy's own numbers": Noted,
    "Life": Event,
}

# The step


class Deciding:
    """Kind of line in the decisions panel."""


@reads(Deciding, "note: {any}")
def _(sight: Sight, told: str) -> None:
    made = [e for e in sight.step.decisions if not isinstance(e, d.Keep | m.Phase)]
    kept = sum(isinstance(e, d.Keep) for e in sight.step.decisions)
    world = sight.after.world
    true = [f"{len(made):,} made"] if made else []
    if kept and made and world.memo_rows is None:
        free = world.free_set().bit_count()
        true += [f"{kept:,} wait{'s' * (kept == 1)}", f"then {free:,} free"]
    elif kept:
        true += [f"{kept:,} kept waiting"]
    demand_equal(told, (" · ".join(true) if sight.step.decisions else "none"))


def _comes(verbs: tuple[str, str], ranks: Callable[[Sight], Sequence[int]], why: str = "") -> None:
    def read(sight: Sight, told: Names) -> None:
        true = [sight.after.world.jobs[rank].name for rank in ranks(sight)]
        demand_equal(told, (true[: len(told[0])], len(true) - len(told[0])), "who")

    for sign in "+−×":
        reads(Deciding, f"{sign} {{js}} {verbs[0]}{why}", f"{sign} {{js}} {verbs[1]}")(read)


def _ended(is_killed: bool) -> Callable[[Sight], Sequence[int]]:
    return lambda sight: [r for r in sight.after.world.completed if sight.after.world.killed[r] == is_killed]


_comes(("arrives", "arrive"), lambda sight: sight.after.world.arrived)
_comes(("ends", "end"), _ended(False))
_comes(("is killed", "are killed"), _ended(True), ": its estimate is over")


@reads(Deciding, "○ {js} wait: each needs more than is free", "○ {js} wait: each needs more than is free in any row")
def _(sight: Sight, told: Names) -> None:
    """Check a line on several waiting jobs: successive decisions with the same reason share one line."""
    groups = [[*some] for _, some in groupby(sight.step.decisions, key=_why)]
    names = [[f"J{e.job.id}" for e in some if isinstance(e, d.Keep)] for some in groups if _is_for_room(some[0])]
    demand((told[0], told[1]) in [(some[: len(told[0])], len(some) - len(told[0])) for some in names], names)


def _why(decision: d.Decision) -> tuple[type, type, object]:
    because = getattr(decision, "because", None)
    return type(decision), type(because), because


def _is_for_room(decision: d.Decision) -> bool:
    return isinstance(decision, d.Keep) and isinstance(decision.because, TooFewFree | in_rows.FitsNoRow)


@reads(Deciding, "{any}: no job moves")
def _(sight: Sight, phases: str) -> None:
    names = phases.removeprefix("phase").removeprefix("s").strip().split(" · ")
    made = [e.name if isinstance(e, m.Phase) else _rank(e) is None for e in sight.step.decisions]
    quiet = [e for e in made if e is not True]
    demand(any(quiet[at : at + len(names)] == names for at in range(len(quiet))), made)


@reads(Deciding, "No decisions: {n} job {any} waiting.", "No decisions: {n} jobs {any} waiting.")
def _(sight: Sight, many: int, waits: str) -> None:
    demand(not sight.step.decisions)
    demand_equal((many, waits), (len(sight.after.world.waiting), "keeps" if many == 1 else "keep"))


@reads(Deciding, "No decisions: no job waits.")
def _(sight: Sight) -> None:
    demand(not sight.step.decisions and not sight.after.world.waiting and not sight.after.world.aside)


@reads(Deciding, "No decisions: no job waits; {n} {any} suspended.")
def _(sight: Sight, many: int, verbs: str) -> None:
    demand(not sight.step.decisions and not sight.after.world.waiting)
    demand_equal((many, verbs), (len(sight.after.world.aside), "is" if many == 1 else "are"))


@reads(
    Deciding,
    "No change to the matrix: it is rebuilt when a job arrives or ends; until then its rows take turns.",
)
def _(sight: Sight) -> None:
    world = sight.after.world
    demand(not sight.step.decisions and world.memo_rows is not None and not world.arrived and not world.completed)


@reads(Deciding, "{any}")
def _(sight: Sight, told: str) -> None:
    said = [sight.said(decision) for decision in sight.step.decisions]
    phases = [decision.name for decision in sight.step.decisions if isinstance(decision, m.Phase)]
    demand(told[2:] in said or told.removeprefix("phase ") in phases, "nobody decided it")
