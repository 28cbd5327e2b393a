"""Questions about dtypes in C against the Python functions."""

from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import COMPILED
from array_api_nx.core.dtypes import KINDS
from array_api_nx.frontend.inspection import VERSIONS
from array_api_nx.native import native
from tests.support.alike import DTYPES, compare
from tests.support.refusals import refused

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")

OURS = [getattr(xp, name) for name in DTYPES]
KINDS_OF_DTYPES = [
    *KINDS, *OURS, bool, int, float, complex, "numeri", "numeric\0", "boolean", "", "ä",
    None, 1, "f8", (), ("bool", "integral"), (xp.float32, "bool"), ("bool", "nothing"),
    (("bool",), "integral"), ["bool"],
]  # fmt: skip


def _alike(function, *args):
    """These functions need no arrays of device cpu, so that C cannot be made to decline."""

    def python(*args):
        return function.__wrapped__(*args)

    found = []
    for call in (function, python):
        try:
            found.append(("gives", call(*args)))
        except Exception as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1], (function, args)


def test_isdtype():
    for dtype in (*OURS, int, float, "float64", np.dtype("f8"), None):
        for kind in KINDS_OF_DTYPES:
            _alike(xp.isdtype, dtype, kind)
    _alike(xp.isdtype, xp.int8)
    assert xp.isdtype(xp.int8, kind="integral")


def test_can_cast():
    others = [xp.asarray([1.0]), xp.asarray(1, dtype=xp.uint8), float, "f8", 1.0, np.int8(1), None]
    for pair in product([*OURS, *others], repeat=2):
        _alike(xp.can_cast, *pair)
    _alike(xp.can_cast, xp.int8)


def test_result_type():
    rng = np.random.default_rng(0)
    arrays = [xp.zeros(1, dtype=dtype) for dtype in OURS]
    scalars = [True, 1, 2.0, 1j, 2**70]
    odd = [np.float32(1), float, "f8", None, np.ones(2)]
    pool = [*OURS, *OURS, *arrays, *arrays, *scalars * 3]
    for pair in product([*OURS, *arrays, *scalars, *odd], repeat=2):
        _alike(xp.result_type, *pair)
    for _ in range(300):
        args = [pool[int(rng.integers(len(pool)))] for _ in range(int(rng.integers(0, 6)))]
        _alike(xp.result_type, *args)


def test_namespace():
    x = xp.asarray([1.0])
    for version in (None, *VERSIONS, "2020.01", 2024, b"2021.12", "ä"):
        method = type(x).__array_namespace__
        if version is None or version in VERSIONS:
            assert method(x, api_version=version) is method.__wrapped__(x) is xp
        else:
            refused(ValueError, "no version", x.__array_namespace__, api_version=version)
    compare(x.__array_namespace__)
    compare(x.__array_namespace__, None)
    compare(x.__array_namespace__, version=None)
    compare(type(x).__array_namespace__)
    assert x.__array_namespace__.__self__ is x


def test_the_dtypes_in_c_are_those_of_python():
    """Each row of native/basics/dtypes.h is compared when the package is imported."""
    promotions = bytes(len(COMPILED) ** 2)
    for i in range(len(COMPILED)):
        j = (i + 1) % len(COMPILED)
        other = list(COMPILED)
        other[i], other[j] = other[j], other[i]
        refused(ValueError, "is not dtype", native.set_dtypes, tuple(other), promotions)
    refused(ValueError, "there must be", native.set_dtypes, COMPILED[:-1], promotions)
