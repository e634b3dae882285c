"""Random command lines of all declared commands and options: each is done, or refused in one line.

Every other line has odd values and is mostly refused. The other lines are such as a person may mean, with values up to
the limits, and are mostly done. To try many, by hand: python -m tests.tui.cli.odd_lines COUNT [FIRST SEED]. Each runs
in a process of its own.
"""

import os
import re
import resource
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from shlex import split
from traceback import format_exc

import click

from sim.policies import POLICIES
from sim.workload.options import OPTIONS, Option
from sim.workload.samples import SAMPLES
from tests.truth.runs import FAMILIES, random_spec
from tests.tui.cli.program import Done, schedscope
from tui.cli.main import COMMANDS, commands

SMALL = [sample.name for sample in SAMPLES if "-figure" in sample.name]
SECONDS, KILOBYTES = 10, 1_000_000
MOST_ADDRESSED = 4 << 30
"""Bytes of memory that a process may reserve, so that a line which asks for all of it fails at once"""
WITHOUT_END = ("serve", "test", "live")
"""Commands that are not tried, as they run until they are stopped, or for long"""
REACHES_OUT = {"--ssh", "--cluster", "--slurm"}
"""Options that are not tried, because their values name another machine"""
TOLD = 100
"""Number of lines between two lines of progress"""
NUMBERS = (
    *("0", "1", "-1", "2", "7", "0.5", "-0", "+3", "1e-308", "1e300", "1e400", "nan", "inf", "-inf", "9" * 400, "1_0"),
    *("0x10", "1,5", "", " ", "x" * 300, "\u0663", "\u00b2", "1e5", "100000", "10000000", "99999999", "320", "20000"),
)
TIMES = (
    *("12d4h30m", "d12 04:31:07", "2h05", "04:30", "#2", "#99999999", "2026-11-21", "0001-01-01", "1d,36h", "1,200d"),
    *("9999-12-31 23:59:59", "J2", "J2 starts", "d99999999 00:00", "7d,", ",", "-1d", "1h..2h", "1h..", "..", "5..3"),
    *("1h=64", "1h=0", "2=3;4=5", "0..10: 0-3", "10..20: 99999999", "1..2: all", "soon", "12d4", "1:2:3:4"),
)
WORDS = (
    *("easy", "fcfs", "eazy", "easy:depth=0", "easy:depth=3,tail=sjf", "easy:order=multifactor,halflife=1d", "easy:"),
    *(":", "a:b:c=d", "./no.py", "./own.py", "./own.py:Own", "os:system", "gang:mpl=1", "gang:mpl=99999999,slice=1e-9"),
    *("relaxed:omega=inf", "relaxed:omega={1,2}", "easy:depth={1..3}", "{", "{1..1e9}", "{0..1..0}", "slack:slack=1e9"),
    *("multiqueue:classes=1/2/3", "multiqueue:classes=" + "/".join(map(str, range(1, 400))), "adaptive:above=fcfs"),
    *("adaptive:below=adaptive", "selective:tick=1e-9", "recorded", "tunable:limit=nan", "easy:order=ward,alpha=-999"),
    *("kill", "grow", "queue", "user", "nodes", "submit", "json", "csv", "table", "exact", "factor:2", "factor:1e-300"),
    *("random:1e9", "phi:1", "phi:2", "class", "category", "month", "load", "policy", "seed", "mean_wait", "load<=1"),
    *("policy=easy", "\x1b]52;c;eA==\x07", "[/x]", "[@click=app.quit]", "\u202e", "\udcff", "=1+1", "a\0b", "-", "--"),
)
FILES = ("t.swf", "t.csv", "t.json", "own.py", "plan.toml", "results.sqlite", "lesson.toml", "it.session", ".", "/", "")
WRITTEN = (
    "out.svg",
    "out.png",
    "out.csv",
    "out.swf",
    "out.sqlite",
    "out.cast",
    "out.gif",
    "-",
    "no/where.svg",
    "t.swf",
)
ENDS = {
    "window": ("0,1d", "1h,", ",2h", "0,1000000d", "2h,2h"),
    "estimates": ("recorded", "exact", "factor:1", "factor:1.7", "factor:1e6", "random:3", "random:1e6", "phi:0.01"),
    "lead": ("0", "1", "1h", "365d"),
    "machine": ("0=3", "1h=64", "500.5=200", "2d=1"),
    "outage": ("10..20", "100..900.25: 0-3", "1h..2h: 1", "0..1000d: 0", "30..31", "300..400: 0-3"),
}
"""For each option whose values are words: sensible values"""
MEANT_TIMES = ("0", "5", "30", "99.5", "600.125", "d0 00:10:00", "#1", "#3", "#7", "1h", "2d")
MEANT = {
    "run": ("--format json", "--format csv", "--by category", "--by user", "--by tail", "--by time",
            "--by class,priority", "--check", "--all", "--schedule out.csv", "--segments out.csv", "--schedule -",
            "--trace-events out.json"),
    "explain": ("--format json", "--fair"),
    "compare": ("--at 30", "--at #2", "--at 1h", "--decisions", "--smallest", "--check", "--format json"),
    "draw": ("--from 10", "--to 2h", "--to 1000d", "--width 20000", "--height 20000", "--width 320", "--colour wait",
             "--by-event", "--beside fcfs", "--beside 'easy with exact'", "--matrix", "--slide", "--dates",
             "--by-number"),
    "record": ("--size 40x12", "--size 200x60", "--present", "--by-event 1", "--fps 1", "--speed max", "--asciicast 2"),
    "sweep": ("--seeds 2", "--groups category", "--cut 10%,5%", "--dry-run", "--load {0.5,2}",
              "--policy easy:depth={1..3}"),
    "inspect": (),
}  # fmt: skip
"""For each command: further options, of which a few are added to a sensible line"""
NEEDS = {"run": (1, 3), "explain": (1, 1), "compare": (2, 2), "draw": (1, 1), "record": (1, 1), "sweep": (1, 2)}
"""For each command: (smallest, largest) number of policies"""
ANY = (*NUMBERS, *TIMES, *WORDS, *FILES, *WRITTEN)


