"""Array functions beyond the standard, under the names that NumPy has for them.

They take and give arrays of this package, on every device. Each is also found at the top level,
``xp.pad`` for ``xp.extra.pad``, because libraries look there for what the standard lacks; but
neither `dir` nor ``__all__`` of the top level lists it, and ``config_context(extras=False)`` hides
it there, so that code which is meant to run on every namespace finds out what it relies on.
"""

# ruff: noqa: F403, F405 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from ..frontend.docstrings import complete_docstrings
from ..frontend.evaluation import in_one_pass
from ..frontend.ufuncs import apply_ufunc
from .convolution import *
from .correlation import *
from .counting import *
from .creation import *
from .elementwise import *
from .exponentials import *
from .manipulation import *
from .nans import *
from .numerical import *
from .products import *
from .selecting import *
from .statistical import *
from .windows import *

__all__ = [
    "allclose",
    "apply_ufunc",
    "argpartition",
    "array_equal",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bincount",
    "concatenate",
    "conv",
    "convolve",
    "corrcoef",
    "cov",
    "cumprod",
    "cumsum",
    "cumulative_max",
    "cumulative_min",
    "diag",
    "diagonal",
    "einsum",
    "fold",
    "gradient",
    "histogram",
    "histogram2d",
    "histogramdd",
    "in_one_pass",
    "interp",
    "isclose",
    "logspace",
    "logsumexp",
    "max_pool",
    "mean_pool",
    "median",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "pad",
    "partition",
    "put_along_axis",
    "quantile",
    "ravel",
    "roots",
    "sinc",
    "sliding_window_view",
    "softmax",
    "top_k",
    "transpose",
    "trapezoid",
    "unfold",
]


def __dir__() -> list[str]:
    # Without the modules that this package consists of.
    return __all__


complete_docstrings(globals(), __all__)
