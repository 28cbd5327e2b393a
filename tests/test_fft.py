from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import fft
from tests.backends.engines.devices import device as find
from tests.extra.everywhere import DEVICES
from tests.support.arrays import assert_close
from tests.support.arrays import normal_numbers as signal
from tests.support.refusals import refused
from tests.support.tables import for_each

NORMS = ("backward", "ortho", "forward")
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


close = partial(assert_close, single=1e-4, double=1e-12)


def inputs(name):
    """dtypes that a transform is defined on."""
    real = name in ("rfft", "rfftn", "ihfft")
    return st.sampled_from(["float32", "float64"] if real else ["complex64", "complex128"])


class TestOneAxis:
    @pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
    @given(data=st.data())
    def test_agrees_with_numpy(self, name, data):
        shape = tuple(data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=3)))
        options = {
            "n": data.draw(st.none() | st.integers(1, 9)),
            "axis": data.draw(st.integers(-len(shape), len(shape) - 1)),
            "norm": data.draw(st.sampled_from(NORMS)),
        }
        a = signal(shape, data.draw(inputs(name)))
        close(getattr(fft, name)(xp.asarray(a), **options), getattr(np.fft, name)(a, **options))

    @for_each(("forward", "inverse"), [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft")])
    @for_each("norm", NORMS)
    @for_each("n", [6, 7])
    def test_round_trip(self, forward, inverse, norm, n):
        a = signal((2, n), "complex128" if forward == "fft" else "float64")
        spectrum = getattr(fft, forward)(xp.asarray(a), norm=norm)
        close(getattr(fft, inverse)(spectrum, n=n, norm=norm), a)

    @for_each("name", ["fft", "ifft", "irfft", "hfft"])
    @for_each("dtype", ["float32", "float64", "int8", "uint64", "bool"])
    def test_real_input_is_converted(self, name, dtype):
        a = np.asarray([1, 0, 1, 1]).astype(dtype)
        expected = getattr(np.fft, name)(a.astype("complex64" if dtype == "float32" else "complex"))
        close(getattr(fft, name)(xp.asarray(a)), expected)
        close(
            getattr(fft, name)(xp.asarray(a), n=9),
            getattr(np.fft, name)(a.astype(COMPLEX_OF.get(dtype, "complex128")), n=9),
        )

    @pytest.mark.parametrize("name", ["rfft", "ihfft", "rfftn"])
    def test_real_transforms_take_integers(self, name):
        a = np.arange(5)
        close(getattr(fft, name)(xp.asarray(a)), getattr(np.fft, name)(a))
        refused(TypeError, r"real input.*real", getattr(fft, name), xp.asarray([1j, 2j]))

    def test_stacks_without_elements(self):
        assert fft.fft(xp.ones((0, 3))).shape == (0, 3)
        assert fft.rfft(xp.ones((0, 3))).shape == (0, 2)
        assert fft.irfft(xp.ones((0, 3))).shape == (0, 4)
        assert xp.all(fft.fft(xp.ones((2, 0)), n=3) == 0)

    def test_input_is_left_alone(self):
        a = signal((4,), "complex128")
        x = xp.asarray(a, copy=True)
        for name in ("fft", "ifft", "irfft", "hfft", "fftshift", "ifftshift"):
            result = getattr(fft, name)(x)
            result += 1
        close(x, a)


class TestSeveralAxes:
    @pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
    @given(data=st.data())
    def test_agrees_with_numpy(self, name, data):
        shape = tuple(data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
        axes = data.draw(st.none() | st.permutations(range(len(shape))))
        if axes is not None:
            axes = axes[: data.draw(st.integers(1, len(axes)))]
        sizes = None
        if axes is not None:
            one = st.integers(1, 6) | st.just(-1)
            sizes = data.draw(st.none() | st.lists(one, min_size=len(axes), max_size=len(axes)))
        norm = data.draw(st.sampled_from(NORMS))
        a = signal(shape, data.draw(inputs(name)))
        oracle_sizes = sizes
        if sizes is not None and name == "irfftn" and sizes[-1] == -1:
            oracle_sizes = [*sizes[:-1], 2 * (shape[axes[-1]] - 1)]
        expected = getattr(np.fft, name)(a, oracle_sizes, axes, norm)
        close(getattr(fft, name)(xp.asarray(a), s=sizes, axes=axes, norm=norm), expected)

    @pytest.mark.parametrize("device", ["cpu", *DEVICES])
    @pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
    def test_axes_may_be_named_twice(self, name, device):
        a = signal((3, 4), "float64" if name == "rfftn" else "complex128")
        x = xp.asarray(a, device=device if device == "cpu" else find(device))
        function, oracle = getattr(fft, name), getattr(np.fft, name)
        for axes in ((0, 0), (1, -1), (0, 1, 0), (1, 0, 0, 1), (-1, 0, 1)):
            for norm in NORMS:
                result = function(x, axes=axes, norm=norm)
                close(result.to_device("cpu"), oracle(a, axes=axes, norm=norm))
            sizes = tuple(range(2, 2 + len(axes)))
            close(function(x, s=sizes, axes=axes).to_device("cpu"), oracle(a, sizes, axes))

    @pytest.mark.parametrize("name", ["fftn", "ifftn"])
    @xp.config_context(operands="strict")
    def test_over_no_axes_there_is_a_copy(self, name):
        function = getattr(fft, name)
        for a in (
            signal((3, 4), "complex64"),
            signal((), "complex128"),
            signal((2, 0), "float32"),
        ):
            x = xp.asarray(a)
            for result in (function(x, axes=()), function(x, s=(), axes=[])):
                close(result, a.astype(COMPLEX_OF.get(a.dtype.name, a.dtype.name)))
                result += 1
            assert np.array_equal(np.asarray(x), a)
        close(function(xp.asarray([1, 2]), axes=()), np.asarray([1 + 0j, 2]))
        close(function(xp.asarray(3.0)), np.asarray(3 + 0j))
        refused(TypeError, "asarray", function, np.ones(3), axes=())

    def test_sizes_alone_mean_the_last_axes(self):
        a = signal((3, 4, 5), "complex128")
        result = fft.fftn(xp.asarray(a), s=(2, 7))
        close(result, np.fft.fftn(a, (2, 7), (-2, -1)))

    @pytest.mark.parametrize("norm", NORMS)
    def test_round_trip(self, norm):
        a = signal((3, 5), "float64")
        x = xp.asarray(a)
        spectrum = fft.rfftn(x, norm=norm)
        close(fft.irfftn(spectrum, s=(3, 5), axes=(0, 1), norm=norm), a)
        spectrum = fft.fftn(x, axes=[1, 0], norm=norm)
        close(fft.ifftn(spectrum, norm=norm), a.astype(complex))


class TestFrequencies:
    @for_each("n", [1, 2, 5, 8, 101])
    @for_each("d", [1.0, 0.25, 3, -2.0])
    def test_agree_with_numpy(self, n, d):
        close(fft.fftfreq(n, d=d), np.fft.fftfreq(n, d))
        close(fft.rfftfreq(n, d=d), np.fft.rfftfreq(n, d))

    def test_dtype_and_device(self):
        assert fft.fftfreq(4).dtype is xp.float64
        for function in (fft.fftfreq, fft.rfftfreq):
            result = function(4, dtype=xp.float32, device="cpu")
            assert result.dtype is xp.float32
            assert str(result.device) == "cpu"
        assert [float(f) for f in fft.fftfreq(5)] == [0, 1 / 5, 2 / 5, -2 / 5, -1 / 5]

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: fft.fftfreq(0), ValueError, "at least one"),
            (lambda: fft.rfftfreq(-3), ValueError, "at least one"),
            (lambda: fft.fftfreq(3, d=0), ValueError, "distance"),
            (lambda: fft.fftfreq(3, dtype=xp.int64), TypeError, "float32 or float64"),
            (lambda: fft.rfftfreq(3, dtype=xp.complex64), TypeError, "float32 or float64"),
            (lambda: fft.fftfreq(2.5), TypeError, "must be an int"),
        ],
    )
    def test_refuse(self, call, error, message):
        refused(error, message, call)


