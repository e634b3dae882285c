"""Compilation of a policy file by Cython to a separate module; the file itself does not change.

Nothing of the file runs here. The module stores a hash of the file's content, so that the loader can refuse the module
once the file has changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from sim.errors import SchedscopeError
from sim.formatting import shortened
from sim.policies.own.content import MARK, hash_of
from sim.policies.own.loading import source_of
from sim.policies.own.naming import Named

ENDING = "_compiled"
"""End of the name of a compiled module: fair.py is compiled to fair_compiled"""
PATIENCE = 300.0
"""Longest time in seconds that the compiler may take"""
_END = """

{mark} = ({path!r}, {sha256!r})
print = __import__("sim.captured_output", fromlist=["own_print"]).own_print
breakpoint = __import__("sim.captured_output", fromlist=["own_breakpoint"]).own_breakpoint
__import__("sim.policies.own.content", fromlist=["keep_lines"]).keep_lines({name!r}, {text!r})
"""
"""Lines added to the end of the text that is compiled. They bind `print` and `breakpoint` to the program's own, because
Cython would call Python's. They store the text of the file, from which a policy by calls is made into a generator.
"""
_BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Distribution, Extension
name, source, folder = sys.argv[1:]
options = {"annotation_typing": False, "binding": True}
parts = [Extension(name, [source])]
made = cythonize(parts, build_dir=folder, language_level=3, compiler_directives=options, quiet=True)
command = Distribution({"ext_modules": made}).get_command_obj("build_ext")
command.build_lib = command.build_temp = folder
command.ensure_finalized()
command.run()
print(command.get_outputs()[0])
"""
_ERROR = re.compile(r"\.py:(\d+):\d+: (?!warning)(.+)")


class NotCompiledError(SchedscopeError):
    """Error for a policy file that cannot be compiled, with the reason in one line."""


def compile_file(named: Named, folder: Path) -> Path:
    """Compile a policy file by Cython into `folder`. Return the path of the compiled module."""
    for module in ("Cython", "setuptools"):
        if find_spec(module) is None:
            raise NotCompiledError(f"compiling needs {module}: pip install 'schedscope[compile]'")
    data = source_of(named)
    name = Path(named.path).stem.replace("-", "_") + ENDING
    text = data.decode("utf-8-sig", "replace")
    end = _END.format(mark=MARK, path=named.path, sha256=hash_of(data), name=f"{name}.py", text=text)
    with TemporaryDirectory() as room:
        source = Path(room, f"{name}.py")
        source.write_bytes(data + end.encode())
        made = Path(_built(name, source, Path(room, "built"), named))
        target = folder / made.name
        half = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            half.write_bytes(made.read_bytes())
            half.replace(target)
        except OSError as error:
            raise NotCompiledError(f"{target}: cannot be written: {error.strerror or error}") from None
    return target


def _built(name: str, source: Path, folder: Path, named: Named) -> str:
    """Return the path of the module built from the text `source`; an error names the line that the compiler refuses."""
    command = [sys.executable, "-I", "-c", _BUILD, name, str(source), str(folder)]
    try:
        done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotCompiledError(f"{named.head}: the compiler cannot be used: {shortened(str(error), 200)}") from None
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.strip().splitlines()[-1]
    for line in said:
        if refused := _ERROR.search(line):
            raise NotCompiledError(f"{named.head}:{refused[1]}: Cython refuses it: {shortened(refused[2], 200)}")
    last = said[-1] if said else "no message"
    raise NotCompiledError(f"{named.head}: the compiler fails: {shortened(last, 200)}")
