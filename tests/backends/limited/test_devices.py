"""The names of devices for tests, and their properties before they are used."""

import pickle

import pytest

import array_api_nx as xp
from array_api_nx.backends.limited.devices import PROPERTIES
from array_api_nx.device import is_loaded
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("test", "test"),
        ("test:lazy", "test:lazy"),
        ("test:no_float64,immutable", "test:immutable,no_float64"),
        ("test:lazy, lazy,,", "test:lazy"),
        ("test:1", "test:1"),
        ("test:01:no_float64", "test:1:no_float64"),
        ("meta", "meta"),
    ],
)
def test_properties_in_any_order_are_one_device(given, canonical):
    device = xp.Device(given)
    assert str(device) == canonical
    assert xp.Device(canonical) is device
    assert pickle.loads(pickle.dumps(device)) is device


@pytest.mark.parametrize("name", ["test:slow", "test:lazy:1", "test:1:2", "test:-1", "test:Lazy"])
def test_other_names_are_errors_that_list_the_properties(name):
    with pytest.raises(ValueError, match=r"its properties are immutable, lazy, .*as in test:") as e:
        xp.Device(name)
    assert all(each in str(e.value) for each in PROPERTIES)


def test_there_is_one_device_meta():
    refused(ValueError, "there is one such device, meta", xp.Device, "meta:1")


@pytest.mark.parametrize("prop", PROPERTIES)
def test_a_property_alone_names_the_device_that_is_meant(prop):
    refused(ValueError, f"did you mean 'test:{prop}'", xp.Device, prop)


def test_numbers_make_devices_that_do_not_mix():
    first, second = [xp.ones(3, device=f"test:{number}:lazy") for number in (1, 2)]
    refused(ValueError, r"different devices, test:1:lazy and test:2:lazy", lambda: first + second)
    refused(ValueError, "different devices", lambda: first + xp.ones(3, device="cpu"))
    assert bool(xp.all(first + second.to_device(first.device) == 2))


def test_devices_load_on_first_use():
    device = xp.Device("test:77")
    assert not is_loaded(device)
    assert float(xp.sum(xp.ones(3, device=device))) == 3.0
    assert is_loaded(device)


def test_they_are_listed_only_as_the_default():
    info = xp.__array_namespace_info__()
    device = xp.Device("test:lazy")
    assert not [each for each in info.devices() if str(each).startswith(("test", "meta"))]
    with xp.config_context(default_device=device):
        assert info.default_device() == device
        assert info.devices()[-1] is device


@pytest.mark.parametrize(
    ("name", "masks", "shapes"),
    [
        ("cpu", True, True),
        ("test:lazy,immutable,no_x64,no_host", True, True),
        ("test:no_mask_index", False, True),
        ("test:static_shapes", False, False),
        ("meta", False, False),
    ],
)
def test_capabilities_are_those_of_the_default_device(name, masks, shapes):
    with xp.config_context(default_device=name):
        found = xp.__array_namespace_info__().capabilities()
    assert found == {
        "boolean indexing": masks,
        "data-dependent shapes": shapes,
        "max dimensions": 64,
    }


WIDE = ("float64", "complex128")


@pytest.mark.parametrize(
    ("name", "missing", "defaults"),
    [
        ("test:lazy", (), (xp.float64, xp.complex128, xp.int64)),
        ("meta", (), (xp.float64, xp.complex128, xp.int64)),
        ("test:no_float64", WIDE, (xp.float32, xp.complex64, xp.int64)),
        ("test:no_x64", (*WIDE, "int64", "uint64"), (xp.float32, xp.complex64, xp.int32)),
        (
            "test:no_x64,no_float64,lazy",
            (*WIDE, "int64", "uint64"),
            (xp.float32, xp.complex64, xp.int32),
        ),
    ],
)
def test_dtypes_and_defaults(name, missing, defaults):
    info = xp.__array_namespace_info__()
    every = info.dtypes(device="cpu")
    assert info.dtypes(device=name) == {k: v for k, v in every.items() if k not in missing}
    real, imaginary, integral = defaults
    assert info.default_dtypes(device=name) == {
        "real floating": real,
        "complex floating": imaginary,
        "integral": integral,
        "indexing": integral,
    }
