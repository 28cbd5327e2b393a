"""Every primitive has a method in the contract, and a contract test."""

from importlib import import_module
from pathlib import Path

import pytest

from array_api_nx.contract.backend import METHODS
from array_api_nx.core import dtypes as d
from array_api_nx.primitives.table import TABLE
from array_api_nx.testing import contract
from array_api_nx.testing.contract import test_primitives
from tests.support.processes import python
from tests.support.tables import for_each

FAMILIES = {"unary", "binary", "reduce", "arg_reduce", "scan"}
"""The families whose members share a method; their trials are found by the row."""


def names_of_tests():
    """The names of all contract tests, which begin with that of the method that they test.

    Methods that compute, and those that write, have trials in place of tests of their own.
    """
    names = {
        f"test_{name}" for name in (*FAMILIES, *test_primitives.TRIALS, *test_primitives.WRITES)
    }
    for path in Path(contract.__file__).parent.glob("test_*.py"):
        names |= set(vars(import_module(f"{contract.__name__}.{path.stem}")))
    return names


@for_each("primitive", TABLE)
def test_every_row_has_a_method_and_results(primitive):
    method = primitive.family if primitive.family in FAMILIES else primitive.name
    assert method in METHODS
    assert primitive.results
    assert not set(primitive.results) & set(primitive.cast_first)
    assert set(primitive.cast_first.values()) <= set(primitive.results)
    assert {*primitive.results, *primitive.results.values()} <= set(d.ALL)


def test_rows_have_names_of_their_own():
    assert len({primitive.name for primitive in TABLE}) == len(TABLE)


@for_each("method", [name for name in METHODS if name not in ("shape", "dtype")])
def test_every_method_has_a_contract_test(method):
    assert f"test_{method}" in NAMES


@for_each("primitive", TABLE)
def test_every_row_has_a_contract_test(primitive):
    name = primitive.family if primitive.family in FAMILIES else primitive.name
    assert f"test_{name}" in NAMES


WITHOUT_KERNELS = """
from importlib import import_module, reload

from array_api_nx.primitives import table as p

module = import_module("{module}")
for family in {families}:
    p.Primitive("new " + family, {{}}, family=family)
    try:
        reload(module)
    except ImportError as error:
        print(error)
    p.TABLE.pop()
"""


@pytest.mark.parametrize(
    ("backend", "module", "families"),
    [
        ("cpu", "array_api_nx.backends.cpu.ufunc_table", sorted(FAMILIES)),
        ("torch", "array_api_nx.backends.engines.torch_kernels", ["unary", "binary"]),
        ("jax", "array_api_nx.backends.engines.jax_kernels", ["unary", "binary"]),
    ],
)
def test_a_row_without_a_kernel_is_an_error_when_the_backend_is_imported(backend, module, families):
    if backend != "cpu":
        pytest.importorskip(backend)
    program = WITHOUT_KERNELS.format(module=module, families=families)
    assert python("-c", program).splitlines() == [
        f"{backend} has no {family} kernel for new {family}" for family in families
    ]


NAMES = names_of_tests()
