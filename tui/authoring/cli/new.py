"""Command `schedscope new`: write a working policy file with explanations, and a test for it."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sim.policies import POLICIES, Policy
from sim.policies.registry import cited
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import quoted
from tui.authoring.policy_text import text_of
from tui.cli.terminal import say

HEAD = '''"""Say here what it does. Try it with: schedscope test {file}"""

from __future__ import annotations

{mapping}from dataclasses import dataclass{field}

'''

EASY = '''from sim import Moment, Policy
from sim.decisions.reasons import WhenFree
from sim.decisions.reasons_to_wait import WouldDelay
from sim.decisions.sentences import Time
from sim.machine.moment import is_by
from sim.policies.parameters import parameter
from sim.support.formatting import Clock
from sim.workload.model import Job


@dataclass(frozen=True)
class InTheHole:  # a reason of your own is a frozen dataclass with a sentence, without a capital and a full stop
    until: Time  # its fields are shown as numbers: a Time, a Span (of time), a Job or any number

    def sentence(self, job: Job, at: Clock) -> str:
        return f"it ends before {{at(self.until)}}, when the first job in the queue starts"


@dataclass(frozen=True)  # frozen: a policy holds no state. What it must remember it writes into now.notes
class {Name}(Policy):
    """EASY backfilling: a job may pass the head of the queue if that is not delayed."""  # shown in lists of policies

    tail: str = parameter("queue", "order in which jobs behind the head are tried", choices=("queue", "sjf"))
    plans = "the heads"  # jobs with a planned start: "nobody", "the heads" or "everybody" (see Policy)

    def promises(self) -> bool:
        """The head never starts later than planned: `--check` and `schedscope test` hold it to that."""
        return True

    def decide(self, now: Moment) -> None:
        """One pass: what to do now, by calls such as now.start(...), each checked and carried out at once."""
        head = now.start_in_order()  # jobs start in the order of queue_order() until one does not fit: the head
        if head is None:
            return
        shadow, extra = now.shadow(head)  # when the head can start, and the processors left over then
        now.reserve(head, shadow, WhenFree(now.free, head.procs + extra))  # its planned start, with the reason
        candidates = now.candidates(head)  # jobs behind the head; only jobs that fit, if the run is not watched
        for job in now.in_tail(candidates, self.tail):  # shortest first with --policy {file}:tail=sjf
            ends = now.time + job.estimate  # there are no run times here, only estimates
            if not now.fits(job):
                now.keep(job)  # where the run is watched: it waits, because it lacks processors
            elif is_by(ends, shadow):  # <=, but for rounding
                now.start(job, InTheHole(shadow))
            elif job.procs <= extra:
                extra -= job.procs
                now.start(job, InTheHole(shadow))
            elif now.curious:  # the run is watched: a reason for each refused job would take time
                now.keep(job, WouldDelay(head, shadow, ends, extra))
'''

FCFS = '''from sim import Moment, Policy
from sim.decisions.reasons import InOrder
from sim.policies.columns import Column
from sim.policies.parameters import parameter


@dataclass(frozen=True)  # frozen: a policy holds no state. What it must remember it writes into now.notes
class {Name}(Policy):
    """By priority: hours of waiting, and more for narrow jobs."""  # shown in lists of policies

    narrow: float = parameter(0.0, "how many hours a job gains for needing one processor", low=0.0)
    columns = (Column("priority", "hours"),)  # now.notes["priority"], by rank, is a column of the queue
    lets_pass = False  # no job starts before one ahead of it
    plans = "nobody"  # no job has a planned start

    def decide(self, now: Moment) -> None:
        """One pass: what to do now, by calls such as now.start(...), each checked and carried out at once."""
        waiting = now.queued()  # the waiting jobs, by arrival
        priority = {{j.rank: (now.time - j.submit) / 3600 + self.narrow / j.procs for j in waiting}}
        now.notes["priority"] = priority  # plain numbers by rank: copied with every checkpoint
        for job in sorted(waiting, key=lambda job: (-priority[job.rank], job.rank)):  # the rank breaks ties
            if not now.fits(job):
                now.keep(job)  # where the run is watched: it waits, because it lacks processors
                return
            now.begin(job, InOrder(now.free))  # every start has its reason
'''

CONSERVATIVE = '''from sim import Moment, Policy
from sim.decisions.reasons import Due, EarliestHole


@dataclass(frozen=True)  # frozen: a policy holds no state. What it must remember it writes into now.notes
class {Name}(Policy):
    """Each job gets the earliest start that delays no other job."""  # shown in lists of policies

    keeps_reservations = True  # a reservation stands until this policy moves it, and wakes it when it is due

    def promises(self) -> bool:
        """A reservation is never moved later: `--check` and `schedscope test` hold it to that."""
        return True

    def decide(self, now: Moment) -> None:
        """One pass: what to do now, by calls such as now.start(...), each checked and carried out at once."""
        if now.ended_early:  # a job ended before its estimate
            now.compress("start")  # reservations move earlier, the earliest first
        for job in now.arrivals():  # the jobs that arrived at this instant
            now.reserve(job, now.earliest(job), EarliestHole(now.free))
        for job in now.due():  # by arrival, the jobs whose reserved start has come
            if now.has_room(job):
                now.start(job, Due())  # every start has its reason
'''

FAIR = '''from sim import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.workload.model import Job


@dataclass(frozen=True)  # an order of the queue, for any policy that takes one: easy:order={file}
class LeastUsed(Order):
    """Jobs of the users with the fewest processor-hours first."""

    halflife: float = parameter(7.0, "days after which half of what a user has had is forgotten", low=0.01)
    columns = (Column("usage", "processor-hours used by the user", of="user"),)  # a column of the queue
    usage: Mapping[int, float] = field(default_factory=dict, repr=False, compare=False)  # as it is at this pass

    def seeing(self, now: Moment) -> Order:
        """The order as it is at this pass. It may look around; what it must remember goes into now.notes."""
        usage, last = now.notes.setdefault("usage", {{}}), now.notes.setdefault("last", {{}})
        hours = (now.time - last.get(0, now.time)) / 3600  # since the last pass
        for user in usage:
            usage[user] *= 0.5 ** (hours / 24 / self.halflife)
        for job in (*(run.job for run in now.running.values()), *now.completed):  # the jobs that ran since then
            usage[job.user] = usage.get(job.user, 0.0) + job.procs * hours
        last[0] = now.time
        return replace(self, usage=usage.copy())

    def key(self, job: Job, now: float) -> float:
        """A smaller one goes first; the rank breaks ties."""
        return self.usage.get(job.user, 0.0)


@dataclass(frozen=True)  # frozen: a policy holds no state
class {Name}(Ordered):
    """EASY backfilling in the order of fair shares."""  # shown in lists of policies

    # Its parameters, or another order: --policy {file}:halflife=2, or
    # --policy {file}:order=sjf
    order: Order = order_field(LeastUsed())
    plans = "the heads"  # jobs with a planned start

    def decide(self, now: Moment) -> None:
        """One pass: what EASY decides in this order. A policy may ask others."""
        Easy(order=self.order).decide(now)
'''

TEST = '''"""Is {file} fit for use? Run with: pytest {test}"""

from __future__ import annotations

from pathlib import Path

from sim import read, run
from sim.authoring import check_policy

POLICY = str(Path(__file__).with_name("{file}"))


def test_it_keeps_to_what_every_policy_is_held_to() -> None:
    check_policy(POLICY)  # legal, no job forgotten, deterministic, no hidden state, no run times, fast


def test_every_job_ends() -> None:
    schedule = run(read("z-figure4"), POLICY, check=True)  # `schedscope inspect z-figure4` says what its jobs are
    assert (schedule.end > schedule.start).all()
'''
PACKAGE_TEST = TEST.replace('str(Path(__file__).with_name("{file}"))', '"{file}"  # once installed').replace(
    "from pathlib import Path\n\n", ""
)
PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1"
description = "Policies for schedscope"
requires-python = ">=3.11"
dependencies = ["schedscope"]

[project.entry-points."schedscope.policies"]
{name} = "{module}.policy:{Name}"  # name of the policy = where its class is; a line for each policy

[tool.hatch.build.targets.wheel]
packages = ["{module}"]
"""
PAGE = """# {name}

A policy for schedscope, in `{module}/policy.py`.

    pip install -e .
    schedscope policies {name}
    schedscope watch lublin-128 --policy {name}
"""
_KNOWN = "sim.policies.policy", "builtins"
"""Modules of base classes that every policy has"""
TEMPLATES = {"easy": EASY, "conservative": CONSERVATIVE, "fcfs": FCFS, "fair-share": FAIR}


