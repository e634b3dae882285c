"""Code of a class: two plain words and a number, which students read from the wall and type; and its QR code."""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

import segno

WORDS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
"""Words of codes: 256, so that there are 5.9 million codes."""


def new_code() -> str:
    words = WORDS.split()
    return f"{secrets.choice(words)}-{secrets.choice(words)}-{10 + secrets.randbelow(90)}"


def is_code(typed: str, code: str) -> bool:
    """Return True if the text is this code; case, blanks and hyphens do not matter, and the time is always the same."""
    return hmac.compare_digest(_plain(typed), _plain(code))


def _plain(typed: str) -> bytes:
    return "".join(filter(str.isalnum, typed[:80].casefold())).encode()


def parts_of(link: str) -> tuple[str, str]:
    """Return address and code of a link to a class; the code is "" if the link has none."""
    address, _, code = link.partition("/?token=")
    return address, code


def qr_picture(link: str) -> str:
    """Return the QR code of a link as the address (data: URL) of an SVG picture."""
    return segno.make(link, micro=False).svg_data_uri(light="#fff", border=4, scale=8)


def qr_rows(link: str, on_dark: bool = True) -> list[str]:
    """Return the QR code of a link as rows of half blocks, which fill its light modules on a dark screen."""
    rows = [*segno.make(link, error="l", micro=False).matrix_iter(border=2)]
    pairs = zip(rows[::2], [*rows[1::2], bytes([on_dark] * len(bytes(rows[0])))], strict=False)
    blocks = "█▀▄ " if on_dark else " ▄▀█"
    return ["".join(blocks[2 * upper + lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs]
