"""Compile the loop of `sim.kernel` at installation if there is a C compiler; otherwise it runs as plain Python."""

from __future__ import annotations

import os
import platform
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SIM = Path(__file__).resolve().parents[1] / "sim"
KERNEL = SIM / "kernel"
OPTIONS = (
    "boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, infer_types=True, "
    "auto_pickle=False, binding=False, emit_code_comments=False"
)
"""Nothing pickles these classes or binds their methods, and code for that takes the C compiler twice as long again."""
FLAGS = "-O2 -falign-loops=32 -fPIC -DNDEBUG -ffp-contract=off"
"""Loops begin at multiples of 32 bytes, so that a change elsewhere does not make them a fifth slower. The last flag is
there so that every sum is the one that Python makes."""
LEFT_OUT = "-fno-tree-vectorize -fno-tree-slp-vectorize -fno-tree-pre -fno-gcse -fno-code-hoisting"
"""Optimisations that gcc leaves out: they took a tenth of its time and made runs no faster. Clang does not know all."""
COUNTS = (
    "-D__STDC_NO_ATOMICS__", "-D__sync_fetch_and_add(to,more)=((*(to)+=(more))-(more))",
    "-D__sync_fetch_and_sub(of,less)=((*(of)-=(less))+(less))",
)  # fmt: skip
"""How Cython counts the users of a column: plainly, as the loop always holds the GIL. Atomic operations would take a
quarter of the time of a pass.
"""

RARE = {
    "attributes": r"__pyx_(?:p[wf]_[^\n;(]*__(?:get|set|del)__|[gs]etprop_[^\n;(]*)",
    "constructors": r"__pyx_p[wf]_[^\n;(]*__c?init__",
    "memory of objects": r"__pyx_tp_(?:new|dealloc|traverse|clear)_\w+",
    "beginning of the module": r"__pyx_pymod_exec_\w+|__Pyx_modinit_\w+",
    "columns seen by Python": r"__pyx_(?:memoryview|array|MemviewEnum|memoryviewslice)_\w+",
}
"""Names of functions in C, by what they are for, that run between runs of the loop: more than half of all functions"""
RARELY = """
#if defined(__GNUC__) && !defined(__clang__)
#define RARELY __attribute__((optimize("O0")))
#else
#define RARELY
#endif
"""
"""Definition in C of the word before such functions: to optimise them would take a third of the C compiler's time."""
TRANSLATE = (
    "import gc, runpy; gc.disable(); from Cython.Compiler import Options; Options.buffer_max_dims = 2; "
    "runpy.run_module('cython', run_name='__main__')"
)
"""Program that runs Cython. It ends soon, and searches for garbage among its objects would take a third of its time.
Columns have one dimension. With room for eight, as Cython has it, an object holds 208 bytes for each, and to pass a
column on copies them.
"""


