"""Text of a built-in policy as a file of its own."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Mapping
from typing import NamedTuple

from sim.policies import Policy

_WIDEST = 120
"""Largest number of letters in a line of the project"""


class _Part(NamedTuple):
    """Definition at the top level of a module."""

    names: frozenset[str]
    """The names that it defines"""
    used: frozenset[str]
    """The names that occur in it"""
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
