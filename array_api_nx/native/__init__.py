"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import array_api_nx._native as _native

    # What the stubs say of the modules, for who loads these and may get None.

    class Native(ModuleType):
        """The module `_native` as a type."""

        ContextCaller = _native.ContextCaller
        Kernel = _native.Kernel
        Sequence = _native.Sequence
        ProgramCaller = _native.ProgramCaller
        Storage = _native.Storage
        Tensor = _native.Tensor
        Array = _native.Array
        ARRAY_METHODS = _native.ARRAY_METHODS
        complete_array = staticmethod(_native.complete_array)
        front = staticmethod(_native.front)
        offer_exchange = staticmethod(_native.offer_exchange)
        set_cpu = staticmethod(_native.set_cpu)
        set_distinct = staticmethod(_native.set_distinct)
        set_dtypes = staticmethod(_native.set_dtypes)
        set_errors = staticmethod(_native.set_errors)
        set_hints = staticmethod(_native.set_hints)
        set_limits = staticmethod(_native.set_limits)
        set_operations = staticmethod(_native.set_operations)
        set_recorded = staticmethod(_native.set_recorded)
        set_ufuncs = staticmethod(_native.set_ufuncs)
        set_views = staticmethod(_native.set_views)
        set_watched = staticmethod(_native.set_watched)
        ufunc_loop = staticmethod(_native.ufunc_loop)
        cast_loop = staticmethod(_native.cast_loop)
        select_loop = staticmethod(_native.select_loop)
        replace_nan_loop = staticmethod(_native.replace_nan_loop)
        count_loop = staticmethod(_native.count_loop)
        sum_loop = staticmethod(_native.sum_loop)
        moments_loop = staticmethod(_native.moments_loop)
        extreme_loop = staticmethod(_native.extreme_loop)
        running_loop = staticmethod(_native.running_loop)
        compute = staticmethod(_native.compute)
        total = staticmethod(_native.total)
        draw = staticmethod(_native.draw)
        drawing = staticmethod(_native.drawing)
        forget_threads = staticmethod(_native.forget_threads)
        parallel_for = staticmethod(_native.parallel_for)
        retire_workers = staticmethod(_native.retire_workers)
        empty = staticmethod(_native.empty)
        limit_spares = staticmethod(_native.limit_spares)
        release_spares = staticmethod(_native.release_spares)
        count_spares = staticmethod(_native.count_spares)


__all__ = ["HOW_TO_BUILD", "load", "native", "with_twin"]

HOW_TO_BUILD: Final = (
    "install a C compiler, then the package anew: pip install --force-reinstall --no-deps "
    "array-api-nx, or pip install -e . in a checkout"
)
"""What brings an extension that was not built."""

_told = False


def load() -> Native | None:
    """The extension; None if it was not built, or ARRAY_API_NX_EXTENSION=0 forbids it.

    That it was not built is told once, by an ImportWarning, which Python shows to who asks for it
    (``python -W default``). `show_config` tells it at any time.
    """
    global _told
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module("array_api_nx._native")  # type: ignore[return-value]
    except ImportError as error:
        if not _told:
            _told = True
            warnings.warn(
                f"array_api_nx runs without its C extension, in general slower ({error}); "
                f"{HOW_TO_BUILD}",
                ImportWarning,
                stacklevel=2,
            )
        return None


native: Final = load()
"""The extension, or None where it is not built or not wanted."""

if native is not None:
    atexit.register(native.retire_workers)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=native.forget_threads)

Function = TypeVar("Function", bound=Callable[..., object])


def with_twin(function: Function) -> Function:
    """A decorator that puts the compiled twin of a function in front of it.

    The twin answers the common calls, as the function would, and passes the others on to it. It has
    the function's name, documentation and signature. Without the extension the function stays as it
    is.
    """
    if native is None:
        return function
    front: Function = native.front(function)
    update_wrapper(front, function)
    return front
