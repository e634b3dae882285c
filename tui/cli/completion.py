"""Command `schedscope completion`: print a shell's script to complete commands, options, traces and policies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import ClassVar, TypeAlias

import click
from click.shell_completion import (
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    _resolve_context,
    _resolve_incomplete,
    add_completion_class,
    split_arg_string,
)

from sim.annexes import annexed
from sim.policies import POLICIES
from sim.policies.orders import ORDERS
from sim.policies.own.naming import origin, plugins
from sim.policies.parameters import Parameter, parameters_of, summary
from sim.policies.policy import Policy, default_order
from tui.cli.terminal import say

PROGRAM = "schedscope"
VARIABLE = "_SCHEDSCOPE_COMPLETE"
"""Environment variable that a shell sets to ask for candidates, so that no command is run."""


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands, options, traces and policies in a shell.

    \b
    bash: eval "$(schedscope completion bash)" in ~/.bashrc
    zsh:  eval "$(schedscope completion zsh)" in ~/.zshrc, after compinit
    fish: schedscope completion fish > ~/.config/fish/completions/schedscope.fish
    """
    program = click.get_current_context().find_root().command
    say(SHELLS[shell](program, {}, PROGRAM, VARIABLE).source(), exact=True)


class _Completion(ShellComplete):
    """Completion whose candidates for values come from `tui.cli.completions`; names come from click."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        ctx = _resolve_context(self.cli, self.ctx_args, self.prog_name, args)
        found, typed = _resolve_incomplete(ctx, args, incomplete)
        if isinstance(found, click.Parameter) and not isinstance(found.type, click.Choice):
            return candidates(found, typed)
        items = found.shell_complete(ctx, typed)
        return [*items, *traces(typed)] if found is self.cli and not typed.startswith("-") else items


class Bash(_Completion):
    """Completion for bash, which splits words at : and =: a candidate has only what follows the last of these."""

    name = "bash"
    source_template: ClassVar[str] = """\
%(complete_func)s() {
    local IFS=$'\\n' candidate
    COMPREPLY=()
    for candidate in $(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        case $candidate in
            file,*) COMPREPLY+=($(compgen -f -- "${candidate#file,}")); compopt -o filenames ;;
            dir,*) COMPREPLY+=($(compgen -d -- "${candidate#dir,}")); compopt -o filenames ;;
            plain,*) COMPREPLY+=("${candidate#plain,}") ;;
        esac
    done
    [[ ${COMPREPLY[0]-} == *[:=] ]] && compopt -o nospace
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the complete words up to the cursor, and the one that the user is typing."""
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)[1:]
        if not line or line[-1].isspace() or not words:
            return words, ""
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem[str]) -> str:
        typed = self.get_completion_args()[1]
        value = typed.partition("=")[2] if typed.startswith("--") else typed
        breaks = [sign for sign in os.environ.get("COMP_BREAKS", ":=") if sign in ":="]
        cut = max((value.rfind(sign) + 1 for sign in breaks), default=0)
        return f"{item.type},{item.value[cut:]}"


class Zsh(_Completion, ZshComplete):
    """Completion for zsh, which adds no space after a candidate that the user must continue."""

    source_template: ClassVar[str] = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local -a whole open response
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        %(complete_var)s=zsh_complete %(prog_name)s 2>/dev/null)}")
    local kind key meaning
    for kind key meaning in ${response}; do
        case $kind in
            file) _path_files -f ;;
            dir) _path_files -/ ;;
            open) open+=("$key:$meaning") ;;
            plain) whole+=("$key:$meaning") ;;
        esac
    done
    (( $#whole )) && _describe -V candidates whole -U
    (( $#open )) && _describe -V parameters open -U -S ''
}
compdef %(complete_func)s %(prog_name)s
"""

    def format_completion(self, item: CompletionItem[str]) -> str:
        kind = "open" if item.value.endswith(("=", ":")) else item.type
        return "\n".join((kind, item.value.replace(":", "\\:"), (item.help or "").replace("\n", " ")))


