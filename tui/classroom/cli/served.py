"""Options that commands with a web server share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from sim.support.errors import SchedscopeError
from sim.support.optional_imports import extra

OPTIONS = (
    click.option(
        "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for other machines."
    ),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 picks a free one."
    ),
    click.option("--public", metavar="URL", help="The address that others use, where that is another one (a proxy's)."),
    click.option(
        "--visitors", type=click.IntRange(1, 500), default=40, show_default=True, help="Maximum number of visitors."
    ),
    click.option(
        "--per-address",
        type=click.IntRange(1, 500),
        metavar="N",
        help="Maximum for one network address: half of --visitors, or all of them with --public.",
    ),
)


def of_server(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def needs_server() -> None:
    extra("aiohttp", "a server", "web")
    extra("textual_serve", "a server", "web")
    extra("segno", "a server", "web")
    if not hasattr(os, "fork"):
        raise SchedscopeError("serve needs a system that can fork: Linux, macOS or WSL")
