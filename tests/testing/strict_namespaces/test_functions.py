"""Functions of strict namespaces: what ours give, for arguments that the standard describes."""

import inspect
import pickle

import numpy as np
import pytest

import array_api_nx
from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.arguments import words_of
from array_api_nx.testing.strict_namespaces.dtypes import GROUPS, STRICT
from array_api_nx.testing.strict_namespaces.signatures import functions
from tests.support.refusals import refused
from tests.support.tables import for_each

xp = strict()
ELEMENTWISE = [f for f in functions().values() if f.chapter == "Element-wise Functions"]
ONE = [f.name for f in ELEMENTWISE if len(f.signature.parameters) == 1]
TWO = [f.name for f in ELEMENTWISE if len(f.signature.parameters) == 2]


def group_of(name):
    first = next(iter(functions()[name].signature.parameters))
    return words_of(functions()[name], first, "2025.12")[0][6:-1]


@for_each("name", ONE)
def test_functions_of_one_array_take_their_dtypes_and_no_other(name):
    for dtype, strict_dtype in STRICT.items():
        x = xp.ones((2,), dtype=strict_dtype)
        if dtype in GROUPS[group_of(name)].dtypes:
            expected = getattr(array_api_nx, name)(x._array)
            found = getattr(xp, name)(x)
            assert type(found) is type(x)
            assert found._array.dtype is expected.dtype
            np.testing.assert_array_equal(np.asarray(found._array), np.asarray(expected))
        else:
            refused(TypeError, "is defined for", getattr(xp, name), x)


@for_each("name", TWO)
def test_functions_of_two_arrays_take_dtypes_of_one_kind(name):
    pairs = GROUPS[group_of(name)].pairs
    for first, strict_first in STRICT.items():
        for second, strict_second in STRICT.items():
            x, y = xp.ones((2,), dtype=strict_first), xp.ones((1,), dtype=strict_second)
            if (first, second) in pairs:
                expected = getattr(array_api_nx, name)(x._array, y._array)
                found = getattr(xp, name)(x, y)
                assert found.shape == (2,)
                assert found._array.dtype is expected.dtype
            else:
                refused(TypeError, r"is defined for|kinds promote", getattr(xp, name), x, y)


@for_each("name", TWO)
def test_functions_of_two_take_a_scalar_on_either_side_but_not_on_both(name):
    dtype = next(
        d for d in (xp.float64, xp.int64, xp.bool) if d._dtype in GROUPS[group_of(name)].dtypes
    )
    x = xp.ones((2,), dtype=dtype)
    scalar = {"float64": 1.0, "int64": 1, "bool": True}[str(dtype)]
    call = getattr(xp, name)
    assert call(x, scalar).shape == call(scalar, x).shape == (2,)
    refused(TypeError, "at least one", call, scalar, scalar)
    refused(TypeError, r"float|int|bool", call, x, np.float64(1.0))


@for_each("name", [*functions()])
def test_functions_refuse_what_no_parameter_is_there_for(name):
    call = strict("draft")
    for part in name.split("."):
        call = getattr(call, part)
    parameters = inspect.signature(call).parameters.values()
    with pytest.raises(TypeError, match=r"the signature is|name the argument"):
        call(**{p.name: 1 for p in parameters if p.kind is not p.VAR_POSITIONAL}, out=None)
    if all(p.kind is not p.VAR_POSITIONAL for p in parameters):
        with pytest.raises(TypeError, match=r"the signature is|name the argument"):
            call(*[1] * (1 + len([p for p in parameters if p.kind is not p.KEYWORD_ONLY])))
    assert call.__doc__


def test_arguments_go_by_the_position_or_the_name_that_the_standard_gives():
    x = xp.ones((2, 3))
    assert xp.reshape(x, shape=(3, 2)).shape == xp.reshape(x, (3, 2)).shape == (3, 2)
    assert xp.squeeze(xp.ones((1, 2)), axis=0).shape == (2,)
    for call in (
        lambda: xp.sum(x, 0),
        lambda: xp.sum(x=x),
        lambda: xp.concat(arrays=[x]),
        lambda: xp.add(x1=x, x2=x),
        lambda: xp.reshape(x),
        lambda: xp.sum(x, axis=0, where=True),
        lambda: xp.reshape(x, (3, 2), shape=(3, 2)),
    ):
        refused(TypeError, "the standard", call)


