"""Main program of the command line; a command and what it needs is imported when it is called."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from sim.support.errors import ReaderGoneError, SchedscopeError, bounded, similar
from sim.support.formatting import printable, quoted
from tui.annexes import module_of
from tui.cli.terminal import NotWrittenError

COMMANDS = {
    "compare": "Compare two policies: first difference, reasons, and the jobs that gain and lose.",
    "completion": "Print the script that completes commands, options, traces and policies in a shell.",
    "doctor": "Check this installation and this terminal: what they can do, what is wrong, and how to mend it.",
    "draw": "Draw a run, or a window of it, as a chart in a file.",
    "explain": "Explain why a job waited, step by step.",
    "generate": "Generate a workload from a model, as an SWF file; with --nodes for a machine of nodes.",
    "grade": "Grade the policies and answers in FOLDER: one row for each, whatever it does.",
    "inspect": "Describe a trace: jobs, skipped lines, load, widths, lengths, estimates, categories.",
    "learn": "List the lessons, or play one of them, scene by scene.",
    "live": "Watch a real cluster: its jobs, its nodes, and Slurm's own plan, on one chart.",
    "manual": "Write manual pages of all commands, for man.",
    "metrics": "List every metric, or find one by its name or by what it means.",
    "new": "Create a working policy file and a test for it.",
    "papers": "Compute the papers' tables again and compare them with the published values.",
    "play": "Be the scheduler for some busy hours of a trace; then policies play the same hours.",
    "plot": "Plot a results file: lines with 95 % confidence bands, one panel per trace.",
    "policies": "List the policies, or explain one with its parameters.",
    "present": "Present a lesson or a trace on a projector: chart, caption and counter only.",
    "record": "Record a run, a session or a lesson as a film, without a terminal.",
    "puzzle": "Draw jobs on a small machine, and see four policies schedule them.",
    "quiz": "Answer an endless series of prediction questions, with reasons and a score.",
    "results": "Show a results file: its runs, or means with 95 % confidence intervals.",
    "run": "Simulate policies side by side and print their metrics.",
    "score": "Score the forecasts of starts in a recording of a cluster against the starts that came.",
    "serve": "Serve the replay to browsers: a process for each visitor, or one screen for all.",
    "sweep": "Make many runs on all cores, into one results file.",
    "test": "Test a policy on hundreds of small workloads: legal, starvation-free, deterministic, fast.",
    "when": "When a job of a real cluster starts, by Slurm: the date, how it moved so far, and a forecast of our own.",
    "why": "Why a job of a real cluster waits: one line, or a paragraph with --long.",
    "watch": "Open the replay screen; without TRACE or options show a menu of samples, lessons and recent traces.",
}
"""For each command: its short help, with which the docstring of the command's function must begin"""


def program() -> None:
    """Run `main` and then end the process at once, even if user-defined code tries to delay the end."""
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    code = code if isinstance(code, int) else 0
    prints = sys.modules.get("sim.support.captured_output")
    if prints is not None and prints.may_be_heard():
        prints.leave(code)
    sys.exit(code)


def main() -> None:
    """Run the program. Each error is one line on stderr; the exit code is 2 for wrong usage, 1 for other errors."""
    if "_SCHEDSCOPE_COMPLETE" in os.environ:  # a shell asks what may be typed next
        from tui.cli.completion import register

        register()
    try:
        code = commands(prog_name="schedscope", standalone_mode=False)
    except click.UsageError as error:
        where = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + where, 2)
    except click.ClickException as error:
        _fail(error.format_message(), 1)
    except ReaderGoneError:
        # The reader has gone, which is its right. Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SchedscopeError as error:
        _fail(str(error), error.exit_code)
    except (NotWrittenError, OSError) as error:
        if sys.stdout is not None and not sys.stdout.closed:  # Python must not try again when it closes stdout
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(_of_system(error) if isinstance(error, OSError) else str(error), 1)
    except (KeyboardInterrupt, click.Abort) as error:  # click's has what Python raised for its cause
        _fail(str(error.__cause__ or error) or "interrupted", 130)
    except MemoryError:
        _fail("not enough memory: try fewer jobs (--jobs N) or a smaller machine (--procs N)", 1)
    except Exception as error:
        _fail_by_fault(error)
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _of_system(error: OSError) -> str:
    try:
        os.getcwd()
    except OSError:
        return "the working directory is gone: change to a folder that is there"
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _fail_by_fault(error: Exception) -> None:
    if (prints := sys.modules.get("sim.support.captured_output")) is not None:
        prints.restored()
    from tui.crash_report import report

    _fail(report(error), 1)


def _fail(line: str, code: int) -> None:
    if sys.stderr is None:  # user-defined code may have taken it away
        sys.stderr = sys.__stderr__
    if sys.stderr is not None and sys.stderr.closed:  # or closed; its file is still open
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    click.echo("schedscope: error: " + printable(bounded(" ".join(map(str.strip, line.split("\n"))))), err=True)
    sys.exit(code)


class _Commands(click.Group):
    """Group of the commands, each imported when it is called; `schedscope TRACE` means `schedscope watch TRACE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> Any:
        return import_module(module_of(name)).command if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - 4 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl([(name, _brief(told, room)) for name, told in sorted(COMMANDS.items())])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            _refuse_misspelled(args[0])
            return "watch", self.get_command(ctx, "watch"), args
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:  # a shell asks which commands there are
            return super().parse_args(ctx, args)
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "-h", "--version")):
            args = ["watch", *args]
        return super().parse_args(ctx, args)


def _brief(told: str, room: int) -> str:
    """Return a command's short help; only what comes before its colon or semicolon if the whole has no room.

    >>> _brief("Describe a trace: jobs, load.", 40), _brief("Describe a trace: jobs, load.", 20)
    ('Describe a trace: jobs, load.', 'Describe a trace.')
    """
    return told if len(told) <= room else re.split("[:;] ", told)[0].removesuffix(".") + "."


def _refuse_misspelled(word: str) -> None:
    """Raise an error if `word` is the name of no trace, but similar to a command's."""
    hint = similar(word, COMMANDS) if word.isalpha() and not os.path.exists(word) else ""
    if not hint:
        return
    from sim.workload.samples import sample_of

    if sample_of(word) is None:
        raise click.UsageError(f"no command, file or sample {quoted(word)}{hint}")


_VERSION = "Show the versions of schedscope and Python, and whether the simulation is compiled."


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from sim import __version__
        from sim.compiled import described

        python = ".".join(map(str, sys.version_info[:3]))
        click.echo(f"schedscope {__version__}, Python {python}, {described()}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help=_VERSION)
def commands() -> None:
    """Watch, debug and teach parallel job scheduling.

    TRACE is a file (SWF, sacct -P, Batsim JSON, Batsim/Evalys jobs.csv or CSV with a header, gzip or not) or the name
    of a sample. Without a command, `schedscope [TRACE]` is `schedscope watch [TRACE]`.

    Times are typed as they are printed: seconds, 12d4h30m, 2h05, d12 04:31:07, 04:30, #1200 (a step), or a date
    (2026-11-21 04:30) on the trace's own clock. Exit codes: 0 done; 2 wrong usage: an option, a policy, a time or a
    number that cannot be meant, whatever the trace says; 1 whatever else went wrong; 130 interrupted.
    """


if __name__ == "__main__":
    program()
