"""The page on experiments contains the plan and the commands with which `tests.gallery` makes its figures."""

import pytest

pytest.importorskip("PIL")

from tests.gallery import GALLERY, PAGE, plan_and_commands
from tui.lab.cli.figure_style import KINDS


def test_the_gallery_has_every_kind_of_figure() -> None:
    plan, commands = plan_and_commands(PAGE.read_text(encoding="utf-8"))
    assert 'keep = "jobs"' in plan
    assert commands[0][:2] == ["sweep", "paper.toml"]
    plots = [command for command in commands if command[0] == "plot"]
    kinds = {command[command.index("--kind") + 1] if "--kind" in command else "lines" for command in plots}
    assert kinds == set(KINDS)
    assert all("-o" in command for command in plots)
    assert GALLERY.exists()
