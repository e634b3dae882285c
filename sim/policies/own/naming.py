"""Names of user-defined code in a spec (`name:key=value`): files, git revisions, modules and plug-ins, found without
running code.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sim.support.errors import ParameterError
from sim.support.formatting import printable, quoted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PLUGINS = "schedscope.policies"
"""Group of Python entry points under which an installed package provides policies"""
DEEPEST = 8
"""Greatest depth to which specs within specs are followed; no valid spec is deeper"""
_DRIVE = r"(?:[A-Za-z]:[\\/])?" if sys.platform == "win32" else ""
"""Pattern of the drive with which a path may begin on Windows, whose colon separates no parts of a spec; empty
elsewhere
"""
_FILE = re.compile(rf"(?P<source>{_DRIVE}[^:]*?\.py)(?:@(?P<revision>[^:]+))?(?::(?P<rest>.*))?", re.DOTALL)
_WORD = r"[^\W\d]\w*"
_MODULE = re.compile(rf"(?P<source>{_WORD}(?:\.{_WORD})+|{_WORD}(?=:[A-Z]\w*(?::|$)))(?::(?P<rest>.*))?", re.DOTALL)
_PLUGIN = re.compile(r"[\w.+-]{1,60}")
"""Pattern of the names of plug-ins; a plug-in with another name cannot be typed as a policy and is left out"""
_VALUE = re.compile(rf"((?:^|[:,+])\s*\w+=\s*)({_DRIVE}[^,:=]*?\.py)(?=[@:,+]|$)")
"""Pattern of a file name that is the value of a parameter."""


class Named(NamedTuple):
    """Reference in a spec to user-defined code that has not been run."""

    source: str
    """Source of the code: a file as it was typed, a module, or a plug-in."""
    revision: str
    is_file: bool
    cls: str
    """Name of the class, "" if the user gave none"""
    rest: str
    """Parameters of the policy as typed, `key=value,key=value`"""

    @property
    def head(self) -> str:
        """Return the name of the code for the user: relative for a file below the current folder, otherwise with the
        full path.
        """
        if not self.is_file:
            return self.source
        near = _relative_path(self.path)
        head = self.path if near.startswith(os.pardir) else os.path.join(os.curdir, near)
        return head + (f"@{self.revision}" if self.revision else "")

    @property
    def name(self) -> str:
        """Return the name of the code with its full path, valid in every folder, as in a `CodeRef`."""
        return os.path.abspath(self.head) if self.is_file else self.source

    @property
    def path(self) -> str:
        """Return the full path of the file, without the git revision."""
        return _whole_path(self.source)


def named_code(spec: str) -> Named | None:
    """Return the reference to user-defined code at the beginning of a spec, or None if the spec begins with a policy's
    name.
    """
    spec = spec.strip()
    found = _FILE.fullmatch(spec) or _MODULE.fullmatch(spec)
    if found is None:
        return None
    of = found.groupdict()
    first, _, others = (of["rest"] or "").partition(":")
    if "=" in first or not first:
        first, others = "", of["rest"] or ""
    return Named(of["source"], of.get("revision") or "", found.re is _FILE, first.strip(), others.lstrip(":"))


def code_in(spec: str) -> list[Named]:
    """Return all references to code in a spec: its policy, and the values of parameters at any depth.

    >>> [named.source for named in code_in("easy:order=evil:Foo,depth=2")]
    ['evil']
    >>> [named.source for named in code_in("adaptive:below=adaptive:above=./a.py+order=b.c")]
    ['./a.py', 'b.c']
    """
    return list(dict.fromkeys(_code_in(spec.strip(), DEEPEST)))


def _code_in(spec: str, deepest: int) -> Iterator[Named]:
    named = named_code(spec)
    head, _, rest = spec.partition(":")
    if named is not None:
        yield named
        rest = named.rest
    elif head in plugins():
        yield Named(head, "", is_file=False, cls="", rest=rest)
    for part in rest.split(",") if deepest else ():
        value = part.partition("=")[2].strip()
        yield from _code_in(pairs_apart(value), deepest - 1)


def pairs_apart(spec: str) -> str:
    """Return a spec that was a value within another spec, with commas again in place of `+` between its parameters.

    >>> pairs_apart("gang-backfill:mpl=3+slice=60")
    'gang-backfill:mpl=3,slice=60'
    """
    return re.sub(r"\+(?=\w+=)", ",", spec)


def full_spec(spec: str) -> str:
    """Return the spec with full paths, valid in every folder. Raise `ParameterError` if the result would be read as
    other code.
    """
    named = named_code(spec)
    made = spec
    if named is not None and named.is_file:
        made = _whole_path(named.source) + spec.strip()[len(named.source) :]
    made = _VALUE.sub(lambda found: found[1] + _whole_path(found[2]), made)
    if {each.name for each in code_in(made)} != {each.name for each in code_in(spec)}:
        raise ParameterError(
            f"{quoted(spec)}: a file in a folder with : , = or @ in its name cannot be named from here"
        )
    return made


def _relative_path(path: str) -> str:
    """Return the path relative to the current folder, or unchanged if it is on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return os.path.join(os.pardir, path)


def _whole_path(source: str) -> str:
    return os.path.abspath(os.path.expanduser(source))


def plugins() -> dict[str, EntryPoint]:
    """Return a mapping from policy name to entry point, for the policies of installed packages; none of them is
    loaded.
    """
    return _plugins(tuple(sys.path))


def origin(name: str) -> str:
    """Return name and version of the installed package that provides a policy; nothing is imported."""
    dist = plugins()[name].dist
    return "an installed package" if dist is None else printable(f"{dist.name} {dist.version}")


@lru_cache(maxsize=1)
def _plugins(path: tuple[str, ...]) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    named = (point for point in entry_points(group=PLUGINS) if _PLUGIN.fullmatch(point.name))
    return {
        point.name: point
        for point in sorted(named, key=lambda point: point.dist.name if point.dist else "", reverse=True)
    }  # the first package wins
