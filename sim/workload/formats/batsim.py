"""Reader of Batsim's workloads: JSON with jobs, and with profiles that say what a job does when it runs.

A run time is known only for profiles of delays, and of sequences of delays. Other profiles compute or communicate, so
their duration depends on a platform; their jobs are left out and counted by type.
"""

from __future__ import annotations

import json
from typing import Any

from sim.support.errors import TraceError
from sim.workload.formats.table import JobRows, number, shown
from sim.workload.model import Field, Header, Trace

DELAYS = ("delay", "DelayProfile")
SEQUENCES = ("composed", "composition", "sequence", "SequentialCompositionProfile")
DEEPEST = 64  # a sequence in a sequence in a sequence...
MOST = 2**23  # values: a short word takes twelve times as much memory as in the file, an object thirty times
AN_OBJECT = 4  # values take as much as one


def read(text: str, name: str, path: object) -> Trace:
    content = _content(text, path)
    profiles = content.get("profiles")
    runtimes = _Runtimes(profiles if isinstance(profiles, dict) else {})
    rows = JobRows("jobs with an id and numbers for subtime and res", unit="job")
    for at, job in enumerate(content["jobs"], start=1):
        values = _values(job)
        if values is None:
            rows.damage.add(at, _gist(job))
            if rows.damage.is_hopeless(len(rows)):
                break
            continue
        profile = _name(job.get("profile"))
        runtime = runtimes.of(profile)
        if runtime is None:
            rows.skipped.add(f"run time unknown: {runtimes.kind(profile)}", f"job {job['id']}")
            continue
        rows.add(str(job["id"]), values | {Field.RUN: runtime}, {})
    size = number(content.get("nb_res"))
    return rows.trace(name, "batsim", path, Header(max_procs=int(size) if size and size >= 1 else None))


def parsed_json(text: str, path: object) -> Any:
    """Return the content of a JSON file; an error names the line with the mistake."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TraceError(f"is no JSON: {error.msg}", path, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(f"is no JSON that can be read: {shown(error)}", path) from None


def _content(text: str, path: object) -> dict[str, Any]:
    # before each value stands one of them
    if text.count(",") + text.count("[") + AN_OBJECT * text.count("{") > MOST:
        raise TraceError(f"holds more than {MOST:,} values; cut it into smaller files", path)
    content = parsed_json(text, path)
    if not isinstance(content, dict) or not isinstance(content.get("jobs"), list):
        raise TraceError("expected a Batsim workload with a list of 'jobs', got other JSON", path)
    return content


def _values(job: object) -> dict[Field, float] | None:
    if not isinstance(job, dict) or isinstance(job.get("id"), bool):
        return None
    submit, procs = number(job.get("subtime")), number(job.get("res"))
    if submit is None or procs is None or not isinstance(job.get("id"), (str, int, float)):
        return None
    estimate = number(job.get("walltime")) or -1.0
    return {Field.SUBMIT: submit, Field.PROCS_ASKED: procs, Field.ESTIMATE: max(estimate, -1.0)}


def _name(value: object) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""


def _gist(job: object) -> str:
    if not isinstance(job, dict):
        return f"a {type(job).__name__}"
    return ", ".join(f"{key} {_name(job.get(key))}" for key in ("id", "subtime", "res"))


class _Runtimes:
    """Mapping from the name of a profile to its run time in seconds, computed when first needed."""

    def __init__(self, profiles: dict[str, Any]) -> None:
        self._profiles = profiles
        self._known: dict[str, float | None] = {}

    def kind(self, name: str) -> str:
        profile = self._profiles.get(name)
        if not isinstance(profile, dict):
            return "the file does not describe the job's profile"
        return f"its profile is of type {shown(_name(profile.get('type')))}"

    def of(self, name: str, depth: int = 0) -> float | None:
        """Return a profile's run time in seconds; None if it is not made of delays only, or contains itself."""
        if name not in self._known:
            self._known[name] = None
            self._known[name] = self._work_out(self._profiles.get(name), depth)
        return self._known[name]

    def _work_out(self, profile: object, depth: int) -> float | None:
        if not isinstance(profile, dict) or depth > DEEPEST:
            return None
        if profile.get("type") in DELAYS:
            return number(profile.get("delay"))
        parts, repeat = profile.get("seq"), number(profile.get("repeat", 1))
        if profile.get("type") not in SEQUENCES or not isinstance(parts, list) or repeat is None:
            return None
        runtimes = [self.of(_name(part), depth + 1) for part in parts]
        known = [runtime for runtime in runtimes if runtime is not None]
        return number(sum(known) * repeat) if len(known) == len(parts) else None