def line(lot: Random) -> list[str]:
    """Return a random command line with some of the command's arguments and options; most values are sensible."""
    name = lot.choice([name for name in COMMANDS if name not in WITHOUT_END])
    command = commands.get_command(click.Context(commands), name)
    words = [name]
    for param in command.params:
        if REACHES_OUT & set(param.opts):
            continue
        many = lot.choice((1, 1, 1, 2)) if param.required or isinstance(param, click.Argument) else lot.random() < 0.12
        if getattr(param, "multiple", False) and param.name in ("specs", "policies"):
            many = lot.choice((1, 2, 2, 2))
        for _ in range(many if param.nargs == 1 else lot.choice((0, 1, 2))):
            if isinstance(param, click.Argument):
                words.append(argument(lot, param))
            else:
                flag = lot.choice(param.opts)
                words += [flag] if getattr(param, "is_flag", False) else [flag, value(lot, param)]
    if lot.random() < 0.05:
        words.insert(lot.randrange(len(words) + 1), lot.choice(("--help", "--nothing", "-x", *ANY)))
    return words


def meant(lot: Random) -> list[str]:
    """Return a random command line that a person may mean, whether it succeeds or not."""
    name = lot.choice(("run", "run", *MEANT))
    trace = lot.choice((*SMALL, "lublin-128", "lublin-320", "t.swf", "t.csv", "t.json"))
    words = [name, trace, *(["2"] if name == "explain" else [])]
    options = dict(lot.sample(sorted(OPTIONS.items()), lot.choice((0, 1, 1, 2, 3, 5))))
    for option in options.values():
        words += meant_option(lot, option)
    if "jobs" not in options and trace.startswith("lublin"):
        words += ["--jobs", str(lot.choice((1, 30, 200)))]
    more = lot.sample(MEANT[name], lot.randint(0, min(2, len(MEANT[name]))))
    if name in NEEDS:
        least, most = NEEDS[name]
        for _ in range(least if any("--s" in each or "events" in each for each in more) else lot.randint(least, most)):
            words += ["--policy", random_spec(lot, lot.choice(FAMILIES))]
        if name != "sweep" and lot.random() < 0.3:
            words += ["--placement", "together"]
    if name in ("run", "explain", "draw"):
        for time in lot.sample(MEANT_TIMES, lot.choice((0, 0, 1, 2))):
            words += ["--switch", f"{time}={random_spec(lot, lot.choice(FAMILIES))}"]
    out = {"draw": ("out.svg", "out.png", "-"), "record": ("out.cast", "out.gif"), "sweep": ("out.sqlite",)}
    words += ["-o", lot.choice(out[name])] if name in out else []
    if name == "record":
        words += ["--to", "#4", "--seconds", "2"]
    return [*words, *(word for each in more for word in split(each))]


def meant_option(lot: Random, option: Option) -> list[str]:
    """Return an option with a valid value, often the smallest or the largest."""
    flag = "--" + option.name.replace("_", "-")
    if option.kind is bool:
        return [flag]
    if option.choices or option.name in ENDS:
        return [flag, str(lot.choice(option.choices or ENDS[option.name]))]
    low, high = option.low or 1, option.high or 1000
    some = min(high, lot.choice((0.5, 1, 1.3, 4, 60, 400)))
    number = lot.choice((low, high, some, some))
    return [flag, str(int(number) if option.kind is int else number)]


def argument(lot: Random, param: click.Parameter) -> str:
    if lot.random() < 0.08:
        return lot.choice(ANY)
    meant = {"job": ("1", "2", "user:1", "J3"), "policy": ("own.py", "own.py:Own"), "file": ("out.py",)}
    usual = ("z-figure4", "ls-figure1", "lublin-128", "t.swf", "t.csv", "t.json", *FILES)
    return lot.choice(
        meant.get(param.name or "", usual if lot.random() < 0.9 else tuple(sample.name for sample in SAMPLES))
    )


