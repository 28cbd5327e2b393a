"""What `Backend.from_host` takes and `Backend.to_host` gives: NumPy's dtypes and strides."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..native import native

__all__ = ["FROM_NUMPY", "TO_NUMPY", "NDArray", "NumPyDType", "has_negative_strides"]

NDArray: TypeAlias = np.ndarray[Any, Any]
NumPyDType: TypeAlias = np.dtype[Any]

TO_NUMPY: Final[dict[DType, NumPyDType]] = {dtype: np.dtype(dtype.name) for dtype in d.ALL}
FROM_NUMPY: Final[dict[NumPyDType, DType]] = {ours: dtype for dtype, ours in TO_NUMPY.items()}

if native is not None:
    _codes = {dtype: code for code, dtype in enumerate(d.ALL)}
    _promotions = bytes([_codes[d.PROMOTION[a, b]] for a in d.ALL for b in d.ALL])
    native.set_dtypes(d.ALL, tuple(TO_NUMPY.values()), _promotions)


def has_negative_strides(array: Any) -> bool:
    """Whether an array of NumPy or CuPy runs backwards along an axis; False for other arrays."""
    strides = getattr(array, "strides", None)
    if type(strides) is not tuple or min(strides, default=0) >= 0 or 0 in array.shape:
        return False
    return any([step < 0 and n > 1 for n, step in zip(array.shape, strides, strict=True)])
