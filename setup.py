"""The optional extension; everything else about the build is in pyproject.toml.

Where there is no C compiler, or it fails, the package is installed without it and runs on NumPy
calls instead; with ARRAY_API_NX_EXTENSION=1 that is an error, and with 0 nothing is compiled.

`python setup.py build_ext --inplace` compiles the sources that changed, on all processors.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from glob import glob
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext

NATIVE = "array_api_nx/native"
HEADERS = glob(f"{NATIVE}/**/*.h", recursive=True)
VERSION = run_path("array_api_nx/version.py")["__version__"]
WANTED = os.environ.get("ARRAY_API_NX_EXTENSION")
STAMP = run_path(f"{NATIVE}/stamp.py")["stamp"](Path(NATIVE))


class BuildExtension(build_ext):
    """Builds with the flags that the compiler at hand understands."""

    def build_extensions(self) -> None:
        if self.compiler.compiler_type in ("unix", "mingw32"):
            # In place, a cast reads and writes the same memory as two types. Integers wrap, which
            # Python's own flags say, but not with CFLAGS in the environment. Without errno, square
            # roots are one instruction, and those of several numbers, too.
            flags = ["-std=c11", "-O3", "-fno-strict-aliasing", "-fwrapv", "-fno-math-errno"]
            # clang would add products before they are rounded.
            flags += ["-ffp-contract=off"]
            flags += ["-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"]
            for extension in self.extensions:
                extension.extra_compile_args.extend(flags)
        elif self.compiler.compiler_type == "msvc":
            for extension in self.extensions:
                extension.extra_compile_args.extend(["/std:c11", "/experimental:c11atomics"])
        self.compiler.compile = partial(self._compile_changed, self.compiler.compile)
        super().build_extensions()

    def warn(self, msg: str) -> None:
        """setuptools warns of an optional extension that cannot be built, in a line of `pip -v`."""
        super().warn(f"{msg}; array_api_nx is installed without its C extension, in general slower")

    def _compile_changed(self, compile_all: Any, sources: list[str], **options: Any) -> list[str]:
        """Compile in parallel the sources whose objects are older than they, or than a header."""
        folder = options["output_dir"]
        objects: list[str] = self.compiler.object_filenames(sources, output_dir=folder)
        command = f"{self.compiler.executables} {options.get('extra_postargs')} {np.__version__}"
        record = Path(folder, "command.txt")
        same_command = not self.force and record.exists() and record.read_text() == command
        headers = max(map(os.path.getmtime, HEADERS))

        def is_current(source: str, target: str) -> bool:
            if not (same_command and os.path.exists(target)):
                return False
            if os.path.basename(source) == "module.c":  # has the stamp, which any change alters
                return False
            return os.path.getmtime(target) > max(headers, os.path.getmtime(source))

        changed = [s for s, o in zip(sources, objects, strict=True) if not is_current(s, o)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda source: compile_all([source], **options), changed))
        record.write_text(command)
        return objects


class InPlace(Distribution):
    """Skips pyproject.toml, which the setuptools that comes with Python 3.11 cannot read."""

    def parse_config_files(self, *arguments: Any, **options: Any) -> None:
        pass


setup(
    distclass=InPlace if "build_ext" in sys.argv else Distribution,
    cmdclass={"build_ext": BuildExtension},
    ext_modules=[
        Extension(
            "array_api_nx._native",
            sources=sorted(glob(f"{NATIVE}/**/*.c", recursive=True)),
            depends=HEADERS,
            include_dirs=[
                np.get_include(),
                *sorted({os.path.dirname(header) for header in HEADERS}),
            ],
            define_macros=[
                ("ARRAY_API_NX_VERSION", f'"{VERSION}"'),
                ("ARRAY_API_NX_SOURCES", f'"{STAMP}"'),
            ],
            optional=WANTED != "1",
        ),
    ]
    if WANTED != "0"
    else [],
)
