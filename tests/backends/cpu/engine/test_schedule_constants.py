"""Constants of tiles and kernels stand once, although Python and C read them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import array_api_nx
from array_api_nx.backends.cpu.engine import kernel
from array_api_nx.native import native
from tests.support.refusals import refused

PACKAGE = Path(array_api_nx.__file__).parent


def constants(paths: Iterable[Path], pattern: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        for name, value in re.findall(pattern, path.read_text(encoding="utf-8")):
            found.setdefault(name.lstrip("_"), set()).add(value.replace("1 << ", "2**"))
    return found


def test_no_constant_stands_in_both_languages():
    number = r"(\d+|2\*\*\d+|1 << \d+)"
    python = constants((PACKAGE / "backends/cpu").rglob("*.py"), rf"(?m)^(\w+): Final = {number}\b")
    c = constants((PACKAGE / "native").glob("*.[ch]"), rf"\b([A-Z_]{{3,}}) = {number}\b")
    same = {name for name in python.keys() & c.keys() if python[name] & c[name]}
    # A cache line has 64 bytes on every processor; the largest matrix has an owner of its own.
    assert same <= {"LINE", "LARGEST"}


@pytest.mark.skipif(native is None, reason="no extension")
def test_limits_of_kernels_come_from_the_extension():
    assert native is not None
    for name in ("MAX_OPERANDS", "MAX_STEPS"):
        assert getattr(kernel, name) == getattr(native, name) > 0


@pytest.mark.skipif(native is None, reason="no extension")
def test_wrong_sizes_of_tiles_are_refused():
    set_tiles: Any = native.set_tiles if native is not None else None
    names = ["transposed_rows", "column_bytes", "transposed_columns", "row_bytes"]
    sizes = dict.fromkeys([*names, "packed_columns", "fetched_bytes", "streamed_bytes"], 1)
    for name in ("transposed_rows", "transposed_columns"):
        with pytest.raises(ValueError, match="a tile must have elements"):
            set_tiles(**(sizes | {name: 0}))
    refused(TypeError, None, set_tiles)


def test_measurements_that_the_code_cites_are_rows_of_the_page():
    page = PACKAGE.parent / "docs/tuning.md"
    if not page.exists():
        pytest.skip("the documentation is not installed")
    rows = re.findall(r"(?m)^\| (\d+) \|", page.read_text(encoding="utf-8"))
    cited: set[str] = set()
    for path in [*PACKAGE.rglob("*.py"), *(PACKAGE / "native").glob("*.[ch]")]:
        text = path.read_text(encoding="utf-8")
        cited |= set(re.findall(r"docs/tuning\.md,\s+(\d+)", text))
        if path.name == "schedule.py":
            cited |= set(re.findall(r"\((\d{1,3})\)", text))
    assert len(rows) == len(set(rows))
    assert cited == set(rows)