class Compile(BuildHookInterface):
    """An editable install finds the module beside its sources, a wheel takes it in."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        name = f"compiled{sysconfig.get_config_var('EXT_SUFFIX')}"
        self._folder = tempfile.TemporaryDirectory()  # until the wheel is written
        made = (KERNEL if version == "editable" else Path(self._folder.name)) / name
        failure = made.with_name("compiled.failure.txt")
        failure.unlink(missing_ok=True)
        try:
            if os.environ.get("SCHEDSCOPE_COMPILE") == "off":
                raise OSError("this wheel is for any machine; install from source, with a C compiler, to compile it")
            compile_to(made)
        except (OSError, subprocess.CalledProcessError) as error:
            failure.write_text(reason_of(error), encoding="utf-8")
            self.app.display_warning(f"the kernel is not compiled: {reason_of(error)}")
            if version != "editable":
                build_data["force_include"][str(failure)] = f"sim/kernel/{failure.name}"
            return
        if version != "editable":
            build_data["force_include"][str(made)] = f"sim/kernel/{name}"
            build_data["pure_python"], build_data["infer_tag"] = False, True


def source() -> str:
    """Return the text of the module that Cython translates."""
    parts = runpy.run_path(str(KERNEL / "parts.py"))
    types = types_of_c()
    from_c = f"from cython.cimports.libc.math import {', '.join(types['FROM_C'])}\n"
    from_c += "from cython.cimports.sim.kernel.own_in_c import lowest_bit, quotient\n"
    header = f"# cython: language_level=3, {OPTIONS}\nimport cython\n{from_c}"
    header += f"MADE_OF, TWINS = {parts['made_of'](SIM)!r}, {{}}\n"
    users = [*SIM.glob("engine/express/*.py"), KERNEL / "known.py"]
    return header + str(types["module_of"]([SIM / part for part in parts["SOURCES"]], users))


def types_of_c() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).with_name("c_types.py")))


def compile_to(made: Path, flags: str = FLAGS) -> None:
    """Write the files of the loop as one module, translate that to C and compile it."""
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder, "sim", "kernel")
        room.mkdir(parents=True)
        for package in (room, room.parent):
            (package / "__init__.py").touch()
        (room / "compiled.py").write_text(source(), encoding="utf-8")
        (room / "own_in_c.pxd").write_text(types_of_c()["OWN_IN_C"], encoding="utf-8")
        module = ("--module-name", "sim.kernel.compiled", str(room / "compiled.py"))
        run(folder, sys.executable, "-c", TRANSLATE, *module)
        made_c = room / "compiled.c"
        made_c.write_text(marked(with_constants(made_c.read_text(encoding="utf-8"))), encoding="utf-8")
        if sys.platform == "win32":
            build_on_windows(room / "compiled.c", made)
            return
        linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "no-compiler")
        if platform.python_compiler().startswith("GCC"):
            flags = f"{flags} {LEFT_OUT}"
        headers = "-I" + sysconfig.get_path("include")
        run(folder, *linker, *flags.split(), *COUNTS, headers, str(room / "compiled.c"), "-o", str(made), "-lm")


def marked(text: str) -> str:
    """Return the text in C with `RARELY` before the functions of `RARE`. A warning names each kind that is not found:
    another Cython may use other names. Then compiling takes longer, and the module is the same.
    """
    for what, names in RARE.items():
        first_line = rf"^static (?!CYTHON_INLINE)[^\n;=(]*\b(?:{names})\([^\n;]*\{{$"
        text, count = re.subn(first_line, r"RARELY \g<0>", text, flags=re.MULTILINE)
        if not count:
            warnings.warn(f"this Cython has no function in C for: {what}", stacklevel=2)
    return RARELY + text


def with_constants(text: str) -> str:
    """Return the text in C with the numbers of Python's constants in place, so that the C compiler knows them. Cython
    makes variables of these.
    """
    assigned = re.compile(r"^ +(__pyx_v_\w+_[A-Z_]+) = (-?[0-9][\w.+-]*);$", re.MULTILINE)
    values = dict(assigned.findall(text))
    declared = re.compile(r"^static ((?:unsigned )?\w+ (__pyx_v_\w+_[A-Z_]+));$", re.MULTILINE)
    text = declared.sub(lambda it: f"static const {it[1]} = {values[it[2]]};" if it[2] in values else it[0], text)
    return assigned.sub("", text)


def build_on_windows(source: Path, made: Path) -> None:
    """Compile with the compiler that setuptools finds, as no variable of Python names one there."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import BaseError

    extension = Extension("sim.kernel.compiled", [str(source)], extra_compile_args=["/O2", "/fp:precise"])
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(source.parents[2] / "built")
    try:
        command.ensure_finalized()
        command.run()
    except BaseError as error:
        raise OSError(str(error)) from None
    shutil.copyfile(command.get_outputs()[0], made)


def reason_of(error: OSError | subprocess.CalledProcessError) -> str:
    """Return what a compiler printed, or why it could not be started."""
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return str(error.stderr.decode(errors="replace"))
    return str(error)


def run(folder: str, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