def value(lot: Random, param: click.Parameter) -> str:
    """Return a random value for the parameter, sensible in most cases."""
    chance = lot.random()
    if chance < 0.15:
        return lot.choice(ANY)
    if isinstance(param.type, click.Choice):
        return str(lot.choice(param.type.choices))
    if "policy" in param.opts[0] or "switch" in param.opts[0]:
        policy = lot.choice(list(POLICIES)) if chance < 0.6 else lot.choice(WORDS)
        return f"{lot.choice(TIMES)}={policy}" if "switch" in param.opts[0] else policy
    if "-o" in param.opts or param.name in ("schedule", "segments"):
        return lot.choice(WRITTEN)
    if isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        return lot.choice(NUMBERS) if chance < 0.6 else str(lot.randint(1, 400))
    return lot.choice((*TIMES, *NUMBERS) if chance < 0.6 else (*WORDS, *FILES))


def files(folder: Path) -> None:
    """Write into `folder` the files that the command lines name."""
    (folder / "t.swf").write_text(
        "; MaxProcs: 8\n1 0 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 1 -1 -1\n2 9 5 9 2 -1 -1 2 9 -1 1\n"
    )
    (folder / "t.csv").write_text("job,submit,procs,runtime,user\n1,0,2,5,ann\n2,3,8,50,=cmd\n")
    job = '{"id": 1, "subtime": 0, "res": 2, "profile": "d"}'
    (folder / "t.json").write_text(
        f'{{"jobs": [{job}], "nb_res": 4, "profiles": {{"d": {{"type": "delay", "delay": 1}}}}}}'
    )
    (folder / "own.py").write_text("from sim.policies.backfill.easy import Easy\nclass Own(Easy):\n    pass\n")
    (folder / "plan.toml").write_text('trace = "z-figure4"\npolicy = ["easy", "relaxed:omega={0,1}"]\n')
    (folder / "lesson.toml").write_text('title = "x"\n[[scene]]\n')
    (folder / "it.session").write_text('schedscope session 1\n[trace]\nname = "z-figure4"\n')


def outcome(words: list[str]) -> tuple[str, str]:
    """Run the command line in a process of its own; return ("done", "refused" or another outcome, details if it is a
    fault).
    """
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # to which `-o -` writes
        signal.alarm(20 * SECONDS)  # the machine may be busy
        resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSED, MOST_ADDRESSED))
        try:
            told = judged(schedscope(*words))
        except BaseException:
            told = f"fault {format_exc()[-1500:]}"
        os.write(write, told.encode(errors="replace"))
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8", errors="replace") as pipe:
        told = pipe.read()
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    if status or not told:
        return "died", f"status {status}, {seconds:.1f} s"
    if seconds > SECONDS:
        return "slow", f"{seconds:.1f} s"
    if used.ru_maxrss > KILOBYTES:
        return "large", f"{used.ru_maxrss // 1000} MB"
    kind, _, more = told.partition(" ")
    return kind, more


def judged(done: Done) -> str:
    """Return the outcome of a command: an error must be one printable line with a known exit code, otherwise it is a
    fault.
    """
    faults = ("Traceback", "internal error", "Warning")
    of_us = re.sub(r"(?m)^\S*own\.py:\d+: \w+Warning: .*$", "", done.stderr)
    if any(fault in of_us for fault in faults) or done.returncode not in (0, 1, 2):
        return f"fault {done.returncode} {done.stderr[-1500:]}"
    if done.returncode and not "".join(done.stderr.splitlines()[-1:]).startswith("schedscope: error: "):
        return "told" if done.stdout else f"fault {done.returncode} {done.stderr[-300:]!r}"
    if any(letter in done.stderr + done.stdout for letter in "\x1b\x07\u202e"):
        return f"fault an escape: {done.stderr[-300:]!r} {done.stdout[-300:]!r}"
    return "refused" if done.returncode else "done"


def main() -> None:
    many, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts: Counter[str] = Counter()
    for name in COMMANDS:
        commands.get_command(click.Context(commands), name)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ |= dict.fromkeys(("SCHEDSCOPE_CONFIG", "SCHEDSCOPE_STATE"), folder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        for seed in range(first, first + many):
            words = (meant if seed % 2 else line)(Random(seed))
            files(Path(folder))
            kind, more = outcome(words)
            counts[f"{words[0] if words else ''} {kind}"] += 1
            counts[f"all {kind}"] += 1
            if kind not in ("done", "refused", "told"):
                print(f"seed {seed}: {words}\n  {kind} {more}", flush=True)
            if (seed - first) % TOLD == TOLD - 1:
                print(f"{seed - first + 1:,} lines", flush=True)
    print(", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