@click.command("new")
@click.argument("file", metavar="FILE.py")
@click.option("--like", default="easy", metavar="NAME", help="The policy to begin with; default easy.")
@click.option("--package", "is_package", is_flag=True, help="Instead a folder FILE with an installable package.")
def command(file: str, like: str, is_package: bool) -> None:
    """Create a working policy file and a test for it.

    Nothing is overwritten. --like fcfs, easy, conservative and fair-share are explained line by line. Any other policy
    of `schedscope policies` is written out as it is in the program, for you to change what it decides.
    """
    path = Path(file)
    if not path.name:
        raise click.UsageError("a policy needs the name of a file, like fair.py")
    if is_package:
        _write_all(package_files(path, like), [path, path / module_name(path), path / "tests"])
        name, folder = plugin_name(path), shlex.quote(str(path))
        say(
            f"{path} is written. Now:\n"
            f"  pip install -e {folder}\n"
            f"  schedscope policies {name}\n"
            f"  schedscope test {name}\n"
            f"  pytest {folder}"
        )
        return
    test = path.with_name(f"test_{path.name}")
    text, beside = texts(path, like)
    _write_all({path: text, test: beside})
    shown = file if path.parent.parts else f"./{file}"
    say(
        f"{path} and {test} are written. Now:\n"
        f"  schedscope test {shown}\n"
        f"  schedscope watch lublin-128 --policy {shown}\n"
        f"  schedscope run lublin-128 --policy {shown} --policy easy"
    )


