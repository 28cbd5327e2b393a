"""Arguments that must be ints and are not, or are out of bounds: the error names the argument."""

import numpy as np

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

X = xp.reshape(xp.arange(12.0), (3, 4))
V = xp.arange(5.0)
M = xp.ones((3, 3))
I = xp.asarray([0, 1])  # noqa: E741

# By function, the name that the error has, and whether the argument is a count.
INTEGERS = [
    (lambda k: xp.linspace(0, 1, k), "num", True),
    (lambda k: xp.linspace(0, 1, num=k, dtype=xp.int8), "num", True),
    (lambda k: xp.extra.logspace(0, 1, k), "num", True),
    (lambda k: xp.eye(k), "n_rows", True),
    (lambda k: xp.eye(3, k if k is not None else "None"), "n_cols", True),
    (lambda k: xp.eye(3, k=k), "k", False),
    (lambda k: xp.tril(X, k=k), "k", False),
    (lambda k: xp.triu(X, k=k), "k", False),
    (lambda k: xp.tile(X, (k, 2)), "repetitions", True),
    (lambda k: xp.repeat(V, k), "repeats", True),
    (lambda k: xp.roll(V, (k,)), "a shift", False),
    (lambda k: xp.roll(X, (1, k), axis=(0, 1)), "a shift", False),
    (lambda k: xp.extra.diag(V, k=k), "k", False),
    (lambda k: xp.extra.diag(X, k=k), "k", False),
    (lambda k: xp.linalg.diagonal(X, offset=k), "offset", False),
    (lambda k: xp.linalg.trace(X, offset=k), "offset", False),
    (lambda k: xp.extra.diagonal(X, k), "offset", False),
    (lambda k: xp.diff(V, n=k), "n", False),
    (lambda k: xp.linalg.matrix_power(M, k), "n", False),
    (lambda k: X.round(k), "decimals", False),
    (lambda k: xp.fft.fft(V, n=k if k is not None else "None"), "n", False),
    (lambda k: xp.fft.fftn(X, s=(k, 2)), "a size in s", False),
    (lambda k: xp.fft.fftfreq(k), "n", False),
    (lambda k: xp.fft.rfftfreq(k), "n", False),
    (lambda k: xp.extra.bincount(I, minlength=k), "minlength", True),
    (lambda k: xp.extra.histogram2d(V, V, bins=(2, k)), "bins", False),
    (lambda k: xp.extra.pad(X, ((1, k), (1, 1))), "pad_width", False),
    (lambda k: xp.extra.partition(V, (0, k)), "kth", False),
    (lambda k: xp.extra.top_k(V, k), "k", False),
    (lambda k: xp.extra.sliding_window_view(X, (2, k)), "window_shape", False),
    (lambda k: xp.random.default_rng(0).spawn(k), "n_children", True),
    (lambda k: xp.random.default_rng(0).bytes(k), "length", True),
]


@for_each(("call", "name", "is_count"), INTEGERS)
def test_errors_name_the_argument(call, name, is_count):
    arrays = [] if name in ("repeats", "bins") else [xp.asarray(2.0), xp.asarray([1, 2])]
    for wrong in (2.5, 2.0, np.float64(2), None, "3", *arrays):
        refused(TypeError, rf"^{name} must be an int, not .*; convert it with", call, wrong)
    if is_count:
        refused(ValueError, rf"^{name} must not be negative, but is -1", call, -1)
    for right in (1, True, np.int8(1), *([xp.asarray(1)] if name != "bins" else [])):
        call(right)


@for_each("num", [(2, 3), (2,), ()])
def test_a_number_of_points_is_no_shape(num):
    refused(TypeError, "num must be an int, not ", xp.linspace, 0, 1, num)


@for_each(
    "call",
    [
        lambda k: xp.linspace(0, 1, k),
        lambda k: xp.eye(k),
        lambda k: xp.eye(1, k),
        lambda k: xp.tile(X, k),
        lambda k: xp.repeat(V, k),
        lambda k: xp.extra.diag(V, k=k),
        lambda k: xp.extra.pad(V, k),
        lambda k: xp.extra.bincount(I, minlength=k),
        lambda k: xp.random.default_rng(0).bytes(k),
    ],
)
def test_what_no_memory_could_hold_is_refused(call):
    for huge in (2**62, 10**30):
        refused(ValueError, r"array of shape \(.* would span more than 2\*\*63", call, huge)


@for_each("bins", [2.5, None])
def test_bins_of_two_coordinates_are_named(bins):
    refused(TypeError, "bins must be an int, not ", xp.extra.histogram2d, V, V, bins=bins)
