"""How clients recognise an array, its namespace, its devices and its dtypes."""

import inspect

import array_api_compat
import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

DTYPES = xp.__array_namespace_info__().dtypes()
DEVICES = xp.__array_namespace_info__().devices()


class TestNamespace:
    @pytest.mark.parametrize("name", DTYPES)
    def test_is_the_module_whatever_the_array(self, name):
        x = xp.zeros(2, dtype=DTYPES[name])
        assert x.__array_namespace__(api_version=None) is xp
        assert x.__array_namespace__() == x[0].__array_namespace__()

    def test_can_be_a_key_of_a_cache(self):
        assert {xp: "known"}[xp.zeros(1).__array_namespace__()] == "known"

    def test_has_a_name_that_no_client_takes_for_another_library(self):
        assert xp.__name__ == "array_api_nx"
        for is_namespace in (
            array_api_compat.is_numpy_namespace,
            array_api_compat.is_torch_namespace,
            array_api_compat.is_cupy_namespace,
            array_api_compat.is_jax_namespace,
            array_api_compat.is_dask_namespace,
            array_api_compat.is_pydata_sparse_namespace,
            array_api_compat.is_ndonnx_namespace,
            array_api_compat.is_array_api_strict_namespace,
        ):
            assert not is_namespace(xp)

    def test_is_what_array_api_compat_finds(self):
        x = xp.zeros(3)
        assert array_api_compat.is_array_api_obj(x)
        assert array_api_compat.array_namespace(x, x[0], None, 1.0) is xp

    def test_has_linalg_and_fft(self):
        assert inspect.ismodule(xp.linalg)
        assert inspect.ismodule(xp.fft)

    def test_fft_computes_real_input(self):
        for function in (xp.fft.fft, xp.fft.ifft, xp.fft.fftn, xp.fft.hfft):
            x = xp.asarray([1.0, 2.0, 4.0])
            expected = getattr(np.fft, function.__name__)(np.asarray(x))
            np.testing.assert_allclose(np.asarray(function(x)), expected)

    @pytest.mark.parametrize(
        "name", ["float16", "special", "median", "bincount", "convolve", "roots", "put_along_axis"]
    )
    def test_has_what_clients_use_where_they_find_it(self, name):
        assert hasattr(xp, name)

    @pytest.mark.parametrize("name", ["float128", "longdouble", "ndarray", "asanyarray"])
    def test_probing_for_what_only_numpy_has_finds_nothing(self, name):
        refused(AttributeError, name, getattr, xp, name)


class TestArrayType:
    def test_derives_from_nothing_that_clients_treat_apart(self):
        assert xp.Array.__mro__ == (xp.Array, object)

    @pytest.mark.parametrize(
        "name",
        [
            "fit",
            "iloc",
            "flags",
            "pvalue",
            "__array_interface__",
            "__array_struct__",
            "__torch_function__",
            "__sklearn_array_api_convert__",
        ],
    )
    def test_probing_for_other_types_attributes_finds_nothing(self, name):
        refused(AttributeError, name, getattr, xp.zeros(2), name)


CREATORS = {
    "arange": lambda **device: xp.arange(3, **device),
    "asarray": lambda **device: xp.asarray([1.0], **device),
    "astype": lambda **device: xp.astype(xp.zeros(2), xp.int8, **device),
    "empty": lambda **device: xp.empty(2, **device),
    "empty_like": lambda **device: xp.empty_like(xp.zeros(2), **device),
    "eye": lambda **device: xp.eye(2, **device),
    "from_dlpack": lambda **device: xp.from_dlpack(np.zeros(2), **device),
    "full": lambda **device: xp.full(2, 1.0, **device),
    "full_like": lambda **device: xp.full_like(xp.zeros(2), 1.0, **device),
    "linspace": lambda **device: xp.linspace(0.0, 1.0, 3, **device),
    "ones": lambda **device: xp.ones(2, **device),
    "ones_like": lambda **device: xp.ones_like(xp.zeros(2), **device),
    "zeros": lambda **device: xp.zeros(2, **device),
    "zeros_like": lambda **device: xp.zeros_like(xp.zeros(2), **device),
    "fftfreq": lambda **device: xp.fft.fftfreq(4, **device),
    "rfftfreq": lambda **device: xp.fft.rfftfreq(4, **device),
}


class TestDevices:
    @for_each("name", CREATORS)
    def test_creation_takes_no_device_and_that_of_an_array(self, name):
        create = CREATORS[name]
        default = xp.__array_namespace_info__().default_device()
        assert create(device=None).device == default
        for device in DEVICES:
            assert create(device=xp.zeros(1, device=device).device).device == device

    def test_compare_without_raising(self):
        device = xp.zeros(1).device
        assert device == xp.ones(2).device
        assert (device != xp.ones(2).device) is False
        for other in (None, "cuda", 0, object()):
            assert device != other

    def test_to_the_device_where_an_array_is_gives_the_array(self):
        x = xp.zeros(2)
        assert x.to_device(x.device) is x

    @pytest.mark.parametrize("device", DEVICES, ids=str)
    def test_each_takes_the_default_dtypes(self, device):
        for dtype in (xp.float64, xp.int64):
            assert xp.ones(2, dtype=dtype, device=device).dtype is dtype
            assert dtype.name in xp.__array_namespace_info__().dtypes(device=device)

    def test_are_a_tuple(self):
        # SciPy's own fixture would have a list; the standard decides.
        assert type(DEVICES) is tuple


