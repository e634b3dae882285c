"""Sample traces: figures of the papers as tiny workloads to step through, and two realistic ones.

`python -m sim.workload.samples DIR` writes them all; the files of `sample_traces` were made that way. Each file has
notes in its header, in lines `; Note:`: what it shows, policies to try and what to watch. The first note is its
caption.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sim.errors import ParameterError, TraceError, near
from sim.workload.formats import swf
from sim.workload.model import Field, Header, Trace
from sim.workload.models import lublin, sud
from sim.workload.node_samples import NODES_SAMPLES, NodesSample
from sim.workload.showing import Showing


@dataclass(frozen=True)
class PaperSample:
    """Sample from a paper: jobs as (submit, processors, run time), and an estimate if it differs from the run time."""

    name: str
    caption: str
    procs: int
    jobs: tuple[tuple[int, ...], ...]
    showing: Showing
    notes: tuple[str, ...]

    def trace(self) -> Trace:
        """Return the jobs as a trace, numbered from 1, with the notes in its header."""
        table = np.full((len(self.jobs), len(Field)), -1.0)
        table[:, Field.ID] = np.arange(1, len(self.jobs) + 1)
        table[:, (Field.SUBMIT, Field.PROCS_ASKED, Field.RUN)] = [job[:3] for job in self.jobs]
        table[:, Field.PROCS_USED] = table[:, Field.PROCS_ASKED]
        table[:, Field.ESTIMATE] = [job[-1] for job in self.jobs]
        table[:, Field.STATUS] = 1
        ids = tuple(str(i + 1) for i in range(len(self.jobs)))
        header = _header("a drawing board", self.procs, len(self.jobs), (self.caption, *self.notes))
        return Trace(self.name, "swf", ids, table, header)


@dataclass(frozen=True)
class Realistic:
    """Trace of the Lublin-Feitelson model, with users and queues.

    The model has neither. User k submits 1/k times as many jobs as user 1 (Zipf's law) and belongs to group
    1 + (k - 1) mod 6. Queues are Ward's primary, challenge and urgent: of every 20 jobs about 15, 4 and 1.
    """

    name: str
    caption: str
    procs: int
    count: int
    load: float
    seed: int
    users: int
    showing: Showing
    notes: tuple[str, ...]

    def trace(self) -> Trace:
        """Return the generated jobs with their users, groups and queues."""
        trace = lublin.generate(self.count, self.procs, self.seed, load=self.load)
        rng = np.random.default_rng(self.seed + 1)
        activity = 1 / np.arange(1, self.users + 1)
        user = 1 + rng.choice(self.users, size=self.count, p=activity / activity.sum())
        table = trace.table.copy()
        table[:, Field.USER] = user
        table[:, Field.GROUP] = 1 + (user - 1) % 6
        table[:, Field.QUEUE] = rng.choice(len(QUEUES), size=self.count, p=[0.75, 0.2, 0.05])
        header = _header("a model machine", self.procs, self.count, (self.caption, *self.notes))
        header = replace(header, queues=dict(enumerate(QUEUES)))
        return replace(trace, name=self.name, table=table, header=header)


@dataclass(frozen=True)
class Uniform:
    """Trace of the synthetic uniform distribution of Zhang et al.: few jobs are very short, and estimates are exact."""

    name: str
    caption: str
    procs: int
    count: int
    load: float
    seed: int
    showing: Showing
    notes: tuple[str, ...]

    def trace(self) -> Trace:
        """Return the generated jobs with the notes as header."""
        trace = sud.generate(self.count, self.procs, self.seed, load=self.load)
        header = _header("a model machine", self.procs, self.count, (self.caption, *self.notes))
        return replace(trace, name=self.name, header=header)


Sample: TypeAlias = PaperSample | Realistic | Uniform | NodesSample
QUEUES = ("primary", "challenge", "urgent")

SAMPLES: tuple[PaperSample | Realistic, ...] = (
    PaperSample(
        name="z-figure4",
        caption="Backfilling fills the hole in front of a waiting job (Zhang et al., figure 4)",
        procs=10,
        jobs=((0, 6, 600), (10, 4, 1190), (20, 8, 600), (30, 4, 900), (40, 5, 500)),
        showing=Showing(
            title="Which jobs may pass?",
            policy="easy",
            at=600,
            note="J5 passes J3: it ends before J3 is to start. J4 would not, and needs more than J3 leaves.",
        ),
        notes=(
            "Try fcfs first, then easy.",
            "Job 1 ends at T1 = 00:10 and job 2 at T2 = 00:20. Job 3 is wide: it has to wait for both.",
            "With fcfs, 6 processors do nothing between T1 and T2, though jobs 4 and 5 are waiting.",
            "With easy, job 5 starts at 00:10: it is done at 00:18:20, so job 3 still starts at 00:20.",
            "Ask why job 4 may not do the same: it would run until 00:25, and job 3 leaves only 2 processors free.",
        ),
    ),
    PaperSample(
        name="k-figure2.1-2.2",
        caption="Which jobs may a backfilled job delay? Conservative against EASY (Kettimuthu, figures 2.1 and 2.2)",
        procs=10,
        jobs=((0, 3, 600), (0, 4, 1200), (10, 7, 600), (20, 8, 600), (30, 3, 2000)),
        showing=Showing(
            title="Which jobs have a promise?",
            policy="conservative",
            at=30,
            note="J5 would fit now, but J4 could not start as promised. Under easy J4 has no promise: V compares.",
        ),
        notes=(
            "Try conservative, then easy, or both side by side.",
            "Jobs 1 and 2 run, 3 processors are free. Jobs 3, 4 and 5 are the three queued jobs of the figures.",
            "Job 3 waits for the longer running job (00:20), job 4 for job 3 (00:30). Job 5 would fit at once.",
            "With conservative every job has a promise. Job 5 now would delay job 4, so it starts at 00:40.",
            "With easy only the head of the queue has a promise. Job 5 starts at 00:00:30 and leaves the head's 00:20",
            "alone, as it needs no more than the 3 extra processors; but job 4 now waits until 00:33:50.",
        ),
    ),
    PaperSample(
        name="w-figure1",
        caption="Letting the head wait a little helps the others a lot (Ward et al., figure 1)",
        procs=10,
        jobs=((0, 5, 1000), (10, 8, 600), (20, 3, 1200), (30, 2, 900), (40, 5, 200)),
        showing=Showing(
            title="A promise slips",
            policy="relaxed:omega=1.25",
            at=20,
            note="J3 passes J2, which then starts 3m40 later than planned: the window allows it.",
        ),
        notes=(
            "Try fcfs, easy and relaxed:omega=1.25.",
            "Job 2 is the head of the queue: it needs job 1 to end, at 00:16:40.",
            "With fcfs no job passes job 2. With easy only job 4 does: it ends at 00:15:30, before 00:16:40.",
            "With relaxed the window is 1.25 times the head's wait of 16m20, that is 20m25: job 3 fits into it.",
            "The head starts at 00:20:20 instead of 00:16:40, but jobs 3 and 5 no longer wait until 00:26:40:",
            "all waits together fall from 1h35 (fcfs) and 1h09 (easy) to 36m10.",
        ),
    ),
    PaperSample(
        name="k-figure3.1",
        caption="How often do two equal jobs suspend each other? The suspension factor (Kettimuthu, section 3.1)",
        procs=8,
        jobs=((0, 8, 3600), (0, 8, 3600)),
        showing=Showing(
            title="Push and be pushed",
            policy="selective:sf=1.2",
            at=2340,
            note="A job with 1.2 times a running job's xfactor suspends it: J2 did so at 00:12 (1.20 to 1.00), J1 now.",
        ),
        notes=(
            "Try selective:sf=2, selective:sf=1.5 and selective:sf=1.2, and watch the xfactors in the queue.",
            "Both jobs want the whole machine for an hour. A waiting job's xfactor grows from 1 towards 2.",
            "To suspend the other one it must be sf times as large: n times over it takes sf to the power n.",
            "With sf=2 that is never reached: no suspension. With sf=1.5 (above the square root of 2) one,",
            "at 00:30; with sf=1.2 three, at 00:12, 00:39 and 01:12. The policy considers suspensions once a minute.",
            "The first job to end does so later each time, and the last one always ends at 02:00: which job gains?",
        ),
    ),
    PaperSample(
        name="ls-figure1",
        caption="Partition boundaries move with the load (Lawson & Smirni, figure 1)",
        procs=30,
        jobs=(
            (0, 4, 600),
            (0, 6, 5000),
            (0, 10, 12000),
            (2000, 9, 6000),
            (5000, 10, 2000),
            (6500, 12, 12000),
            (7000, 14, 800),
            (7500, 8, 14000),
            (8000, 4, 400),
            (17000, 10, 400),
            (19500, 15, 800),
            (23000, 12, 1500),
        ),
        showing=Showing(
            title="Boundaries that move",
            policy="multiqueue",
            at=8000,
            note="Partitions lend idle processors: short 9 and medium 3 to long (for J6), medium 3 to short (for J9).",
        ),
        notes=(
            "Try multiqueue and watch the partitions, then easy: there the short job 7 waits until 05:33:20.",
            "30 processors, three partitions of 10: short jobs (under 16m40), medium (under 2h47), long.",
            "The boundaries move eight times. At 00:33:20 and 01:23:20 medium jobs borrow from the short partition;",
            "at 02:13:20 the long job 6 borrows 12, and the short job 9 passes job 7 and borrows 3: 4, 4, 22.",
            "At 02:05 the long job 8 would fit, but job 7, first of its queue, would start later: 8 waits.",
            "With easy only job 6 is first in the queue; job 8 passes job 7, which waits 2h13 longer.",
            "At 03:20 job 7 borrows 10, at 03:33:20 job 8 borrows 8; short jobs again at 04:43:20 and 05:33:20.",
            "At 06:23:20 the last job, a medium one, borrows 12. The mean bounded slowdown is 1.61; with easy 3.33.",
        ),
    ),
    PaperSample(
        name="z-figure7",
        caption="Six jobs share eight processors in four time slices: the Ousterhout matrix (Zhang et al., figure 7)",
        procs=8,
        jobs=((0, 8, 2000), (60, 8, 2000), (120, 4, 1200), (180, 2, 1500), (240, 2, 1500), (300, 4, 1200)),
        showing=Showing(
            title="Taking turns",
            policy="gang:mpl=4",
            at=300,
            note="Rows take turns of 3m20; J4 and J5 run in two, for there is room beside J6.",
        ),
        notes=(
            "Try gang:mpl=4 and look at the matrix at 00:05; then fcfs, to see how long job 6 waits without it.",
            "Jobs 1 and 2 are as wide as the machine and have a row each. Jobs 3, 4 and 5 share the third row.",
            "Job 6 finds no room there and opens the fourth row. Next to it jobs 4 and 5 are repeated:",
            "they run in two of four slices and get on twice as fast as the others.",
            "With gang:mpl=3 job 6 has to wait for a row.",
        ),
    ),
    Realistic(
        name="lublin-128",
        caption="A thousand jobs on 128 processors: nearly three weeks at a load of 0.75",
        procs=128,
        count=1000,
        load=0.75,
        seed=128,
        users=24,
        showing=Showing(
            title="A busy afternoon",
            policy="easy",
            at=332858,
            note="Short jobs pass 17 that wait. w shows why the first of them waits, W finds the longest wait.",
            by_event=False,
        ),
        notes=(
            "Try easy and conservative, relaxed:omega=2, multiqueue, selective, gang-backfill; compare with fcfs.",
            "Made by the Lublin-Feitelson model: few jobs at night, many in the afternoon, widths mostly 1 or",
            "powers of two, the wider the longer. Estimates are round times, mostly far above the run time.",
            "24 users, the first with the most jobs; six groups; queues as Ward has them.",
        ),
    ),
    Realistic(
        name="lublin-320",
        caption="Ten thousand jobs on 320 processors, as wide as the machine of Zhang et al., at a load of 0.75",
        procs=320,
        count=10_000,
        load=0.75,
        seed=320,
        users=120,
        showing=Showing(
            title="Ten thousand jobs",
            policy="easy",
            at=1633558,
            note="Four jobs pass 16 that wait. v compares with another policy, 0 shows the whole run.",
            by_event=False,
        ),
        notes=(
            "Try easy with the orders fcfs, sjf and xfactor; --load 1.2 shows what breaks first.",
            "Made by the Lublin-Feitelson model: few jobs at night, many in the afternoon, widths mostly 1 or",
            "powers of two, the wider the longer. Estimates are round times, mostly far above the run time.",
            "120 users, the first with the most jobs; six groups; queues as Ward has them.",
        ),
    ),
)


FOR_LESSONS: tuple[PaperSample | Uniform, ...] = (
    PaperSample(
        name="passing",
        caption="Two ways to pass the head of the queue, and one job that may not (drawn for a lesson)",
        procs=8,
        jobs=((0, 5, 1200), (60, 3, 600), (120, 6, 900), (180, 3, 480), (240, 2, 1800), (300, 2, 2400)),
        showing=Showing("Passing", "easy", 660, "J4 passes J3: it ends before J3 is to start."),
        notes=(
            "Try fcfs and easy.",
            "Job 4 ends in time; job 5 needs no more than job 3 leaves; job 6 finds nothing left.",
        ),
    ),
    PaperSample(
        name="moving-rows",
        caption="Two rows, and a migration: which job moves, and which gains (after Zhang et al., figure 13)",
        procs=10,
        jobs=((0, 5, 2400), (0, 5, 800), (30, 4, 1800), (60, 4, 1800)),
        showing=Showing("Moving", "gang-migrate:mpl=2", 1400, "J2 has ended: J1 moves aside, and J3 is in both rows."),
        notes=("Try gang-migrate:mpl=2 with q=0 and q=64.", "Job 2 leaves half of the first row empty when it ends."),
    ),
    PaperSample(
        name="half-as-wide",
        caption="Limits of suspension: a narrow job does not suspend a wide one (after Kettimuthu, chapter 3)",
        procs=10,
        jobs=((0, 7, 9000), (30, 3, 9000), (90, 3, 600), (150, 10, 600)),
        showing=Showing("Not the wide one", "selective:sf=2", 720, "J3 suspends J2: J1 is more than twice as wide."),
        notes=("Try selective:sf=2.", "Job 3 is urgent at 00:11:30; job 4, as wide as the machine, a little later."),
    ),
    PaperSample(
        name="own-seats",
        caption="A suspended job resumes where it was: which jobs run there in between? (after Kettimuthu, chapter 3)",
        procs=8,
        jobs=((0, 4, 300), (0, 4, 1350), (310, 4, 9000), (400, 2, 900), (1400, 2, 6000)),
        showing=Showing("Seats", "selective:sf=2", 1320, "J4 suspends J3, and needs half of its processors."),
        notes=("Try selective:sf=2 with seats=apart and seats=lowest.", "Job 5 comes while job 3 is suspended."),
    ),
    PaperSample(
        name="lies",
        caption="The same three jobs twice, with exact estimates and with threefold ones (after Zotkin et al.)",
        procs=12,
        jobs=(
            (0, 8, 1200),
            (30, 12, 1200),
            (120, 4, 1150),
            (6000, 8, 1200, 3600),
            (6030, 12, 1200, 3600),
            (6120, 4, 1150, 3450),
        ),
        showing=Showing("Why do lies help?", "easy", 6120, "J6 passes J5, as J3 might not pass J2."),
        notes=(
            "Try easy and conservative.",
            "Jobs 1 to 3 are right about their run times, jobs 4 to 6 say three times as much.",
        ),
    ),
    PaperSample(
        name="short-first",
        caption="Short jobs first: what one long job pays for many (after Zotkin et al.)",
        procs=8,
        jobs=((0, 8, 900), (20, 6, 4000), (40, 6, 500), (60, 6, 100), (80, 6, 700)),
        showing=Showing("Short jobs first", "easy:order=sjf", 900, "J4, the shortest, is the first to start."),
        notes=("Try easy with order=fcfs and order=sjf.", "All but job 1 need the same processors; job 2 is long."),
    ),
    PaperSample(
        name="early-end",
        caption="A job ends long before its estimate: which job uses the free time? (after Zotkin et al.)",
        procs=10,
        jobs=((0, 6, 600, 3000), (30, 10, 900), (60, 6, 300), (90, 6, 1200), (120, 4, 2000)),
        showing=Showing("Who gets the hole?", "conservative:compress=queue", 600, "J1 has ended early: all move up."),
        notes=("Try conservative with compress=none, start and queue.", "Job 1 said 50 minutes and took 10."),
    ),
    PaperSample(
        name="starving",
        caption="A wide job at the head, and narrow ones that keep coming (after Ward et al.)",
        procs=12,
        jobs=((0, 6, 1200), (20, 12, 800), *((150 + 550 * place, 6, 1200) for place in range(9))),
        showing=Showing("How long can a head wait?", "relaxed:omega=2", 150, "J3 passes the head, which slips."),
        notes=("Try relaxed with omega=1, omega=2 and omega=inf.", "Job 2 needs all processors; the others need half."),
    ),
    PaperSample(
        name="early-crash",
        caption="A job that crashes after a minute, and said five hours (after Lawson and Smirni)",
        procs=10,
        jobs=((0, 6, 4000), (20, 10, 4000), (40, 4, 50, 18000), (60, 4, 3600)),
        showing=Showing("Try it first", "multiqueue:speculate=180", 40, "J3 gets three minutes to try."),
        notes=(
            "Try multiqueue with speculate=0 and speculate=180.",
            "Job 3 would crash after 50 s, if it were let in.",
        ),
    ),
    PaperSample(
        name="behind-the-long",
        caption="Short jobs behind a long, wide one: one queue or three (after Lawson and Smirni)",
        procs=12,
        jobs=((0, 6, 10000), (0, 4, 3000), (60, 12, 12000), (120, 6, 300), (180, 2, 9000)),
        showing=Showing("A queue of its own", "multiqueue", 3000, "J4, a short job, starts as it was planned to."),
        notes=(
            "Try multiqueue and multiqueue:classes=none.",
            "Job 4 takes five minutes; job 3, long and wide, heads the one queue.",
        ),
    ),
    Uniform(
        name="zkp-uniform",
        caption="Sixty jobs with uniform run times: why do doubled estimates help? (model of Zotkin et al.)",
        procs=32,
        count=60,
        load=0.9,
        seed=6,
        showing=Showing(
            title="Doubled estimates",
            policy="easy",
            at=54598,
            note="J42 may not pass J41. With --estimates factor:2 it may: J41 seems to start 3 h later.",
            by_event=False,
        ),
        notes=(
            "Try easy as it is and with --estimates factor:2, then easy:order=sjf.",
            "Run times are uniform between 1 and 240 minutes, estimates exact: hardly a job is very short.",
            "With exact estimates the mean wait is 35m06, with doubled ones 22m28: what runs seems to end later,",
            "so holes seem longer than they are, and shorter jobs fit. Shortest first, exact: 22m50.",
            "This is one draw of 60 jobs that shows it well; in others doubling helps less, or harms.",
        ),
    ),
)
"""Samples that belong to lessons and questions; users find them by name."""
ALSO = ("zkp-uniform",)
"""Names of samples of lessons that are listed with the other samples, too."""
REWORDED: dict[str, tuple[str, ...]] = {
    "early-end": ("bda9fd21aa248c4a61e76252e1baf220f4ad35e236aa3f235dcaacecc5cd5423",),
    "half-as-wide": ("90cabad3455a45ac6f7fc62dee87d7535c58982e6f494d9d6f295dbb0976c64e",),
    "k-figure2.1-2.2": ("f2116ed79aacd6c94a75892b0637f9dc951ae2ee9b829b4fafb6a297d5679a91",),
    "k-figure3.1": ("d2d7b5f6c6385e025845fb1c6cbbc719275fee35cdd8292ff84899518acbd854",),
    "ls-figure1": ("6200aef7259738a35713a84177c43cd7c655036e789ea41e2efcc4a3dc79864c",),
    "moving-rows": ("ee142744096f881ceec277748022e5d2049a9ac6ea4ed85f8ddda61a43c4f712",),
    "own-seats": ("40454e8d31c9ec3e4ae4500d61ac138e95c27493d8de3a735b4da68292d319a3",),
    "w-figure1": ("99e97642ef710afa8baa40ddddb1c70063dfa623266f55c0542c61be7ce8987b",),
}
"""Hashes (SHA-256) of earlier files of a sample with the same jobs, by name; their sessions stay valid."""
_BY_NAME: dict[str, Sample] = {sample.name: sample for sample in (*SAMPLES, *FOR_LESSONS, *NODES_SAMPLES)}


def sample_of(name: str) -> Sample:
    """Return the sample of exactly this name."""
    return _BY_NAME[name]


def captions() -> list[tuple[str, str]]:
    """Return each sample's name and its topic in one line, in the order for newcomers."""
    return [(sample.name, sample.caption) for sample in SAMPLES]


def showing_of(name: str) -> Showing | None:
    """Return the view of the sample of this name, also with the ending of its file; None for unknown names."""
    sample = _BY_NAME.get(_plain(name))
    return None if sample is None else sample.showing


def sample_path(name: str) -> Path:
    """Return the file of a sample, by its name with or without the ending.

    >>> sample_path("z-figure4").name, sample_path("full-memory.json").name
    ('z-figure4.swf', 'full-memory.json')
    """
    plain = _plain(name)
    if plain not in _BY_NAME:
        raise ParameterError(f"no sample {name!r}{near(plain, _BY_NAME)}")
    return _folder() / _file_of(_BY_NAME[plain])


def _plain(name: str) -> str:
    return name.removesuffix(".swf").removesuffix(".json")


def _file_of(sample: Sample) -> str:
    return f"{sample.name}.{'json' if isinstance(sample, NodesSample) else 'swf'}"


def text_of(sample: Sample) -> str:
    """Return the text of a sample's file."""
    if isinstance(sample, NodesSample):
        return sample.text()
    file = io.StringIO()
    swf.write(sample.trace(), file)
    return file.getvalue()


def write_all(folder: Path) -> None:
    """Write every sample into a folder, which is made if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    for sample in _BY_NAME.values():
        (folder / _file_of(sample)).write_text(text_of(sample), encoding="utf-8", newline="\n")


def _folder() -> Path:
    """Return the folder of the samples: inside an installed package, at the top level of a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "sample_traces", package.parent / "sample_traces"):
        if (folder / f"{SAMPLES[0].name}.swf").is_file():
            return folder
    raise TraceError("the sample traces are not installed", package.parent / "sample_traces")


def _header(computer: str, procs: int, jobs: int, notes: tuple[str, ...]) -> Header:
    said = ["Version: 2.2", f"Computer: {computer}", f"MaxJobs: {jobs}", f"MaxRecords: {jobs}"]
    said += [f"MaxNodes: {procs}", f"MaxProcs: {procs}", *(f"Note: {note}" for note in notes)]
    comments = tuple(f" {line}" for line in said)
    return Header(max_procs=procs, max_nodes=procs, computer=computer, comments=comments)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m sim.workload.samples DIR")
    write_all(Path(sys.argv[1]))
