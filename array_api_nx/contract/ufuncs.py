"""Ufuncs that are no primitives of the table, as backends get them.

A ufunc computes results element by element and has a loop per combination of dtypes. NumPy has a
hundred of them, SciPy's special functions are another 230, and Numba makes them of Python
functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias, final
from weakref import WeakValueDictionary

import numpy as np

from ..core.dtypes import CANONICAL, DType

DTypes: TypeAlias = "tuple[DType, ...]"


@final
@dataclass(eq=False, slots=True, weakref_slot=True)
class UfuncLoop:
    """A ufunc on operands of given dtypes, compared and hashed by identity; see `ufunc_loop`.

    `ufunc`: without a signature of core dimensions: it computes element by element.
    `inputs`, `outputs`: dtypes of the operands and of the results.
    `wanted`: the number of the output that is wanted; None for all of them, or the only one.
    """

    ufunc: np.ufunc
    inputs: DTypes
    outputs: DTypes
    wanted: int | None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.ufunc.__name__

    @property
    def output(self) -> DType:
        """The dtype of the output that is wanted, or of the first one."""
        return self.outputs[self.wanted or 0]

    def only(self, wanted: int) -> UfuncLoop:
        """The same for one of several outputs."""
        return ufunc_loop(self.ufunc, self.inputs, self.outputs, wanted)

    def __repr__(self) -> str:
        takes = ", ".join([str(dtype) for dtype in self.inputs])
        gives = ", ".join([str(dtype) for dtype in self.outputs])
        which = "" if self.wanted is None else f", of which number {self.wanted}"
        return f"<ufunc {self.name} of {takes} to {gives}{which}>"

    def __reduce__(self) -> tuple[object, ...]:
        return ufunc_loop, (self.ufunc, self.inputs, self.outputs, self.wanted)


_known: Final[WeakValueDictionary[tuple[object, ...], UfuncLoop]] = WeakValueDictionary()


def ufunc_loop(
    ufunc: np.ufunc, inputs: DTypes, outputs: DTypes, wanted: int | None = None
) -> UfuncLoop:
    """The one `UfuncLoop` for these arguments, while there is a reference to it."""
    key = ufunc, inputs, outputs, wanted
    found = _known.get(key)
    if found is None:
        # Those from a pickle equal the dtypes of `core`, and are other objects.
        inputs, outputs = [tuple([CANONICAL[x] for x in each]) for each in (inputs, outputs)]
        found = _known.setdefault(key, UfuncLoop(ufunc, inputs, outputs, wanted))
    return found
