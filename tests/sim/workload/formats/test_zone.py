from pathlib import Path

import pytest

from sim.support.errors import ParameterError
from sim.workload.formats import zone


def test_tz_names_the_zone_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert str(zone.zone_here()) == "Europe/Berlin"


def test_the_link_of_the_clock_names_it_where_tz_does_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    monkeypatch.setattr(zone, "LOCALTIME", tmp_path / "localtime")
    assert str(zone.zone_here()) == "Asia/Tokyo"


def test_utc_stands_in_where_nothing_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(zone, "LOCALTIME", tmp_path / "nothing")
    assert str(zone.zone_here()) == "UTC"


@pytest.mark.parametrize("name", ["Middle/Earth", "../../etc/passwd", "", "a\x00b"])
def test_a_zone_that_is_unknown_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="no time zone"):
        zone.zone_of(name)
