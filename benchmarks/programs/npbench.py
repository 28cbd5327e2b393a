"""The programs of a checkout of NPBench (github.com/spcl/npbench), as they are for NumPy."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from .classes import OF_NPBENCH
from .sources import Program, load

PRESETS = ("S", "M", "L", "paper")


def is_checkout(path: Path) -> bool:
    """Whether `path` has the files that this module reads."""
    return (path / "bench_info").is_dir() and (path / "npbench" / "benchmarks").is_dir()


def names(checkout: Path) -> list[str]:
    """The names of the programs: those of the files that describe them."""
    return sorted([file.stem for file in (checkout / "bench_info").glob("*.json")])


def class_of(name: str) -> str | None:
    """The class that the program's figures are averaged in; None for one that has none."""
    return OF_NPBENCH.get(name)


@lru_cache(maxsize=1)
def program(checkout: Path, name: str, preset: str) -> Program:
    """A program with the arguments that NPBench makes for it at a preset."""
    text = (checkout / "bench_info" / f"{name}.json").read_text(encoding="utf-8")
    about = json.loads(text)["benchmark"]
    folder = checkout / "npbench" / "benchmarks" / about["relative_path"]
    values: dict[str, Any] = dict(about["parameters"][preset])
    init = about.get("init")
    if init:
        initialize = load(folder / f"{about['module_name']}.py", init["func_name"])
        made = initialize(*[values[argument] for argument in init["input_args"]])
        outputs = init["output_args"]
        values |= zip(outputs, made if len(outputs) > 1 else (made,), strict=True)
    arguments = tuple([values[argument] for argument in about["input_args"]])
    return Program(folder / f"{about['module_name']}_numpy.py", about["func_name"], arguments)
