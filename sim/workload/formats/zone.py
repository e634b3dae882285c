"""Time zone in which a file writes local times: one that the user names, or that of this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sim.support.errors import ParameterError
from sim.support.formatting import quoted

LOCALTIME = Path("/etc/localtime")


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of that name. Raise an error for an unknown name."""
    zone = _zone_or_none(name)
    if zone is None:
        raise ParameterError(f"no time zone {quoted(name)} is known here; give one like Europe/Berlin, or UTC")
    return zone


def zone_here() -> ZoneInfo:
    """Return the time zone of this machine: from TZ, else from /etc/localtime, else UTC."""
    names = [os.environ.get("TZ", "").lstrip(":")]
    with suppress(OSError):  # no link, but a copy of the file
        names.append(os.readlink(LOCALTIME).partition("zoneinfo/")[2])
    return next((zone for zone in map(_zone_or_none, names) if zone), ZoneInfo("UTC"))


def _zone_or_none(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name.removeprefix("Etc/")) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
