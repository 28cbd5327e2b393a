"""Calls that C and Python answer alike."""

from collections.abc import Callable
from functools import partial

from tests.support import implementations

DTYPES = [
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float32", "float64", "complex64", "complex128"],
]


def compare(call: Callable[..., object], *args: object, **keywords: object) -> None:
    """Assert that C and Python answer a call alike, as `implementations.assert_alike` does."""
    implementations.assert_alike(partial(call, **keywords), list(args), str(keywords))
