"""The kit for testing code that takes arrays, and the tests of the contract of backends.

- `strict` namespaces have the names and rules of a version of the standard, and no others.
- `namespace` opens a namespace by its short name: strict ones, devices that lack something on
  purpose, other libraries. The pytest plugin, `array_api_nx.testing.plugin`, runs tests on many.
- `transfers`, `recorded` and `count_evaluations` record the calls of the code under test.
- `xp_assert_equal`, `xp_assert_close`, `xp_assert_same_device` compare arrays of any library.
- `backend_contract` is for authors of backends.

Importing the package loads none of this, and this module loads its larger parts when they are asked
for.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from ..contract.errors import LimitError
from ..contract.events import (
    Evaluation,
    HostAccessError,
    HostAccessWarning,
    Transfer,
    TransferError,
)
from ..frontend.docstrings import complete_docstrings
from .observation import Evaluations, Transfers, count_evaluations, transfers
from .recording import Call, Calls, recorded

if TYPE_CHECKING:
    from ..contract.backend import Backend
    from .assertions import xp_assert_close, xp_assert_equal, xp_assert_same_device
    from .namespaces import namespace
    from .strict_namespaces import strict

__all__ = [
    "Call",
    "Calls",
    "Evaluation",
    "Evaluations",
    "HostAccessError",
    "HostAccessWarning",
    "LimitError",
    "Transfer",
    "TransferError",
    "Transfers",
    "backend_contract",
    "count_evaluations",
    "namespace",
    "recorded",
    "strict",
    "transfers",
    "xp_assert_close",
    "xp_assert_equal",
    "xp_assert_same_device",
]

_LOADED_WHEN_ASKED_FOR: Final = {
    "namespace": ".namespaces",
    "strict": ".strict_namespaces",
    "xp_assert_close": ".assertions",
    "xp_assert_equal": ".assertions",
    "xp_assert_same_device": ".assertions",
}


def __getattr__(name: str) -> object:
    if name in _LOADED_WHEN_ASKED_FOR:
        return getattr(import_module(_LOADED_WHEN_ASKED_FOR[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def backend_contract(backend: Backend, arguments: Sequence[str] = ()) -> int:
    """Run the tests of the backend contract on a backend.

    ``python -m array_api_nx.testing DEVICE`` does the same for the backend of a device.

    backend (Backend): For another device, ``array_api_nx.Device(name).backend``. Tests of what a
        device for tests refuses (with a LimitError) are skipped.
    arguments (sequence of str): For pytest, such as ``["-k", "sort", "-x"]``.
    Returns: The exit status of pytest: 0 if all tests pass.
    ImportError: If pytest or Hypothesis is missing.
    """
    missing = [name for name in ("pytest", "hypothesis") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the contract tests need {' and '.join(missing)}; "
            f"install with pip install {' '.join(missing)}"
        )
    import pytest

    @pytest.hookimpl(wrapper=True)
    def skip_what_is_refused() -> Generator[None, object, object]:
        try:
            return (yield)
        except LimitError as error:
            pytest.skip(str(error))

    plugin = ModuleType("backend_under_test")
    vars(plugin)["pytest_runtest_call"] = skip_what_is_refused
    fixture = pytest.fixture(scope="session", name="backend")(lambda: backend)
    vars(plugin)["backend"] = fixture
    here = Path(__file__).with_name("contract")
    return int(
        pytest.main(
            [
                str(here),
                # No settings of whatever project this runs in.
                f"--config-file={os.devnull}",
                f"--rootdir={here}",
                "--import-mode=importlib",
                "-pno:cacheprovider",
                *arguments,
            ],
            plugins=[plugin],
        )
    )


complete_docstrings(globals(), ["backend_contract"])
