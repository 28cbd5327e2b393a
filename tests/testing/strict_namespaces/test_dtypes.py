"""Dtypes of strict namespaces: they compare, hash and are pickled, and that is all."""

import pickle

import numpy as np

import array_api_nx
from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.dtypes import PLAIN, STRICT, in_kind


def test_dtypes_are_the_same_in_all_strict_namespaces():
    first, last = strict("2022.12"), strict()
    for dtype in STRICT.values():
        assert getattr(first, str(dtype)) is getattr(last, str(dtype)) is dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert {dtype: 1}[dtype] == 1
        assert STRICT[PLAIN[dtype]] is dtype


def test_dtypes_equal_no_others():
    for dtype in STRICT.values():
        for other in (str(dtype), np.dtype(str(dtype)), PLAIN[dtype], None, object()):
            assert dtype != other
            assert other != dtype
        for name in ("name", "kind", "itemsize", "type"):
            assert not hasattr(dtype, name)


def test_kinds_are_those_within_which_the_standard_promotes():
    xp = array_api_nx
    assert in_kind(xp.int8, xp.uint32)
    assert in_kind(xp.float32, xp.complex64)
    assert in_kind(xp.bool, xp.bool)
    for pair in ((xp.int8, xp.uint64), (xp.bool, xp.int8), (xp.int8, xp.float32)):
        assert not in_kind(*pair)