@for_each(
    ("call", "instead"),
    [
        (lambda x: xp.zeros([2, 3]), "tuple"),
        (lambda x: xp.sum(x, axis=[0]), "tuple"),
        (lambda x: xp.sum(x, axis=1.0), "int"),
        (lambda x: xp.sum(x, axis=True), "int"),
        (lambda x: xp.sum(x, keepdims=1), "bool"),
        (lambda x: xp.sum(x, dtype=float), r"xp\.float64"),
        (lambda x: xp.sum(x, dtype="float32"), r"xp\.float32"),
        (lambda x: xp.sum(x, dtype=np.float32), r"xp\.float32"),
        (lambda x: xp.sum(x, dtype=array_api_nx.float32), r"xp\.float32"),
        (lambda x: xp.sum([1.0]), "asarray"),
        (lambda x: xp.sum(np.ones(2)), "asarray"),
        (lambda x: xp.sum(1.0), "asarray"),
        (lambda x: xp.sum(array_api_nx.ones(2)), "from_dlpack"),
        (lambda x: xp.full((2,), xp.asarray(1.0)), r"float\(x\)"),
        (lambda x: xp.arange(xp.asarray(3)), r"float\(x\)"),
        (lambda x: xp.reshape(x, xp.asarray([4])), "int"),
        (lambda x: xp.reshape(x, (xp.asarray(4),)), "int"),
        (lambda x: xp.concat(x), "tuple or list"),
        (lambda x: xp.concat([x, np.ones((2, 2))]), "asarray"),
        (lambda x: xp.concat([x, xp.asarray([[1, 2]])]), r"xp\.astype"),
        (lambda x: xp.stack([x, x > 0]), r"xp\.astype"),
        (lambda x: xp.where(x, x, x), "boolean"),
        (lambda x: xp.where(x > 0, xp.asarray([1, 2]), 1.0), "use 1, or convert"),
        (lambda x: xp.matmul(x, xp.asarray([[1, 2], [3, 4]])), r"xp\.astype"),
        (lambda x: xp.linalg.solve(x, xp.asarray([1, 2])), r"xp\.astype"),
        (lambda x: xp.take(x, [0, 1], axis=0), "asarray"),
        (lambda x: xp.std(xp.asarray([1, 2])), r"xp\.astype"),
    ],
)
def test_arguments_that_the_standard_does_not_describe_are_refused(call, instead):
    refused((TypeError, ValueError), instead, call, xp.ones((2, 2)))


def test_results_are_of_the_namespace_wherever_they_lie():
    x = xp.asarray([[2.0, 1.0], [1.0, 3.0]])
    svd = xp.linalg.svd(x)
    assert svd._fields == ("U", "S", "Vh")
    results = [*svd, *xp.unique_all(x), *xp.nonzero(x), *xp.unstack(x), xp.linalg.det(x)]
    assert {type(each) for each in results} == {type(x)}
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert xp.result_type(x, xp.float32) == xp.float64


def test_functions_have_the_standards_signature_and_are_pickled():
    assert str(inspect.signature(xp.mean)) == "(x, /, *, axis=None, keepdims=False)"
    assert xp.mean.__name__ == "mean"
    for function in (xp.mean, xp.linalg.det, xp.asarray):
        assert pickle.loads(pickle.dumps(function)) is function
    assert xp.linalg.matmul is xp.matmul


def test_every_device_of_ours_computes():
    pytest.importorskip("dask")
    device = array_api_nx.Device("dask")
    x = xp.arange(4, dtype=xp.float64, device=device)
    total = xp.sum(x * 2.0)
    assert total.device == device
    assert float(total) == 12.0
