"""A pytest plugin: SciPy's tests get the namespace from their fixture ``xp``.

SciPy's ``conftest.py`` makes the fixture with the namespaces that SciPy knows by name. Its own code
for the fixture is kept, and with it the marks by which tests are left out: those that name a
namespace do not fit an unknown one, the general ones (``np_only``, ``cpu_only``) do.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_plugin_registered(plugin: Any) -> None:
    """Change the fixtures of SciPy's ``conftest.py`` before pytest reads them."""
    if not hasattr(plugin, "xp_known_backends"):
        return
    namespace = pkgutil.resolve_name(os.environ["ARRAY_API_TESTS_MODULE"])
    name = namespace.__name__
    param = pytest.param(namespace, id=name, marks=pytest.mark.array_api_backends)
    plugin.xp = pytest.fixture(params=[param])(inspect.unwrap(plugin.xp))
    if name not in plugin.xp_known_backends:
        plugin.xp_known_backends.add(name)
        plugin.devices = _devices


@pytest.fixture(name="devices")
def _devices(xp: Any) -> list[object]:
    """All devices and None; SciPy's own fixture adds a list to what the standard calls a tuple."""
    return [*xp.__array_namespace_info__().devices(), None]
