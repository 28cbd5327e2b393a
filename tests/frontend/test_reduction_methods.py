"""Reductions as methods with NumPy's parameters, which NumPy's functions pass on."""

from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

DEVICES = ["cpu", "torch:cpu", "jax:cpu", "dask"]
OPERANDS = {
    "floats": np.arange(12.0).reshape(3, 4) - 4,
    "integers": np.arange(6).reshape(2, 3),
    "single": np.arange(6, dtype="float32"),
    "bools": np.arange(6) > 2,
    "empty": np.zeros((0, 3)),
    "complex": np.arange(4) * 1j,
}
WITH_INITIAL = ("sum", "prod", "max", "min")
METHODS = (*WITH_INITIAL, "mean", "std", "var", "all", "any")


def calls(name, a):
    masks = (None, a != 1, np.arange(a.shape[-1]) % 2 == 0, False, True)
    found = []
    for axis, keepdims, mask, initial in product((None, 0, -1), (False, True), masks, (None, 2)):
        given = {"axis": axis, "keepdims": keepdims}
        if mask is not None:
            given["where"] = mask
        if initial is not None and name in WITH_INITIAL and a.dtype != bool:
            given["initial"] = initial
        found.append(given)
    return found


@pytest.mark.filterwarnings("ignore")  # NumPy's, of means of nothing
@for_each(("kind", "name"), product(OPERANDS, METHODS))
def test_reductions_take_what_numpys_take(kind, name):
    a = OPERANDS[kind]
    x = xp.asarray(a)
    if kind == "complex" and name in ("max", "min"):
        return
    for given in calls(name, a):
        try:
            expected = np.asarray(getattr(a, name)(**given))
        except ValueError:
            refused(ValueError, r"undefined.*", getattr(x, name), **given)
            continue
        for target in (None, np.empty_like(expected), xp.asarray(np.empty_like(expected))):
            for call in (getattr(x, name), lambda **given: getattr(np, name)(x, **given)):
                result = call(**given, out=target)
                assert target is None or result is target
                assert result.dtype == expected.dtype
                np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@for_each("name", METHODS)
def test_masked_reductions_on_every_device(name, device):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])
    a = OPERANDS["floats"]
    x = xp.asarray(a, device=device)
    given = {"initial": 3.0} if name in ("max", "min") else {}
    for mask in (a != 1, x != 1):
        result = getattr(x, name)(axis=1, where=mask, **given)
        assert result.device.name == device
        expected = getattr(a, name)(axis=1, where=a != 1, **given)
        np.testing.assert_allclose(np.asarray(result.to_device("cpu")), expected, rtol=1e-14)


def test_what_out_cannot_hold_is_refused():
    x = xp.ones((2, 3))
    whole = xp.zeros(3, dtype=xp.int64)
    with pytest.raises(TypeError, match=r"sum would store float64 .* int64.*leave out= out"):
        x.sum(axis=0, out=whole)
    with pytest.raises(ValueError, match=r"max gives shape \(3,\), which out= must have"):
        x.max(axis=0, out=xp.zeros(2))
    refused(ValueError, "round gives shape", x.round, out=[1.0])
    refused(ValueError, r"max of no elements is undefined.*initial=", x.max, where=x > 1)


def test_positions_and_rounded_elements_are_written_too():
    x = xp.asarray([[1.26, 3.0], [5.0, 2.0]])
    target = xp.zeros(2, dtype=xp.int64)
    assert x.argmax(axis=1, out=target) is target
    assert target.tolist() == [1, 0]
    assert np.argmin(x, axis=1, out=target) is target
    assert target.tolist() == [0, 1]
    assert x.round(1, out=x) is x
    assert float(x[0, 0]) == 1.3
