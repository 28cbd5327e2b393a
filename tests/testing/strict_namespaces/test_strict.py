"""The function that gives strict namespaces."""

import importlib

import numpy as np
import pytest

from array_api_nx.testing import strict
from tests.support.processes import python
from tests.support.refusals import refused


def test_it_is_the_same_for_the_same_options():
    assert strict("2024.12") is strict(api_version="2024.12", lists=False)
    assert strict("2024.12") is not strict("2024.12", lists=True)


@pytest.mark.parametrize(
    "statement",
    [
        "from array_api_nx.testing import strict; xp = strict('2024.12')",
        "import array_api_nx.testing; xp = array_api_nx.testing.strict('2024.12')",
        "import array_api_nx.testing.strict_namespaces.v2024_12 as xp",
        "import array_api_nx.testing.strict_namespaces as s; xp = s.strict('2024.12')",
        "import array_api_nx; xp = array_api_nx.testing.strict('2024.12')",
    ],
)
def test_it_is_found_whatever_was_imported_first(statement):
    check = "assert xp.__name__ == 'array_api_nx.testing.strict_namespaces.v2024_12'"
    python("-c", f"{statement}; {check}")


@pytest.mark.parametrize(
    "options", [{"api_version": "2021.12"}, {"extensions": ("special",)}, {"extensions": "fft"}]
)
def test_what_there_is_not_is_a_value_error(options):
    refused(ValueError, r"versions:|extensions", strict, **options)


def test_numpy_converts_where_it_is_asked_for():
    xp = strict(numpy_conversion=True)
    x = xp.asarray([1.0, 2.0])
    assert np.asarray(x).tolist() == [1.0, 2.0]
    refused(TypeError, None, lambda: x + np.ones(2))
    refused(TypeError, "from_dlpack", np.asarray, strict().ones((2,)))


def test_lists_of_ints_go_for_tuples_where_it_is_asked_for():
    xp = strict(numpy_conversion=True, lists=True)
    assert importlib.import_module(xp.__name__) is xp
    assert xp.sum(xp.ones([2, 3]), axis=[0]).shape == (3,)
    assert xp.broadcast_shapes([2, 1], (3,)) == (2, 3)
    refused(TypeError, "ints", xp.ones, [2.0])
    refused(TypeError, "tuple", strict().ones, [2, 3])
