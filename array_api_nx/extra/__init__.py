"""Array functions beyond the standard, under the names that NumPy has for them.

They take and give arrays of this package, on every device. Each is also found at the top level,
``xp.pad`` for ``xp.extra.pad``, because libraries look there for what the standard lacks; but
neither `dir` nor ``__all__`` of the top level lists it, and ``config_context(extras=False)`` hides
it there, so that code which is meant to run on every namespace finds out what it relies on.
"""

from __future__ import annotations

from ..frontend.docstrings import complete_docstrings
from ..frontend.evaluation import in_one_pass
from .convolution import (
    conv,
)
from .correlation import (
    corrcoef,
    cov,
)
from .counting import (
    bincount,
    histogram,
    histogram2d,
    histogramdd,
)
from .creation import (
    diag,
    logspace,
)
from .cumulative import (
    cumprod,
    cumsum,
)
from .elementwise import (
    allclose,
    array_equal,
    isclose,
    nan_to_num,
    sinc,
)
from .exponentials import (
    logsumexp,
    softmax,
)
from .manipulation import (
    concatenate,
    diagonal,
    pad,
    ravel,
    transpose,
)
from .nans import (
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmedian,
    nanmin,
    nanprod,
    nanquantile,
    nanstd,
    nansum,
    nanvar,
)
from .numerical import (
    convolve,
    gradient,
    interp,
    roots,
    trapezoid,
)
from .products import (
    einsum,
)
from .selecting import (
    argpartition,
    partition,
    put_along_axis,
    top_k,
)
from .shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
)
from .statistical import (
    cumulative_max,
    cumulative_min,
    median,
    quantile,
)
from .ufuncs import (
    apply_ufunc,
)
from .windows import (
    fold,
    max_pool,
    mean_pool,
    sliding_window_view,
    unfold,
)

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
