"""Caches of the machine, and constants that stand once although Python and C read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import array_api_nx
from array_api_nx.backends.cpu.engine import kernel, schedule
from array_api_nx.backends.cpu.engine.machine import REFERENCE, Caches, Scale, caches, scale
from array_api_nx.backends.cpu.lazy import planning
from array_api_nx.native import native

PACKAGE = Path(array_api_nx.__file__).parent

Rows = tuple[tuple[str, str, str], ...]


def write(folder: Path, rows: Rows) -> Path:
    for number, row in enumerate(rows):
        (folder / f"index{number}").mkdir()
        for name, value in zip(("level", "type", "size"), row, strict=True):
            (folder / f"index{number}" / name).write_text(f"{value}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            (
                ("1", "Data", "48K"),
                ("1", "Instruction", "32K"),
                ("2", "Unified", "2048K"),
                ("3", "Unified", "110592K"),
            ),
            Caches(48 * 2**10, 2**21, 108 * 2**20),
        ),
        ((), REFERENCE),
        ((("1", "Data", "64K"),), REFERENCE._replace(first=2**16)),
        ((("2", "Unified", "64M"),), Caches(2**15, 2**26, 2**26)),
        ((("1", "Data", "many"),), REFERENCE),
        ((("one", "Data", "32K"),), REFERENCE),
    ],
)
def test_caches_are_those_of_the_processor_or_the_reference(
    tmp_path: Path, rows: Rows, expected: Caches
) -> None:
    assert caches(write(tmp_path, rows)) == expected


def test_unreadable_folders_mean_the_reference(tmp_path: Path) -> None:
    assert caches(tmp_path / "nowhere") == REFERENCE
    (tmp_path / "index0").mkdir()
    assert caches(tmp_path) == REFERENCE


def test_scales_are_powers_of_two_between_a_half_and_two() -> None:
    assert scale(REFERENCE) == Scale(1, 1, 1)
    assert scale(Caches(48 * 2**10, 2**19, 36 * 2**20)) == Scale(1, 0.5, 1)
    assert scale(Caches(1, 1, 2**40)) == Scale(0.5, 0.5, 2)


@pytest.mark.parametrize("other", [Scale(0.5, 0.5, 0.5), Scale(2, 2, 2), Scale(2, 0.5, 2)])
@pytest.mark.parametrize("shape", [(1_000_003,), (1000, 1000), (700, 3), (3, 200_000)])
def test_sums_have_the_same_tiles_on_every_machine(
    monkeypatch: pytest.MonkeyPatch, other: Scale, shape: tuple[int, ...]
) -> None:
    strides = (8,) if len(shape) == 1 else (8 * shape[1], 8)
    x = schedule.Layout(strides, 8, "input")
    output = schedule.Layout(strides, 8, "output")
    kept = schedule.Layout((0, 8)[: len(shape)], 8, "accumulator")
    for layouts in ([x, kept], [x, output, kept]):
        for width in (0, 8):
            monkeypatch.setattr(schedule, "SCALE", Scale(1, 1, 1))
            expected = schedule.schedule(shape, layouts, width)
            monkeypatch.setattr(schedule, "SCALE", other)
            assert schedule.schedule(shape, layouts, width) == expected


def test_other_tiles_follow_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = [schedule.Layout((8,), 8, "input"), schedule.Layout((8,), 8, "output")]
    monkeypatch.setattr(schedule, "SCALE", Scale(1, 1, 1))
    usual = schedule.schedule((2**24,), layouts, 8)
    monkeypatch.setattr(schedule, "SCALE", Scale(2, 2, 2))
    assert schedule.schedule((2**24,), layouts, 8).tile == (1, 2 * usual.tile[1])


def constants(paths: Iterable[Path], pattern: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        for name, value in re.findall(pattern, path.read_text(encoding="utf-8")):
            found.setdefault(name.lstrip("_"), set()).add(value.replace("1 << ", "2**"))
    return found


def test_no_constant_stands_in_both_languages() -> None:
    number = r"(\d+|2\*\*\d+|1 << \d+)"
    python = constants((PACKAGE / "backends/cpu").rglob("*.py"), rf"(?m)^(\w+): Final = {number}\b")
    c = constants((PACKAGE / "native").glob("*.[ch]"), rf"\b([A-Z_]{{3,}}) = {number}\b")
    same = {name for name in python.keys() & c.keys() if python[name] & c[name]}
    # A cache line has 64 bytes on every processor; the largest matrix has an owner of its own.
    assert same <= {"LINE", "LARGEST"}


@pytest.mark.skipif(native is None, reason="no extension")
def test_limits_of_kernels_come_from_the_extension() -> None:
    assert native is not None
    for name in ("MAX_OPERANDS", "MAX_STEPS", "MAX_PASSES", "MAX_ARRAYS"):
        assert getattr(kernel, name) == getattr(native, name) > 0
    assert 0 < planning._MAX_STEPS < native.MAX_STEPS


@pytest.mark.skipif(native is None, reason="no extension")
def test_wrong_sizes_of_tiles_are_refused() -> None:
    set_tiles: Any = native.set_tiles if native is not None else None
    names = ["transposed_rows", "column_bytes", "transposed_columns", "row_bytes"]
    sizes = dict.fromkeys([*names, "packed_columns", "fetched_bytes"], 1)
    for name in ("transposed_rows", "transposed_columns"):
        with pytest.raises(ValueError, match="a tile must have elements"):
            set_tiles(**(sizes | {name: 0}))
    with pytest.raises(TypeError):
        set_tiles()


def test_measurements_that_the_code_cites_are_rows_of_the_page() -> None:
    page = PACKAGE.parent / "docs/tuning.md"
    if not page.exists():
        pytest.skip("the documentation is not installed")
    rows = re.findall(r"(?m)^\| (\d+) \|", page.read_text(encoding="utf-8"))
    cited: set[str] = set()
    for path in [*PACKAGE.rglob("*.py"), *(PACKAGE / "native").glob("*.[ch]")]:
        text = path.read_text(encoding="utf-8")
        cited |= set(re.findall(r"docs/tuning\.md,\s+(\d+)", text))
        if path.name == "schedule.py":
            cited |= set(re.findall(r"\((\d{1,2})\)", text))
    assert len(rows) == len(set(rows))
    assert cited == set(rows)
