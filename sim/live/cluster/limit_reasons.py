"""Text for Slurm's reasons that are about limits: which limit, how full it is, and which jobs fill it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sim.live.cluster.dates import until
from sim.live.cluster.values import Cluster, ClusterJob, Limit
from sim.support.formatting import count, listed, span

_REASON = re.compile(
    r"(?:(?P<of>Assoc|QOS)|(?=Max\w+Per(?:User|Account)$))"
    r"(?P<how>Grp|Max|Min)(?P<what>[A-Z]\w*?)(?P<span>Run(?:Minutes|Mins)|Minutes|Mins)?"
    r"(?:Per(?P<per>User|Job|Account|Acct|Node))?(?:Limit|NotSatisfied)?"
)
"""Slurm's reasons for limits; those such as `MaxCpuPerAccount` are about a QOS without naming it."""
_RESOURCES = {
    "cpu": ("cpu", "cores"), "mem": ("mem", "memory in MB"), "memory": ("mem", "memory in MB"),
    "node": ("node", "nodes"),
    "gres": ("gres/gpu", "GPUs"), "billing": ("billing", "billing units"), "energy": ("energy", "energy in J"),
    "bb": ("bb/", "burst buffer in GB"), "license": ("license/", "licenses"), "unknown": ("", "of another resource"),
}  # fmt: skip
"""Name of a resource in Slurm's reasons -> (its name in Slurm's limits, its name for users)."""
MOST_NAMED = 3
"""Largest number of jobs that a text names as the main users of a limit."""


def limit_reason(cluster: Cluster, job: ClusterJob) -> str | None:
    """Return text that explains why the job waits if Slurm's reason is about a limit, otherwise None."""
    match = _REASON.fullmatch(job.reason)
    if match is None:
        return None
    whose, unit = _owner(job, match), _unit(match)
    limit = _limit(cluster, job, match)
    if match["how"] == "Min" or match["per"] in ("Job", "Node") or match["what"] == "WallDuration":
        return _of_one_job(job, match, limit, whose)
    if limit is None:
        return f"waits: {whose} is at its limit of {unit}"
    own = _own_share(job, match, limit)
    used = max(limit.used, _used_now(cluster, job, match, limit))
    sum_of = f"{used:,.0f} used + {own:,.0f} asked for" if own else f"{used:,.0f} used"
    by = _filled_by(cluster, job, match)
    if used + own > limit.most or (not own and used >= limit.most):
        return f"waits: {whose} is at its limit of {unit}: {sum_of} {'>' if own else 'of'} {limit.most:,.0f}{by}"
    return f"waits: {whose} was at its limit of {unit} at Slurm's last pass; now {sum_of} of {limit.most:,.0f}{by}"


def _of_one_job(job: ClusterJob, match: re.Match[str], limit: Limit | None, whose: str) -> str:
    """Return text about a limit of `whose` that this job violates alone, so that one of both must be changed."""
    unit, own = _unit(match), _own_share(job, match, limit) if limit else 0
    is_least = match["how"] == "Min"
    each = "" if is_least else f" for {'a node of ' if match['per'] == 'Node' else ''}a job"
    whom = f"that {whose} {'requires' if is_least else 'allows'}{each}"
    bound = "the least" if is_least else "the most"
    unequal = limit is not None and (own < limit.most if is_least else own > limit.most * (60 if unit == "time" else 1))
    if limit is None or not own or not unequal:
        amount = f" ({limit.most:,.0f})" if limit else ""
        return f"cannot start: is {'below' if is_least else 'above'} {bound} {unit} {whom}{amount}"
    if unit == "time":
        return f"cannot start: asks for {span(own)} > {span(limit.most * 60)}, {bound} {unit} {whom}"
    return f"cannot start: asks for {own:,.0f} {'<' if is_least else '>'} {limit.most:,.0f}, {bound} {unit} {whom}"


def _owner(job: ClusterJob, match: re.Match[str]) -> str:
    if match["of"] != "Assoc":
        per = {"User": f"user {job.user} in QOS {job.qos}", "Account": f"account {job.account} in QOS {job.qos}"}
        return per.get((match["per"] or "").replace("Acct", "Account"), f"QOS {job.qos}")
    return f"account {job.account}" if match["how"] == "Grp" else f"user {job.user} of account {job.account}"


