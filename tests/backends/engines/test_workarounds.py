"""The table of workarounds: every row says something that can be looked up."""

import re
from pathlib import Path

from array_api_nx.backends.engines.workarounds import METHODS, WORKAROUNDS, apply
from array_api_nx.core import dtypes as d
from array_api_nx.primitives import table as p
from tests.support.tables import for_each

DOCS = (Path(__file__).parents[3] / "docs" / "devices.md").read_text(encoding="utf-8")


@for_each("row", WORKAROUNDS)
def test_rows_say_what_and_why(row):
    assert row.engine.partition(":")[0] in ("torch", "jax", "cupy")
    assert row.method in METHODS
    assert re.fullmatch(r"(https://github\.com/[\w-]+/[\w-]+/(issues|pull)/\d+)?", row.issue)
    assert row.limitation
    for op in row.operations:
        assert {*op.results, *op.cast_first} & set(row.dtypes), f"{op} takes none of the dtypes"


@for_each("row", WORKAROUNDS)
def test_the_documentation_has_every_row(row):
    assert row.limitation in DOCS
    assert row.issue in DOCS


def test_every_way_is_used():
    assert {row.method for row in WORKAROUNDS} == set(METHODS)


def test_kernels_without_a_row_stay_what_they_are():
    def kernel(): ...

    assert apply("torch:cpu", p.ADD, d.float64, kernel, {}) is kernel
    # A kernel that is not corrected is not wrapped.
    assert apply("jax:cpu", p.ADD, d.float64, kernel, {}) is kernel


def test_rows_apply_from_the_inside_out():
    def wrapper(name):
        return lambda op, kernel, x: f"{name}({kernel(x)})"

    wrappers = {name: wrapper(name) for name in METHODS}
    assert apply("torch:cpu", p.REMAINDER, d.uint16, str, wrappers)("x") == "int64(guarded(x))"
    assert apply("torch:cpu", p.REMAINDER, d.float32, str, wrappers)("x") == "signed(special(x))"


def test_rows_of_one_kind_of_device_apply_to_that_alone():
    wrappers = {name: lambda op, kernel, name=name: name for name in METHODS}

    def raw():
        return "raw"

    assert apply("torch:cuda", p.EXP, d.complex64, raw, wrappers)() == "special"
    assert apply("torch:cpu", p.EXP, d.complex64, raw, wrappers)() == "raw"
    assert apply("torch:cuda", p.EXPM1, d.complex64, raw, wrappers)() == "zero"
    assert apply("torch:cuda", p.BITWISE_XOR, d.uint32, raw, wrappers)() == "bits"
    assert apply("torch:cpu", p.BITWISE_XOR, d.uint32, raw, wrappers)() == "raw"
