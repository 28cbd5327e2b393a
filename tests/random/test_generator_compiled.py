"""Generators as arguments of compiled functions."""

import pickle
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.compile import TraceError
from tests.backends.engines.devices import device
from tests.extra.everywhere import assert_same
from tests.support.refusals import refused


def noisy(x, rng, scale=1.0):
    return (
        x + scale * rng.standard_normal(x.shape),
        rng.integers(-3, 10, size=x.shape[0]),
        rng.random(5, dtype="float32"),
        rng.uniform(x, x + 2.0),
    )


def moved(x, rng):
    return (
        rng.permutation(x),
        rng.choice(x, 3),
        rng.integers(2**40, size=3),
        rng.permuted(xp.broadcast_to(x, (2, x.shape[0])), axis=1),
        rng.exponential(size=3),
    )


def distributed(x, rng):
    means = x + 1.0
    return (
        rng.standard_gamma(0.5, 5),
        rng.standard_gamma(means) * x,
        rng.beta(2.0, means),
        rng.poisson(means, (2, x.shape[0])),
        rng.binomial(100, 0.3, x.shape),
        rng.exponential(means),
    )


@pytest.mark.parametrize(
    ("name", "function", "engine"),
    [
        ("cpu", distributed, "auto"),
        ("cpu", distributed, "steps"),
        ("torch:cpu", distributed, "auto"),
        ("jax:cpu", distributed, "auto"),
        ("dask", distributed, "auto"),
        ("cpu", noisy, "auto"),
        ("cpu", noisy, "steps"),
        ("cpu", moved, "auto"),
        ("cpu", moved, "steps"),
        ("torch:cpu", noisy, "auto"),
        ("torch:cpu", moved, "auto"),
        ("jax:cpu", noisy, "auto"),
        ("dask", noisy, "auto"),
        ("dask", moved, "auto"),
    ],
)
def test_programs_draw_what_functions_draw(name, function, engine):
    place = xp.Device("cpu") if name == "cpu" else device(name)
    sizes = (5, 6, 5) if name == "cpu" else (5,)
    compiled = xp.compile(function, engine=engine)
    one, other = xp.random.default_rng(3), xp.random.default_rng(3, device=place)
    for n in sizes:
        x = xp.arange(float(n), device=place)
        for found, expected in zip(
            compiled(x, other), function(x.to_device("cpu"), one), strict=True
        ):
            assert found.device is place
            assert_same(found.to_device("cpu"), expected)
        assert other._counter == one._counter
    assert compiled.cache_info().traces == 1
    # Other generators of the device use the same program.
    x = xp.arange(5.0, device=place)
    again = compiled(x, rng=xp.random.default_rng(3, device=place))
    assert_same(again[1].to_device("cpu"), function(xp.arange(5.0), xp.random.default_rng(3))[1])


def test_large_draws():
    compiled = xp.compile(lambda x, rng: x * rng.standard_normal(x.shape))
    x = xp.ones((700, 900))
    one, other = xp.random.default_rng(3), xp.random.default_rng(3)
    for _ in range(2):
        assert_same(compiled(x, one), np.asarray(other.standard_normal(x.shape)))


