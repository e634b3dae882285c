"""Record of the user-defined code to which the user has agreed: when, and with which content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from sim.policies.own.loading import contents_of
from sim.policies.own.naming import Named, named_code
from sim.policies.policy import CodeRef
from sim.session.trust import is_on_network
from sim.support.errors import FileError, SchedscopeError
from sim.support.files import TextKind, write_whole
from sim.support.formatting import listed
from tui.sessions.autosave import state_folder

MOST = 500
"""Largest number of entries in the record (the newest are kept)"""
_RECORD = TextKind("record of trusted code", 2**20, FileError)


def trust_path() -> Path:
    """Return the path of the record; it contains names, dates and hashes of code, not the code itself."""
    return state_folder() / "trusted.json"


def remember_trust(code: Iterable[CodeRef]) -> None:
    """Record that the user has agreed to this code as it is; if the record cannot be written, do nothing."""
    known = _read()
    for ref in code:
        named = named_code(ref.name)
        if named is not None and named.is_file and (hashes := _hashes(named)):
            known.pop(ref.name, None)
            known[ref.name] = {"day": date.today().isoformat(), "files": hashes}
    with suppress(SchedscopeError, OSError):
        trust_path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with write_whole(trust_path()) as file:
            json.dump(dict(list(known.items())[-MOST:]), file)


def since_trusted(ref: CodeRef) -> str:
    """Return which files changed since the user agreed; "" for code in no ordinary local file. It is not run."""
    named = named_code(ref.name)
    if named is None or not named.is_file or named.revision or is_on_network(named):
        return ""
    name = Path(named.path).name
    match _read().get(ref.name):
        case {"day": str(day), "files": dict(then)}:
            now = _hashes(named)
            changed = [Path(path).name for path in now if path in then and now[path] != then[path]]
            changed += [f"{Path(path).name} (new)" for path in now if path not in then]
            changed += [f"{Path(path).name} (gone)" for path in then if path not in now]
            return f"{name}: changed since you trusted it on {day}: {listed(changed)}" if changed else (
                f"{name}: unchanged since you trusted it on {day}"
            )  # fmt: skip
    return f"{name}: you have not trusted it before"


def _hashes(named: Named) -> dict[str, str]:
    try:
        return {name: hashlib.sha256(data).hexdigest() for name, data in contents_of(named).items()}
    except SchedscopeError:
        return {}


def _read() -> dict[str, Any]:
    try:
        found = json.loads(_RECORD.bytes_in(trust_path()))
    except (FileError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
