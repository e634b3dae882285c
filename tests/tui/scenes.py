"""Scenes of real engines, for the tests of what is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.decisions.decisions import Backfill, Reserve, Start
from sim.decisions.matrix import Place, ReserveRow
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.policies import parse_policy
from sim.workload.model import Trace, Workload
from sim.workload.source import Source
from tui.look.palette import DARK, Look
from tui.panels.parts import Context
from tui.replay.scene import About, JobScene, PlannedAt, Scene, Series, StripScene


def engine_of(trace: str, policy: str, *, steps: int = 0, until: float | None = None) -> Engine:
    """A sample or a file under a policy, after so many steps or at that time."""
    _, workload = Source(trace).read()
    engine = Engine(workload, parse_policy(policy))
    if until is not None:
        engine.run(until)
    for _ in range(steps):
        engine.step()
    return engine


def about_of(workload: Workload) -> About:
    table = workload.submit.reshape(-1, 1)
    return About(trace=workload.name, caption="", workload=workload, read=Trace(workload.name, "swf", (), table))


def scene_of(engine: Engine, job: int | None = None, **fields: Any) -> Scene:
    """The engine's present moment, without a chart; `job` is the rank of the selected one."""
    shown = engine.snapshot()
    now = shown.time or 0
    made: dict[str, Any] = {
        "snapshot": shown, "clock": now, "known_steps": shown.step, "complete": shown.next_time is None, "chart": None,
        "strip": StripScene(begin=0, end=max(now, 1), known=now, utilization=(), waiting=()),
        "job": None if job is None else job_scene(engine, shown, job), "series": Series(), "hues": hues_of(shown),
    }  # fmt: skip
    return Scene(**(made | fields))


def context_of(engine: Engine, *, selected: int | None = None, look: Look = DARK, **fields: Any) -> Context:
    """What a panel is given at the engine's present moment."""
    return Context(about_of(engine.workload), scene_of(engine, selected), look, selected, **fields)


def job_scene(engine: Engine, shown: Snapshot, rank: int) -> JobScene:
    """The selected job as far as this moment."""
    history = engine.history
    decided = [(history.time_of(step), d) for step, d in history.all_decisions() if _is_about(d, rank)]
    stretches = tuple((s.start, s.end, s.kind) for s in history.stretches() if s.rank == rank)
    waiting = [queued.job.rank for queued in shown.queue]
    return JobScene(
        rank=rank,
        state=_state(engine, shown, rank),
        start=engine.state.start_of(rank),
        end=_number(engine.state.ledger.end[rank]),
        planned=tuple(PlannedAt(time, d.at) for time, d in decided if isinstance(d, Reserve | ReserveRow)),
        decided=tuple(decided),
        stretches=stretches,
        ahead=waiting.index(rank) if rank in waiting else None,
        passed=len(_passers(engine, rank)),
    )


def _passers(engine: Engine, rank: int) -> set[int]:
    """Who came later and started while the job waited; a trial run that is cut is no end of its waiting."""
    trials = [s.end for s in engine.history.stretches() if s.rank == rank and s.kind == "speculative"]
    passers: set[int] = set()
    runs_until: float | None = 0
    for step, decision in engine.history.all_decisions():
        if not isinstance(decision, Start | Backfill | Place) or runs_until is None:
            continue
        if engine.history.time_of(step) >= runs_until and decision.job.rank > rank:
            passers.add(decision.job.rank)
        elif decision.job.rank == rank:
            runs_until = trials.pop(0) if trials else None
    return passers


def _is_about(decision: Any, rank: int) -> bool:
    job = getattr(decision, "job", None)
    return job is not None and job.rank == rank


def _state(engine: Engine, shown: Snapshot, rank: int) -> str:
    if any(queued.job.rank == rank for queued in shown.queue):
        return "waiting"
    if any(halted.job.rank == rank for halted in shown.suspended):
        return "suspended"
    if any(running.job.rank == rank for running in shown.running):
        return "in the matrix" if shown.matrix else "running"
    return "finished" if _number(engine.state.ledger.end[rank]) is not None else "not submitted"


def _number(value: float) -> float | None:
    return value if value == value else None


def hues_of(shown: Snapshot) -> Mapping[int, int]:
    """Some colour for every job that a panel may name."""
    jobs = [
        *(running.job for running in shown.running),
        *(halted.job for halted in shown.suspended),
        *(queued.job for queued in shown.queue),
    ]
    return {job.rank: job.rank % 12 for job in jobs}
