"""Compiled programs that write to their operands: to themselves, shifted, reversed, by indices."""

import numpy as np
import pytest

import array_api_nx as xp

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

CALLS = 12
"""With the default engine, the last of them are the compiler's."""


@pytest.fixture
def device(device):
    if device.backend.compiler is None:
        pytest.skip(f"{device} has no compiler")
    return device


def _set(key, value):
    return lambda x: x.__setitem__(key, value(x))


def _set_flat(key, value):
    def write(x):
        flat = xp.reshape(x, (-1,), copy=False)
        flat[key] = value(flat)

    return write


def _indices(*values):
    return lambda x: xp.asarray(values, device=x.device)


# Of arrays of (6, 5).
WRITES = {
    "rows down": _set(slice(1, None), lambda x: x[:-1]),
    "rows up": _set(slice(None, -1), lambda x: x[1:]),
    "columns": _set((..., slice(2, None)), lambda x: x[..., :-2]),
    "one row to all": _set(..., lambda x: x[2]),
    "one column to all": _set(..., lambda x: x[:, 1:2]),
    "upside down": _set(..., lambda x: x[::-1]),
    "backwards": _set(..., lambda x: x[::-1, ::-1]),
    "square, turned": _set((slice(None, 5), ...), lambda x: x[:5].T),
    "every other row": _set(slice(None, None, 2), lambda x: x[:3]),
    "elements": _set_flat(slice(1, None), lambda x: x[:-1]),
    "elements back": _set_flat(slice(None, None, -1), lambda x: x),
    "elements, stepped": _set_flat(slice(None, 15), lambda x: x[::2]),
    "shifted, computed": _set(slice(1, None), lambda x: x[:-1] * 2),
    "added, shifted": lambda x: x[1:].__iadd__(x[:-1]),
    "added, turned": lambda x: x[:5].__iadd__(x[:5].T),
    "twice": lambda x: (x[1:].__setitem__(..., x[:-1]), x[:, 1:].__setitem__(..., x[:, :-1])),
    "by indices": lambda x: x.__setitem__(_indices(4, 0, 2)(x), x[:3]),
    "by indices, one row": lambda x: x.__setitem__(_indices(1, 3)(x), x[0]),
    "by a mask": lambda x: x.__setitem__(x > 9, x[0, 0]),
    "rows by a mask": lambda x: x.__setitem__(x[:, 0] > 9, x[1]),
    "itself": _set(..., lambda x: x),
}


def test_what_is_read_is_read_before_it_is_written(device):
    def function(given):
        results = []
        for write in WRITES.values():
            x = given * 1
            x += 1
            write(x)
            results.append(x * 1)
        for write in WRITES.values():
            given += 1
            write(given)
            given %= 64
            results.append(given * 1)
        return results

    compiled = xp.compile(function)
    start = np.arange(30).reshape(6, 5)
    for dtype in ("int64", "int16"):
        outcomes = []
        for call in (function, *[compiled] * CALLS):
            x = xp.asarray(start.astype(dtype), device=device, copy=True)
            results = call(x)
            outcomes.append([np.asarray(each.to_device("cpu")) for each in (*results, x)])
        expected, *found = outcomes
        for outcome in found:
            for name, mine, other in zip(
                [*WRITES, *WRITES, "argument"], outcome, expected, strict=True
            ):
                np.testing.assert_array_equal(mine, other, err_msg=f"{name}, {dtype}")
    assert compiled.cache_info().compilations == 2


def test_positions_are_read_before_they_are_written(device):
    def function(x):
        x += 1
        x %= 7
        y = x * 1
        x[x[:3]] = x[4:]
        y[y] = y[::-1]
        return x * 1, y

    compiled = xp.compile(function, engine="native")
    given = [4, 2, 0, 6, 5, 1, 3]
    x = xp.asarray(given, device=device, copy=True)
    expected = [each.to_device("cpu").tolist() for each in function(x)]
    x = xp.asarray(given, device=device, copy=True)
    assert [each.to_device("cpu").tolist() for each in compiled(x)] == expected


def test_gradients_pass_through_what_is_computed_otherwise(device):
    if device.backend.compiler != "torch.compile":
        pytest.skip("only PyTorch has gradients in its arrays")
    import torch

    values = torch.tensor([0.0, 0.5, -0.25, 1e-9] * 4, dtype=torch.float64)
    for name, shift in (("expm1", 0.0), ("atanh", 0.0), ("acosh", 1.5), ("erf", 0.0)):
        given = [(values + shift).requires_grad_() for _ in range(2)]
        function = getattr(xp.special, name) if name == "erf" else getattr(xp, name)
        compiled = xp.compile(lambda x, function=function: xp.sum(function(x)), engine="native")
        total = compiled(xp.asarray(given[0]))
        device.backend.native(total._handle).backward()
        torch.sum(getattr(torch, name)(given[1])).backward()
        torch.testing.assert_close(given[0].grad, given[1].grad)
