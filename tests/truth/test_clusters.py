"""Every sentence about every job in pictures of real clusters, and of its forecasts, is true, and a changed number is
detected.

One recording, with preemption, tiers and limits, is in the folder of logs. The other one is in this folder. Its few
pictures have preemption, nodes that are down, drained and reserved, features, lists of nodes, licenses and deadlines.
Some are of after an outage of the controller, and there are arrays and jobs of two parts.
"""

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from sim.live.cluster.reasons import say
from sim.live.cluster.recording import Recording
from tests.truth import cluster_jobs
from tests.truth.cluster_forecasts import forecast_falsehoods
from tests.truth.clusters import COUNTS, READINGS, Fact, falsehoods, read, sentences
from tests.truth.words import UntrueError
from tui.live.queue import _fitting, _without_verb

OWN = Path(__file__).with_name("constraints.slog")
__all__ = ["cluster_jobs"]  # importing it registers the readings


@pytest.mark.long
def test_sentences_of_a_cluster_with_tiers_are_true(shared: Path) -> None:
    path = shared / "slurm" / "recordings" / "tiers-15s.slog"
    if not path.is_file():
        pytest.skip("needs a recording of a cluster with tiers")
    assert list(falsehoods(islice(Recording(path).pictures(), 0, None, 16))) == []
    assert list(forecast_falsehoods(Recording(path), 96)) == []


def test_sentences_of_a_cluster_with_constraints_are_true() -> None:
    COUNTS.clear()
    assert list(falsehoods(Recording(OWN).pictures())) == []
    assert list(forecast_falsehoods(Recording(OWN))) == []
    unread = {check.__name__ for _, check in READINGS} - COUNTS.keys()
    # numbers are known, few jobs start, all partitions are up, and no job completes
    assert unread == {"_licenses", "_range", "_partition_down", "_completing"}


def test_changed_numbers_are_detected() -> None:
    seen = undetected = 0
    for cluster in Recording(OWN).pictures():
        for job in cluster.jobs:
            for text in sentences(cluster, job):
                for found in re.finditer(r"(?<![\w.:,])\d+(?![\w.:,]*\d)", text):
                    changed = f"{text[: found.start()]}{int(found[0]) + 1}{text[found.end() :]}"
                    seen += 1
                    with suppress(UntrueError):
                        read(Fact(cluster, job), changed)
                        undetected += 1
    assert undetected < 0.02 * seen


def test_short_reasons_in_the_queue_say_no_more() -> None:
    for cluster in Recording(OWN).pictures():
        for job in cluster.queue:
            whole = _without_verb(say(cluster, job))
            words = {*re.findall(r"\w+", whole), "limit", "at", "dependency"}
            assert all(words.issuperset(re.findall(r"\w+", _fitting(whole, width))) for width in (12, 24, 48))
