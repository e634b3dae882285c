"""Logs and cases that tests use but the project does not hold: where they are, and which logs they are."""

from __future__ import annotations

import os
from pathlib import Path

MATERIAL = Path(os.environ.get("SCHEDSCOPE_LOGS") or Path(__file__).resolve().parents[2] / "shared")
"""The folder with `traces/` (logs), `cases/` and others; tests that need one are skipped where it is missing."""
MISSING = "needs a folder of logs, named by SCHEDSCOPE_LOGS or 'shared' beside the checkout"
