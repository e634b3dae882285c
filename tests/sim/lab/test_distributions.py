from pathlib import Path

import numpy as np
import pytest

from sim.lab.distributions import DistributionAsk, clouds, shares, spreads, weeks
from sim.lab.pivot import RunFilter
from sim.lab.results import Results
from sim.support.errors import NotThereError, ParameterError
from tests.sim.lab.test_kept import keeping, made


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("kept") / "r", keeping(seeds=3))


def waits(path: Path, policy: str) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    with Results(path) as results:
        keys = [key for key, name in results.rows(["key", "policy"]) if name == policy]
        return [results.jobs_of(key).quantity("wait") for key in keys]


def test_shares_are_means_of_each_seeds_share(path: Path) -> None:
    with Results(path) as results:
        (panel,) = shares(results, DistributionAsk())
        (more,) = shares(results, DistributionAsk(), complement=True)
    assert list(panel.lines) == ["easy", "fcfs"]
    for policy, line in panel.lines.items():
        runs = waits(path, policy)
        for at, above in zip(line, more.lines[policy], strict=True):
            assert at.mean.value == pytest.approx(np.mean([(run <= at.x).mean() for run in runs]))
            assert above.mean.value == pytest.approx(1 - at.mean.value)
        assert line[-1].mean.value == 1.0
    assert any(point.mean.half for point in panel.lines["easy"])  # estimates differ by seed


def test_shares_and_values_are_of_jobs(path: Path) -> None:
    with Results(path) as results:
        ask = DistributionAsk(by="class", where=(RunFilter.of("policy=easy"),))
        (panel,) = shares(results, ask)
        (boxes,) = spreads(results, DistributionAsk(over="class"))
    assert list(panel.lines) == list(boxes.ticks) == ["short", "medium", "long"]
    assert sum(len(values) for values in boxes.values["easy"].values()) == 3 * 60
    with Results(path) as results:
        (boxes,) = spreads(results, DistributionAsk(per=3600.0, least=1.0))
    expected = np.sort(np.maximum(np.concatenate(waits(path, "fcfs")), 1.0) / 3600)
    assert np.array_equal(np.sort(boxes.values["fcfs"][""]), expected)
    with Results(path) as results:
        (cloud,) = clouds(results, DistributionAsk())
        key = next(key for key, policy in results.rows(["key", "policy"]) if policy == "easy")
        kept = results.jobs_of(key)
    pairs = set(zip(*(axis.tolist() for axis in cloud.dots["easy"]), strict=True))
    assert set(zip(kept.columns["width"].tolist(), kept.columns["wait"].tolist(), strict=True)) <= pairs


def test_week_is_of_the_machine_or_of_the_jobs_submitted_then(path: Path) -> None:
    with Results(path) as results:
        used, _ = weeks(results, DistributionAsk("utilization"))
        waited, _ = weeks(results, DistributionAsk("wait"))
        kept = [results.jobs_of(key) for key, policy in results.rows(["key", "policy"]) if policy == "easy"]
    assert used.title == "lublin-128, easy"
    assert used.values.shape == (7, 24)
    assert 0 <= np.nanmin(used.values) <= np.nanmax(used.values) <= 1
    hour = int(kept[0].columns["hour"][0])
    expected = np.mean([of.columns["wait"][of.columns["hour"] == hour].mean() for of in kept])
    assert waited.values.ravel()[hour] == pytest.approx(expected)


def test_unmeasured_groups_and_empty_choices_are_reported(path: Path) -> None:
    with Results(path) as results:
        with pytest.raises(NotThereError, match="sweep again with --groups user"):
            spreads(results, DistributionAsk(over="user"))
        with pytest.raises(NotThereError, match="sweep again with --groups user"):
            shares(results, DistributionAsk(by="user"))
        with pytest.raises(NotThereError, match="no run with jobs passes"):
            shares(results, DistributionAsk(where=(RunFilter.of("load=9"),)))
        with pytest.raises(ParameterError, match="no factor"):
            shares(results, DistributionAsk(by="polcy"))
