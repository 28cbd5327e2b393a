"""Creation functions make the same bits on every device, and in chunks of any size."""

from collections.abc import Callable
from functools import partial
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.core import dtypes as d
from tests.support.tables import for_each

DEVICES = ["torch:cpu", "jax:cpu", "dask", "dask:chunks=8", "dask:chunks=100"]
ON_DASK = [name for name in DEVICES if name.startswith("dask")]

Make = Callable[..., Array | tuple[Array, ...]]

# The last of these have steps that are smaller than all numbers but 0.
ENDS = [
    (0, 1), (-5, 5), (1e5, -1e5), (0.1, 0.7), (3, 3), (-0.0, 0.0), (0, -0.0), (2**53, 2**53 + 10),
    (-1e308, 1e308), (1e300, 1e-300), (1e-45, 1e-44), (0, 3e-310), (0, 5e-324), (5e-324, -5e-324),
]  # fmt: skip
NOT_FINITE = [(0, inf), (-inf, inf), (inf, 1), (1, nan)]
COMPLEX = [(1j, 2 + 3j), (0.1 - 0.3j, -7), (0, 5e-324j), (1e5j, -1e5)]
RANGES = [
    (5,), (0, 10, 1), (10, -10, -0.3), (0, 1, 0.1), (-3, 3, 0.5), (0.1, 20, 1 / 3), (0.1, 0.2, 0.3),
    (1e16, 1e16 + 40, 3), (2**53, 2**53 + 9), (3, 1), (0, 120), (-100, 100, 7), (0, 5e-323, 5e-324),
    (1e-3, 1, 1e-3), (2**62, 2**62 + 33), (-0.0, 3, 1.0), (-2.5, 30),
]  # fmt: skip
VALUES = [0, 1, -1, True, 0.5, -0.0, inf, nan, 1j, 5e-324, 1e-40, -3.7, 2**40]
SHAPES = [(), (0,), (3,), (5, 7), (0, 3), (2, 3, 4)]
MATRICES = [(0, 0), (3, 3), (4, 7), (7, 4), (1, 5)]


def bits(array):
    """The bytes of an array, with one NaN for all."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    if array.dtype.kind == "f":
        array = np.where(array != array, array.dtype.type(nan), array)
    return array.tobytes()


def made(make, device):
    """Shapes, dtypes and bits of the arrays that `make` makes, or the type of its error."""
    with np.errstate(all="ignore"):
        try:
            found = make(device=device)
        except (TypeError, ValueError, OverflowError) as error:
            return [type(error)]
        arrays = found if isinstance(found, tuple) else (found,)
        return [(x.shape, x.dtype, bits(np.asarray(x))) for x in arrays]


def of_ones(function, shape, t, **named):
    """A function of an array of ones."""
    return lambda device: function(xp.ones(shape, dtype=t, device=device), **named)


def calls():
    """Names of calls, and functions of a device that make them."""
    ends = [*product(ENDS + NOT_FINITE, (0, 1, 2, 7, 33), (True, False), d.FLOATING)]
    ends += product(COMPLEX, (0, 1, 2, 33), (True, False), d.COMPLEX)
    ends += product(ENDS[:5], (9,), (True,), (d.int8, d.int64, d.uint16))
    for (start, stop), num, endpoint, t in ends:
        made = partial(xp.linspace, start, stop, num, endpoint=endpoint, dtype=t)
        yield f"linspace({start}, {stop}, {num}, {endpoint}, {t})", made
    for numbers, t in product(RANGES, d.NUMPYS):
        yield f"arange({numbers}, {t})", partial(xp.arange, *numbers, dtype=t)
    for shape, t in product(SHAPES, d.NUMPYS):
        for value in VALUES:
            yield f"full({shape}, {value}, {t})", partial(xp.full, shape, value, dtype=t)
        for function in (xp.zeros, xp.ones):
            yield f"{function.__name__}({shape}, {t})", partial(function, shape, dtype=t)
        for like in (xp.zeros_like, xp.ones_like):
            yield f"{like.__name__}({shape}, {t})", of_ones(like, shape, d.float64, dtype=t)
    for (rows, columns), k, t in product(MATRICES, (-9, -2, 0, 1, 9), d.NUMPYS):
        yield f"eye({rows}, {columns}, {k}, {t})", partial(xp.eye, rows, columns, k=k, dtype=t)
        for triangle in (xp.tril, xp.triu):
            name = f"{triangle.__name__}({rows}, {columns}, {k}, {t})"
            yield name, of_ones(triangle, (rows, columns), t, k=k)
    for t in (d.int8, d.uint64, d.float32, d.complex128):
        yield f"meshgrid({t})", of_ones(lambda x: xp.meshgrid(x + x, x[:5]), 7, t)
        yield f"diag({t})", of_ones(lambda x: xp.extra.diag(x + x, k=2), 5, t)


CALLS = dict(calls())
EXPECTED = {}


def expected(name):
    if name not in EXPECTED:
        EXPECTED[name] = made(CALLS[name], "cpu")
    return EXPECTED[name]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("device", DEVICES)
def test_every_device_makes_the_same_bits(device, subtests):
    pytest.importorskip(device.partition(":")[0])
    # A Dask graph takes a millisecond.
    step = 7 if device in ON_DASK else 1

    for name in list(CALLS)[::step]:
        if made(CALLS[name], device) != expected(name):
            with subtests.test(name=name):
                assert made(CALLS[name], device) == expected(name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@for_each("name", [name for name in CALLS if name.startswith("linspace")])
def test_linspace_in_chunks_makes_the_same_bits(name):
    pytest.importorskip("dask")
    for device in ON_DASK:
        assert made(CALLS[name], device) == expected(name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=100)
@given(
    st.floats(width=32), st.floats(width=32), st.integers(0, 60), st.booleans(),
    st.sampled_from(d.FLOATING), st.sampled_from(ON_DASK),
)  # fmt: skip
def test_linspace_of_any_numbers(start, stop, num, endpoint, dtype, device):
    pytest.importorskip("dask")
    theirs = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype.name)
    for place in ("cpu", device):
        x = xp.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, device=place)
        assert bits(np.asarray(x)) == bits(theirs)


def drawn(method, *parameters):
    return lambda device: getattr(xp.random.default_rng(7, device=device), method)(
        *parameters, size=101
    )


SERIES = {
    "logspace": lambda device: xp.extra.logspace(1, 3, 33, device=device),
    "logspace of float32": lambda device: xp.extra.logspace(
        1, 3, 33, dtype=xp.float32, device=device
    ),
    "random": drawn("random"),
    "standard_normal": drawn("standard_normal"),
    "uniform": drawn("uniform", -1, 3),
    "normal": drawn("normal", 2, 0.1),
    "integers": drawn("integers", 0, 1000),
    "exponential": drawn("exponential", 3.0),
    "standard_gamma": drawn("standard_gamma", 0.7),
    "beta": drawn("beta", 0.3, 2.0),
    "poisson": drawn("poisson", 9.0),
    "binomial": drawn("binomial", 40, 0.3),
}


@for_each("name", SERIES)
def test_chunks_hold_the_bits_of_series_computed_in_one_piece(name):
    pytest.importorskip("dask")
    for device in ON_DASK:
        assert made(SERIES[name], device) == made(SERIES[name], "cpu")
