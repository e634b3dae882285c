"""Addresses of the site without dots, links to what is no part of it, and films made when it is built.

A page of `.github` becomes one of `github`, which every host serves.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import subprocess
import sys
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

GALLERY = Path(__file__).with_name("gallery.md")
SMALL = ("--size", "100x30", "--fps", "3", "--large", "12")
"""Options that keep a film small"""


def on_files(files: Any, config: Any) -> Any:
    """Add the films of the gallery, and give each page from a hidden folder an address without the dot."""
    from mkdocs.structure.files import File, InclusionLevel

    for command, name in commands(GALLERY.read_text(encoding="utf-8")):
        film, where = recorded(command, name), f".site/films/{name}"
        files.append(File.generated(config, where, abs_src_path=film, inclusion=InclusionLevel.INCLUDED))
    undot(files, config["site_dir"])
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let the page's links to files and folders that are no part of the site lead to the repository."""
    known = {file.src_uri for file in files if file.inclusion.is_included()}
    return outward(markdown, page.file.src_uri, known, config["repo_url"])


def outward(markdown: str, uri: str, known: Collection[str], repository: str) -> str:
    """Return the Markdown text of the page at `uri` with absolute links instead of relative ones to files that the site
    does not know; the same text without an address of the repository.
    """

    def led(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(uri), found[1].partition("#")[0]))
        return found[0] if path in known or not repository else f"]({repository}/blob/HEAD/{path})"

    return re.sub(r"\]\((?![a-z]+:|#)([^)\s]+)\)", led, markdown)


def undot(files: Any, site: str) -> None:
    """Give the files of hidden folders addresses without the dot."""
    for file in files:
        if file.src_uri.startswith("."):
            file.dest_uri = file.dest_uri.lstrip(".")
            file.url = file.dest_uri.removesuffix("index.html") or "./"
            file.abs_dest_path = f"{site}/{file.dest_uri}"


def commands(page: str) -> list[tuple[str, str]]:
    """Return the commands in the page that record a film, and the films' names."""
    return re.findall(r"^    schedscope (record .* -o (\S+\.webp))$", page, re.MULTILINE)


@lru_cache
def folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="films")


@lru_cache
def recorded(command: str, name: str) -> str:
    """Record a film as the command says, once while pages are served; return its path."""
    words = [sys.executable, "-m", "tui", *shlex.split(command), *SMALL]
    subprocess.run(words, cwd=folder().name, check=True, capture_output=True)
    return str(Path(folder().name, name))
