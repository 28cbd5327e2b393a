"""One function that torch.compile made for many sizes."""

import gc
import weakref

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device as find
from tests.support.refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

SIZES = [(5, 7), (6, 9), (8, 8), (12, 5)]
"""The first are compiled as numbers, the second leave both open."""


@pytest.fixture
def device():
    return find("torch:cpu")


def movement(x):
    n, m = x.shape
    return (
        xp.flip(x, axis=0),
        xp.roll(x, 2, axis=1),
        xp.reshape(x.T, (m, n)) + 1,
        xp.concat([x[::2], x[1::2], 2 * x], axis=0),
        x[::-1, ::-1] * 2,
        x[: n // 2, 1:] + 1,
        xp.repeat(x, 3, axis=0),
        x[:, None, :] * x[None],
        xp.tril(x, k=1),
    )


def written(x):
    a, b, c, d = [xp.asarray(x, copy=True) for _ in range(4)]
    two = xp.asarray([0, 2, 0], device=x.device)
    a.T[::-1][1] = x[:, 0] * 2
    b[x > 0.5] = x[0, 0]
    b[:, ::-1] *= x
    c[two, 2] = xp.asarray([5.0, 6.0, 7.0], device=x.device)
    c[::2] += x[::2]
    xp.reshape(d, (-1,), copy=False)[::3] *= 5
    return a, b, c, d


def numbers(x):
    n, m = x.shape
    return (
        x - xp.mean(x, axis=0),
        xp.std(x, axis=1, correction=1),
        xp.var(x),
        x / n + m - 2,
        x * n**0.5,
        xp.full((2 * n + 1,), m * 0.5, device=x.device),
        x + xp.arange(m, device=x.device),
        x @ xp.eye(m, k=1, device=x.device),
        xp.astype(x * 100, xp.int64) // 7,
        xp.astype(x, xp.float32) / m,
        xp.count_nonzero(x > 0.5, axis=0),
    )


def searched(x):
    return (
        xp.sort(x, axis=0),
        xp.argsort(x, axis=1, descending=True),
        xp.argmax(x, axis=1),
        xp.cumulative_sum(x, axis=1, include_initial=True),
        xp.take(x, xp.asarray([1, -1, 0], device=x.device), axis=0),
        xp.where(x > 0.5, x, -x),
        x @ x.T @ x,
        xp.linalg.inv(x.T @ x + xp.eye(x.shape[1], device=x.device)),
    )


@pytest.mark.parametrize("function", [movement, written, numbers, searched])
def test_one_function_serves_many_sizes(device, function):
    compiled = xp.compile(function, engine="native")
    for seed, shape in enumerate(SIZES):
        values = np.random.default_rng(seed).random(shape)
        found = compiled(xp.asarray(values, device=device, copy=True))
        expected = function(xp.asarray(values))
        for one, other in zip(found, expected, strict=True):
            assert one.dtype is other.dtype
            assert one.device == device
            left, right = np.asarray(one.to_device("cpu")), np.asarray(other)
            np.testing.assert_allclose(left, right, 1e-6 if one.dtype is xp.float32 else 1e-10)
    assert compiled.cache_info() == (1, 1, len(SIZES), 2)


def test_sizes_that_never_change_stay_numbers(device):
    function = xp.compile(lambda x, y: x @ y, engine="native")

    def compilations(n, m):
        product = function(xp.ones((n, m), device=device), xp.ones((m, 2), device=device))
        assert product.to_device("cpu").tolist() == [[float(m)] * 2] * n
        return function.cache_info().compilations

    assert [compilations(n, 4) for n in (5, 6, 7, 8, 5)] == [1, 2, 2, 2, 2]
    # Then the other one is open, too.
    assert [compilations(n, m) for n, m in ((6, 3), (7, 5), (9, 6))] == [3, 3, 3]


def test_large_arrays_have_a_function_of_their_own(device):
    function = xp.compile(lambda x: 2 * x + 1, engine="native")
    for n, compilations in ((10, 1), (20, 2), (100_000, 3), (30, 3), (200_001, 3)):
        x = xp.arange(float(n), device=device)
        np.testing.assert_array_equal(function(x).to_device("cpu"), 2 * np.arange(n) + 1.0)
        assert function.cache_info().compilations == compilations


def test_what_pytorch_takes_for_granted_is_asked_again(device):
    """Of one row PyTorch makes a broadcast one, where more than one are added to others."""
    function = xp.compile(lambda x: x[1:] + x[:1], engine="native")
    for n in (5, 6, 2, 9, 3, 2):
        x = xp.asarray(np.arange(2.0 * n).reshape(n, 2), device=device, copy=True)
        expected = np.arange(2.0 * n).reshape(n, 2)
        np.testing.assert_array_equal(function(x).to_device("cpu"), expected[1:] + expected[:1])
    assert function.cache_info().compilations <= 4


def test_programs_whose_sizes_cannot_be_left_open(device):
    """NumPy computes the values of `linspace` for a number of them."""
    function = xp.compile(
        lambda x: x + xp.linspace(0, 1, x.shape[0], device=x.device), engine="native"
    )
    for compilations, n in enumerate(range(3, 9), start=1):
        found = function(xp.zeros(n, device=device))
        np.testing.assert_allclose(found.to_device("cpu"), np.linspace(0, 1, n), 1e-12)
        assert function.cache_info().compilations == compilations


def test_errors_tell_the_sizes_of_the_call(device):
    def write(x, mask, values):
        x[mask] = values

    index = xp.compile(lambda x, i: x[i], engine="native")
    mask = xp.compile(write, engine="native")
    for n in (4, 5, 6, 7):
        x = xp.arange(float(n), device=device)
        refused(IndexError, f"axis of size {n}$", index, x, xp.asarray([0, n], device=device))
        assert index(x, xp.asarray([0, -1], device=device)).to_device("cpu").tolist() == [0, n - 1]
        values = xp.ones(n - 1, device=device)
        refused(ValueError, rf"shape \({n - 1},\) .* not {n - 1} long", mask, x, x >= 0, values)
        mask(x, x >= 1, values)
        assert x.to_device("cpu").tolist() == [0.0] + [1.0] * (n - 1)
    assert index.cache_info().compilations == 2


def test_arguments_are_written_and_constants_read(device):
    offset = xp.zeros(1, device=device)

    @xp.compile(engine="native")
    def function(x, y):
        x[1:] += y[0] + offset
        return x[::2]

    for n in (4, 5, 6, 7):
        offset += 1
        x, y = xp.zeros(n, device=device), xp.ones((3, n), device=device)[:, 0]
        result = function(x, y)
        assert x.to_device("cpu").tolist() == [0.0] + [1.0 + (n - 3)] * (n - 1)
        x[0] = 7.0
        assert float(result[0]) == 7.0
    assert function.cache_info().compilations == 2


def test_gradients_pass_through(device):
    import torch

    function = xp.compile(lambda x: xp.sum(x * x) / x.shape[0], engine="native")
    for n in (3, 4, 5):
        tensor = torch.arange(float(n), requires_grad=True)
        assert float(function(xp.asarray(torch.ones(n)))) == 1.0
        device.backend.native(function(xp.asarray(tensor))._handle).backward()
        assert tensor.grad is not None
        np.testing.assert_allclose(tensor.grad, 2 * np.arange(n) / n, 1e-6)


def test_programs_go_with_their_functions(device):
    function = xp.compile(lambda x: 2 * x + x.shape[0], engine="native")
    for n in (3, 4, 5):
        x = xp.ones(n, device=device)
        function(x)
    program = weakref.ref(function.explain(x).program)
    del function
    gc.collect()
    assert program() is None


def test_cuda_graphs_stay_off(device, monkeypatch):
    """Where a process asks for them, results would be overwritten by the next call."""
    import torch._dynamo
    import torch._inductor.config as config

    seen = []
    lookup = torch._dynamo.lookup_backend

    def watching(name):
        def compiled(graph, examples, config_patches):
            with config.patch(config_patches):
                seen.append((before, config.triton.cudagraphs))
            return lookup(name)(graph, examples, config_patches=config_patches)

        return compiled

    monkeypatch.setattr(torch._dynamo, "lookup_backend", watching)
    with config.patch({"triton.cudagraphs": True}):
        before = config.triton.cudagraphs
        function = xp.compile(lambda x: 2 * x, engine="native")
        for n in (3, 4):
            assert function(xp.ones(n, device=device)).to_device("cpu").tolist() == [2.0] * n
    assert seen == [(True, False), (True, False)]


def test_auto_takes_the_function_that_is_there(device):
    function = xp.compile(lambda x: xp.sum(2 * x))
    for n, compilations in ((3, 1), (4, 2), (5, 2)):
        for _ in range(11):
            assert float(function(xp.ones(n, device=device))) == 2.0 * n
        assert function.cache_info().compilations == compilations


def test_what_is_told_of_a_program_compiles_nothing(device):
    function = xp.compile(lambda x: 2 * x, engine="native")
    function(xp.ones(3, device=device))
    for n in (4, 5):
        assert "compiled by torch.compile" in str(function.explain(xp.ones(n, device=device)))
    assert function.cache_info().compilations == 1
    function(xp.ones(4, device=device))
    assert function.cache_info().compilations == 2


def test_a_size_of_one_where_a_spec_allows_it(device):
    from array_api_nx.core.symbolic import dynamic

    function = xp.compile(lambda x: xp.sum(2 * x, axis=0), engine="native")
    function.lower(xp.ShapeSpec((dynamic("n", min=1), 3), xp.float64, device))
    for n in (4, 1, 5, 6, 1):
        found = function(xp.ones((n, 3), device=device))
        assert found.to_device("cpu").tolist() == [2.0 * n] * 3
    assert function.cache_info() == (1, 1, 5, 3)


def test_guards_are_asked_for_other_sizes():
    pytest.importorskip("torch")
    from array_api_nx.backends.engines.torch_symbolic import Symbols

    symbols = Symbols((6, 4, 4), (True, True, False))
    n, m, k = symbols.numbers
    assert k == 4
    assert symbols.open_numbers == [n, m]
    assert symbols.of_open((1, 2, 3)) == [1, 2]
    assert symbols.allow((9, 9, 4))
    assert not symbols.allow((9, 9, 9))  # it is a number
    assert not symbols.allow((1, 4, 4))  # a symbol is at least 2
    assert n > m
    assert symbols.allow((9, 8, 4))
    assert not symbols.allow((8, 9, 4))
    assert symbols.value((n + m, (2 * n, 3)), (5, 3, 4)) == (8, (10, 3))
    assert symbols.are_open
    assert Symbols((1, 0, 2), (True, True, True)).numbers[:2] == [1, 0]
    assert int(m) == 4
    assert not symbols.are_open
    assert not symbols.allow((9, 8, 4))
