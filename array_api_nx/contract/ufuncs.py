"""What a backend is told of a ufunc that is no primitive of the table.

A ufunc computes results element by element and has a loop per combination of dtypes. NumPy has a
hundred of them, SciPy's special functions are another 230, and Numba makes them of Python
functions.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ..core.dtypes import DType

__all__ = ["UfuncLoop"]


@final
class UfuncLoop:
    """A ufunc on operands of given dtypes, compared and hashed by identity.

    Attributes
    ----------
    ufunc : numpy.ufunc
        Without a signature of core dimensions: it computes element by element.
    name : str
    inputs, outputs : tuple of DType
        What the loop takes and gives.
    """

    __slots__ = ("__weakref__", "inputs", "name", "outputs", "ufunc")

    def __init__(
        self, ufunc: np.ufunc, inputs: tuple[DType, ...], outputs: tuple[DType, ...]
    ) -> None:
        self.ufunc = ufunc
        self.name = ufunc.__name__
        self.inputs = inputs
        self.outputs = outputs

    def __repr__(self) -> str:
        takes = ", ".join([str(dtype) for dtype in self.inputs])
        gives = ", ".join([str(dtype) for dtype in self.outputs])
        return f"<ufunc {self.name} of {takes} to {gives}>"
