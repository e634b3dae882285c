"""Traces that the user can open: recent ones, samples, and the files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sim.support.formatting import count
from sim.workload.reading import ENDINGS
from sim.workload.samples import captions
from sim.workload.source import is_line

Kind = Literal["sample", "puzzle", "file", "folder", "missing"]
MOST_FILES = 200


class Choice(NamedTuple):
    kind: Kind
    value: str
    title: str
    what: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    choices: tuple[Choice, ...]
    more: str = ""


def sections(typed: str, opened: Sequence[str]) -> list[Section]:
    """Return the files that match a typed path, otherwise all matching traces; `opened` are recent ones."""
    if is_path(typed):
        found = [folder_of(typed)]
    else:
        wanted = typed.lower().split()
        found = [
            Section("Opened before", tuple(_matching(map(recent, opened), wanted))),
            Section("Samples", tuple(_matching(_samples(), wanted))),
            folder_of(typed.strip()),
        ]
    return [section for section in found if section.choices or section.more]


def is_path(typed: str) -> bool:
    return typed.startswith((".", "~")) or "/" in typed or os.sep in typed


def completed(typed: str, ending: str = "") -> str:
    """Return the typed path completed by what all matching folders and files have in common."""
    choices = [choice.value for choice in folder_of(typed, ending).choices]
    common = os.path.commonprefix(choices)
    return common if len(common) > len(os.path.expanduser(typed)) else typed


def recent(trace: str) -> Choice:
    caption = dict(captions()).get(trace)
    if caption is not None:
        return Choice("sample", trace, trace, caption)
    if is_line(trace):
        return Choice("puzzle", trace, trace, "a puzzle")
    folder, name = os.path.split(trace)
    if os.path.exists(trace):
        return Choice("file", trace, name, folder)
    return Choice("missing", trace, name, "is no longer there")


def _samples() -> Iterator[Choice]:
    for name, caption in captions():
        yield Choice("sample", name, name, caption)


def _matching(choices: Iterator[Choice], wanted: list[str]) -> Iterator[Choice]:
    for choice in choices:
        if all(word in f"{choice.value} {choice.what}".lower() for word in wanted):
            yield choice


# Folders


def folder_of(typed: str, ending: str = "") -> Section:
    folder, begun = os.path.split(os.path.expanduser(typed))
    title = folder or "This folder"
    try:
        with os.scandir(folder or ".") as entries:
            meant = (entry for entry in entries if _is_meant(entry.name, begun))
            found = sorted(_listed(entry, folder) for entry in meant if entry.name.endswith(ending) or entry.is_dir())
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        reason = getattr(error, "strerror", None) or str(error)
        return Section(title, (), f"cannot be listed: {reason.lower()}")
    choices = tuple(choice for _, choice in found[:MOST_FILES])
    hidden = len(found) - len(choices)
    return Section(title, choices, f"and {count(hidden, 'more', 'more')}; type more of the name" if hidden else "")


def _is_meant(name: str, begun: str) -> bool:
    """Return True if a name begins as typed; a hidden file needs a typed dot."""
    return name.lower().startswith(begun.lower()) and (not name.startswith(".") or begun.startswith("."))


def _listed(entry: os.DirEntry[str], folder: str) -> tuple[tuple[int, str], Choice]:
    """Return (sorting key, choice): folders first, then files with endings of traces, then others."""
    path = os.path.join(folder, entry.name)
    if os.path.isdir(path):
        return (0, entry.name), Choice("folder", path + os.sep, entry.name + os.sep)
    plain = entry.name.lower().removesuffix(".gz")
    return (1 if plain.endswith(ENDINGS) else 2, entry.name), Choice("file", path, entry.name)
