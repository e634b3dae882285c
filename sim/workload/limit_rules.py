"""Rules of a machine's file that limit what the jobs of a user, an account or a QOS may hold together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EACH = "*"
"""Name in a rule for every user (or account, or QOS); the limit then holds for each of them separately."""
SUBMITTED = "submitted"
"""Name of the resource of a limit on the number of jobs that wait and run; a job beyond it is not accepted."""
_WORDS = {"cores": "Cpu", "nodes": "Node", "jobs": "Jobs", "memory": "Mem"}


@dataclass(frozen=True, slots=True)
class LimitRule:
    """Most of a resource that the jobs of certain owners (such as a user) may hold together, by a machine's file."""

    resource: str
    """Resource that is limited: jobs, nodes, cores, memory or another countable resource."""
    most: int
    owners: tuple[tuple[str, str], ...] = ()
    """Pairs (user, account or qos; name or `EACH`) that a job must have to count; empty for all jobs."""

    @property
    def reason(self) -> str:
        """Return Slurm's name for the reason why a job waits if it would exceed the limit.

        >>> LimitRule("cores", 8, (("account", "physics"),)).reason
        'AssocGrpCpuLimit'
        >>> LimitRule("gpu", 2, (("user", "*"), ("qos", "urgent"))).reason
        'QOSMaxGRESPerUser'
        """
        owners = dict(self.owners)
        if self.resource == SUBMITTED:
            return _submitted(owners)
        word = _WORDS.get(self.resource, "GRES")
        end = "Limit" if word in ("Cpu", "Node", "Jobs") else ""
        if "qos" not in owners:
            return f"AssocMax{word}Limit" if "user" in owners and word == "Jobs" else f"AssocGrp{word}{end or 'Limit'}"
        for owner, each in (("user", "PerUser"), ("account", "PerAccount")):
            if owner in owners:
                word = "Memory" if word == "Mem" else word
                return f"QOSMax{word}{each}{end}"
        return f"QOSGrp{word}{end}"


def _submitted(owners: Mapping[str, str]) -> str:
    """Return Slurm's name for a limit on submitted jobs of these owners (mapping from their kind to their name).

    >>> _submitted({"user": "*"}), _submitted({"qos": "night", "user": "*"})
    ('AssocMaxSubmitJobLimit', 'QOSMaxSubmitJobPerUserLimit')
    """
    if "qos" not in owners:
        return "AssocMaxSubmitJobLimit" if "user" in owners else "AssocGrpSubmitJobsLimit"
    if "user" in owners:
        return "QOSMaxSubmitJobPerUserLimit"
    return "MaxSubmitJobsPerAccount" if "account" in owners else "QOSGrpSubmitJobsLimit"
