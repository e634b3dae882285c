"""Font of pictures for systems without a suitable one: DejaVu Sans Mono (see LICENSE)."""

from __future__ import annotations

from pathlib import Path

FAMILY = "DejaVu Sans Mono"
MONOSPACE = f"'{FAMILY}', Menlo, Consolas, 'Liberation Mono', monospace"
"""Font families for viewers without this font."""
WIDE = 0.602
"""Width of a letter as a share of its size."""
FILES = tuple(str(Path(__file__).with_name(name)) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"))
