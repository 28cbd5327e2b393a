"""The functions of the standard in one namespace: for the modules that are written as a user's are.

The functions are those of the chapters, not of the public namespace, where others may stand for
them while calls are recorded.
"""

# ruff: noqa: F403 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from . import creation as _creation
from . import data_type as _data_type
from . import elementwise as _elementwise
from . import indexing as _indexing
from . import joining as _joining
from . import linear_algebra as _linear_algebra
from . import manipulation as _manipulation
from . import ranges as _ranges
from . import searching as _searching
from . import set as _set
from . import sorting as _sorting
from . import statistical as _statistical
from . import utility as _utility
from .creation import *
from .data_type import *
from .elementwise import *
from .indexing import *
from .joining import *
from .linear_algebra import *
from .manipulation import *
from .ranges import *
from .searching import *
from .set import *
from .sorting import *
from .statistical import *
from .utility import *

# Not `__all__`: of that, type checkers read literal strings alone, and hide all other names.
_NAMES = [
    *_creation.__all__,
    *_ranges.__all__,
    *_data_type.__all__,
    *_elementwise.__all__,
    *_indexing.__all__,
    *_linear_algebra.__all__,
    *_joining.__all__,
    *_manipulation.__all__,
    *_searching.__all__,
    *_set.__all__,
    *_sorting.__all__,
    *_statistical.__all__,
    *_utility.__all__,
]
