"""Up to how many elements NumPy computes a function in less time than this package.

A function of ours that C does not answer itself takes microseconds to begin, and gains by its
passes over memory and its threads (docs/tuning.md, 137).
"""

from __future__ import annotations

import sys
from typing import Final

from ..native import native

VERY_FEW: Final = 2**9
SOME: Final = 2**13
FEW: Final = 2**15
MORE: Final = 2**16
MANY: Final = 2**19
ANY: Final = sys.maxsize
EDGES_GIVEN: Final = 2**17
"""For a histogram between edges in an array: NumPy sorts the elements."""

_TO_ANY: Final = """
atleast_1d atleast_2d atleast_3d clip column_stack concat concatenate convolve diag diagonal dstack
empty_like expand_dims flip hstack inner interp iscomplexobj isin isrealobj item linalg.diagonal
linalg.norm linalg.trace linalg.vecdot median moveaxis nanmax nanmedian nanmin nanpercentile
nanquantile nonzero percentile quantile repeat result_type squeeze stack swapaxes take tile trace
transpose tril triu unstack vdot vstack zeros_like
"""
"""Functions of any size: views and attributes, and those whose passes are NumPy's, too. To these
belongs the method ``reduce`` of ufuncs."""

_TO_MANY: Final = "add.reduce bitwise_count diff frexp ldexp linalg.tensordot tensordot"
_TO_MORE: Final = """
divmod fft.fft fft.ifft fft.irfft fft.irfft2 fft.irfftn gcd heaviside lcm logaddexp2 modf spacing
"""
_TO_TWICE_MORE: Final = "fft.rfft fft.rfft2 fft.rfftn"  # which take half the time
_TO_VERY_FEW: Final = "lexsort select"
_TO_SOME: Final = """
angle einsum fft.fft2 fft.fftn fft.ifft2 fft.ifftn histogram nan_to_num nanargmax nanargmin
nancumprod nancumsum nanmean nanprod nanstd nansum nanvar
"""


_LIMITS: Final = {
    name: most
    for names, most in (
        (_TO_VERY_FEW, VERY_FEW),
        (_TO_SOME, SOME),
        (_TO_MORE, MORE),
        (_TO_TWICE_MORE, 2 * MORE),
        (_TO_MANY, MANY),
        (_TO_ANY, ANY),
    )
    for name in names.split()
}


def most_for_numpy(name: str) -> int:
    """The most elements of an operand of a function that NumPy computes on the device `cpu`.

    Parameters
    ----------
    name : str
        NumPy's name of a function, a method, or a ufunc's method, such as ``add.reduce``.
    """
    if native is None:
        return ANY
    return _LIMITS.get(name, ANY if name.endswith(".reduce") else FEW)
