"""pad and meshgrid in C (native/chapters/padding.c): NumPy's elements and layouts."""

import numpy
import pytest

import array_api_nx.numpy as np
from tests.support.implementations import needs_native

pytestmark = needs_native

MODES = ["constant", "edge", "wrap", "reflect", "symmetric", "linear_ramp", "maximum"]
WIDTHS = [0, 1, 3, (2, 1), [(1, 2)], (4,)]
WIDTHS_OF_TWO = [((1, 0), (0, 2)), [[1, 2], [3, 0]], [(2,), (1,)]]


def same(found, expected):
    assert type(found) is np.ndarray
    numpy.testing.assert_array_equal(found.__array__(), expected, strict=True)
    long = [dim for dim, size in enumerate(expected.shape) if size > 1]
    assert [found.strides[dim] for dim in long] == [expected.strides[dim] for dim in long]
    assert found.flags.writeable == expected.flags.writeable


@pytest.mark.parametrize("shape", [(5,), (4, 6), (200, 250), (3, 4, 5), (2, 2, 2, 2, 2)])
@pytest.mark.parametrize("mode", MODES)
def test_pad(mode, shape):
    rng = numpy.random.default_rng(len(shape))
    for dtype in ("float64", "int8", "bool", "complex64"):
        if dtype != "float64" and mode in ("linear_ramp", "maximum"):
            continue
        whole = rng.integers(0, 2, shape).astype(dtype)
        for x in (whole, whole.T, whole[::-1], whole[..., ::2], numpy.asfortranarray(whole)):
            for width in WIDTHS + ([] if len(shape) != 2 else WIDTHS_OF_TWO):
                same(np.pad(np.asarray(x), width, mode), numpy.pad(x, width, mode))


@pytest.mark.parametrize("value", [7, 2.5, True, (1, 2), 300, numpy.float64(3)])
def test_the_value_around_an_array(value):
    x = numpy.arange(6.0).reshape(2, 3)
    same(
        np.pad(np.asarray(x), ((1, 2), (0, 1)), constant_values=value),
        numpy.pad(x, ((1, 2), (0, 1)), constant_values=value),
    )


@pytest.mark.parametrize(
    ("width", "named"),
    [(-1, {}), (1.5, {}), ([1, 2, 3], {}), (1, {"mode": "no such"}), (1, {"mode": "edge", "x": 1})],
)
def test_refusals_of_pad_are_numpys(width, named):
    x = numpy.arange(6.0).reshape(2, 3)
    with pytest.raises((TypeError, ValueError)) as expected:
        numpy.pad(x, width, **named)
    with pytest.raises(type(expected.value)) as found:
        np.pad(np.asarray(x), width, **named)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("options", [{}, {"indexing": "ij"}, {"sparse": True}, {"copy": False}])
def test_meshgrid(options):
    rng = numpy.random.default_rng(3)
    vectors = rng.random(5), rng.integers(0, 9, 4), rng.random(3) > 0.5, rng.random(2)
    for count in (1, 2, 3, 4):
        for given in (vectors[:count], [x[::-1] for x in vectors[:count]]):
            expected = numpy.meshgrid(*given, **options)
            found = np.meshgrid(*map(np.asarray, given), **options)
            assert type(found) is type(expected)
            for ours, numpys in zip(found, expected, strict=True):
                if options.get("copy", True):
                    same(ours, numpys)
                else:
                    numpy.testing.assert_array_equal(ours.__array__(), numpys, strict=True)
    long = rng.random(300)
    for ours, numpys in zip(
        np.meshgrid(np.asarray(long), np.asarray(long[:200]), **options),
        numpy.meshgrid(long, long[:200], **options),
        strict=True,
    ):
        numpy.testing.assert_array_equal(ours.__array__(), numpys, strict=True)
    with pytest.raises(ValueError, match="indexing"):
        np.meshgrid(np.asarray(long), np.asarray(long), indexing="yx")
