"""Random machines of nodes with jobs, to compare the program with the plain scheduler."""

import random
from typing import Any


def case_of(
    seed: int,
    waiting: float = 0.0,
    limited: bool = False,
    parted: bool = False,
    reserved: bool = False,
    detailed: bool = False,
) -> dict[str, Any]:
    """Return a random machine with jobs in the program's JSON format. The share `waiting` of the jobs waits for
    others; with `parted` the machine has partitions, with `reserved` reservations of its nodes. With `detailed` nodes
    have features, and jobs ask for these, for memory once on each node and for a least number of nodes.
    """
    lot = random.Random(seed)
    nodes: list[dict[str, Any]] = [
        {"cores": lot.choice([4, 8, 16]), "mem": lot.choice([16, 32, 64]), "gpus": lot.choice([0, 0, 2, 4])}
        for _ in range(lot.randint(2, 6))
    ]
    jobs, submit = list[dict[str, Any]](), 0
    for number in range(lot.randint(4, 24)):
        submit += lot.choice([0, 0, 1, 5, 20, 40])
        run = lot.choice([5, 20, 60, 200])
        job: dict[str, Any] = {
            "id": str(number + 1),
            "submit": submit,
            "run": run,
            "estimate": lot.choice([run, run, 2 * run, 4 * run, max(run // 2, 1)]),
            "exclusive": lot.random() < 0.1,
            "cores": lot.randint(1, 8),
            "mem": lot.choice([0, 0, 4, 8, 30]),
            "user": lot.choice("ab"),
            "name": lot.choice("xy"),
            "fails": lot.random() < 0.2,
        }
        if jobs and lot.random() < waiting:
            kind = lot.choice(["afterany", "afterany", "afterok", "afternotok"])
            some = ":".join(one["id"] for one in lot.sample(jobs, min(lot.randint(1, 2), len(jobs))))
            job["dependency"] = lot.choice([f"{kind}:{some}", f"{kind}:{some}", "singleton", f"after:{some}"])
            if lot.random() < 0.3:
                job["dependency"] = f"afterok:{lot.choice(jobs)['id']}?{lot.choice(['after', kind])}:{some}"
        if lot.random() < 0.5:
            job |= {"nodes": lot.randint(1, len(nodes)), "gpus": lot.choice([0, 0, 0, 1, 2])}
        else:
            job |= {"tasks": lot.randint(1, 10), "cores": lot.randint(1, 3), "most_nodes": lot.choice([1, 2, 99])}
        jobs.append(job)
    case: dict[str, Any] = {"nodes": nodes, "jobs": jobs, "placement": lot.choice(["lowest", "best", "spread"])}
    if parted:
        case["partitions"] = [
            {
                "name": name,
                "nodes": lot.sample(range(len(nodes)), lot.randint(1, len(nodes))),
                "priority": lot.choice([0, 0, 1]),
                "factor": lot.choice([1, 10]),
                "exclusive": lot.random() < 0.2,
                **lot.choice([{}, {}, {"max_time": 100}, {"max_nodes": 2}]),
            }
            for name in "pqr"
        ]
        for job in jobs:
            job |= lot.choice([{}, {"partitions": lot.sample("pqr", lot.randint(1, 3))}])
    if reserved:
        names = lot.choice(["", "uvw"])
        case["reservations"] = [
            {
                "name": name,
                "nodes": lot.sample(range(len(nodes)), lot.randint(1, len(nodes))),
                "start": (start := lot.choice([-50, 0, 20, 100, 200])),
                "end": start + lot.choice([50, 100, 300]),
                "users": lot.choice([[], ["a"], ["a", "b"]]),
            }
            for name in lot.choice(["u", "uv"])
        ]
        for job in jobs:
            job.pop("most_nodes", None)  # with a limit, a job can fit worse when more is free: then promises move
            if names and lot.random() < 0.4:
                job["reservation"] = lot.choice([each["name"] for each in case["reservations"]])
    if limited:
        each = {"user": "*", lot.choice(["cores", "mem", "jobs", "nodes", "gpus"]): lot.choice([2, 3, 8])}
        case["limits"] = [each, {lot.choice(["cores", "jobs"]): lot.choice([4, 12])}]
        case["limits"] += lot.choice([[], [{"user": "*", "submit": 3}], [{"submit": 5}]])
    if lot.random() < 0.25:
        case["placement"] = "consecutive"
    for node in nodes if detailed else ():
        node["features"] = lot.sample(["f", "g"], lot.randint(0, 2))
    for job in jobs if detailed else ():
        if lot.random() < 0.15:
            job["features"] = ["f"]
        if "tasks" in job:
            job |= lot.choice([{}, {}, {"mem_node": 4}]) | lot.choice([{}, {"least_nodes": lot.randint(1, 3)}])
            if "most_nodes" in job:
                job["most_nodes"] = max(job["most_nodes"], job.get("least_nodes", 1))
    return case
