"""Metadata of a built package that depends on where the project lives: addresses, and README with absolute links.

A package index shows README alone, without the pictures and pages that it links to. The address comes from
SCHEDSCOPE_URL, or from the variables of a workflow; a build without an address has README as it is, and no addresses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURES = (".svg", ".png", ".gif")


def address(environ: Mapping[str, str]) -> str:
    """Return the address of the repository, or ""."""
    if url := environ.get("SCHEDSCOPE_URL"):
        return url.rstrip("/")
    server, name = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else ""


def absolute(page: str, url: str, revision: str) -> str:
    """Return a page whose relative links lead to the repository at this revision, pictures to the files themselves."""

    def led(found: re.Match[str]) -> str:
        path = found[1]
        kind = "raw" if path.partition("#")[0].endswith(PICTURES) else "blob"
        return f"]({url}/{kind}/{revision}/{path})"

    return re.sub(r"\]\((?!https?://|#)([^)\s]+)\)", led, page)


class Metadata(MetadataHookInterface):
    """Hook that fills in what pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add README and the addresses."""
        url, revision = address(os.environ), os.environ.get("GITHUB_SHA") or f"v{metadata['version']}"
        page = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute(page, url, revision) if url else page
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if url:
            metadata["urls"] = {
                "Source": url,
                "Documentation": os.environ.get("SCHEDSCOPE_SITE") or f"{url}#readme",
                "Changelog": f"{url}/blob/{revision}/.github/CHANGELOG.md",
                "Issues": f"{url}/issues",
            }
