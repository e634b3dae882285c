"""Files of all kinds that the program reads, with random damage: each is read, or refused in one line.

By hand: `MONKEY=20000 SEED=7 pytest tests/tui/cli/test_odd_files.py`. A process tries some of them, and then the next
process goes on.
"""

import gzip
import json
import os
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import process_time
from traceback import format_exc

import pytest
from textual._xterm_parser import XTermParser

from sim.lab.results import Results
from sim.policies.policy import CodeRef
from sim.session.session import one_line, parsed, session_text
from sim.session.sources import session_of
from sim.support.errors import SchedscopeError
from sim.workload.source import Source
from tests.sim.lab.test_results import outcome
from tests.sim.workload.formats.test_nodes import SCONTROL
from tests.sim.workload.formats.test_slog import recording
from tests.sim.workload.test_fuzz_readers import BATSIM, CSV, EVALYS, JUNK, SACCT, SWF
from tests.tui.cli.program import judged, schedscope
from tui.look.settings import load
from tui.sessions.autosave import offer
from tui.sessions.trust_record import since_trusted

pytestmark = pytest.mark.usefixtures("folder")

FILES, SEED = int(os.environ.get("MONKEY", "100")), int(os.environ.get("SEED", "1"))
TOGETHER, SECONDS = 50, 5
"""Number of files tried in one process, and seconds that one file may take"""
PLAN = b"""traces = ["z-figure4", "ls-figure1"]
policies = ["easy", "relaxed:omega={0,1}"]
seeds = 3
groups = ["class"]
cut = "10%,5%"
[options]
load = "{0.8..1.2..0.2}"
estimates = "factor:2"
"""
NODES = b"""placement = "lowest"
[[node]]
name = "gpu[01-02]"
cores = 64
mem = 256
gpus = 4
partitions = ["gpu"]
[[node]]
count = 3
cores = 32
mem = 100
[[partition]]
name = "gpu"
max_time = 60
"""
SETTINGS = b'{"look": "dark", "fps": 30, "recent": ["a.swf"], "keymap": {"play": "space"}, "lessons": {"a": 1}}'
JUNKS = [
    *(*JUNK, b"inf", b"-1e999", b"easy:order=evil:Foo", b"[[scene]]", b"\x1b]0;x\x07", b"\xe2\x80\xae", b"J1.wait"),
    *(b"{", b"}"),
]


def session() -> bytes:
    return session_text(session_of(Source("z-figure4"), "easy", [])).encode()


def database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r"
        with Results(path, write=True) as results:
            results.add([outcome(seed) for seed in range(3)])
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
        return path.read_bytes()


def recorded() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return recording(Path(folder) / "r.slog").read_bytes()


def parquet() -> bytes:
    """Return a Parquet file with some jobs, whose names of users and queues repeat."""
    columns = {
        "job": [f"j{at}" for at in range(50)], "submit": [float(at) for at in range(50)], "procs": [1, 2] * 25,
        "runtime": [30] * 50, "user": ["ann", "bob"] * 25, "queue": ["x"] * 50,
    }  # fmt: skip
    with tempfile.TemporaryFile() as file:
        import_module("pyarrow.parquet").write_table(import_module("pyarrow").table(columns), file)
        file.seek(0)
        return file.read()


Try = Callable[[Path], str]
"""Function that reads a file, and returns "done", "refused" or a text on the fault"""


def by(*words: str) -> Try:
    return lambda path: judged(schedscope(*(word if word != "@" else str(path) for word in words)))


def by_settings(path: Path) -> str:
    load(path)
    return "done"


def by_line(path: Path) -> str:
    line = path.read_text(errors="replace").replace("\0", "")
    return judged(schedscope("record", line, "-o", "x.cast", "--to", "#1"))


def by_check(path: Path) -> str:
    """Check the file as a lesson; each line of error must begin with the place of the error."""
    done = schedscope("learn", "--check", path)
    lines = done.stderr.splitlines()
    if all(line.startswith((str(path), "schedscope: error: ")) and line.isprintable() for line in lines):
        return "refused" if lines else judged(done)
    return f"fault {done.stderr}"


