"""The inspection chapter."""

import pytest

import array_api_nx as xp
from array_api_nx import Device

KINDS = {
    "bool": ["bool"],
    "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
    "real floating": ["float32", "float64"],
    "complex floating": ["complex64", "complex128"],
}
ALL = [name for names in KINDS.values() for name in names]


@pytest.fixture
def info():
    return xp.__array_namespace_info__()


def test_capabilities(info):
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert xp.ones((1,) * 64).ndim == 64


def test_what_is_returned_is_the_callers(info):
    info.capabilities()["boolean indexing"] = False
    info.dtypes().clear()
    info.default_dtypes().clear()
    assert info.capabilities()["boolean indexing"] is True
    assert len(info.dtypes()) == 13
    assert len(info.default_dtypes()) == 4


def test_devices(info):
    devices = info.devices()
    assert type(devices) is tuple
    assert devices[0] == info.default_device() == Device("cpu")
    assert xp.zeros(1).device == info.default_device()


@pytest.mark.parametrize("device", [None, "cpu", Device("cpu")])
def test_default_dtypes(info, device):
    assert info.default_dtypes(device=device) == {
        "real floating": xp.zeros(1).dtype,
        "complex floating": xp.asarray(1j).dtype,
        "integral": xp.arange(1).dtype,
        "indexing": xp.argmax(xp.zeros(1)).dtype,
    }


@pytest.mark.parametrize("device", [None, "cpu", Device("cpu")])
def test_dtypes(info, device):
    assert list(info.dtypes(device=device)) == ALL
    for name, dtype in info.dtypes(device=device).items():
        assert dtype is getattr(xp, name)
        assert xp.zeros(2, dtype=dtype, device=device).dtype is dtype
    for kind, names in KINDS.items():
        assert list(info.dtypes(kind=kind, device=device)) == names
    assert list(info.dtypes(kind="integral")) == [
        *KINDS["signed integer"],
        *KINDS["unsigned integer"],
    ]
    assert list(info.dtypes(kind="numeric")) == [name for name in ALL if name != "bool"]


def test_dtypes_of_several_kinds(info):
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    assert list(info.dtypes(kind=("real floating", "numeric"))) == ALL[1:]
    assert info.dtypes(kind=()) == {}


def test_dtypes_agree_with_isdtype(info):
    for kind in (*KINDS, "integral", "numeric"):
        for name, dtype in info.dtypes().items():
            assert xp.isdtype(dtype, kind) == (name in info.dtypes(kind=kind))