def _unit(match: re.Match[str]) -> str:
    what = match["what"].lower()
    if what.startswith("wall"):
        return "time" if what == "wallduration" else "minutes of all its jobs"
    if what.startswith("job"):
        return "running jobs"
    if what.startswith("submit"):
        return "submitted jobs"
    unit = _RESOURCES.get(what, ("", what))[1]
    return f"{unit} x minutes" if match["span"] else unit


def _key(match: re.Match[str]) -> str:
    what, per = match["what"].lower(), {"User": "PU", "Account": "PA", "Acct": "PA", "Job": "PJ", "Node": "PN"}
    suffix = per.get(match["per"] or "", "")
    if what.startswith("wall"):
        return f"{match['how']}Wall{suffix or ('PJ' if match['how'] == 'Max' else '')}"
    if what.startswith(("job", "submit")):
        return f"{match['how']}{'Jobs' if what.startswith('job') else 'SubmitJobs'}{suffix}"
    spans = {"Minutes": "Mins", "Mins": "Mins", "RunMinutes": "RunMins", "RunMins": "RunMins", None: ""}
    suffix = suffix or ("PJ" if match["how"] == "Min" else "")
    return f"{match['how']}TRES{spans[match['span']]}{suffix}={_RESOURCES.get(what, (what, ''))[0]}"


def _limit(cluster: Cluster, job: ClusterJob, match: re.Match[str]) -> Limit | None:
    """Return the limit that Slurm's reason is about, of several the fullest, or None if it is unknown."""
    key = _key(match)
    alike = [limit for limit in cluster.limits if limit.what == key or (key.endswith("/") and key in limit.what)]
    if match["of"] != "Assoc":
        names = {job.qos, f"{job.user} in {job.qos}", f"{job.account} in {job.qos}"}
        kind = "qos"
    else:
        names = {job.account, f"{job.user} of {job.account}"}
        kind = "account" if match["how"] == "Grp" else "user"
    own = [limit for limit in alike if limit.kind.startswith(kind) and limit.name in names]
    above = [limit for limit in alike if limit.kind == kind and kind == "account"]
    return max(own or above, key=lambda limit: limit.used / max(limit.most, 1), default=None)


def _own_share(job: ClusterJob, match: re.Match[str], limit: Limit) -> float:
    if "Jobs" in limit.what:
        return 1
    if match["what"] == "WallDuration":
        return job.limit or 0
    nodes = job.nodes_wanted if match["per"] == "Node" else 1
    amounts = {"cpu": job.cpus, "node": job.nodes_wanted, "gres/gpu": job.gpus}
    amount = amounts.get(limit.what.partition("=")[2], 0) / max(nodes, 1)
    return amount * (job.limit or 0) / 60 if match["span"] else amount


def _used_now(cluster: Cluster, job: ClusterJob, match: re.Match[str], limit: Limit) -> float:
    """Return how much of the limit the running jobs use now; 0 if that cannot be computed for its kind."""
    if match["span"] or "Submit" in limit.what or limit.what.endswith("=node"):
        return 0.0
    return sum(_own_share(other, match, limit) for other in cluster.running if _shares(match, job, other))


def _filled_by(cluster: Cluster, job: ClusterJob, match: re.Match[str]) -> str:
    alike = (other for other in cluster.running if _shares(match, job, other))
    filling = sorted(alike, key=lambda other: (-other.cpus, other.end or 0))
    if not filling:
        return ""
    more = [f"{len(filling) - MOST_NAMED:,} more"] if len(filling) > MOST_NAMED else []
    verb = "uses" if len(filling) == 1 else "use"
    return f"; {listed([*_named(filling[:MOST_NAMED], cluster.at), *more])} {verb} it"


def _shares(match: re.Match[str], job: ClusterJob, other: ClusterJob) -> bool:
    if match["of"] == "Assoc":
        return other.account == job.account and (match["how"] == "Grp" or other.user == job.user)
    same = {None: True, "User": other.user == job.user}.get(match["per"], other.account == job.account)
    return other.qos == job.qos and same


def _named(jobs: list[ClusterJob], now: float) -> Iterator[str]:
    for job in jobs:
        yield f"J{job.id} ({count(job.cpus, 'core')}{until(job.end, now)})"
