"""Slurm's configuration as the parameters of the policy `slurm`."""

from __future__ import annotations

import re

from sim.policies.policy import written_policy
from sim.policies.registry import parse_policy
from sim.support.errors import FileError, ParameterError
from sim.support.files import TextKind
from sim.workload.formats.nodes import seconds_of

_NUMBERS = {
    "priorityweightage": "age", "priorityweightfairshare": "fairshare", "priorityweightjobsize": "size",
    "priorityweightpartition": "partition", "priorityweightqos": "qos",
}  # fmt: skip
_TIMES = {"prioritymaxage": "maxage", "prioritydecayhalflife": "halflife", "prioritycalcperiod": "period"}
_SCHEDULER = {"bf_interval": 1, "bf_window": 60, "bf_resolution": 1, "bf_max_job_test": 1, "bf_max_job_user": 1}
"""For each option of Slurm's SchedulerParameters that is used: the number of seconds in its unit, or 1 for a count."""
_IGNORED = {"priorityweightassoc": "associations", "priorityweighttres": "TRES"}
CONFIGURATION = TextKind("configuration of Slurm", 2**22, FileError)


def spec_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the spec of the policy with the weights of a slurm.conf or of `scontrol show config`, and the names of
    weights not modelled.

    >>> lines = ("PriorityWeightAge = 2000 # points", "PriorityMaxAge=1-0", "SchedulerParameters=bf_interval=5,x")
    >>> spec_of(chr(10).join(lines))
    ('slurm:age=2000,fairshare=0,size=0,maxage=86400,shares=tree,bf_interval=5', ())
    """
    found: dict[str, str] = {}
    ignored: list[str] = []
    is_basic = False
    for line in text.splitlines():
        key, equals, value = line.partition("#")[0].partition("=")
        key, value = key.strip().lower(), value.strip()
        if not equals:
            continue
        if key in _NUMBERS and value.isdecimal():
            found[_NUMBERS[key]] = value[:12]
        elif key in _TIMES and (seconds := _seconds(value)) is not None:
            found[_TIMES[key]] = f"{seconds:.0f}"
        elif key == "priorityfavorsmall" and value.lower() in ("yes", "no"):
            found["favour"] = "small" if value.lower() == "yes" else "large"
        elif key == "prioritytype":
            is_basic = value.lower() == "priority/basic"
        elif key == "priorityflags":
            found["shares"] = "accounts" if "no_fair_tree" in value.lower() else "tree"
        elif key == "schedulerparameters":
            found |= _of_scheduler(value)
        elif key in _IGNORED and value not in ("0", "(null)", ""):
            ignored.append(_IGNORED[key])
    if is_basic:  # in order of arrival
        found = {"order": "fcfs"} | {name: value for name, value in found.items() if name in _SCHEDULER}
    elif not found:
        raise ParameterError("no priorities of Slurm in it; scontrol show config prints them")
    else:
        found = dict.fromkeys(_NUMBERS.values(), "0") | {"shares": "tree"} | found  # Slurm's defaults since 19.05
    given = ",".join(f"{name}={value}" for name, value in found.items())
    return written_policy(parse_policy(f"slurm:{given}")), tuple(ignored)


def unweighed_note(text: str) -> str:
    """Return a sentence if a configuration by which priorities count has no weight above 0, otherwise "".

    >>> unweighed_note("PriorityType=priority/multifactor"), unweighed_note("PriorityWeightAge = 1000")
    ('it has no weight of priorities, so jobs come in the order of their arrival', '')
    """
    known = r"^\s*(priorityweight\w+\s*=\s*0*[1-9]|prioritytype\s*=\s*priority/basic)"
    told = "it has no weight of priorities, so jobs come in the order of their arrival"
    return "" if re.search(known, text, re.MULTILINE | re.IGNORECASE) else told


def _of_scheduler(value: str) -> dict[str, str]:
    found = {}
    for part in value.split(","):
        name, _, number = part.strip().partition("=")
        if name in _SCHEDULER and number.isdecimal() and int(number[:12]):
            found[name] = str(int(number[:12]) * _SCHEDULER[name])
    return found


def _seconds(text: str) -> float | None:
    """Return the seconds of a time in Slurm's form, in which a number alone means minutes; None if the text is no time.

    >>> _seconds("7-0"), _seconds("00:30:00"), _seconds("90"), _seconds("NONE")
    (604800.0, 1800.0, 5400.0, None)
    """
    if text.isdecimal():
        return 60.0 * int(text[:9])
    if match := re.fullmatch(r"(\d{1,6})-(\d{1,2})(:\d{1,2})?(:\d{1,2})?", text):
        text = f"{match[1]}-{match[2]}{match[3] or ':00'}{match[4] or ':00'}"
    return seconds_of(text)
