"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable
from functools import update_wrapper, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from ..version import __version__
from .stamp import stamp

if TYPE_CHECKING:
    import array_api_nx._native as _native

    # What the stubs say of the modules, for who loads these and may get None.

    class Native(ModuleType):
        """The module `_native` as a type."""

        VERSION: str
        SOURCES: str
        ContextCaller = _native.ContextCaller
        Kernel = _native.Kernel
        Sequence = _native.Sequence
        ProgramCaller = _native.ProgramCaller
        Storage = _native.Storage
        Tensor = _native.Tensor
        Array = _native.Array
        MOST_INVERTED_ROWS: int
        ARRAY_METHODS = _native.ARRAY_METHODS
        complete_array = staticmethod(_native.complete_array)
        front = staticmethod(_native.front)
        guard = staticmethod(_native.guard)
        offer_exchange = staticmethod(_native.offer_exchange)
        set_advice = staticmethod(_native.set_advice)
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
        is_link = staticmethod(_native.is_link)
        cast_loop = staticmethod(_native.cast_loop)
        select_loop = staticmethod(_native.select_loop)
        replace_nan_loop = staticmethod(_native.replace_nan_loop)
        count_loop = staticmethod(_native.count_loop)
        sum_loop = staticmethod(_native.sum_loop)
        moments_loop = staticmethod(_native.moments_loop)
        extreme_loop = staticmethod(_native.extreme_loop)
        running_loop = staticmethod(_native.running_loop)
        compute = staticmethod(_native.compute)
        invert = staticmethod(_native.invert)
        total = staticmethod(_native.total)
        draw = staticmethod(_native.draw)
        drawing = staticmethod(_native.drawing)
        forget_threads = staticmethod(_native.forget_threads)
        parallel_for = staticmethod(_native.parallel_for)
        retire_workers = staticmethod(_native.retire_workers)
        may_share_memory = staticmethod(_native.may_share_memory)
        empty = staticmethod(_native.empty)
        limit_spares = staticmethod(_native.limit_spares)
        release_spares = staticmethod(_native.release_spares)
        count_spares = staticmethod(_native.count_spares)


__all__ = [
    "COLLECTIONS",
    "HOW_TO_BUILD",
    "load",
    "native",
    "set_advice",
    "with_advice",
    "with_twin",
]

HOW_TO_BUILD: Final = (
    "install a C compiler, and run in the checkout pip install -e . or, for an installation of its "
    "own, pip install --force-reinstall --no-deps ."
)
"""What brings an extension that was not built, or was built for something else."""


def load() -> Native | None:
    """The extension; None if there is none that fits, or ARRAY_API_NX_EXTENSION=0 forbids it.

    That it was not built is told by an ImportWarning, which Python shows to who asks for it
    (``python -W default``). That there is one that cannot be used, or must not be, since it was
    built from other sources, is a RuntimeWarning. `show_config` tells both at any time.
    """
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    category: type[Warning] = RuntimeWarning
    try:
        found = import_module("array_api_nx._native")
        problem = _misfit(found)
        if not problem:
            return cast("Native", found)
    except ModuleNotFoundError as error:
        category, problem = ImportWarning, str(error)
    except ImportError as error:
        problem = str(error)
    warnings.warn(
        f"array_api_nx runs without its C extension, in general slower ({problem}); {HOW_TO_BUILD}",
        category,
        stacklevel=2,
    )
    return None


def _misfit(found: ModuleType) -> str:
    """Why an extension is not that of this package; empty if it is."""
    built = getattr(found, "VERSION", "of another time")
    if built != __version__:
        return f"{found.__file__} is that of array_api_nx {built}, and this is {__version__}"
    sources = stamp(Path(__file__).parent)
    if sources and sources != found.SOURCES:
        return f"{found.__file__} was built from other sources than lie beside it now"
    return ""


native: Final = load()
"""The extension, or None where it is not built or not wanted."""

if native is not None:
    atexit.register(native.retire_workers)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=native.forget_threads)

Function = TypeVar("Function", bound=Callable[..., object])
Advise: TypeAlias = Callable[
    [Callable[..., object], tuple[object, ...], tuple[str, ...] | None, TypeError], TypeError
]

COLLECTIONS: Final = frozenset({"arrays", "axes", "axis", "repetitions", "shape"})
"""Parameters that take one tuple, which callers write as several arguments."""

_advise: Advise | None = None


def set_advice(advise: Advise) -> None:
    """Say what makes the error of a call whose arguments fit no parameters.

    Parameters
    ----------
    advise : callable
        Called as ``advise(function, args, names, error)``, where `args` are all arguments, those
        by name at the end, `names` their names or None, and `error` is Python's. Returns the error
        to raise.
    """
    global _advise
    _advise = advise
    if native is not None:
        native.set_advice(advise)


def with_twin(function: Function) -> Function:
    """A decorator that puts the compiled twin of a function in front of it.

    The twin answers the common calls, as the function would, and passes the others on to it. It has
    the function's name, documentation and signature. Without the extension the function does all.
    In both cases errors are told as by `with_advice`.
    """
    if native is None:
        return _with_python_advice(function)
    front: Function = native.front(function)
    update_wrapper(front, function)
    return front


def with_advice(function: Function) -> Function:
    """A decorator for functions without a twin, whose callers often misplace arguments.

    Where the arguments fit no parameters, as in ``fft(x, 8)``, the TypeError says how the function
    is to be called. A call takes 10 ns more with the extension, and 200 ns without (CPython 3.11).
    """
    if native is None:
        return _with_python_advice(function)
    guard: Function = native.guard(function)
    update_wrapper(guard, function)
    return guard


def _with_python_advice(function: Function) -> Function:
    """What `with_advice` does without the extension.

    Functions whose arguments have no other places stay as they are, and Python's message is enough
    for them.
    """
    code = cast("FunctionType", function).__code__
    last = code.co_varnames[code.co_argcount - 1] if code.co_argcount else ""
    if not code.co_kwonlyargcount and last not in COLLECTIONS:
        return function

    @wraps(function)
    def advised(*args: object, **named: object) -> object:
        try:
            return function(*args, **named)
        except TypeError as error:
            # An error of the function itself has its frame below this one.
            traceback = error.__traceback__
            if _advise is None or traceback is None or traceback.tb_next is not None:
                raise
            names = tuple(named) or None
            better = _advise(function, (*args, *named.values()), names, error)
        raise better from None

    return cast("Function", advised)
