"""Command `schedscope manual`: manual pages for `man`, made from the same declarations as `--help`."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from sim.support.formatting import count
from tui.cli.terminal import say

SECTION = "1"
ARGUMENTS = {
    "FIGURE.toml": "A file that describes a figure.",
    "FILE": "A results file.",
    "FILE.py": "A policy file.",
    "FILE.slog": "A recording of a cluster.",
    "FOLDER": "The folder of the pages.",
    "JOB": "The id of a job.",
    "LESSON": "The name of a lesson.",
    "LINE": "A puzzle, written in one line.",
    "NAME": "One of the names that the command lists without it.",
    "NAME|FILE": "A lesson: its name, or its file.",
    "PLAN.toml": "A file with the plan of a sweep.",
    "TRACE": "The file of a trace, or the name of a sample: see schedscope(1).",
    "WORD": "A word of the name or of the meaning.",
    "bash|zsh|fish": "The shell.",
}


@click.command("manual")
@click.argument("folder", metavar="FOLDER")
def command(folder: str) -> None:
    """Write manual pages of all commands, for man.

    \b
    schedscope manual ~/.local/share/man/man1
    man schedscope-run
    """
    program = click.get_current_context().find_root().command
    assert isinstance(program, click.Group)
    to = Path(os.path.expanduser(folder))
    try:
        to.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SchedscopeError(f"{folder}: is a file; give the path of a folder for the pages") from None
    except OSError as error:
        raise SchedscopeError(f"{folder}: cannot make the folder: {error.strerror or error}") from None
    written = dict(pages(program))
    for name, text in written.items():
        with write_whole(to / name) as file:
            file.write(text)
    say(f"{count(len(written), 'page')} in {to}")


def pages(group: click.Group) -> Iterator[tuple[str, str]]:
    program = click.Context(group, info_name="schedscope", max_content_width=110)
    names = group.list_commands(program)
    yield f"schedscope.{SECTION}", page(program, [f"schedscope-{name}" for name in names])
    for name in names:
        found = group.get_command(program, name)
        assert found is not None, name
        ctx = click.Context(found, info_name=name, parent=program)
        yield f"schedscope-{name}.{SECTION}", page(ctx, ["schedscope"])


def page(ctx: click.Context, see: list[str]) -> str:
    from sim import __version__

    title, command = ctx.command_path.replace(" ", "-"), ctx.command
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    usage = " ".join(command.collect_usage_pieces(ctx))
    lines = [
        f'.TH "{title.upper()}" {SECTION} "" "schedscope {__version__}"',
        ".SH NAME",
        roff(f"{title} - {' '.join(paragraphs[0].split()).rstrip('.')}"),
        ".SH SYNOPSIS",
        roff(f"{ctx.command_path} {usage}", bold=ctx.command_path),
    ]
    if len(paragraphs) > 1:
        lines.append(".SH DESCRIPTION")
        for paragraph in paragraphs[1:]:
            lines += _paragraph(paragraph)
    records = [_argument(each, ctx) for each in command.params if isinstance(each, click.Argument)]
    options = [each for each in command.get_params(ctx) if not isinstance(each, click.Argument)]
    records += [record for each in options if (record := each.get_help_record(ctx))]
    if records:
        lines.append(".SH OPTIONS")
        for names, meaning in records:
            lines += [".TP", f"\\fB{roff(names)}\\fR", roff(meaning)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            lines += [".TP", f"\\fB{roff(name)}\\fR", roff(found.get_short_help_str(200) if found else "")]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(name)}\\fR({SECTION})" for name in see)]
    return "\n".join(lines) + "\n"


def _argument(argument: click.Argument, ctx: click.Context) -> tuple[str, str]:
    shown = " ".join(argument.get_usage_pieces(ctx))
    words = shown.replace("[:NAME]", "").replace("...", "").strip("[]{} ")
    each = [words] if words in ARGUMENTS else re.split(r"[ |]+", words)
    return shown, " Or: ".join(ARGUMENTS[word] for word in each)


def _paragraph(text: str) -> list[str]:
    marked, _, rest = text.partition("\n")
    if marked.strip() == "\b":
        return [".PP", ".nf", *map(roff, rest.splitlines()), ".fi"]
    return [".PP", roff(" ".join(text.split()))]


def roff(text: str, bold: str = "") -> str:
    r"""Return the text escaped for man; `bold` is written in bold before it.

    >>> print(roff("--seed N  a\\b"), roff(".hidden"))
    \-\-seed N  a\eb \&.hidden
    """
    shown = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))
    front = bold.replace("-", "\\-")
    return f"\\fB{front}\\fR{shown[len(front) :]}" if bold else shown
