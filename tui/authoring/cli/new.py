"""Command `schedscope new`: write a working policy file with explanations, and a test for it."""

from __future__ import annotations

import ast
import inspect
import io
import os
import re
import shlex
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from sim.policies import POLICIES, Policy
from sim.policies.registry import cited
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import quoted
from tui.cli.terminal import say

FOLDER = Path(__file__).parents[1] / "templates"
EXPLAINED = ("easy", "conservative", "fcfs", "fair-share")
"""Names of the policies that are explained line by line, each with a template"""
ON_PATH, INSTALLED = 'str(Path(__file__).with_name("{file}"))', '"{file}"  # once installed'
"""Name of the policy in its test: the file next to it, or that of an installed package"""
_KNOWN = "sim.policies.policy", "builtins"
"""Modules of base classes that every policy has"""


@click.command("new")
@click.argument("file", metavar="FILE.py")
@click.option("--like", default="easy", metavar="NAME", help="The policy to begin with; default easy.")
@click.option("--package", "is_package", is_flag=True, help="Instead a folder FILE with an installable package.")
def command(file: str, like: str, is_package: bool) -> None:
    """Create a working policy file and a test for it.

    Nothing is overwritten. --like fcfs, easy, conservative and fair-share are explained line by line. Any other policy
    of `schedscope policies` is written out as it is in the program, for you to change what it decides.
    """
    path = Path(file)
    if not path.name:
        raise click.UsageError("a policy needs the name of a file, like fair.py")
    if is_package:
        _write_all(package_files(path, like), [path, path / module_name(path), path / "tests"])
        name, folder = plugin_name(path), shlex.quote(str(path))
        say(
            f"{path} is written. Now:\n"
            f"  pip install -e {folder}\n"
            f"  schedscope policies {name}\n"
            f"  schedscope test {name}\n"
            f"  pytest {folder}"
        )
        return
    test = path.with_name(f"test_{path.name}")
    text, beside = texts(path, like)
    _write_all({path: text, test: beside})
    shown = file if path.parent.parts else f"./{file}"
    say(
        f"{path} and {test} are written. Now:\n"
        f"  schedscope test {shown}\n"
        f"  schedscope watch lublin-128 --policy {shown}\n"
        f"  schedscope run lublin-128 --policy {shown} --policy easy"
    )


def _write_all(files: Mapping[Path, str], folders: Sequence[Path] = ()) -> None:
    """Create the folders and write the new files; if one cannot be written, those already written are removed."""
    for path in files:
        if os.path.lexists(path):
            raise SchedscopeError(f"{path}: already exists; choose another name")
    for folder in folders:
        try:
            folder.mkdir()
        except OSError as error:
            raise SchedscopeError(f"{folder}: cannot be made: {error.strerror or error}") from None
    made = list[Path]()
    for path, content in files.items():
        try:
            with open(path, "x", encoding="utf-8") as opened:
                made.append(path)
                opened.write(content)
        except OSError as error:
            for half in made:
                half.unlink(missing_ok=True)
            raise SchedscopeError(f"{path}: cannot be written: {error.strerror or error}") from None


def module_name(folder: Path) -> str:
    return folder.name.replace("-", "_")


def plugin_name(folder: Path) -> str:
    """Return the name of the policy and its distribution in the package folder `folder`: my_policies -> my-policies."""
    return folder.name.lower().replace("_", "-")


def package_files(folder: Path, like: str) -> dict[Path, str]:
    """Return the files of an installable package by path: a policy, which decides like `like`, and its test."""
    module = module_name(folder)
    if not module.isidentifier() or module != module.lower():
        raise ParameterError(f"{folder.name}: expected the name of a package like my_policies")
    if os.path.lexists(folder):
        raise SchedscopeError(f"{folder}: already exists; choose another name")
    name = plugin_name(folder)
    if name in POLICIES.names:
        raise ParameterError(f"{name} is a policy of schedscope: choose another name")
    words = _words(module, name, f"tests/test_{module}.py", like)
    policy = _policy(words)
    test = _template("test").replace(ON_PATH, INSTALLED).replace("from pathlib import Path\n\n", "")
    return {
        folder / "pyproject.toml": _filled("project", name=name, module=module, Name=words["Name"]),
        folder / "README.md": _filled("page", name=name, module=module),
        folder / module / "__init__.py": f'"""Policies for schedscope; the policy {name} is in {module}.policy."""\n',
        folder / module / "policy.py": policy.replace(f"order={name}\n", f"order={module}.policy:LeastUsed\n"),
        folder / "tests" / f"test_{module}.py": test.format(**words),
    }


def texts(path: Path, like: str) -> tuple[str, str]:
    """Return the texts of a policy's file and of its test; the policy decides like `like`."""
    stem = path.stem.replace("-", "_")
    if path.suffix != ".py" or not stem.isidentifier():
        raise ParameterError(f"{path.name}: expected the name of a file like fair_share.py")
    words = _words(stem, path.name, f"test_{path.name}", like)
    return _policy(words), _filled("test", **words)


