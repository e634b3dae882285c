"""The letters of pictures that are made where no font can be counted on: DejaVu Sans Mono (see LICENSE)."""

from __future__ import annotations

from pathlib import Path

FAMILY = "DejaVu Sans Mono"
MONOSPACE = f"'{FAMILY}', Menlo, Consolas, 'Liberation Mono', monospace"
"""For a viewer that has other fonts."""
WIDE = 0.602
"""How wide a letter is, as a share of its size."""
FILES = tuple(str(Path(__file__).with_name(name)) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"))
