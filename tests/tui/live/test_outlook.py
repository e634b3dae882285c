from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob
from tests.sim.live.forecast.test_forecast import BATCH, NODES_, NOW, RUNS, WAITS
from tests.tui.live.watched import Recorded
from tui.live.outlook import NO_START, NOTHING, outlook
from tui.live.watch import Replayed

WIDE = replace(WAITS, cpus=8, tres="cpu=8,mem=80M,node=2", nodes_wanted=2)


def watched(*jobs: ClusterJob) -> Replayed:
    pictures = [Cluster(NOW + 60 * poll, nodes=NODES_, partitions=(BATCH,), jobs=jobs) for poll in range(3)]
    watch = Replayed(Recorded(pictures), "week.slog")
    for cluster in pictures:
        watch.observed.add(cluster)
    return watch


def test_outlook_says_what_helps() -> None:
    told = outlook(watched(RUNS, WIDE), 2, WIDE)
    assert told[0].startswith("Our forecast: ")
    assert any(sentence.startswith("With 4 cores it would start now instead of ") for sentence in told)
    small = replace(WAITS, cpus=1, limit=60.0)
    full = (replace(RUNS, cpus=4), replace(RUNS, id="3", cpus=4, nodes=("n2",)))
    assert outlook(watched(*full, small), 2, small)[-1] == NOTHING
    never = replace(WAITS, id="9", cpus=1, limit=60.0, reason="DependencyNeverSatisfied")
    assert outlook(watched(RUNS, never), 2, never)[-1] == NO_START
    assert outlook(watched(RUNS, WIDE), 2, WIDE, lambda: True) == ()