def by_state(path: Path) -> str:
    """Read the file as the autosave of a crashed program, and as the record of trusted code."""
    folder = path.parent / "state"
    folder.mkdir(exist_ok=True)
    (folder / "1-a.session").write_bytes(path.read_bytes())
    (folder / "trusted.json").write_bytes(path.read_bytes())
    offer(folder)
    since_trusted(CodeRef(str(path.with_suffix(".py")), ""))
    return "done"


def by_visitor(path: Path) -> str:
    """Read the file as a message from a browser, as the server does and then the visitor's process."""
    server, visitor = import_module("tui.classroom.web.server"), import_module("tui.classroom.web.visitor")
    kind, about = server._parsed(path.read_bytes().decode("utf-8", "replace"))
    if kind == "resize":
        columns, rows = import_module("tui.classroom.web.access").size_of(about)
        assert 1 <= columns <= 1000
        assert 1 <= rows <= 1000
        return "done"
    if not isinstance(about, str) or kind not in ("stdin", "session"):
        return "refused"
    try:
        if kind == "stdin":
            list(XTermParser().feed(about))
        else:
            visit = visitor.Visit(visitor.ServerResources())
            visit.prepare(visit._of_session(parsed(about.encode("utf-8", "replace"), "the dropped file")))
    except SchedscopeError as error:
        return "refused" if "\n" not in str(error) else f"fault {error}"
    except Exception as error:
        return "refused" if kind == "stdin" else f"fault {error!r}"  # a key that Textual cannot read ends the visit
    return "done"


def kinds() -> Mapping[str, tuple[str, bytes, tuple[Try, ...]]]:
    """Return for each kind of file: (file name, valid content, functions that read it)."""
    inspect, run = by("inspect", "@"), by("run", "@", "--policy", "easy", "--jobs", "20")
    it = session()
    return {
        "swf": ("t.swf", SWF, (inspect, run)),
        "swf.gz": ("t.swf.gz", gzip.compress(SWF), (inspect,)),
        "sacct": ("t.log", SACCT, (inspect,)),
        "batsim": ("t.json", BATSIM, (inspect, run)),
        "evalys": ("t.csv", EVALYS, (inspect,)),
        "csv": ("t.csv", CSV, (inspect, run)),
        "session": ("s.session", it, (by("record", "@", "-o", "x.cast", "--to", "#2"),)),
        "line": ("line", one_line(parsed(it, "it")).encode(), (by_line,)),
        "lesson": ("lesson.toml", LESSON, (by_check,)),
        "plan": ("plan.toml", PLAN, (by("sweep", "@", "--dry-run"),)),
        "results": ("r.sqlite", database(), (by("results", "@"), by("plot", "@", "-x", "load"))),
        "settings": ("settings", SETTINGS, (by_settings,)),
        "state": ("state.session", it, (by_state,)),
        **newer(it),
    }


def newer(it: bytes) -> Mapping[str, tuple[str, bytes, tuple[Try, ...]]]:
    """Return for each kind of file that needs a machine of nodes, a cluster or an optional library: (file name, valid
    content, functions that read it). `it` is a session."""
    machine = by("run", "lublin-128", "--jobs", "20", "--nodes", "@"), by("inspect", "z-figure4", "--nodes", "@")
    found: dict[str, tuple[str, bytes, tuple[Try, ...]]] = {
        "scontrol": ("nodes.txt", SCONTROL.encode(), machine),
        "nodes": ("nodes.toml", NODES, machine),
        "recording": (
            "r.slog",
            recorded(),
            (by("inspect", "@"), by("run", "@"), by("why", "3", "--from", "@"), by("score", "@")),
        ),
    }
    if find_spec("pyarrow"):
        found["parquet"] = ("t.parquet", parquet(), (by("inspect", "@"), by("run", "@", "--policy", "easy")))
    if find_spec("aiohttp") and find_spec("textual_serve"):
        import_module("tui.classroom.web.server")  # once, and not in each process
        dropped = json.dumps(["session", it.decode()]).encode()
        found["visitor"] = ("message", dropped, (by_visitor,))
        found["keys"] = ("message", b'["stdin", "a\\u001b[A\\u001b[<0;10;5M\\u001b[200~x\\u001b[201~"]', (by_visitor,))
        found["resize"] = ("message", b'["resize", {"width": 100, "height": 30}]', (by_visitor,))
    return found


