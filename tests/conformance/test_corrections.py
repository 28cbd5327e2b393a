"""The official suite, as it is corrected, asks for what it means to ask for."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from array_api_nx_conformance.corrections import correct
from tests.support.refusals import refused

FLOAT64, COMPLEX64 = np.dtype("float64"), np.dtype("complex64")


class Table(Mapping[Any, Any]):
    """A mapping as the suite has it."""

    def __getitem__(self, key):
        return {(FLOAT64, FLOAT64): FLOAT64}[key]  # type: ignore[index]

    def __iter__(self):
        return iter([(FLOAT64, FLOAT64)])

    def __len__(self):
        return 1


def test_a_pair_that_does_not_promote_equals_no_dtype():
    helpers = ModuleType("helpers")
    helpers.promotion_table = table = Table()
    assert table.get((COMPLEX64, FLOAT64)) == FLOAT64, "NumPy's float64 no longer equals None"
    correct(helpers)
    assert helpers.promotion_table is table
    for dtype in (FLOAT64, COMPLEX64):
        assert table.get((COMPLEX64, FLOAT64)) != dtype
    assert table.get((FLOAT64, FLOAT64)) is table[FLOAT64, FLOAT64] is FLOAT64
    refused(KeyError, None, lambda: table[COMPLEX64, FLOAT64])
