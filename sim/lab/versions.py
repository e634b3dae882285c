"""Versions of the program; a worker with another version is refused, because it may give other results."""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sim.lab.plan import version
from sim.support.errors import SchedscopeError


class Versions(NamedTuple):
    """Versions of the program and of everything else that affects results."""

    schedscope: str
    sources: str
    """First digits of a hash of the program's files, because copies with the same version number may differ."""
    python: str
    numpy: str

    def __str__(self) -> str:
        return f"schedscope {self.schedscope} ({self.sources}), Python {self.python}, numpy {self.numpy}"


class OtherVersionError(SchedscopeError):
    """Error for a worker that runs another version of the program."""


@cache
def versions() -> Versions:
    """Return the versions of the program and of everything else that affects results, in this process."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    sources = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    python = ".".join(platform.python_version_tuple()[:2])
    return Versions(version(), sources[:8], python, np.__version__)


def check_versions(wanted: Versions | None) -> None:
    """Raise an error if the sweep's versions (None: unknown) differ from the versions in this process."""
    if wanted is not None and wanted != versions():
        raise OtherVersionError(
            f"a worker on {platform.node()} has {versions()}; here are {wanted}: install the same in both places"
        )
