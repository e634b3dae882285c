import re

from sim.engine.engine import Engine
from sim.workload.replay import read
from tui.chart.svg.notebook import drawn, with_own_ids


def test_every_reference_finds_its_id() -> None:
    engine = Engine(read("z-figure4"), "easy")
    engine.run()
    for runs in ([(engine, "easy")], [(engine, "easy"), (engine, "again")]):
        svg = drawn(runs)
        ids = set(re.findall(r'\bid="([^"]+)"', svg))
        labels = " ".join(re.findall(r'aria-labelledby="([^"]+)"', svg)).split()
        assert ids >= {*re.findall(r"url\(#([^)]+)\)", svg), *labels}


def test_ids_end_in_the_number_of_the_cell() -> None:
    one, two = (with_own_ids('<a id="x" aria-labelledby="x y"/><b fill="url(#x)"/>') for _ in range(2))
    assert one != two
    ending = one.split('"')[1].removeprefix("x")
    assert one == f'<a id="x{ending}" aria-labelledby="x{ending} y{ending}"/><b fill="url(#x{ending})"/>'