def _template(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def _filled(template: str, **words: str) -> str:
    return _template(template).format(**words)


def _policy(words: Mapping[str, str]) -> str:
    """Return the text of the policy file: the filled template of `words["like"]`, else that policy's own text."""
    like = words["like"]
    if like in EXPLAINED:
        return _filled("head", **words) + _filled(like, **words)
    opening = "Like {like}{paper}. Say here what differs.\n\nTry it with: schedscope test {file}\n".format(**words)
    text = text_of(POLICIES[like], words["Name"], opening + _elsewhere(POLICIES[like]))
    return re.sub(r"easy_candidates\((\w+), [^)]*\)", r"candidates(\1)", text)  # the author may loosen the rule


def _elsewhere(cls: type[Policy]) -> str:
    """Return a text that names the papers which the policy cites, and the base classes whose methods its file lacks."""
    papers, bases = cited(cls.paper), [each for each in cls.__mro__ if each.__module__ not in (cls.__module__, *_KNOWN)]
    text = f"\n{papers}\n" if papers else ""
    if bases:
        text += "\nOther methods are those of its base classes:\n"
    return text + "".join(f"- {each.__name__} in {each.__module__}\n" for each in bases)


def _names_in(text: str) -> set[str]:
    nodes = [*ast.walk(ast.parse(text))]
    return {name for node in nodes for key in ("id", "name") if (name := getattr(node, key, None))}


def _words(stem: str, file: str, test: str, like: str) -> dict[str, str]:
    """Return a mapping from each placeholder of the templates to the text that replaces it."""
    like = POLICIES.aliases.get(like, like).partition(":")[0]
    if like not in [*POLICIES, *EXPLAINED]:
        raise ParameterError(f"no policy {quoted(like)}{POLICIES.near(like)}")
    is_fair, paper = like == "fair-share", POLICIES[like].paper if like in POLICIES else ""
    words = {
        "Name": "".join(word.capitalize() for word in re.split("_+", stem)) or "Own",
        "file": file,
        "test": test,
        "like": like,
        "paper": f" ({paper})" if paper else "",
        "mapping": "from collections.abc import Mapping\n" if is_fair else "",
        "field": ", field, replace" if is_fair else "",
    }
    if words["Name"] in _names_in(_policy({**words, "Name": "_"})):
        words["Name"] += "2"
    return words


# Text of a built-in policy as a file of its own

_WIDEST = 120
"""Largest number of letters in a line of the project"""


class _Part(NamedTuple):
    """Definition at the top level of a module."""

    names: frozenset[str]
    used: frozenset[str]
    text: str
    """Its lines, with the comments above it and the string below it"""


def text_of(cls: type[Policy], name: str, opening: str) -> str:
    """Return the text of a file with the built-in policy `cls`, which is called `name` there; `opening` is the
    docstring of the module.

    The file has what the policy uses of its own module. Policies that it extends there get names with a leading _, so
    that the file counts as one with a single policy.
    """
    source = inspect.getsource(inspect.getmodule(cls) or cls)
    module = ast.parse(source)
    parts, needed = _parts(module, source), {cls.__name__}
    while more := {name for part in parts if part.names & needed for name in part.used} - needed:
        needed |= more
    text = "".join(part.text for part in parts if part.names & needed)
    names = {each.__name__: f"_{each.__name__}" for each in cls.__mro__ if each.__module__ == cls.__module__}
    text = _renamed(text, {**names, cls.__name__: name}).strip()
    space = "\n\n\n" if text.startswith(("@", "class", "def")) else "\n\n"
    return f'"""{opening}"""\n\n{_imports(module, needed)}{space}{text}\n'


def _parts(module: ast.Module, source: str) -> list[_Part]:
    lines, parts, end = source.splitlines(keepends=True), list[_Part](), 0
    for node in module.body:
        first, end = end, node.end_lineno or 0
        if isinstance(node, ast.Expr):
            if parts:  # the string below a constant
                parts[-1] = parts[-1]._replace(text=parts[-1].text + "".join(lines[first:end]))
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        gone = set[int]()
        if isinstance(node, ast.ClassDef):
            registered = [each for each in node.decorator_list if ast.unparse(each).startswith("policy(")]
            gone = {line for each in registered for line in range(each.lineno - 1, each.end_lineno or 0)}
            node.decorator_list = [each for each in node.decorator_list if each not in registered]
        words = {each.id: type(each.ctx) for each in ast.walk(node) if isinstance(each, ast.Name)}
        defined = {node.name} if isinstance(node, ast.ClassDef | ast.FunctionDef) else set(words)
        text = "".join(line for place, line in enumerate(lines[first:end], first) if place not in gone)
        parts.append(_Part(frozenset(defined), frozenset(words), text))
    return parts


def _imports(module: ast.Module, needed: set[str]) -> str:
    groups = list[list[str]]([[], [], []])
    for node in (each for part in module.body for each in (part.body if isinstance(part, ast.If) else [part])):
        if isinstance(node, ast.ImportFrom):
            of, names = node.module or "", [each.name for each in node.names]
            names = [name for name in names if name in needed or of == "__future__"]
            of = "sim" if names == ["Moment"] else of
            if names:
                groups[0 if of == "__future__" else 2 if of.startswith("sim") else 1].append(_import(of, names))
    return "\n\n".join("\n".join(sorted(group)) for group in groups if group)


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= _WIDEST else line.replace("import ", "import (\n    ").replace(", ", ",\n    ") + ",\n)"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the code `text` with other names, also where texts quote them: `Name`. `names` maps old to new names."""
    lines = text.splitlines(keepends=True)
    for token in reversed([*tokenize.generate_tokens(io.StringIO(text).readline)]):
        row, column = token.start
        if token.type == tokenize.NAME and token.string in names:
            line = lines[row - 1]
            lines[row - 1] = line[:column] + names[token.string] + line[column + len(token.string) :]
    return re.sub(r"`(\w+)`", lambda found: f"`{names.get(found[1], found[1])}`", "".join(lines))
