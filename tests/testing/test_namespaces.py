"""Namespaces by short names."""

import sys
from importlib.util import find_spec

import pytest

import array_api_nx as xp
from array_api_nx.testing.namespaces import Choice, NotInstalledError, namespace, parse
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("text", "module", "version", "device", "elsewhere"),
    [
        ("nx", "nx", None, "", False),
        (" nx:strict ", "nx", "2025.12", "", False),
        ("nx:strict@2022.12", "nx", "2022.12", "", False),
        ("nx:strict:torch:cpu", "nx", "2025.12", "torch:cpu", False),
        ("nx:strict@2024.12:lazy", "nx", "2024.12", "test:lazy", False),
        ("nx:meta", "nx", None, "meta", False),
        ("nx:lazy+immutable", "nx", None, "test:lazy,immutable", False),
        ("nx:test:2:lazy", "nx", None, "test:2:lazy", False),
        ("nx:elsewhere", "nx", None, "test:1", True),
        ("nx:elsewhere:no_float64", "nx", None, "test:no_float64", True),
        ("numpy", "numpy", None, "", False),
        ("jax.numpy", "jax.numpy", None, "", False),
        ("torch:cuda:1", "torch", None, "cuda:1", False),
    ],
)
def test_parse(text, module, version, device, elsewhere):
    assert parse(text) == Choice(text.strip(), module, version, device, elsewhere)


@pytest.mark.parametrize("text", ["", "two words", "nx:lazy+quick", "nx:a+b", "1:cpu"])
def test_names_that_mean_nothing(text):
    refused(ValueError, r"nx:lazy|properties of test devices", parse, text)


def test_the_default_device_holds_while_it_is_open():
    before = xp.zeros(1).device
    with namespace("nx:no_float64") as (opened, device):
        assert opened is xp
        assert str(device) == "test:no_float64"
        assert xp.zeros(1).device == device
    assert xp.zeros(1).device == before


def test_elsewhere_is_not_the_default_device():
    with namespace("nx:elsewhere") as (opened, device):
        assert opened.zeros(1).device != device
        assert opened.zeros(1, device=device).device == device
        refused(ValueError, "test:1", lambda: opened.zeros(1) + opened.zeros(1, device=device))


def test_strict_namespaces():
    with namespace("nx:strict@2022.12") as (opened, device):
        assert opened.__array_api_version__ == "2022.12"
        assert opened.zeros(1).device == device
    with namespace("nx:strict:meta") as (opened, device):
        assert opened.zeros(1).device == device == xp.Device("meta")


def test_numpy():
    with namespace("numpy") as (opened, device):
        assert opened.__name__.endswith("numpy")
        assert opened.zeros(2, device=device).sum() == 0


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_devices_of_other_libraries():
    import torch

    with namespace("torch:meta") as (opened, device):
        assert opened.zeros(2).device == device == torch.device("meta")
    assert torch.zeros(2).device == torch.device("cpu")


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
def test_jax():
    with namespace("jax.numpy:cpu") as (opened, device):
        assert opened.zeros(2).device == device


def test_what_cannot_be_opened():
    for text, error, match in (
        ("nx:strict@1999.12", ValueError, "1999.12"),
        ("nx:no_such_device", ValueError, "no_such_device"),
        ("numpy:cpu", ValueError, "write numpy"),
        ("no_such_library", NotInstalledError, "no_such_library is not installed; is it on"),
    ):
        with pytest.raises(error, match=match), namespace(text):
            pass
    assert "no_such_library" not in sys.modules
