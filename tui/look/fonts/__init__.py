"""Font of pictures for systems that lack a suitable one: DejaVu Sans Mono (see LICENSE)."""

from __future__ import annotations

from pathlib import Path

FAMILY = "DejaVu Sans Mono"
MONOSPACE = f"'{FAMILY}', Menlo, Consolas, 'Liberation Mono', monospace"
"""Font families (CSS) for programs that show a picture but cannot load the font in this folder."""
WIDE = 0.602
"""Width of a letter as a share of the font size."""
FILES = tuple(str(Path(__file__).with_name(name)) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"))
