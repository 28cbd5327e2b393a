"""The optional extension; everything else about the build is in pyproject.toml.

Where there is no C compiler, or it fails, the package is installed without it and runs on NumPy
calls instead; with ARRAY_API_NX_EXTENSION=1 that is an error, and with 0 nothing is compiled.
"""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path
from runpy import run_path

import numpy as np
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NATIVE = "array_api_nx/native"
VERSION = run_path("array_api_nx/version.py")["__version__"]
WANTED = os.environ.get("ARRAY_API_NX_EXTENSION")
STAMP = run_path(f"{NATIVE}/stamp.py")["stamp"](Path(NATIVE))


class BuildExtension(build_ext):
    """Builds with the flags that the compiler at hand understands."""

    def build_extensions(self) -> None:
        if self.compiler.compiler_type in ("unix", "mingw32"):
            # In place, a cast reads and writes the same memory as two types. Without errno, square
            # roots are one instruction, and those of several numbers, too.
            flags = ["-std=c11", "-O3", "-fno-strict-aliasing", "-fno-math-errno"]
            flags += ["-fvisibility=hidden", "-Wall", "-Wextra"]
            for extension in self.extensions:
                extension.extra_compile_args.extend(flags)
        elif self.compiler.compiler_type == "msvc":
            for extension in self.extensions:
                extension.extra_compile_args.extend(["/std:c11", "/experimental:c11atomics"])
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildExtension},
    ext_modules=[
        Extension(
            "array_api_nx._native",
            sources=sorted(glob(f"{NATIVE}/*.c")),
            depends=glob(f"{NATIVE}/*.h"),
            include_dirs=[np.get_include()],
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
