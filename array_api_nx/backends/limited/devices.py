"""The names of the devices for tests, and how they load."""

from __future__ import annotations

from typing import Final, NamedTuple

from ...contract.backend import Backend
from ...core import dtypes as d
from ...core.dtypes import DType
from ..engines.devices import EngineSpec, Traits

PROPERTIES: Final = (
    "immutable",
    "lazy",
    "no_float64",
    "no_host",
    "no_mask_index",
    "no_x64",
    "slow_transfer",
    "static_shapes",
)
"""Limits that devices for tests can have; `limits` says what each one means."""


class Limited(NamedTuple):
    """The parts of the name of a device for tests.

    `number`: what tells devices with the same properties apart; often empty.
    `properties`: sorted.
    """

    number: str
    properties: tuple[str, ...]


def parsed(rest: str) -> Limited:
    """The rest of a device's name, such as ``"1:no_float64,lazy"``.

    Raises ValueError if it is none; the error lists the properties.
    """
    number, _, words = rest.partition(":")
    if not number.isdecimal():
        number, words = "", rest
    properties = tuple(sorted({word.strip() for word in words.split(",")} - {""}))
    wrong = [word for word in properties if word not in PROPERTIES]
    if wrong:
        raise ValueError(
            f"its properties are {', '.join(PROPERTIES)}, in any combination, as in "
            "test:immutable,lazy, and a number in front of them makes another such device, as in "
            "test:1:lazy"
        )
    return Limited(str(int(number)) if number else "", properties)


def _resolve_test(rest: str) -> str:
    number, properties = parsed(rest)
    return ":".join(filter(None, [number, ",".join(properties)]))


def _load_test(name: str) -> Backend:
    from .limits import limited

    return limited(name, parsed(name.partition(":")[2]).properties)


def _test_traits(name: str) -> Traits:
    properties = parsed(name.partition(":")[2]).properties
    missing: frozenset[DType] = frozenset()
    if "no_float64" in properties:
        missing = frozenset(d.DOUBLE)
    if "no_x64" in properties:
        missing = frozenset(d.WIDE)
    return Traits(
        missing,
        boolean_indexing="no_mask_index" not in properties and "static_shapes" not in properties,
        data_dependent_shapes="static_shapes" not in properties,
    )


def _resolve_meta(rest: str) -> str:
    if rest:
        raise ValueError("there is one such device, meta")
    return ""


def _load_meta(name: str) -> Backend:
    from .elementless import MetaBackend

    return MetaBackend(name)


def _meta_traits(name: str) -> Traits:
    return Traits(boolean_indexing=False, data_dependent_shapes=False)


LIMITED: Final = (
    EngineSpec("test", _resolve_test, _load_test, traits=_test_traits),
    EngineSpec("meta", _resolve_meta, _load_meta, traits=_meta_traits),
)
"""They are not offered: code that goes through all devices means real ones."""
