from dataclasses import replace

from sim.comparison.comparison_sentences import only_in_one
from sim.workload.columns import NumberIds
from sim.workload.job_changes import JobChanges
from sim.workload.pairing import paired
from sim.workload.replay import read

LINE = "4 procs; 1x1m@0; 1x1m@1m; 1x1m@2m"
WHOLE, CHANGED = read(LINE), read(LINE, without="J2", add="1x1m@0", change="J3:submit=0")


def test_jobs_are_paired_by_id() -> None:
    pairing = paired(WHOLE, CHANGED)
    assert pairing is not None
    assert (pairing.there.tolist(), pairing.here.tolist()) == ([0, -1, 1], [0, 2, -1])
    assert [pairing.rank(rank) for rank in (None, 1, 2, 99)] == [None, None, 1, None]


def test_ids_that_are_numbers_are_paired_as_others_are() -> None:
    whole = read("lublin-128")
    changed = whole.with_changes(JobChanges.of_options("J7; J900", "J30:submit=9d", "1x1m@3d"))
    assert isinstance(whole.ids, NumberIds)
    assert isinstance(changed.ids, NumberIds)
    told = paired(replace(whole, ids=tuple(whole.ids)), replace(changed, ids=tuple(changed.ids)))
    pairing = paired(whole, changed)
    assert told is not None
    assert pairing is not None
    assert [each.tolist() for each in pairing] == [each.tolist() for each in told]


def test_same_jobs_need_no_pairs() -> None:
    assert paired(WHOLE, read(LINE, change="J3:procs=4")) is None


def test_sentence_names_the_jobs_of_one_run() -> None:
    told = only_in_one(paired(WHOLE, CHANGED), (WHOLE, CHANGED), ("main", "without J2"))
    of = "Waits and slowdowns are of jobs of both runs, counts and use of each run."
    assert told == f"Only main has J2; only without J2 has J4. {of}"
