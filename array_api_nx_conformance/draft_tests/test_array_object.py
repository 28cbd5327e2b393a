"""Attributes of arrays."""

from __future__ import annotations

import pytest

from .under_test import xp


@pytest.mark.parametrize("name", ["__dlpack_c_exchange_api__"])
def test_static_attribute(name: str) -> None:
    capsule = getattr(type(xp.ones((1, 1))), name)
    assert type(capsule).__name__ == "PyCapsule", f"{name} is no PyCapsule, but {capsule!r}"
    assert "dlpack_exchange_api" in repr(capsule), f"{name} is {capsule!r}"
