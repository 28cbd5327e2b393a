"""What came with which version of the standard, from its changelog and its stubs.

Functions, parameters and kinds of arguments that a version lacks are listed under the version that
brought them: a strict namespace of an earlier one refuses them.
"""

from __future__ import annotations

from typing import Final

from ...primitives.table import TABLE
from .signatures import PAIRS

DRAFT: Final = "2026.12"
"""The version that the standard's draft is to become. It differs from 2025.12 by ``top_k``, and by
``__dlpack_c_exchange_api__``, an optional attribute of the array's class, which is left out."""

VERSIONS: Final = ("2022.12", "2023.12", "2024.12", "2025.12", DRAFT)
ALIASES: Final = {"draft": DRAFT}

_ADDED: Final = {
    "2023.12": "__array_namespace_info__ moveaxis tile unstack astype.device from_dlpack.device "
    "from_dlpack.copy __dlpack__.max_version __dlpack__.dl_device __dlpack__.copy",
    "2024.12": "diff take_along_axis fft.fftfreq.dtype fft.rfftfreq.dtype",
    "2025.12": "broadcast_shapes linalg.eig linalg.eigvals",
    DRAFT: "top_k",
}

ADDED: Final = {
    version: [*[op.name for op in TABLE if op.since == version], *names.split()]
    for version, names in _ADDED.items()
}
"""New functions, and new parameters as ``function.parameter``."""

WIDENED: Final = {
    "2024.12": {
        **{f"{name}.{x}": "scalar" for name in (*PAIRS, "where") for x in ("x1", "x2")},
        "mean.x": "array[complex]",
        "conj.x": "array[real]",
        "real.x": "array[real]",
        "result_type": "scalar",
        "indexing": "integer arrays",
        "operators": "complex with real",
    },
    "2025.12": {
        "searchsorted.x2": "scalar",
        "expand_dims.axis": "ints",
        "permute_dims.axes": "negative",
    },
}
"""What existing parameters, and indexing and operators, began to take."""

# How dtypes that a version did not take yet leave the group of the newest version.
NARROWER: Final = {
    ("mean.x", "array[complex]"): "real_floating",
    ("conj.x", "array[real]"): "complex",
    ("real.x", "array[real]"): "complex",
}


def added_in(name: str) -> str:
    """The version that brought a function or a parameter; the first one if it was always there."""
    for version, names in ADDED.items():
        if name in names:
            return version
    return VERSIONS[0]


def lacks(version: str, name: str) -> bool:
    """Whether a version lacks a function or a parameter that later ones have."""
    return version < added_in(name)


def widened_in(place: str, what: str) -> str:
    """The version in which a place began to take something; the first one if it always did."""
    for version, places in WIDENED.items():
        if places.get(place) == what:
            return version
    return VERSIONS[0]
