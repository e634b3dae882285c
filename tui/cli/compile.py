"""Command `schedscope compile`: a policy file is compiled by Cython, and checked to make the same schedules."""

from __future__ import annotations

from pathlib import Path

import click

from sim.engine.policy_calls import patient
from sim.errors import SchedscopeError
from sim.formatting import printable, quoted
from sim.policies import parse_policy
from sim.policies.own.compiling import NotCompiledError, compile_file
from sim.policies.own.consent import Proof
from sim.policies.own.naming import named_code
from sim.testing.compiled_check import COUNT, TIMED, different, measured_speed
from sim.workload.samples import SAMPLES
from tui.cli.options import SPEC
from tui.cli.terminal import progress, say


@click.command("compile")
@click.argument("policy", metavar="FILE.py[:NAME]", type=SPEC)
def command(policy: str) -> None:
    """Compile a policy file with Cython, and check that it makes the same schedules.

    The module is written into the present folder, and --policy fair_compiled:Fair uses it from there. If something
    keeps the file from being compiled, one line says what, and the file runs as it is.
    """
    named = named_code(policy)
    if named is None or not named.is_file or named.revision:
        raise click.UsageError(f"expected a policy file, like ./fair.py, got {quoted(policy)}")
    plain = parse_policy(policy)
    made = compile_file(named, Path.cwd())
    name, rest = made.name.partition(".")[0], f":{named.rest}" if named.rest else ""
    spec = f"{name}:{type(plain).__name__}{rest}"
    try:
        with patient([plain]), progress(COUNT + len(SAMPLES), "comparing") as bar:
            compiled = parse_policy(spec, Proof.TYPED)
            told = different(plain, compiled, (lambda: bar.update(1)) if bar else lambda: None)
            speed = measured_speed(plain, compiled) if told is None else None
    except SchedscopeError as error:
        made.unlink(missing_ok=True)
        raise NotCompiledError(f"not used, as it fails once compiled: {error}") from None
    if speed is None:
        made.unlink(missing_ok=True)
        raise NotCompiledError(f"not used, as it decides differently once compiled: {told}")
    say(
        f"{printable(made.name)}: the same schedules as {printable(named.head)} on {COUNT + len(SAMPLES)} workloads\n"
        f"{TIMED}: {speed.plain:.3f} s as it is, {speed.compiled:.3f} s compiled: {speed.gain:.2f} times as fast\n"
        f"  schedscope run lublin-128 --policy {printable(spec)}"
    )