class TestShifts:
    @given(data=st.data())
    def test_agree_with_numpy(self, data):
        shape = tuple(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3)))
        ndim = len(shape)
        axis = st.integers(-ndim, ndim - 1)
        several = st.lists(axis, max_size=2 * ndim)
        chosen = data.draw(st.none() | axis | several)
        a = signal(shape, "float64")
        x = xp.asarray(a)
        close(fft.fftshift(x, axes=chosen), np.fft.fftshift(a, chosen))
        close(fft.ifftshift(x, axes=chosen), np.fft.ifftshift(a, chosen))
        close(fft.ifftshift(fft.fftshift(x, axes=chosen), axes=chosen), a)

    def test_no_axes(self):
        for x in (xp.asarray(2.0), xp.asarray([1.0, 2.0])):
            result = fft.fftshift(x, axes=())
            assert xp.all(result == x)
            result += 1
            assert xp.all(result == x + 1)

    def test_refuse(self):
        refused(IndexError, "out of range", fft.fftshift, xp.ones(3), axes=1)


class TestArguments:
    @pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
    @xp.config_context(operands="strict")
    def test_of_one_axis(self, name):
        function = getattr(fft, name)
        x = xp.ones((3, 4))
        refused(ValueError, "'backward', 'ortho' or 'forward'", function, x, norm="none")
        for n in (0, -1):
            refused(ValueError, "at least one element", function, x, n=n)
        refused(IndexError, "out of range", function, x, axis=2)
        refused(IndexError, "0-dimensional", function, xp.ones(()))
        refused(ValueError, r"at least one element.*n=", function, xp.ones((2, 0)))
        refused(TypeError, "asarray", function, np.ones(3))
        refused(ValueError, "span", function, x, n=2**62)

    @pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
    def test_of_several_axes(self, name):
        function = getattr(fft, name)
        x = xp.ones((3, 4))
        refused(ValueError, "'backward', 'ortho' or 'forward'", function, x, norm=None)
        refused(ValueError, "equally many", function, x, s=(2,), axes=(0, 1))
        refused(ValueError, "at least one element", function, x, s=(2, 0), axes=(0, 1))
        if name in ("rfftn", "irfftn"):
            for call in (lambda: function(x, axes=()), lambda: function(xp.ones(()))):
                refused(ValueError, f"^{name} needs at least one axis", call)
        refused(ValueError, f"^{name} needs at least one element", function, xp.ones((2, 0)))
        refused(TypeError, "sequence of sizes", function, x, s=5)

    def test_half_a_spectrum_of_one_element(self):
        refused(ValueError, "n=", fft.irfft, xp.ones((3, 1)))
        assert fft.irfft(xp.ones((3, 1)), n=1).shape == (3, 1)