def _write_all(files: Mapping[Path, str], folders: Sequence[Path] = ()) -> None:
    """Create the folders and write the new files; if one cannot be written, those already written are removed."""
    for path in files:
        if os.path.lexists(path):
            raise SchedscopeError(f"{path}: already exists; choose another name")
    for folder in folders:
        try:
            folder.mkdir()
        except OSError as error:
            raise SchedscopeError(f"{folder}: cannot be made: {error.strerror or error}") from None
    made = list[Path]()
    for path, content in files.items():
        try:
            with open(path, "x", encoding="utf-8") as opened:
                made.append(path)
                opened.write(content)
        except OSError as error:
            for half in made:
                half.unlink(missing_ok=True)
            raise SchedscopeError(f"{path}: cannot be written: {error.strerror or error}") from None


def module_name(folder: Path) -> str:
    """Return the name of the module in the package folder `folder`: my-policies -> my_policies."""
    return folder.name.replace("-", "_")


def plugin_name(folder: Path) -> str:
    """Return the name of the policy and its distribution in the package folder `folder`: my_policies -> my-policies."""
    return folder.name.lower().replace("_", "-")


def package_files(folder: Path, like: str) -> dict[Path, str]:
    """Return the files of an installable package by path: a policy, which decides like `like`, and its test."""
    module = module_name(folder)
    if not module.isidentifier() or module != module.lower():
        raise ParameterError(f"{folder.name}: expected the name of a package like my_policies")
    if os.path.lexists(folder):
        raise SchedscopeError(f"{folder}: already exists; choose another name")
    name = plugin_name(folder)
    if name in POLICIES.names:
        raise ParameterError(f"{name} is a policy of schedscope: choose another name")
    words = _words(module, name, f"tests/test_{module}.py", like)
    policy = _policy(words)
    return {
        folder / "pyproject.toml": PROJECT.format(name=name, module=module, Name=words["Name"]),
        folder / "README.md": PAGE.format(name=name, module=module),
        folder / module / "__init__.py": f'"""Policies for schedscope; the policy {name} is in {module}.policy."""\n',
        folder / module / "policy.py": policy.replace(f"order={name}\n", f"order={module}.policy:LeastUsed\n"),
        folder / "tests" / f"test_{module}.py": PACKAGE_TEST.format(**words),
    }


def texts(path: Path, like: str) -> tuple[str, str]:
    """Return the texts of a policy's file and of its test; the policy decides like `like`."""
    stem = path.stem.replace("-", "_")
    if path.suffix != ".py" or not stem.isidentifier():
        raise ParameterError(f"{path.name}: expected the name of a file like fair_share.py")
    words = _words(stem, path.name, f"test_{path.name}", like)
    return _policy(words), TEST.format(**words)


def _policy(words: Mapping[str, str]) -> str:
    """Return the text of the policy file: the filled template of `words["like"]`, else that policy's own text."""
    like = words["like"]
    if like in TEMPLATES:
        return (HEAD + TEMPLATES[like]).format(**words)
    opening = "Like {like}{paper}. Say here what differs.\n\nTry it with: schedscope test {file}\n".format(**words)
    text = text_of(POLICIES[like], words["Name"], opening + _elsewhere(POLICIES[like]))
    return re.sub(r"easy_candidates\((\w+), [^)]*\)", r"candidates(\1)", text)  # the author may loosen the rule


def _elsewhere(cls: type[Policy]) -> str:
    """Return a text that names the papers which the policy cites, and the base classes whose methods its file lacks."""
    papers, bases = cited(cls.paper), [each for each in cls.__mro__ if each.__module__ not in (cls.__module__, *_KNOWN)]
    text = f"\n{papers}\n" if papers else ""
    if bases:
        text += "\nOther methods are those of its base classes:\n"
    return text + "".join(f"- {each.__name__} in {each.__module__}\n" for each in bases)


def _names_in(text: str) -> set[str]:
    nodes = [*ast.walk(ast.parse(text))]
    return {name for node in nodes for key in ("id", "name") if (name := getattr(node, key, None))}


def _words(stem: str, file: str, test: str, like: str) -> dict[str, str]:
    """Return a mapping from each placeholder of the templates to the text that replaces it."""
    like = POLICIES.aliases.get(like, like).partition(":")[0]
    if like not in [*POLICIES, *TEMPLATES]:
        raise ParameterError(f"no policy {quoted(like)}{POLICIES.near(like)}")
    is_fair, paper = like == "fair-share", POLICIES[like].paper if like in POLICIES else ""
    words = {
        "Name": "".join(word.capitalize() for word in re.split("_+", stem)) or "Own",
        "file": file,
        "test": test,
        "like": like,
        "paper": f" ({paper})" if paper else "",
        "mapping": "from collections.abc import Mapping\n" if is_fair else "",
        "field": ", field, replace" if is_fair else "",
    }
    if words["Name"] in _names_in(_policy({**words, "Name": "_"})):
        words["Name"] += "2"
    return words
