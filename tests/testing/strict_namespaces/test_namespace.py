"""Strict namespaces as modules: found, compared, imported, and what they say of missing names."""

import copy
import importlib
import pickle
from types import ModuleType

import numpy as np
import pytest

import array_api_nx
from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.versions import VERSIONS
from tests.support.processes import python
from tests.support.refusals import refused


@pytest.mark.parametrize("version", VERSIONS)
def test_a_namespace_is_a_module_that_can_be_imported(version):
    xp = strict(version)
    assert isinstance(xp, ModuleType)
    assert xp.__array_api_version__ == version
    assert xp.__name__ == f"array_api_nx.testing.strict_namespaces.v{version.replace('.', '_')}"
    assert importlib.import_module(xp.__name__) is xp
    assert hash(xp) == hash(strict(version))


def test_namespaces_are_one_for_the_same_options_and_differ_by_name_for_others():
    options = [
        {},
        {"extensions": ()},
        {"extensions": ("fft",)},
        {"boolean_indexing": False},
        {"data_dependent_shapes": False},
        {"numpy_conversion": True},
        {"lists": True},
        {"api_version": "draft"},
    ]
    made = [strict(**each) for each in options]
    assert [strict(**each) for each in options] == made
    assert len({xp.__name__ for xp in made}) == len({*made}) == len(options)
    assert strict("draft") is strict("2026.12")
    assert strict(extensions=("fft", "linalg")) is strict()


def test_namespaces_are_pickled_and_copied_as_what_they_are():
    for xp in (strict("2022.12"), strict(extensions=("linalg",))):
        for made in (pickle.loads(pickle.dumps(xp)), copy.copy(xp), copy.deepcopy(xp)):
            assert made is xp
        assert pickle.loads(pickle.dumps(xp.linalg)) is xp.linalg


def test_pickles_are_read_by_another_process():
    xp = strict("2023.12")
    data = pickle.dumps((xp, xp.asarray([1.0]), xp.float32, xp.mean, xp.linalg.det))
    code = (
        "import pickle, sys; xp, x, dtype, mean, det = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "assert x.__array_namespace__() is xp and xp.float32 is dtype;"
        "assert float(mean(x)) == 1.0 and xp.mean is mean and xp.linalg.det is det"
    )
    python("-c", code, data.hex())


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("absolute", "xp.abs"),
        ("concatenate", "dir|xp.concat"),
        ("nanmean", "dir"),
        ("special", "dir"),
        ("float16", "float16 is a dtype beyond the standard .*; use xp.float32"),
        ("isin", "2025.12"),
        ("Array", "dir"),
        ("config_context", "dir"),
    ],
)
def test_missing_names_say_what_there_is(name, instead):
    xp = strict("2024.12")
    refused(AttributeError, instead, getattr, xp, name)
    assert hasattr(array_api_nx, name) or name in ("absolute", "concatenate")


def test_arrays_of_dtypes_beyond_the_standard_are_refused():
    xp = strict("2025.12")
    array = np.zeros(2, np.float16)
    for make in (xp.asarray, xp.from_dlpack):
        refused(TypeError, "an array of float16, a dtype beyond the standard", make, array)
    assert xp.asarray(array.astype("float32")).dtype == xp.float32


def test_missing_names_of_extensions_say_so():
    xp = strict("2024.12")
    with pytest.raises(AttributeError, match=r"linalg\.norm"):
        xp.linalg.norm  # noqa: B018
    with pytest.raises(AttributeError, match=r"2025\.12"):
        xp.linalg.eig  # noqa: B018
    without = strict(extensions=())
    assert "fft" not in dir(without)
    with pytest.raises(AttributeError, match="hasattr"):
        without.linalg  # noqa: B018
    assert without.matmul(without.ones((2, 2)), without.ones((2, 2))).shape == (2, 2)


def test_namespaces_cannot_be_changed():
    for place in (strict(), strict().linalg):
        with pytest.raises(AttributeError, match="cannot be changed"):
            place.mean = None


def test_star_imports_give_the_names_of_the_version():
    names = {}
    exec("from array_api_nx.testing.strict_namespaces.v2022_12 import *", names)
    assert names["mean"] is strict("2022.12").mean
    assert "clip" not in names


def test_the_package_does_not_import_them():
    code = "import sys, array_api_nx; print([m for m in sys.modules if 'testing' in m])"
    assert "array_api_nx.testing" not in python("-c", code)
