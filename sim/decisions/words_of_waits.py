"""Words for reasons to wait."""

from __future__ import annotations

from typing import Any, Final

from sim.decisions import reasons_inferred as inferred
from sim.decisions import reasons_on_nodes as nodes
from sim.decisions import reasons_to_wait as r
from sim.decisions.reasons_in_rows import FitsNoRow, OwnColumnsTaken
from sim.decisions.wording import Words, hole, window
from sim.workload.job import Job

_FEW = "{procs} > {free} free", "{procs} > {free}"
_DELAYS_HEAD = "would delay {head}", "delays {head}", "for {head}"
_DELAYED_HEAD = "starting it would have delayed {blockers:the head of the queue}"
_EXTRA = "needs {procs} > {extra} extra and "
_PAST_START = "{ends} > {head}'s start at {shadow}"
_NO_HOLE = "no hole before {at}", "no earlier hole", "no hole yet"


def _few_were_free(reason: Any, job: Job) -> str:
    return "fewer than its {procs:processor} were free" if job.procs > 1 else "no processor was free"


def _too_few_once(reason: r.PivotLater | r.TrialLater) -> str:
    if reason.then is None:
        return ": {needs}"
    what = "the machine goes down" if reason.other is None else "{other} starts"
    return f": {{needs}} now but too few once {what} at {{then}}"


def _waits_for_own(reason: r.WaitsForOwn, job: Job) -> str:
    if reason.busy == job.procs:
        return "{own}" + " all" * (job.procs > 1) + " taken"
    return "{busy} of its own {procs:processor} {busy:is/are} taken"


def _own_gone(reason: r.OwnGone, job: Job) -> str:
    taken = ", {busy} {busy:is/are} taken" * bool(reason.busy)
    if reason.gone == job.procs:
        return "{own}" + " all" * (job.procs > 1) + " down" + taken
    return "{gone} of its own {procs:processor} {gone:is/are} down" + taken


def _no_victim_allowed(reason: r.NoVictimAllowed, job: Job) -> str:
    wide = ["{wide} {wide:is/are} more than twice as wide"] * bool(reason.wide)
    spared = ["{spared} {spared:is/are} protected: {spared:its/their} xfactor exceeds the limit"] * bool(reason.spared)
    smaller = "of the running jobs with an xfactor {factor:,.12g} times smaller than its own {xfactor:,.2f}, "
    return smaller + " and ".join(wide + spared)


def _pivot_in_brief(reason: r.PivotLater, job: Job) -> tuple[str, ...]:
    if reason.other is not None:
        return "{other} comes first", "for {other}"
    return _FEW if reason.then is None else ("maintenance first", "maintenance")


def _nodes_kept(reason: nodes.NodesKept, job: Job) -> str:
    part = " in part" * reason.is_part
    others = "" if reason.is_alone else " and for other jobs"
    return f"{{kept}} of {{fitting:fitting node}} {{kept:is/are}} kept{part} for {{head}} from {{since}}{others}"


def _no_nodes(reason: nodes.NoNodes, job: Job) -> str:
    if not reason.usable:
        return "{free:core} free, but none on a node that it may use"
    free = "{free:core} free on {on:node}"
    if reason.usable < reason.free:
        free = "{usable} of {free:free core} on nodes that it may use"
    if reason.wants:
        free += ", " + _those_with(reason)
    if reason.needed == 1:
        return free + ": no node has room"
    return f"{free}: {'room for {able}' if reason.able else 'no room for any'} of {{needed}} {{place}}"


def _no_nodes_in_brief(reason: nodes.NoNodes, job: Job) -> tuple[str, ...]:
    if not reason.usable:
        return "{free} free, none that it may use", "none that it may use", "not usable"
    if reason.wants and not reason.able:
        return "{usable} free, " + _those_with(reason), _those_with(reason)
    return "room for {able} of {needed} {place}", "{able} of {needed} fit"


def _those_with(reason: nodes.NoNodes) -> str:
    return "{have} {wants}" if reason.have else "none {wants}"


def _had_no_nodes(reason: nodes.NoNodes, job: Job) -> str:
    if not reason.usable:
        return "cores were free, but none on a node that it may use"
    if not reason.wants:
        return "cores were free, but too few nodes had room for it"
    lacked = reason.wants.replace("with ", "had ", 1) + " free" if "with " in reason.wants else f"were {reason.wants}"
    return "cores were free, but too few nodes that it may use " + lacked.replace("{", "{{").replace("}", "}}")


def _not_considered(reason: inferred.NotConsidered, job: Job) -> str:
    stops = reason.head and reason.head != job
    return "{needs}, and the policy stopped " + ("at {head}" if stops else "before considering it")


