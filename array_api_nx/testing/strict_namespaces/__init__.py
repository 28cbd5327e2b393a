"""Strict namespaces: a version of the standard, and nothing that it leaves unspecified.

Code that runs on one of them keeps to the standard, as far as its calls go::

    xp = array_api_nx.testing.strict("2024.12")
    x = xp.asarray([1.0, 2.0])
    x + xp.asarray([1, 2])  # TypeError: what float64 with int64 gives is left unspecified

Each refusal cites the standard with its section, and names an alternative. Calls that are
allowed are computed by `array_api_nx`, on any of its devices.
"""

from __future__ import annotations

from ...frontend.docstrings import complete_docstrings
from .namespace import StrictNamespace, namespace_of
from .policy import Policy
from .versions import ALIASES, VERSIONS

__all__ = ["StrictNamespace", "strict"]

_EXTENSIONS = ("linalg", "fft")


def strict(
    api_version: str = "2025.12",
    *,
    extensions: tuple[str, ...] = _EXTENSIONS,
    data_dependent_shapes: bool = True,
    boolean_indexing: bool = True,
    numpy_conversion: bool = False,
    lists: bool = False,
) -> StrictNamespace:
    """A namespace with exactly the names of a version of the standard, which refuses the rest.

    It refuses the calls that the standard leaves unspecified: dtypes of mixed kinds, NumPy arrays
    as operands, index arrays beside slices, slices out of bounds, NumPy's methods, arguments by
    another position or name. Arrays of two namespaces do not mix.

    api_version: ``"2022.12"``, ``"2023.12"``, ``"2024.12"``, ``"2025.12"``, or ``"draft"``. The
        later a version, the more it has: libraries that support several run their tests with the
        first.
    extensions (tuple of str): Which of ``"linalg"`` and ``"fft"`` there are. Both are optional in
        the standard.
    data_dependent_shapes: Whether functions work whose results' shapes depend on elements:
        ``nonzero``, ``unique_*``, ``repeat`` by an array. Compilers may lack them.
    boolean_indexing: Whether ``x[mask]`` works.
    numpy_conversion: Whether ``numpy.asarray(x)`` works, which the standard says nothing of.
        NumPy's functions for tests need it, and so do libraries that compute with NumPy in between.
    lists: Whether a list of ints goes for a tuple, as a shape or as axes. The standard says nothing
        of it, and most libraries take it.
    Returns (module): Always the same for the same options. With `api_version` alone it can be
        imported, as ``array_api_nx.testing.strict_namespaces.v2024_12``.
    ValueError: If there is no such version or extension.

    >>> from array_api_nx.testing import strict
    >>> xp = strict("2022.12")
    >>> xp.sum(xp.asarray([1, 2, 3]))
    Array(6, dtype=int64)
    >>> hasattr(xp, "clip")
    False
    """
    version = ALIASES.get(api_version, api_version)
    if version not in VERSIONS:
        known = ", ".join([*VERSIONS[:-1], *ALIASES])
        raise ValueError(f"no version {api_version!r} of the standard; versions: {known}")
    if isinstance(extensions, str) or not set(extensions) <= set(_EXTENSIONS):
        raise ValueError(
            f"extensions is a tuple of {' and '.join(map(repr, _EXTENSIONS))}, not {extensions!r}"
        )
    return namespace_of(
        Policy(
            version,
            tuple([name for name in _EXTENSIONS if name in extensions]),
            bool(data_dependent_shapes),
            bool(boolean_indexing),
            bool(numpy_conversion),
            bool(lists),
        )
    )


complete_docstrings(globals(), ["strict"])
