"""Consumers of arrays that ship no tests of any namespace: calls from their documentation.

Each module has ``CALLS``: name of the operation -> a function that makes arrays of the namespace it
is given, and calls the consumer with them. Where the consumer wraps arrays, the module's ``unwrap``
takes them out of a result.
"""

from __future__ import annotations

from dataclasses import dataclass

BECAME = "the result became"  # another library's array: how the failure's message begins


@dataclass(frozen=True)
class Consumer:
    """A package that takes arrays of a namespace.

    Attributes
    ----------
    name : str
        The distribution, as pip knows it.
    package : str
        The importable package.
    calls : str
        The module with its calls, in this package.
    """

    name: str
    package: str
    calls: str


PACKAGES = {
    consumer.name: consumer
    for consumer in (
        Consumer("xarray", "xarray", "xarray_calls"),
        Consumer("einops", "einops", "einops_calls"),
        Consumer("cubed", "cubed", "cubed_calls"),
        Consumer("opt_einsum", "opt_einsum", "opt_einsum_calls"),
        Consumer("autoray", "autoray", "autoray_calls"),
        Consumer("marray", "marray", "marray_calls"),
        Consumer("pyriemann", "pyriemann", "pyriemann_calls"),
        Consumer("earthkit-meteo", "earthkit.meteo", "earthkit_calls"),
        Consumer("aspire-inference", "aspire", "aspire_calls"),
        Consumer("einx", "einx", "einx_calls"),
    )
}
