"""Values at the time on the screen: a snapshot has those of its step, but playback goes on until the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.engine.snapshot import Entry, Queued, Running, Snapshot, Suspended
from tui.replay.scene import Scene


def since_step(scene: Scene) -> float:
    time = scene.snapshot.time
    return 0.0 if time is None else scene.clock - time


def by_clock(entry: Entry, scene: Scene) -> Entry:
    match entry:
        case Queued():
            return waiting_by_clock(entry, scene)
        case Suspended():
            return suspended_by_clock(entry, scene)
        case Running():
            return _running_by_clock(entry, scene)


def waiting_by_clock(queued: Queued, scene: Scene) -> Queued:
    passed, waited = since_step(scene), queued.job.waited(scene.clock)
    return replace(queued, waited=waited, xfactor=queued.xfactor + passed / queued.job.estimate)


def suspended_by_clock(halted: Suspended, scene: Scene) -> Suspended:
    return replace(halted, xfactor=halted.xfactor + since_step(scene) / halted.job.estimate)


def _running_by_clock(running: Running, scene: Scene) -> Running:
    ran = _seconds_since_step(running, scene)
    waited = since_step(scene) - ran
    return replace(running, ran=running.ran + ran, xfactor=running.xfactor + waited / running.job.estimate)


def _seconds_since_step(running: Running, scene: Scene) -> float:
    """Return the seconds run since the snapshot's step; in a matrix, of the turns of its rows, less migration's."""
    if running.kind == "gang":
        gained = _gained_by_turns(scene.snapshot, _rows_of(running, scene.snapshot), scene.clock)
        return max(gained - running.owes, 0.0)
    return since_step(scene) if running.kind in ("run", "speculative") else 0.0


def _rows_of(running: Running, shown: Snapshot) -> list[int]:
    rows = () if shown.matrix is None else shown.matrix.rows
    return [row for row, cells in rows if any(cell.rank == running.job.rank for cell in cells)]


def _gained_by_turns(shown: Snapshot, rows: Sequence[int], clock: float) -> float:
    """Return the seconds from the snapshot's step to `clock` in which one of these rows had its turn."""
    turns = shown.rules.turns()
    if turns is None or shown.matrix is None or shown.time is None or shown.matrix.on_turn is None:
        return 0.0
    order = [row for row, _ in shown.matrix.rows]
    at = order.index(shown.matrix.on_turn)
    began = shown.time if shown.turn_end is None else shown.turn_end - turns.slice
    turns.settle(began, order[at:] + order[:at])
    return turns.gained(rows, shown.time, clock)
