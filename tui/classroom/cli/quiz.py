"""Command `schedscope quiz`: questions about what happens next, without end, with answers."""

from __future__ import annotations

from typing import Any

import click

from tui.cli import options


@click.command("quiz")
@options.trace(required=False)
@click.option("--policy", default="", type=options.SPEC, help="Ask only about this policy (default: chosen by level).")
@click.option("--questions", type=click.IntRange(1), metavar="N", help="Number of questions; default: until q.")
@click.option("--level", type=click.IntRange(1, 5), metavar="N", help="Ask at this level only (default: by answers).")
@click.option("--hand-in", "path", metavar="FILE.txt", help="Write your answers for schedscope grade; without TRACE.")
@options.of_workload
def command(
    trace: str | None, policy: str, questions: int | None, level: int | None, path: str | None, **given: Any
) -> int:
    """Answer an endless series of prediction questions, with reasons and a score.

    Which job starts next, when does one start, which policy made this, who gains? Asked of random small workloads,
    harder after right answers and easier after wrong ones; with TRACE of its moments. With the same --seed a class is
    asked the same, and with --level it stays together whatever it answers.
    """
    from sim.classroom.lessons.quiz import Quiz
    from sim.policies import parse_policy
    from sim.policies.own.naming import code_in
    from sim.workload.replay import replay_of
    from sim.workload.source import Source

    if path is not None and (trace is not None or code_in(policy)):
        raise click.UsageError("--hand-in goes without TRACE and a policy of your own: others must be asked the same")
    if policy:
        parse_policy(policy)
    read = None if trace is None else replay_of(Source.of_options(trace, given))
    seed = given["seed"] if given["seed"] is not None else drawn()
    of = None if read is None else (read.trace, read.workload)
    quiz = Quiz.at_level(seed, level or 0, most=questions, policy=policy, given=of)
    options.needs_terminal("a quiz", "schedscope learn, which lists the lessons, and explain")
    from tui.classroom.handing_in import open_quiz

    return open_quiz(quiz, path)


def drawn() -> int:
    from random import SystemRandom

    return SystemRandom().randrange(10_000)
