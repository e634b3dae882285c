"""Made-up installed packages with policies, as pip would leave them: a module and its metadata in a folder on Python's
path."""

from collections.abc import Mapping
from pathlib import Path

import pytest

POLICY = """
from dataclasses import dataclass
from pathlib import Path

from sim.policies.backfill.easy import Easy

Path(__file__).with_name("RAN").write_text("imported")


@dataclass(frozen=True)
class Packed(Easy):
    \"\"\"EASY out of a package.\"\"\"
"""


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    points: Mapping[str, str],
    *,
    module: str = "packed_by_a_test",
    package: str = "packed-policies",
    version: str = "0.1",
    text: str = POLICY,
) -> Path:
    """Install a module with entry points: `points` maps names to objects. Return the path of the file that the module
    writes when it is imported."""
    for old in folder.glob(f"{package.replace('-', '_')}-*.dist-info/*"):
        old.unlink()
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    made = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    made.mkdir(exist_ok=True)
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (made / "entry_points.txt").write_text("\n".join(["[schedscope.policies]", *lines, ""]), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return folder / "RAN"