class Fish(_Completion, FishComplete):
    """Completion for fish. Unlike the script of the library click, this one keeps candidates that contain commas."""

    source_template: ClassVar[str] = """\
function %(complete_func)s
    for candidate in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \\
            COMP_CWORD=(commandline -t) %(prog_name)s 2>/dev/null)
        set -l parts (string split --max 1 "," -- $candidate)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


SHELLS: dict[str, type[_Completion]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    for name, shell in SHELLS.items():
        add_completion_class(shell, name)


# Candidates.


Item: TypeAlias = "CompletionItem[str]"


def candidates(parameter: click.Parameter, typed: str) -> list[Item]:
    """Return the candidates that begin as `typed`; the placeholder in the help (such as SPEC) sets their kind."""
    meta = (parameter.metavar or getattr(parameter.type, "name", "") or parameter.name or "").strip("[].")
    if parameter.name in ("trace", "traces"):
        meta = "TRACE"
    of = next((of for word, of in _BY_WORD.items() if word in meta.upper()), None)
    if of is None:
        return []
    return list(of(typed))


def _files(typed: str) -> Iterator[Item]:
    yield CompletionItem(typed, type="file")


def _folders(typed: str) -> Iterator[Item]:
    yield CompletionItem(typed, type="dir")


def traces(typed: str) -> Iterator[Item]:
    from sim.workload.samples import captions

    yield from _beginning(typed, captions())
    yield from _files(typed)


def _lessons(typed: str) -> Iterator[Item]:
    yield from _beginning(typed, ((name, "") for name in annexed("names of lessons")))
    yield from _files(typed)


def _metrics(typed: str) -> Iterator[Item]:
    from sim.metrics.catalogue import MEASURED

    yield from _beginning(typed, ((metric.name, metric.meaning) for metric in MEASURED))


def _specs(typed: str) -> Iterator[Item]:
    """Yield candidates for a spec: names of policies; after a name, parameters; after a parameter, values."""
    front, equals, switched = typed.partition("=")
    if equals and ":" not in front and front not in POLICIES:  # T=SPEC of --switch
        for item in _specs(switched):
            yield CompletionItem(f"{front}={item.value}", type=item.type, help=item.help)
        return
    name, colon, rest = typed.partition(":")
    if not colon:
        yield from _policies(typed)
        return
    aliased = POLICIES.aliases.get(name, name).partition(":")[0]
    if aliased not in list(POLICIES):  # code of the user's own: what its parameters are would take loading it
        return
    given, comma, last = rest.rpartition(",")
    key, equals, _ = last.partition("=")
    before = f"{name}:{given}{comma}"
    parameters = _parameters(POLICIES[aliased])
    if equals and key in parameters:
        yield from _beginning(typed, ((f"{before}{key}={value}", "") for value in _values(parameters[key])))
        return
    taken = {part.partition("=")[0] for part in given.split(",")}
    left = ((f"{before}{name}=", each.meaning) for name, each in parameters.items() if name not in taken)
    yield from _beginning(typed, left)


def _policies(typed: str) -> Iterator[Item]:
    if typed[:1] in (".", "/", "~"):
        yield from _files(typed)
        return
    ours = ((name, summary(cls)) for name, cls in POLICIES.items())
    short = ((name, f"stands for {spec}") for name, spec in POLICIES.aliases.items())
    others = ((name, f"of {origin(name)}") for name in sorted(plugins()))
    yield from _beginning(typed, chain(ours, short, others))


def _parameters(cls: type[Policy]) -> dict[str, Parameter]:
    parameters = parameters_of(cls)
    if (order := default_order(cls)) is not None:
        parameters["order"] = Parameter("order", str, order.name, "order of the queue", choices=tuple(ORDERS))
    return parameters


def _values(parameter: Parameter) -> Iterable[str]:
    return ("yes", "no") if parameter.kind is bool else parameter.choices


def _beginning(typed: str, named: Iterable[tuple[str, str]]) -> Iterator[Item]:
    return (CompletionItem(name, help=meaning or None) for name, meaning in named if name.startswith(typed))


_BY_WORD: dict[str, Callable[[str], Iterator[Item]]] = {
    "SPEC": _specs, "LESSON": _lessons, "NAME|FILE": _lessons, "TRACE": traces, "METRIC": _metrics, "WORD": _metrics,
    "FOLDER": _folders, "FILE": _files, "FIGURE": _files, "SESSION": _files,
}  # fmt: skip
"""Function for each word in placeholders; for one with several words, the first in this mapping counts."""