LARGE = {
    "sum": lambda x, r: x + r.standard_normal(x.shape),
    "float32": lambda x, r: xp.astype(x, xp.float32) * r.random(x.shape, dtype="float32"),
    "read transposed": lambda x, r: x + r.random((x.shape[1], x.shape[0])).T,
    "greatest of rows": lambda x, r: xp.max(x * r.standard_normal(x.shape), axis=1),
    "shown and read": lambda x, r: (y := r.random(x.shape), y * x),
    "several": lambda x, r: (x + r.random(x.shape) - r.random(x.shape), r.integers(5, size=4)),
    "wide integers": lambda x, r: r.integers(2**40, size=x.shape) // 3,
    "a part": lambda x, r: r.random((*x.shape, 2))[::2, :, 1] - x[::2, :],
    "gamma": lambda x, r: x * r.standard_gamma(0.5, x.shape),
    "binomial": lambda x, r: x + r.binomial(60, 0.25, x.shape),
    "gamma of arrays": lambda x, r: x + r.standard_gamma(x + 1.0),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("function", LARGE.values(), ids=LARGE.keys())
def test_passes_of_programs_draw(function, threads):
    compiled = xp.compile(function)
    x = xp.reshape(xp.arange(411.0 * 350.0), (411, 350))
    one, other = xp.random.default_rng(3), xp.random.default_rng(3)
    with xp.config_context(num_threads=threads):
        for _ in range(2):
            found, expected = compiled(x, one), function(x, other)
            if isinstance(found, xp.Array):
                found, expected = (found,), (expected,)
            for each, wanted in zip(found, expected, strict=True):
                assert_same(each, np.asarray(wanted))


def test_engines_compile_draws():
    place = device("jax:cpu")
    compiled = xp.compile(
        lambda x, rng: (x + rng.random(x.shape), rng.integers(9, size=4)), engine="native"
    )
    one, other = xp.random.default_rng(3), xp.random.default_rng(3, device=place)
    for _ in range(2):
        found, whole = compiled(xp.ones(7, device=place), other)
        np.testing.assert_allclose(found.to_device("cpu"), 1 + one.random(7), 1e-14)
        assert_same(whole.to_device("cpu"), one.integers(9, size=4))
    assert compiled.cache_info().compilations == 1


@pytest.mark.parametrize("name", ["torch:cpu", "jax:cpu"])
def test_engines_refuse_to_compile_rejection(name):
    place = device(name)
    compiled = xp.compile(lambda rng: rng.poisson(40.0, 9), engine="native")
    rng = xp.random.default_rng(3, device=place)
    state = repr(rng)
    refused(RuntimeError, r"draw_from\(poisson.*because it looks at elements", compiled, rng)
    assert repr(rng) == state


def test_parameters_that_are_not_checked_end():
    compiled = xp.compile(lambda x, rng: (rng.standard_gamma(x), rng.poisson(x)))
    real, whole = compiled(xp.asarray([-1.0, 2.0, xp.nan]), xp.random.default_rng(3))
    assert np.isnan(np.asarray(real)).tolist() == [True, False, True]
    assert np.asarray(whole)[[0, 2]].tolist() == [-1, -1]


@dataclass
class Model:
    rng: Any
    weights: Any


def test_generators_within_containers():
    @xp.compile
    def step(model, *, pair):
        first, second = pair
        with_noise = model.weights + model.rng.random(3)
        return with_noise, first.random(2), second.integers(5, size=2)

    def rngs():
        return [xp.random.default_rng(seed) for seed in (1, 2, 3)]

    for _ in range(2):
        ours, plain = rngs(), rngs()
        ours[0].random(9), plain[0].random(9)
        found = step(Model(ours[0], xp.ones(3)), pair=ours[1:])
        expected = step.__wrapped__(Model(plain[0], xp.ones(3)), pair=plain[1:])
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        for one, other in zip(ours, plain, strict=True):
            assert repr(one) == repr(other)
            assert_same(pickle.loads(pickle.dumps(one)).random(3), other.random(3))
    assert step.cache_info().traces == 1


def test_compiled_functions_within_others():
    inner = xp.compile(lambda rng, n: rng.random(n))
    outer = xp.compile(lambda x, rng: x + inner(rng, 3) - rng.random(3))
    one, other = xp.random.default_rng(4), xp.random.default_rng(4)
    assert_same(outer(xp.ones(3), one), xp.ones(3) + other.random(3) - other.random(3))


def test_shapes_without_data():
    found = xp.eval_shape(noisy, xp.ShapeSpec(("n",), xp.float64), xp.random.default_rng(1))
    assert [str(x.shape) for x in found] == ["(n,)", "(n,)", "(5,)", "(n,)"]
    compiled = xp.compile(noisy)
    rng = xp.random.default_rng(1)
    state = repr(rng)
    assert "draw_from(normal" in str(compiled.explain(xp.ones(4), rng))
    assert compiled.lower(xp.ShapeSpec(("n",), xp.float64), rng).outputs
    assert repr(rng) == state


ERRORS = [
    (lambda x, r: r.spawn(2), TraceError, "pass them as arguments"),
    (lambda x, r: r.bytes(4), TraceError, "elements"),
    (lambda x, r: pickle.dumps(r), TraceError, "copied"),
    (lambda x, r: r.random(-1), ValueError, "negative"),
    (lambda x, r: r.normal(0, -1), ValueError, "scale"),
    (lambda x, r: (r.random(3), 1 / 0), ZeroDivisionError, "division"),
]


@pytest.mark.parametrize(("function", "kind", "words"), ERRORS, ids=range(len(ERRORS)))
def test_errors_leave_the_state_as_it_was(function, kind, words):
    rng = xp.random.default_rng(1)
    state = repr(rng)
    refused(kind, words, xp.compile(function), xp.ones(3), rng)
    assert repr(rng) == state


def test_what_is_no_argument_of_its_own():
    rng = xp.random.default_rng(1)
    state = repr(rng)
    with pytest.raises(TypeError, match="pass the generator as an argument"):
        xp.compile(lambda x: x + rng.random(3))(xp.ones(3))
    refused(TypeError, "pass it once", xp.compile(lambda one, other: one.random(3)), rng, rng)
    assert repr(rng) == state


def test_an_exhausted_generator_draws_nothing():
    rng = xp.random.default_rng(1)
    rng._counter = before = 2**62 - 2
    compiled = xp.compile(lambda rng, n: rng.random(n))
    assert compiled(xp.random.default_rng(1), 3).shape == (3,)
    refused(ValueError, "exhausted", compiled, rng, 3)
    assert rng._counter == before


class Interruption(Exception):
    pass


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("is_real", [False, True])
def test_draws_during_a_draw_give_other_numbers(is_compiled, is_real):
    """As a handler of a signal makes them. A draw that one ends has not advanced the generator."""

    def function(rng):
        return rng.standard_gamma(2.0, 6) if is_real else rng.integers(100, size=6)

    def during(call, happens):
        """Call it, and have something happen once it begins to make numbers."""

        def look(frame, event, _):
            code = frame.f_code
            if event == "call" and code.co_filename.endswith("cpu/random_numbers.py"):
                sys.setprofile(None)
                happens()

        sys.setprofile(look)
        try:
            return call()
        finally:
            sys.setprofile(None)

    def interrupt():
        raise Interruption

    draw = xp.compile(function) if is_compiled else function
    expected = xp.random.default_rng(1)
    numbers = [np.asarray(draw(expected)) for _ in range(3)]
    rng = xp.random.default_rng(1)
    refused(Interruption, None, during, lambda: draw(rng), interrupt)
    inner = []
    assert_same(during(lambda: draw(rng), lambda: inner.append(draw(rng))), numbers[0])
    assert_same(inner[0], numbers[1])
    assert_same(draw(rng), numbers[2])