LESSON = b"""title = "A lesson"
about = "What it is about."
trace = "z-figure4"
policy = "easy"

[[scene]]
title = "A scene"
at = 600
say = "It waited {J3.wait}, {J3.wait@fcfs - J3.wait} less."
holds = ["mean_wait > 1", "J3.start >= J1.end"]
[scene.ask]
kind = "start"
job = "J3"
then = "So it is."
"""


def damaged(lot: Random, content: bytes, others: list[bytes]) -> bytes:
    for _ in range(lot.choice((1, 1, 2, 4, 9))):
        start = lot.randrange(len(content) + 1)
        end = min(len(content), start + lot.choice((0, 0, 1, 3, 12, 400)))
        other = lot.choice(others)
        at = lot.randrange(len(other))
        new = lot.choice((lot.choice(JUNKS), lot.randbytes(lot.randrange(5)), other[at : at + lot.randrange(60)]))
        content = content[:start] + new + content[end:]
    return content[: lot.randrange(len(content) + 1)] if lot.random() < 0.05 else content


def tried(seed: int, good: Mapping[str, tuple[str, bytes, tuple[Try, ...]]]) -> tuple[str, str]:
    """Damage a file that the seed selects and let the program read it; return (kind of file, outcome)."""
    lot = Random(seed)
    kind = lot.choice(list(good))
    name, content, readers = good[kind]
    path = Path.cwd() / name
    path.write_bytes(damaged(lot, content, [content, *(of[1] for of in good.values())]))
    begun = process_time()
    try:
        told = lot.choice(readers)(path)
    except BaseException:
        told = f"fault {format_exc()[-1500:]}"
    path.unlink(missing_ok=True)
    return kind, told if process_time() - begun < 4 * SECONDS else f"slow {process_time() - begun:.0f} s"


def together(seeds: range, good: Mapping[str, tuple[str, bytes, tuple[Try, ...]]]) -> list[tuple[int, str, str]]:
    """Try the files of these seeds in one process; return (seed, kind of file, outcome) of each."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        with open(write, "w", encoding="utf-8", errors="replace") as pipe:
            for seed in seeds:
                signal.alarm(20 * SECONDS)  # the machine may be busy
                pipe.write(json.dumps((seed, *tried(seed, good))) + "\n")
                pipe.flush()
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8", errors="replace") as pipe:
        found = [(seed, kind, told) for seed, kind, told in map(json.loads, pipe)]
    _, status = os.waitpid(child, 0)
    return [*found, (seeds[len(found)], "?", f"died {status}")] if status else found


def search(many: int, first: int) -> tuple[Counter[str], list[str]]:
    """Try `many` files with seeds from `first` on, in the present folder. Return the counts of outcomes, and the
    faults."""
    counts, faults, good = Counter[str](), list[str](), kinds()
    for at in range(first, first + many, TOGETHER):
        for seed, kind, told in together(range(at, min(at + TOGETHER, first + many)), good):
            what = told.partition(" ")[0]
            counts[f"{kind} {what}"] += 1
            counts[f"all {what}"] += 1
            if what not in ("done", "refused", "told"):
                faults.append(f"seed {seed}: {kind}: {told}")
                print(faults[-1], flush=True)
    return counts, faults


def test_good_files_of_all_kinds_are_read() -> None:
    for kind, (name, content, readers) in kinds().items():
        path = Path.cwd() / name
        path.write_bytes(content)
        assert readers[0](path) == "done", kind


def test_whatever_falls_into_a_file_it_is_read_or_refused() -> None:
    counts, faults = search(FILES, SEED * 1_000_000)
    assert not faults
    assert sum(count for what, count in counts.items() if what.startswith("all ")) == FILES
    assert TOGETHER <= FILES
