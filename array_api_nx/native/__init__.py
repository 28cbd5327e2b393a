"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, overload

if TYPE_CHECKING:
    import array_api_nx._native as _native
    import array_api_nx.native._fast_path as _fast_path

    # What the stubs say of the modules, for who loads these and may get None.

    class Native(ModuleType):
        """The module `_native` as a type."""

        ContextCaller = _native.ContextCaller
        Kernel = _native.Kernel
        Sequence = _native.Sequence
        ufunc_loop = staticmethod(_native.ufunc_loop)
        cast_loop = staticmethod(_native.cast_loop)
        select_loop = staticmethod(_native.select_loop)
        count_loop = staticmethod(_native.count_loop)
        sum_loop = staticmethod(_native.sum_loop)
        moments_loop = staticmethod(_native.moments_loop)
        compute = staticmethod(_native.compute)
        update = staticmethod(_native.update)
        total = staticmethod(_native.total)
        forget_threads = staticmethod(_native.forget_threads)
        parallel_for = staticmethod(_native.parallel_for)
        retire_workers = staticmethod(_native.retire_workers)
        empty = staticmethod(_native.empty)
        limit_spares = staticmethod(_native.limit_spares)
        release_spares = staticmethod(_native.release_spares)
        count_spares = staticmethod(_native.count_spares)

    class FastPath(ModuleType):
        """The module `_fast_path` as a type."""

        Shortcut = _fast_path.Shortcut


__all__ = ["MEND", "load"]

MEND: Final = (
    "install a C compiler, then the package anew: pip install --force-reinstall --no-deps "
    "array-api-nx, or pip install -e . in a checkout"
)
"""What brings an extension that was not built."""

_MODULES: Final = {"_native": ".._native", "_fast_path": "._fast_path"}
"""Where the extensions are, from here: that which is to stay lies in the package itself."""

_told = False


@overload
def load(name: Literal["_native"]) -> Native | None: ...
@overload
def load(name: Literal["_fast_path"]) -> FastPath | None: ...
def load(name: str) -> ModuleType | None:
    """The extension `name`; None if it was not built, or ARRAY_API_NX_EXTENSION=0 forbids it.

    That one was not built is told once, by an ImportWarning, which Python shows to who asks for it
    (``python -W default``). `show_config` tells it at any time.
    """
    global _told
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module(_MODULES[name], __name__)
    except ImportError as error:
        if not _told:
            _told = True
            warnings.warn(
                f"array_api_nx runs without its C extension, in general slower ({error}); {MEND}",
                ImportWarning,
                stacklevel=2,
            )
        return None
