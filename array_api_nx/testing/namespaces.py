"""Namespaces by short names: what `--xp` of the pytest plugin takes, and `namespace` opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from ..backends.engines.devices import ENGINES
from ..backends.limited.devices import PROPERTIES
from ..config import config_context
from ..device import Device, default_device
from ..frontend import inspection
from ..frontend.docstrings import complete_docstrings
from .strict_namespaces import strict

__all__ = ["Choice", "NotInstalledError", "UnderTest", "namespace", "parse"]

AnyDevice: TypeAlias = Any
"""A device of whatever library."""

OURS: Final = "nx"
_ELSEWHERE: Final = "test:1"
"""The device of ``nx:elsewhere``: computes as the CPU does, and is not the default one."""

# Libraries whose arrays the compatibility layer knows under a namespace of its own.
_WRAPPED: Final = {
    name: f"array_api_compat.{name}" for name in ("numpy", "torch", "cupy", "dask.array")
}
_INSTALL: Final = {
    "array_api_strict": "pip install array-api-strict",
    **{engine.requires: engine.install for engine in ENGINES},
}


class NotInstalledError(ImportError):
    """A library that a name asks for is not there; the message says what to install."""


class Choice(NamedTuple):
    """The namespace that a short name selects.

    text: The short name.
    module: ``"nx"``, or the name of a module.
    version: For a strict namespace, the version of the standard.
    device: Where arrays are made; empty for the default device.
    elsewhere: Whether the default device stays another one.
    """

    text: str
    module: str
    version: str | None
    device: str
    elsewhere: bool


class UnderTest(NamedTuple):
    """An open namespace.

    Attributes
    ----------
    xp : module
    device : Device or the library's own, or None
        Where a test is to make its arrays; None where the library names no default device.
    """

    xp: ModuleType
    device: AnyDevice


def parse(text: str) -> Choice:
    """The namespace that a short name selects, without importing it.

    text: ``nx``, ``nx:strict``, ``nx:strict@2024.12``, each also followed by ``:DEVICE``, or
        ``:elsewhere`` and perhaps ``:DEVICE``; or the name of a module. DEVICE is the name of a
        device, or properties of a test device with ``+`` between them, as in ``nx:lazy+immutable``.
    ValueError: If it is none of these.
    """
    module, _, rest = text.strip().partition(":")
    if not all(part.isidentifier() for part in module.split(".")):
        raise ValueError(
            f"no namespace {text!r}; write nx, nx:strict, nx:strict@2024.12, nx:lazy, nx:meta, "
            "nx:torch:cpu, nx:elsewhere, or the name of a module such as numpy"
        )
    if module != OURS:
        return Choice(text.strip(), module, None, rest, elsewhere=False)
    version = None
    first, _, after = rest.partition(":")
    if first.partition("@")[0] == "strict":
        version, rest = first.partition("@")[2] or inspection.VERSIONS[-1], after
    first, _, after = rest.partition(":")
    elsewhere = first == "elsewhere"
    if elsewhere:
        rest = after or _ELSEWHERE
    words = rest.split("+")
    if rest and set(words) <= set(PROPERTIES):
        rest = f"test:{','.join(words)}"
    elif "+" in rest:
        raise ValueError(
            f"{text!r} combines what are no properties of test devices; those are "
            f"{', '.join(PROPERTIES)}"
        )
    return Choice(text.strip(), module, version, rest, elsewhere)


@contextmanager
def namespace(text: str) -> Iterator[UnderTest]:
    """Open the namespace of a short name, for a ``with`` statement.

    text: ``"nx"``, this package; ``"nx:strict"`` or ``"nx:strict@2024.12"``, the standard and
        nothing else; ``"nx:DEVICE"``, with that default device, such as ``"nx:torch:cpu"``,
        ``"nx:meta"``, or properties of a test device, ``"nx:lazy+immutable"``; ``"nx:elsewhere"``,
        where `device` is not the default one, so that arrays made without ``device=`` show; or the
        name of another library: ``"numpy"``, ``"torch"``, ``"torch:cuda"``, ``"jax.numpy"``,
        ``"dask.array"``, ``"cupy"``, ``"array_api_strict"``.
    Returns (UnderTest): The namespace, and the device to make arrays on.
    ValueError: If there is no such namespace, version or device.
    NotInstalledError: If the library is not installed.

    >>> import array_api_nx as nx
    >>> with nx.testing.namespace("nx:no_float64") as (xp, device):
    ...     xp.asarray([0.5]).dtype
    dtype('float32')
    """
    choice = parse(text)
    with ExitStack() as stack:
        yield _open_ours(choice, stack) if choice.module == OURS else _open_other(choice, stack)


def _open_ours(choice: Choice, stack: ExitStack) -> UnderTest:
    xp = inspection.namespace(None) if choice.version is None else strict(choice.version)
    if not choice.device:
        return UnderTest(xp, default_device())
    try:
        device = Device(choice.device)
    except ImportError as error:
        raise NotInstalledError(str(error)) from None
    if choice.elsewhere:
        # Arrays made without device= are uncommitted, and would follow the others.
        stack.enter_context(config_context(placement="strict"))
    else:
        stack.enter_context(config_context(default_device=device))
    return UnderTest(xp, device)


def _open_other(choice: Choice, stack: ExitStack) -> UnderTest:
    root = choice.module.partition(".")[0]
    if find_spec(root) is None:
        # Other libraries may have devices of any name.
        known = _INSTALL.get(root)
        advice = f"install it with: {known}" if known else "is it on PYTHONPATH?"
        raise NotInstalledError(f"{root} is not installed; {advice}")
    xp = import_module(_WRAPPED.get(choice.module, choice.module))
    if choice.device:
        return UnderTest(xp, stack.enter_context(_default_device(choice)))
    info = getattr(xp, "__array_namespace_info__", None)
    return UnderTest(xp, None if info is None else info().default_device())


@contextmanager
def _default_device(choice: Choice) -> Iterator[AnyDevice]:
    """The device of another library, as its default one."""
    using: AbstractContextManager[object]
    if choice.module == "torch":
        using = device = import_module("torch").device(choice.device)
    elif choice.module == "jax.numpy":
        jax = import_module("jax")
        platform, _, number = choice.device.partition(":")
        device = jax.devices(platform)[int(number or 0)]
        using = jax.default_device(device)
    else:
        raise ValueError(
            f"{choice.text!r}: devices are taken after nx:, torch: and jax.numpy:; "
            f"write {choice.module}"
        )
    with using:
        yield device


complete_docstrings(globals(), ["namespace"])
