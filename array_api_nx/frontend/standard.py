"""The functions of the standard in one namespace: for the modules that are written as a user's are.

The functions are those of the chapters, not of the public namespace, where others may stand for
them while calls are recorded.
"""

# ruff: noqa: F403 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from importlib import import_module as _import_module

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
    name
    for chapter in """
    creation ranges data_type elementwise indexing linear_algebra joining manipulation searching set
    sorting statistical utility
    """.split()  # noqa: SIM905 - a list of names
    for name in _import_module(f".{chapter}", __package__).__all__
]
