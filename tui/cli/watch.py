"""Command `schedscope watch`: open the replay on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tui.annexes import annexed
from tui.cli import options
from tui.cli.terminal import shown_reading

if TYPE_CHECKING:
    from sim.machine.processors import Placement
    from tui.replay.opening import Opening, Prepared


@click.command("watch")
@options.trace(required=False)
@options.opened_policy
@click.option("--at", metavar="STEP|TIME", help="Where to begin: a step (#1200) or a time (12d4h).")
@click.option("--session", metavar="FILE", help="Bring back what was saved: a file, a pasted line, or last.")
@click.option("--trust", is_flag=True, help="Run the code that the session names without asking.")
@options.switches
@options.placement
@options.of_workload
def command(
    trace: str | None, policy: str | None, at: str | None, session: str | None, trust: bool, switches: options.Switches,
    placement: Placement, **given: Any,
) -> int:  # fmt: skip
    """Open the replay screen; without TRACE or options show a menu of samples, lessons and recent traces.

    A file of results (schedscope sweep) opens as a table and a plot, from which each run is replayed. A recording of a
    cluster (schedscope live -o) opens as it was seen; with --policy or other options its jobs are replayed.
    These are samples, recent traces and sessions. A sample comes under its own policy and, unless --at says where, at
    the moment that it is about. Space plays, arrows step, p changes the policy, ? lists all keys.
    """
    typed = _typed()
    if session is not None:
        _refuse_beside_session(typed)
    elif trust:
        raise click.UsageError("--trust is about the code that a --session names: give it one")
    options.needs_terminal("the replay screen", "schedscope run, explain, compare and draw")
    from sim.policies import parse_policy
    from sim.support.files import is_database
    from sim.workload.formats.slog import is_recording
    from sim.workload.source import Source
    from tui.app import open_replay
    from tui.look.settings import load, settings_path
    from tui.replay.opening import opening_of

    if not typed:
        return open_replay(None)
    if session is not None:
        from sim.policies.own.consent import Proof
        from sim.session.trust import NeedsTrustError
        from tui.sessions.session_conversion import found_session, reopened

        try:
            opening = reopened(found_session(session), Proof.OPTION if trust else None)
        except NeedsTrustError as asked:
            return open_replay(None, asked)
        return open_replay(opening, prepare=_prepared)
    recorded = trace is not None and is_recording(trace)
    if recorded and {option.name for option in typed} <= {"trace", "at"}:
        code: int = annexed("recording")(trace, at)
        return code
    if trace is not None and not recorded and is_database(trace):
        if len(typed) > 1:
            raise click.UsageError(f"{trace} is a file of results, which is opened by itself: leave out the options")
        annexed("results file")(trace).__exit__()
        return open_replay(None, results=trace)
    source = Source.of_options(trace or "z-figure4", given)
    later = tuple((time, parse_policy(spec)) for time, spec in switches)
    chosen = None if policy is None else parse_policy(policy)
    usual = load(settings_path())[0].usual
    opening = opening_of(source, chosen, placement=placement, at=at, switches=later, usual=usual)
    return open_replay(opening, prepare=_prepared)


def _prepared(opening: Opening) -> Prepared:
    with shown_reading(opening.source.trace) as heard:
        return opening.prepare(heard)


def _typed() -> list[click.Parameter]:
    context = click.get_current_context()
    return [
        p for p in context.command.params if context.get_parameter_source(p.name or "") is ParameterSource.COMMANDLINE
    ]


def _refuse_beside_session(typed: list[click.Parameter]) -> None:
    named = [p.opts[0] if isinstance(p, click.Option) else "TRACE" for p in typed if p.name not in ("session", "trust")]
    if named:
        raise click.UsageError(f"--session brings its own trace and options back: leave out {', '.join(named)}")
