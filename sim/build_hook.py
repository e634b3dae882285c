"""Hook of the build, which compiles the modules that pyproject.toml lists: all of them or none (`sim.compiled`)."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MYPY = ["--config-file=", f"--cache-dir={os.devnull}", "--no-site-packages", "--ignore-missing-imports"]
FLAGS = [] if sys.platform == "win32" else ["-ffp-contract=off", "-Wno-all", "-w"]
"""Sums as Python's; looking for what -Wall names would take as long as compiling"""


class CompileHook(BuildHookInterface[Any]):
    """An editable install finds the modules in the working copy, until a source is edited; a wheel takes them in."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        choice, sources = runpy.run_path(str(Path(__file__).with_name("compiled.py"))), self.config["compiled"]
        made, self._temporary = choice["FOLDER"], tempfile.TemporaryDirectory()
        if version != "editable":
            made = Path(self._temporary.name, made.name)
            build_data["force_include"][str(made)] = f"sim/{made.name}"
        shutil.rmtree(made, ignore_errors=True)
        call = f"import runpy; runpy.run_path({__file__!r})['compile_to']{str(made), self._temporary.name, sources}"
        try:
            if os.environ.get("SCHEDSCOPE_COMPILE") == "off":
                raise OSError("not built: SCHEDSCOPE_COMPILE=off")
            subprocess.run([sys.executable, "-c", call], cwd=self.root, check=True, stdout=-1, stderr=-2, text=True)
            (made / choice["MADE_OF"]).write_text(choice["made_of"](sources), encoding="utf-8")
            build_data["pure_python"], build_data["infer_tag"] = False, True
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            (made / choice["FAILURE"]).write_text(getattr(error, "stdout", "") or str(error), encoding="utf-8")
            self.app.display_warning(f"nothing is compiled: {choice['failure'](made)}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._temporary.cleanup()


def compile_to(folder: str, temporary: str, sources: list[str]) -> None:
    """Compile these sources into the folder; write what is needed on the way to the folder `temporary`."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    made = mypycify([*MYPY, *sources], opt_level="1", debug_level="0", target_dir=temporary, group_name="schedscope")
    for module in made:
        module.extra_compile_args = [*module.extra_compile_args, *FLAGS]
    command = build_ext(Distribution({"ext_modules": made}))
    command.build_lib, command.build_temp, command.parallel = folder, temporary, os.cpu_count()
    command.ensure_finalized()
    command.run()
