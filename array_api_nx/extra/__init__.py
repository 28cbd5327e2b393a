"""Array functions beyond the standard, under the names that NumPy has for them.

They take and give arrays of this package, on every device. Each is also found at the top level,
``xp.pad`` for ``xp.extra.pad``, because libraries look there for what the standard lacks; but
neither `dir` nor ``__all__`` of the top level lists it, and ``config_context(extras=False)`` hides
it there, so that code which is meant to run on every namespace finds out what it relies on.
"""

# ruff: noqa: F403 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from ..frontend.docstrings import complete_docstrings
from ..frontend.evaluation import in_one_pass
from ..frontend.ufuncs import apply_ufunc
from . import convolution as _convolution
from . import correlation as _correlation
from . import counting as _counting
from . import creation as _creation
from . import elementwise as _elementwise
from . import exponentials as _exponentials
from . import manipulation as _manipulation
from . import nans as _nans
from . import numerical as _numerical
from . import products as _products
from . import selecting as _selecting
from . import statistical as _statistical
from . import windows as _windows
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

__all__ = ["apply_ufunc", "in_one_pass"]
__all__ += _convolution.__all__
__all__ += _correlation.__all__
__all__ += _counting.__all__
__all__ += _creation.__all__
__all__ += _elementwise.__all__
__all__ += _exponentials.__all__
__all__ += _manipulation.__all__
__all__ += _nans.__all__
__all__ += _numerical.__all__
__all__ += _products.__all__
__all__ += _selecting.__all__
__all__ += _statistical.__all__
__all__ += _windows.__all__


def __dir__() -> list[str]:
    # Without the modules that this package consists of.
    return __all__


complete_docstrings(globals(), __all__)
