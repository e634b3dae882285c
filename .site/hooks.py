"""Addresses of the site without dots: a page of `.github` becomes one of `github`, which every host serves."""

from __future__ import annotations

from typing import Any


def on_files(files: Any, config: Any) -> Any:
    """Give each page from a hidden folder an address without the dot."""
    for file in files:
        if file.src_uri.startswith("."):
            file.dest_uri = file.dest_uri.lstrip(".")
            file.url = file.dest_uri.removesuffix("index.html") or "./"
            file.abs_dest_path = f"{config['site_dir']}/{file.dest_uri}"
    return files
