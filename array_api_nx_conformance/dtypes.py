"""The dtypes of the standard by their names, for namespaces whose own are not known."""

from __future__ import annotations

from typing import Final

INTEGRAL: Final = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
REAL_FLOATING: Final = ("float32", "float64")
COMPLEX: Final = ("complex64", "complex128")
FLOATING: Final = (*REAL_FLOATING, *COMPLEX)
REAL: Final = (*INTEGRAL, *REAL_FLOATING)
NUMERIC: Final = (*REAL, *COMPLEX)
ALL: Final = ("bool", *NUMERIC)

EXTRA: Final = ("float16", "bfloat16")
"""Dtypes beyond the standard that namespaces may have. No test uses them."""
