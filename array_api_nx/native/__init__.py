"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, overload

if TYPE_CHECKING:
    import array_api_nx.native._engine as _engine
    import array_api_nx.native._fast_path as _fast_path

    # What the stubs say of the modules, for who loads these and may get None.

    class Engine(ModuleType):
        """The module `_engine` as a type."""

        ContextCaller = _engine.ContextCaller
        Kernel = _engine.Kernel
        Sequence = _engine.Sequence
        ufunc_loop = staticmethod(_engine.ufunc_loop)
        cast_loop = staticmethod(_engine.cast_loop)
        select_loop = staticmethod(_engine.select_loop)
        count_loop = staticmethod(_engine.count_loop)
        sum_loop = staticmethod(_engine.sum_loop)
        moments_loop = staticmethod(_engine.moments_loop)
        compute = staticmethod(_engine.compute)
        update = staticmethod(_engine.update)
        total = staticmethod(_engine.total)
        forget_threads = staticmethod(_engine.forget_threads)
        parallel_for = staticmethod(_engine.parallel_for)
        retire_workers = staticmethod(_engine.retire_workers)
        empty = staticmethod(_engine.empty)
        limit_spares = staticmethod(_engine.limit_spares)
        release_spares = staticmethod(_engine.release_spares)
        count_spares = staticmethod(_engine.count_spares)

    class FastPath(ModuleType):
        """The module `_fast_path` as a type."""

        Shortcut = _fast_path.Shortcut


__all__ = ["MEND", "load"]

MEND: Final = (
    "install a C compiler, then the package anew: pip install --force-reinstall --no-deps "
    "array-api-nx, or pip install -e . in a checkout"
)
"""What brings an extension that was not built."""

_told = False


@overload
def load(name: Literal["_engine"]) -> Engine | None: ...
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
        return import_module(f".{name}", __name__)
    except ImportError as error:
        if not _told:
            _told = True
            warnings.warn(
                f"array_api_nx runs without its C extension, in general slower ({error}); {MEND}",
                ImportWarning,
                stacklevel=2,
            )
        return None