WAITS: Final[dict[type, Words]] = {
    r.TooFewFree: Words("{needs}", _FEW, _few_were_free, ranges="{free}", of_all="each needs more than is free"),
    r.WouldDelay: Words(
        _EXTRA + "would end at " + _PAST_START, _DELAYS_HEAD, _DELAYED_HEAD, ranges="it needs {procs}, {extra} extra",
        shows=hole,
    ),
    r.PredictedToDelay: Words(
        _EXTRA + "is predicted to end at " + _PAST_START, _DELAYS_HEAD, _DELAYED_HEAD + ", as was predicted",
        ranges="it needs {procs}, {extra} extra", shows=hole,
    ),
    r.BeyondLookahead: Words(
        "the policy considers only {window:job} behind {head}", ("too far behind the head", "too far behind"),
        "it was too far behind {blockers:the head of the queue}",
    ),
    r.PlannedLater: Words(
        "{needs} now, but {procs} {procs:stays/stay} free for its estimate of {estimate} only from {at}", _NO_HOLE,
        "the free processors were needed too soon by jobs planned before it", ranges="{free} free",
    ),
    r.WindowCloses: Words(
        "would end at {ends} > end of {head}'s window at {closes}", ("ends past {head}'s window", "past a window"),
        "it would have outlasted the window for {blockers:the head}", shows=window,
    ),
    r.BreaksBound: Words(
        "would delay {other}'s start to {start} > its latest start {bound}",
        ("{other} past its latest start", "{other} too late"),
        "it would have delayed {blockers:others} past their latest starts", ranges="{free} free",
    ),
    r.WaitsForOwn: Words(
        _waits_for_own, ("{busy} of its own taken", "{busy} taken"), "other jobs ran on its own processors",
    ),
    r.OwnGone: Words(_own_gone, ("{gone} of its own down", "{gone} down"), "its own processors were down"),
    r.OwnClaimed: Words(
        "{claimed} of its own {procs:processor} {claimed:is/are} claimed by jobs that suspended other jobs to get them",
        ("{claimed} of its own claimed", "{claimed} claimed"), "other jobs had a claim on its own processors",
    ),
    r.AwaitsVictims: Words(
        "{victims}, suspended for it, still {victims:occupies its/occupy their} processors",
        ("{victims:1} still leaving", "victims leave"), "the jobs suspended for it still occupied their processors",
    ),
    r.ClaimTaken: Words(
        "{others} {others:runs/run} on processors claimed for it", ("{others:1} on its processors", "claim taken"),
        "other jobs ran on the processors claimed for it",
    ),
    r.NoVictims: Words(
        "too few jobs to suspend: it needs running jobs with an xfactor {factor:,.12g} times smaller "
        "than its own {xfactor:,.2f}",
        ("no {factor:,.12g} times smaller xfactors", "no victims"),
        "too few running jobs had an xfactor small enough to be suspended for it", wants_victims=True,
    ),
    r.NoVictimAllowed: Words(
        _no_victim_allowed,
        lambda reason, job: ("victims too wide" if reason.wide else "victims protected", "no victims"),
        lambda reason, job: (
            "the running jobs with a small enough xfactor were too wide" + " or protected" * bool(reason.spared)
        ),
        wants_victims=True,
    ),
    r.TurnOver: Words(
        "its processors became available only after the policy had considered it in this step",
        ("considered too early", "too early"), "its processors became available after the policy had considered it",
    ),
    r.NoSliceOver: Words(
        "too few running jobs have used up their slice of {slice}",
        ("no slice of {slice} used up", "no slice used up", "no slice"), "too few running jobs had used up their slice",
        wants_victims=True,
    ),
    r.PivotLater: Words(
        lambda reason, job: "first in its partition's queue, planned for {at}" + _too_few_once(reason), _pivot_in_brief,
        "it was first in its queue, but {blockers:others} needed too many processors before its planned start",
    ),
    r.WouldDelayPivot: Words(
        "would end at {ends} and push the pivot {pivot} (first in its queue) from {start} to {later}",
        ("would delay {pivot}", "delays {pivot}", "for {pivot}"),
        "starting it would have delayed {blockers:the pivots}",
    ),
    r.TouchesReservation: Words(
        "would end at {ends} and take processors reserved for {other} from {at} on",
        ("reserved for {other}", "for {other}"), "it would have used processors reserved for {blockers:others}",
        is_reserved=True,
    ),
    r.TrialLater: Words(
        lambda reason, job: "its speculative run (at most {limit}) is planned for {at}" + _too_few_once(reason),
        ("first run at {at}", "runs {at}", "a run later"), "its speculative run was planned for later",
    ),
    r.BeforeOthers: Words(
        "its own processors are free, but it would end at {ends} and {other} is planned on them from {at}",
        ("would delay {other}", "delays {other}", "for {other}"), "resuming it would have delayed {blockers:others}",
    ),
    r.RoomUnseen: Words(
        "{needs} and would fit, but it is planned for {at} and the policy has not reconsidered it",
        ("room, but planned for {at}", "not reconsidered", "planned later"),
        "the policy did not reconsider its plan although there was room",
    ),
    r.WaitsForReserved: Words(
        "its user reserved its start for {at}", ("reserved by user", "reserved"), "its user had reserved a later start",
        is_reserved=True,
    ),
    r.MachineGoesDown: Words(
        lambda reason, job: (
            ("could end as late as" if reason.in_rows else "would end at")
            + " {ends} > maintenance of the machine at {at}"
        ),
        ("machine down at {at}", "down {at}", "machine goes down"), "it would not have ended before the maintenance",
    ),
    r.NotYet: Words(
        "its recorded start is {recorded}", ("starts later in the trace", "trace: later"),
        "its recorded start was later",
    ),
    nodes.LeavesNoRoom: Words(
        "would end at " + _PAST_START + ", when too few nodes would be left", _DELAYS_HEAD, _DELAYED_HEAD,
    ),
    nodes.BehindInPartition: Words(
        "Priority: {head} is ahead of it on its partition's nodes and cannot start",
        ("Priority: behind {head}", "Priority"), "{blockers:a job of its partition} had a higher priority",
    ),
    nodes.AtLimit: Words(
        "{limit}: {owner} has {used} of {most} {unit} in use, it wants {needed}",
        ("{limit}: {used} of {most} {unit}", "{limit}"), "a limit of {owner} held it back",
    ),
    nodes.NodesReserved: Words(
        lambda reason, job: (
            "Reservation: it must start in {reservation}, from {start} to {end}, on nodes that are free"
            if reason.is_own
            else "ReqNodeNotAvail: {reservation} keeps nodes that it needs from {start} to {end}"
        ),
        lambda reason, job: (
            ("Reservation: {reservation}", "Reservation") if reason.is_own
            else ("ReqNodeNotAvail: {reservation}", "ReqNodeNotAvail")
        ),
        lambda reason, job: (
            "it had to start in the reservation {reservation}" if reason.is_own
            else "the reservation {reservation} kept nodes that it needed"
        ),
    ),
    nodes.NodesKept: Words(
        _nodes_kept, ("{kept} of {fitting} nodes kept for {head}", "kept for {head}"),
        "nodes on which it fits were kept for {blockers:another job}",
    ),
    nodes.NoNodes: Words(_no_nodes, _no_nodes_in_brief, _had_no_nodes),
    nodes.RoomLater: Words(
        "fits now, but nodes have room for its estimate of {estimate} only from {at}", _NO_HOLE,
        "the nodes on which it fits were needed too soon by jobs planned before it",
    ),
    FitsNoRow: Words(
        "needs {procs}, at most {free} free in any of the {rows} rows",
        ("{procs} > {free} free in any row", "{procs} > {free} free", "{procs} > {free}"),
        "no row of the matrix had {procs:processor} free", ranges="at most {free} in any of {rows} rows",
        of_all="each needs more than is free in any row",
    ),
    OwnColumnsTaken: Words(
        "its own columns are taken in each of the {rows} rows", ("its columns are taken", "columns busy"),
        "its own columns were taken in every row of the matrix",
    ),
    inferred.Heads: Words(
        "first in the queue: {needs}",
        past=lambda reason, job: "it was first in the queue and " + _few_were_free(reason, job), ranges="{free}",
    ),
    inferred.NotConsidered: Words(
        _not_considered, ("not considered", "not reached"), "the policy stopped at {blockers:jobs ahead of it}",
    ),
    inferred.AwaitsTurn: Words(
        "its row, one of {rows}, has not had a turn yet", past="its row of the matrix had not had a turn yet",
    ),
    inferred.FewBesideKept: Words(
        "{needs}, {kept} of them kept for {kept_for}", ("{kept} kept for {kept_for}", "{kept} are kept"),
        "processors were kept for {blockers:a suspended job}",
    ),
    inferred.RowLater: Words(
        "no row has room for it earlier; row {row:#} has then", ("then in row {row:#}", "in row {row:#}"),
        "no row of the matrix had room for its {procs:processor} soon enough",
    ),
    inferred.RowStopped: Words("its row did not have its turn when the policy was switched"),
}  # fmt: skip
