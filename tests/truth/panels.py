"""Check what the job panel says of a job, and the decisions panel of a step without decisions.

Sentences and numbers that the panels share with Why are checked elsewhere; here they must only appear unchanged.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.life.job_state import JobReader
from sim.support.formatting import clock_near
from sim.why.evidence import evidence_of
from sim.why.explanation import passed_by
from sim.why.facts import PassedBy, fact_row
from sim.workload.model import Trace
from tests.truth.lives import Record
from tests.truth.runs import Run, Step
from tests.truth.stories import NUMBERS
from tests.truth.teller import often
from tests.truth.told import After
from tests.truth.words import Lasts, Tenths, UntrueError, demand, demand_equal, matched, reads, tried, whole
from tests.truth.world import Work
from tui.look.palette import DARK
from tui.panels import decisions, details
from tui.panels.context import Context
from tui.replay.scene import About, Scene, StripScene
from tui.replay.stage import OwnNumbers

SIZE = 500, 100


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
    told: list[tuple[type, str]] = [(State, sheet.note)]
    found = evidence_of(sight.step.shown, sight.job.rank, sight.at, sight.passed)
    if found is None:
        told += [(Standing, line) for line in sections.pop("Now")]
    else:
        rows = [" ".join(fact_row(fact, sight.at)) for fact in found.facts]
        for title, true in (("Now", [*map(sight.after.world.named, found.clauses)]), ("In numbers", rows)):
            if [" ".join(line.split()) for line in sections.pop(title, [])] != true:
                yield UntrueError(f"Panel: {title}: Why says {true}")
    for title in KINDS.keys() & sections.keys():
        told += [(KINDS[title], line) for line in sections[title] if re.search("[a-z]", line)]
    step = decisions.draw(replace(sight.context, selected=None), SIZE, 0)
    told += [(Deciding, line.text) for line in step.body if line.text.startswith("No ")]
    for kind, sentence in told:
        yield from tried(kind, sentence, sight)


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
    demand_equal((name, needs, sight.state), (sight.job.name, sight.job.procs, "cancelled"))
    demand_equal(most, next(decision.most for _, decision in sight.record.decided if isinstance(decision, d.Drop)))


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
    match = matched(rf"([^(]*?){turns}(?: \((?:([\d,]+) earlier)?(?:, )?(?:([\d,]+) later)?\))?", moved)
    many = 0 if match[1] == "0 times" else often(match[1])
    demand_equal(
        (many, whole(match[2] or "0"), whole(match[3] or "0")), (len(moves), len(moves) - later, later), "moved"
    )


@reads(Moved, "none so far: {any} has planned no start for it")
def _(sight: Sight, policy: str) -> None:
    demand_equal(policy, sight.step.shown.policy)
    demand(sight.job.rank not in sight.after.planned and not sight.record.plans_written, "planned")


class Noted:
    """Kind of line in the job panel: how one of the policy's own numbers changed. It is followed for a job while it
    waits, for a user through the run."""


@reads(Noted, "{any} from {any} to {any}: {any}", "{any} {any}: {any}")
def _(sight: Sight, name: str, *told: str) -> None:
    meaning, written = NUMBERS[name]
    demand(told[-1].startswith(meaning), "what it is")
    values = sight.usage if name == "usage" else [value for _, value in sight.record.numbers[name]]
    for said, true in zip((told[0], told[-2]), (values[0], values[-1]), strict=True):
        demand(written(said).is_about(true), true)


KINDS: dict[str, type] = {"Expansion factor": Factor, "Planned start": Moved, "The policy's own numbers": Noted}


# The step
class Deciding:
    """Kind of line in the decisions panel: why there is no decision."""


@reads(Deciding, "No decisions: {n} job(s) {any} waiting.")
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


@reads(Deciding, "No change to the matrix: it is rebuilt when a job arrives or ends; until then its rows take turns.")
def _(sight: Sight) -> None:
    world = sight.after.world
    demand(not sight.step.decisions and world.memo_rows is not None and not world.arrived and not world.completed)
