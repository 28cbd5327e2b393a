"""The pytest plugin: a test that takes ``xp`` runs once for each namespace of ``--xp``.

It is loaded on request alone: ``pytest -p array_api_nx.testing.plugin``, or
``pytest_plugins = ["array_api_nx.testing.plugin"]`` in a project's top ``conftest.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any, Final, TypeAlias

import pytest

from ..core.dtypes import KINDS, STANDARD
from ..device import Device
from ..frontend import inspection
from .namespaces import AnyDevice, Choice, NotInstalledError, UnderTest, namespace, parse

AnyDType: TypeAlias = Any
"""A dtype of whatever library."""

_CASE: Final = "xp_under_test"
_DTYPE: Final = "xp_dtype_name"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = (
        "namespaces for tests that take xp: nx, nx:strict, nx:strict@2024.12, nx:lazy+immutable, "
        "nx:meta, nx:elsewhere, nx:torch:cpu, or modules (numpy, torch, jax.numpy, ...)"
    )
    parser.getgroup("array API").addoption("--xp", metavar="NAME[,NAME]", help=text)
    parser.addini("xp", text, type="args", default=["nx"])


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "xp_skip(*names, reason): skip for the namespaces of --xp whose names match",
        "xp_xfail(*names, reason, raises=None, strict=True): expect to fail for these namespaces",
        "xp_dtypes(*kinds): the kinds of dtypes that the fixture dtype goes over",
    ):
        config.addinivalue_line("markers", line)
    _choices(config)  # errors are raised before any test runs


def _choices(config: pytest.Config) -> list[Choice]:
    given = config.getoption("--xp")
    texts = given.split(",") if given else config.getini("xp")
    try:
        return [parse(text) for text in dict.fromkeys(texts)]
    except ValueError as error:
        raise pytest.UsageError(f"--xp: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if _CASE in metafunc.fixturenames:
        choices = _choices(metafunc.config)
        metafunc.parametrize(_CASE, choices, ids=[c.text for c in choices], indirect=True)
    if _DTYPE in metafunc.fixturenames:
        kinds = [
            kind for mark in metafunc.definition.iter_markers("xp_dtypes") for kind in mark.args
        ]
        metafunc.parametrize(_DTYPE, _dtype_names(metafunc.definition, kinds))


def _dtype_names(test: pytest.Item, kinds: list[str]) -> list[str]:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise pytest.UsageError(
            f"{test.nodeid}: no kinds {', '.join(map(repr, unknown))} of dtypes; kinds: "
            f"{', '.join(KINDS)}"
        )
    # Which of them a device lacks shows when a test runs.
    chosen = [dtype for kind in kinds or KINDS for dtype in KINDS[kind]]
    return list(dict.fromkeys(dtype.name for dtype in chosen if dtype in STANDARD))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        choice = None if callspec is None else callspec.params.get(_CASE)
        for mark in item.iter_markers("xp_skip"):
            if _applies(item, mark, choice):
                item.add_marker(pytest.mark.skip(reason=mark.kwargs["reason"]))
        for mark in item.iter_markers("xp_xfail"):
            if _applies(item, mark, choice):
                item.add_marker(pytest.mark.xfail(**{"strict": True, **mark.kwargs}))


def _applies(item: pytest.Item, mark: pytest.Mark, choice: Choice | None) -> bool:
    """Whether a marker is about the namespace that a test runs for."""
    if not mark.args or not mark.kwargs.get("reason"):
        raise pytest.UsageError(
            f"{item.nodeid}: {mark.name} takes names of namespaces, such as 'nx:lazy' or 'torch*', "
            "and reason='...'"
        )
    return choice is not None and any(fnmatchcase(choice.text, name) for name in mark.args)


@pytest.fixture
def xp_under_test(request: pytest.FixtureRequest) -> Iterator[UnderTest]:
    """The namespace and device of this test; its default device holds while the test runs."""
    try:
        opened = namespace(request.param.text)
        with opened as under_test:
            yield under_test
    except NotInstalledError as error:
        pytest.skip(str(error))


@pytest.fixture
def xp(xp_under_test: UnderTest) -> ModuleType:
    """The namespace under test: one of those of ``--xp``."""
    return xp_under_test.xp


@pytest.fixture
def device(xp_under_test: UnderTest) -> AnyDevice:
    """The device to make arrays on: the default one, but for ``nx:elsewhere``."""
    return xp_under_test.device


@pytest.fixture
def dtype(xp_under_test: UnderTest, xp_dtype_name: str) -> AnyDType:
    """A dtype of the namespace, of the kinds of the marker ``xp_dtypes``, or any.

    Skipped where the namespace or the device lacks it.
    """
    xp, device = xp_under_test
    # Strict namespaces of 2022.12 say nothing of themselves.
    source = inspection.namespace(None) if isinstance(device, Device) else xp
    info = source.__array_namespace_info__()
    there = info.dtypes() if device is None else info.dtypes(device=device)
    if xp_dtype_name not in there:
        where = xp.__name__ if device is None else device
        pytest.skip(f"{where} has no {xp_dtype_name}")
    return getattr(xp, xp_dtype_name)
