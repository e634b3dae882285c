"""Tests of a teacher for submissions: pytest runs outside the walls, and only the policy runs behind them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from sim.support.errors import SchedscopeError

SUBMISSION, SECONDS = "SCHEDSCOPE_SUBMISSION", 120.0
"""Variable with the path of the submission; longest time of its tests"""
USUAL = ("-q", "-c", os.devnull, "-p", "tui.classroom.submission_fixture", "-p", "no:cacheprovider")


def tested(tests: Path, submission: Path) -> tuple[int, int, str]:
    """Run the tests in a file; return how many passed, of how many, and words on the first that failed."""
    with TemporaryDirectory() as folder:
        report, none = Path(folder, "report.xml"), subprocess.DEVNULL
        more = {SUBMISSION: str(submission), "PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_ADDOPTS": ""}
        command = [sys.executable, "-m", "pytest", *USUAL, f"--junitxml={report}", str(tests)]
        try:
            subprocess.run(
                command, stdin=none, stdout=none, stderr=none, env=os.environ | more, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return 0, 1, "its tests took too long"
        if not os.path.isfile(report):
            raise SchedscopeError(f"{tests}: pytest cannot run it; try: python -m pytest {tests}")
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    wrong = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(wrong), len(cases), f"fails {wrong[0].get('name', 'a test')}" if wrong else ""
