"""NumPy's names for our dtypes: what `Backend.from_host` takes and `Backend.to_host` gives."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType

__all__ = ["FROM_NUMPY", "TO_NUMPY"]

TO_NUMPY: Final[dict[DType, np.dtype[Any]]] = {dtype: np.dtype(dtype.name) for dtype in d.ALL}
FROM_NUMPY: Final[dict[np.dtype[Any], DType]] = {ours: dtype for dtype, ours in TO_NUMPY.items()}
