"""The site names every page and every public name of the library, and a package says where it comes from."""

import importlib.util
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sim
from tests.test_readme import PAGES

ROOT = Path(__file__).resolve().parent.parent
SITE = (ROOT / ".site/mkdocs.yml").read_text(encoding="utf-8")
REFERENCE = re.findall(r"^::: (\S+)", (ROOT / ".site/api.md").read_text(encoding="utf-8"), re.MULTILINE)


def loaded(path: Path) -> ModuleType:
    """Return the module loaded from a file that is outside of all packages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_site_has_every_page_once() -> None:
    named = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", SITE.partition("\nnav:\n")[2], re.MULTILINE)
    assert sorted(named) == PAGES


def test_site_is_built_beside_its_pages() -> None:
    """The site generator does not accept an output folder inside the folder of the pages."""
    pages, built = (re.search(rf"^{name}: (\S+)", SITE, re.MULTILINE) for name in ("docs_dir", "site_dir"))
    assert pages is not None
    assert built is not None
    assert not (ROOT / ".site" / built[1]).resolve().is_relative_to((ROOT / ".site" / pages[1]).resolve())


def test_films_are_recorded_by_the_commands_of_the_page() -> None:
    hooks = loaded(ROOT / ".site/hooks.py")
    page = hooks.GALLERY.read_text(encoding="utf-8")
    assert [f"films/{name}" for _, name in hooks.commands(page)] == re.findall(r"\((films/[^)]+)\)", page) != []


def test_reference_has_every_public_name() -> None:
    for dotted in REFERENCE:
        module, _, name = dotted.rpartition(".")
        assert _is_module(dotted) or hasattr(import_module(module), name), dotted
    shown = {dotted.rpartition(".")[2] for dotted in REFERENCE}
    assert "sim.support.errors" in REFERENCE
    assert set(sim.__all__) - {"SchedscopeError", "__version__"} <= shown


def _is_module(dotted: str) -> bool:
    path = ROOT / dotted.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").exists()


def test_sources_of_a_package_hold_what_its_build_reads() -> None:
    """README.md is generated during the build, so that it must be listed explicitly as a source."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert {"README.md", ".ci", "sim", "tui", "sample_traces"} <= {*built["sdist"]["include"]}


def test_links_of_a_package_lead_to_the_repository() -> None:
    pytest.importorskip("hatchling", reason="hatchling is missing: pip install hatchling")
    metadata = loaded(ROOT / ".ci/metadata.py")
    page = "![a](tests/pictures/a.svg) [b](sim/README.md#x) [c](https://c.org) [d](#d)"
    url = metadata.address({"GITHUB_SERVER_URL": "https://h.org", "GITHUB_REPOSITORY": "a/b"})
    assert metadata.absolute(page, url, "v1") == (
        "![a](https://h.org/a/b/raw/v1/tests/pictures/a.svg) [b](https://h.org/a/b/blob/v1/sim/README.md#x) "
        "[c](https://c.org) [d](#d)"
    )
    assert metadata.address({}) == ""
    assert metadata.address({"SCHEDSCOPE_URL": "https://h.org/s/"}) == "https://h.org/s"


def test_links_to_what_is_no_part_of_the_site_lead_to_the_repository() -> None:
    outward = loaded(ROOT / ".site/hooks.py").outward
    page = "[a](../README.md#x) [b](../../tests/b) [c](https://c.org) [d](#d) [e](e.py)"
    known = {"sim/README.md"}
    assert outward(page, "sim/engine/README.md", known, "https://h.org/s") == (
        "[a](../README.md#x) [b](https://h.org/s/blob/HEAD/tests/b) [c](https://c.org) [d](#d) "
        "[e](https://h.org/s/blob/HEAD/sim/engine/e.py)"
    )
    assert outward(page, "sim/engine/README.md", known, "") == page


def test_pages_of_hidden_folders_have_addresses_without_a_dot() -> None:
    class File:
        src_uri, dest_uri, url, abs_dest_path = ".github/X.md", ".github/X/index.html", "", ""

    file = File()
    loaded(ROOT / ".site/hooks.py").undot([file], "/s")
    assert (file.dest_uri, file.url, file.abs_dest_path) == (
        "github/X/index.html",
        "github/X/",
        "/s/github/X/index.html",
    )
