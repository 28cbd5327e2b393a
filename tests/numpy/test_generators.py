"""Generators of random numbers: NumPy's streams, as arrays of the face."""

import copy
import pickle

import numpy
import pytest

import array_api_nx.numpy as np

WEIGHTS = [0.2, 0.3, 0.5]


def draws(numpys, rng):
    weights = numpys.asarray(WEIGHTS)
    x = numpys.arange(5)
    rng.shuffle(x)
    return [
        *(rng.standard_normal(3), rng.normal(size=(2, 2)), rng.choice(3, 4, p=weights), x),
        *(rng.permutation(x), rng.multivariate_normal([0, 0], numpys.eye(2), 2), rng.normal()),
    ]


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
def test_streams_are_numpys(kind):
    expected = draws(numpy, getattr(numpy.random, kind)(7))
    found = draws(np, getattr(np.random, kind)(7))
    for x, y in zip(found, expected, strict=True):
        assert type(x) is (np.ndarray if type(y) is numpy.ndarray else type(y))
        assert numpy.array_equal(x, y)


def test_methods_that_numpys_methods_call_get_numpys_arrays():
    rng = np.random.default_rng(1)
    assert numpy.array_equal(rng.choice(9, 3), numpy.random.default_rng(1).choice(9, 3))
    assert isinstance(rng, np.random.Generator)
    assert isinstance(rng, numpy.random.Generator)
    assert type(rng.spawn(2)[0].random(3)) is np.ndarray


def test_states_are_kept_by_seeds_copies_and_pickles():
    rs = np.random.RandomState(3)
    rs.normal()  # it draws two numbers, and keeps one
    for copied in (copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert copied(rs).normal() == rs.normal()
        state = rs.get_state()
        before = rs.normal()
        rs.set_state(state)
        assert rs.normal() == before
        rs.normal()
    rs.seed(3)
    assert rs.normal() == numpy.random.RandomState(3).normal()
    rng = np.random.default_rng(np.random.PCG64(2))
    assert pickle.loads(pickle.dumps(rng)).random() == rng.random()


@pytest.mark.parametrize("make", ["RandomState", "default_rng"])
def test_numpys_generators_are_instances(make):
    kind = type(getattr(np.random, make)())
    others = numpy.random.default_rng(2), numpy.random.RandomState(2)
    assert [isinstance(x, kind) for x in others] == [make != "RandomState", make == "RandomState"]

    class Own(kind):
        pass

    assert not any([isinstance(x, Own) for x in others])


def test_a_generator_over_numpys():
    rng = np.random.default_rng(numpy.random.default_rng(2))
    assert type(rng.normal(size=3)) is np.ndarray


def test_the_global_state_is_an_object():
    state = np.random.mtrand._rand
    assert isinstance(state, np.random.RandomState)
    assert np.random.mtrand.RandomState is np.random.RandomState
    drawn = {}
    for numpys in (numpy, np):
        numpys.random.seed(3)
        both = numpys.random.mtrand._rand.normal, numpys.random.normal
        drawn[numpys] = [float(draw()) for draw in both * 2]
    assert drawn[np] == drawn[numpy]
    assert type(state.normal(size=3)) is np.ndarray


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_arrays_seed_streams(name):
    ours, numpys = getattr(np.random, name), getattr(numpy.random, name)
    seeds = np.asarray([3, 1, 2])
    for seed, plain in ((seeds, [3, 1, 2]), (seeds[0], 3), (np.random.SeedSequence(seeds), None)):
        stream = ours(seed)
        copied = pickle.loads(pickle.dumps(stream))
        expected = numpys(numpy.random.SeedSequence([3, 1, 2]) if plain is None else plain)
        number = numpy.random.Generator(expected).random()
        for given in (stream, copied):
            assert type(given) is ours
            assert np.random.Generator(given).random() == number
    assert isinstance(stream, numpys)
    assert isinstance(expected, ours)


def test_arrays_seed_sequences():
    state = np.random.SeedSequence(np.arange(3), spawn_key=(1,)).generate_state(4)
    expected = numpy.random.SeedSequence([0, 1, 2], spawn_key=(1,)).generate_state(4)
    assert numpy.array_equal(state, expected)
    assert [each.entropy for each in np.random.SeedSequence(5).spawn(2)] == [5, 5]
    with pytest.raises(TypeError, match="SeedSequence"):
        np.random.SeedSequence(1.5)
