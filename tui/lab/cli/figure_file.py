"""Figure files (`figure.toml`): the settings of a figure, with which it can be drawn again; they contain no code."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sim.support.errors import FileError, near
from sim.support.files import TextKind
from sim.support.formatting import printable, quoted

TEXTS = (
    "results", "kind", "x", "y", "by", "group", "interval", "against", "output", "title", "size", "xlabel",
    "ylabel", "legend", "style",
)  # fmt: skip
LISTS = ("where", "order")
FLAGS = ("log", "ratio", "same")
LABELS = "labels"
KEYS = (*TEXTS, *LISTS, *FLAGS, LABELS)
_FILES = ("results", "output")
_MOST_OF_FIGURE = 2**25


class FigureError(FileError):
    """Error for a figure file that cannot be read, or has a wrong setting."""


FIGURE = TextKind("figure", 2**20, FigureError)


def read_figure(path: str, is_output_used: bool = True) -> dict[str, Any]:
    """Return the settings in a figure file, as a mapping from name to value. Names of other files in it are relative to
    its folder, and are returned with this folder in front. With `is_output_used`, raise an error if the output lies
    outside of this folder.
    """
    text = FIGURE.read(path)
    found = FIGURE.toml(text, path)
    for name, value in found.items():
        if name not in KEYS:
            raise FigureError(f"there is no {quoted(name)} in a figure{near(name, KEYS)}", path, _line(text, name))
        if not _fits(name, value):
            what = "a list of words" if name in LISTS else "true or false" if name in FLAGS else "words"
            what = "a table of words" if name == LABELS else what
            raise FigureError(f"{name}: expected {what}", path, _line(text, name))
    folder = os.path.dirname(path)
    if is_output_used:
        _check_output(found.get("output"), folder, path)
    return found | {name: os.path.join(folder, found[name]) for name in _FILES if found.get(name)}


def _check_output(output: str | None, folder: str, path: str) -> None:
    """Raise an error for an output outside of the figure file's folder, as another person's file could name it."""
    if output is None:
        return
    home, meant = os.path.realpath(folder or "."), os.path.realpath(os.path.join(folder, output))
    if os.path.dirname(meant) != home or not (os.path.isfile(meant) or not os.path.exists(meant)):
        raise FigureError("output: expected a file in the folder of this one; name another with -o", path)
    if os.path.exists(meant) and mark_of(path).encode() not in _content(meant):
        what = f"{quoted(output)} exists and was not made by this file"
        raise FigureError(f"output: {what}; replace it with -o {printable(os.path.join(folder, output))}", path)


def mark_of(path: str) -> str:
    """Return a text for the metadata of a figure that names its figure file. If a figure has it, that figure file may
    replace the figure without asking.
    """
    return f"schedscope plot {re.sub(r'[^A-Za-z0-9._-]', '_', Path(path).name)}"


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_OF_FIGURE)
    except OSError:
        return b""


def _line(text: str, name: str) -> int:
    lines = (at for at, line in enumerate(text.splitlines(), 1) if line.lstrip(' ["').startswith(name))
    return next(lines, 0)


def _fits(name: str, value: object) -> bool:
    if name in LISTS:
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    if name in FLAGS:
        return isinstance(value, bool)
    if name == LABELS:
        return isinstance(value, dict) and all(isinstance(word, str) for word in value.values())
    return isinstance(value, str)


def figure_text(settings: Mapping[str, Any], path: str) -> str:
    folder = os.path.dirname(os.path.abspath(path))
    told = {name: value for name, value in settings.items() if value}
    told |= {name: _relative(told[name], folder) for name in _FILES if told.get(name)}
    lines = ["# schedscope plot makes this figure again: schedscope plot " + Path(path).name]
    for name in KEYS:
        if name in told and name != LABELS:
            value = told[name]
            lines.append(f"{name} = {'true' if value is True else _value(value)}")
    if labels := told.get(LABELS):
        lines += ["", f"[{LABELS}]", *(f"{_value(old)} = {_value(new)}" for old, new in labels.items())]
    return "\n".join(lines) + "\n"


def _relative(name: str, folder: str) -> str:
    try:
        return os.path.relpath(name, folder)
    except ValueError:  # another drive
        return os.path.abspath(name)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
