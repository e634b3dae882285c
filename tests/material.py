"""Logs and cases that tests use but the repository does not contain: where they are, and which logs they are."""

import os
from pathlib import Path

MATERIAL = Path(os.environ.get("SCHEDSCOPE_LOGS") or Path(__file__).resolve().parents[2] / "shared")
"""Folder with `traces/` (logs), `cases/` and other test data; tests that need a missing one are skipped."""
MISSING = "needs a folder of logs, named by SCHEDSCOPE_LOGS or 'shared' beside the checkout"
