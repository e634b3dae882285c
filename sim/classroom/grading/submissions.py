"""Files in a folder of submissions: policies, each with its own files only, and answers to hand in."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from warnings import catch_warnings

from sim.classroom.grading.outside import SubmissionError
from sim.policies.own.sibling_imports import MOST_BYTES, MOST_FILES
from sim.support.errors import FileError
from sim.support.files import TextKind

SOURCE = TextKind("file of Python", MOST_BYTES, FileError)
PLAIN = re.compile(r"\w[\w-]*\.py", re.ASCII)


class Code(NamedTuple):
    """Policy of a submission: the spec of its file, and the contents of its files by the paths that they get."""

    spec: str
    files: Mapping[str, bytes]

    @property
    def likeness(self) -> str:
        """Return a text that is the same for files that differ in comments and layout only."""
        found = dict[str, str]()
        for path, data in self.files.items():
            found[path.replace(self.spec[1:], "")] = repr(data)
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError), catch_warnings(action="ignore"):
                found[path.replace(self.spec[1:], "")] = ast.dump(ast.parse(data))
        return repr(sorted(found.items()))


def submissions_in(folder: Path) -> list[Path]:
    """Return all that lies in the folder, except hidden files and caches."""
    return sorted(each for each in folder.iterdir() if each.name[:1] != "." and each.name != "__pycache__")


def code_in_submission(path: Path) -> Code:
    """Return the code of a submission: a file, or a folder with one, which may import other files of the folder."""
    if os.path.islink(path):
        raise SubmissionError("is a link, which is not followed")
    files, first = {path.name: path}, path
    if os.path.isdir(path):
        found = [each for each in sorted(path.rglob("*.py")) if not os.path.islink(each)]
        files = {each.relative_to(path).as_posix(): each for each in found}
        likely = [path / "policy.py"] if "policy.py" in files else [each for each in found if each.parent == path]
        if len(likely) != 1 or len(files) > MOST_FILES:
            raise SubmissionError(f"has {len(files)} files of Python: expected one, or one called policy.py")
        first = likely[0]
    name = first.name if PLAIN.fullmatch(first.name) else "submission.py"
    read = {f"/{name if each == first else place}": SOURCE.bytes_in(each) for place, each in files.items()}
    SOURCE.text(read[f"/{name}"], name)
    return Code(f"./{name}", read)