class TestInfo:
    info = xp.__array_namespace_info__()

    @pytest.mark.parametrize("device", [None, *DEVICES], ids=str)
    @for_each(
        "kind",
        [
            None,
            "bool",
            "signed integer",
            "unsigned integer",
            "integral",
            "real floating",
            "complex floating",
            "numeric",
            ("bool", "integral"),
            ("real floating", "complex floating"),
        ],
    )
    def test_dtypes_are_the_namespaces_own_of_that_kind(self, kind, device):
        found = self.info.dtypes(kind=kind, device=device)
        for name, dtype in found.items():
            assert getattr(xp, name) is dtype
            assert hash(dtype) == hash(getattr(xp, name))
        expected = {
            name for name, dtype in DTYPES.items() if kind is None or xp.isdtype(dtype, kind)
        }
        assert set(found) == expected

    def test_defaults_are_float64_and_int64(self):
        defaults = self.info.default_dtypes(device=self.info.default_device())
        assert defaults == {
            "real floating": xp.float64,
            "complex floating": xp.complex128,
            "integral": xp.int64,
            "indexing": xp.int64,
        }
        assert xp.asarray(1.0).dtype is xp.zeros(1).dtype is xp.float64
        assert xp.asarray(1).dtype is xp.arange(2).dtype is xp.int64

    def test_capabilities_are_both_there(self):
        capabilities = self.info.capabilities()
        assert capabilities["boolean indexing"] is True
        assert capabilities["data-dependent shapes"] is True


class TestDTypes:
    @pytest.mark.parametrize("name", DTYPES)
    def test_compare_with_anything_and_never_raise(self, name):
        dtype = DTYPES[name]
        for same in (np.dtype(name), getattr(np, name), name):
            assert (dtype == same) is True
            assert (same != dtype) is False
        # NumPy's float64 equals None, too.
        assert (dtype == None) is (np.dtype(name) == None)  # noqa: E711
        for other in (np.dtype("g"), np.longdouble, "longdouble", [name], 1, object()):
            assert (dtype == other) is False
            assert (dtype != other) is True
        assert [other for other in DTYPES.values() if other == dtype] == [dtype]

    @pytest.mark.parametrize("name", DTYPES)
    def test_are_no_arrays_but_numpy_takes_them(self, name):
        """xarray and cubed ask for ``np.dtype(x.dtype)`` and hand NumPy's dtypes back."""
        dtype = np.dtype(xp.zeros(2, dtype=DTYPES[name]).dtype)
        assert dtype == np.dtype(name)
        assert xp.zeros(2, dtype=dtype).dtype is DTYPES[name]
        assert not array_api_compat.is_array_api_obj(DTYPES[name])

    @pytest.mark.parametrize("name", DTYPES)
    def test_print_as_their_names(self, name):
        assert str(DTYPES[name]) == name

    def test_result_type_takes_arrays_dtypes_and_scalars_together(self):
        x = xp.zeros(2, dtype=xp.float32)
        assert xp.result_type(x, 1.0, xp.int8, True) is xp.float32
        assert xp.result_type(x, 1j) is xp.complex64
        assert xp.result_type(3, xp.int8) is xp.int8
        assert xp.result_type(1, 2.0) is xp.float64
        assert xp.result_type(x, np.float64(1)) is xp.float64

    def test_isdtype_takes_tuples(self):
        assert xp.isdtype(xp.float32, ("integral", "real floating"))
        assert xp.isdtype(xp.float32, ("bool", xp.float32))
        assert not xp.isdtype(xp.float32, ("integral", xp.float64))

    @pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
    def test_finfo_is_in_python_floats(self, name):
        limits = xp.finfo(DTYPES[name])
        assert type(limits.eps) is float
        assert limits.eps == np.finfo(name).eps
        assert type(limits.smallest_normal) is float

    @pytest.mark.parametrize(
        ("given", "name"),
        [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")],
    )
    def test_python_types_stand_for_them(self, given, name):
        assert xp.zeros(2, dtype=given).dtype is DTYPES[name]
        assert xp.asarray([0, 1], dtype=given).dtype is DTYPES[name]
        assert xp.astype(xp.zeros(2), given).dtype is DTYPES[name]
        assert xp.full(2, 1, dtype=given).dtype is DTYPES[name]
        assert xp.isdtype(given, name if name == "bool" else DTYPES[name])
