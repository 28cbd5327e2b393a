"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, update_wrapper, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from ..version import __version__
from .stamp import stamp

if TYPE_CHECKING:
    from .._native import Native


HOW_TO_BUILD: Final = (
    "install a C compiler, and run in the checkout pip install -e . or, for an installation of its "
    "own, pip install --force-reinstall --no-deps ."
)
"""What brings an extension that was not built, or was built for something else."""


def load() -> Native | None:
    """The extension; None if there is none that fits, or ARRAY_API_NX_EXTENSION=0 forbids it.

    If it was not built there is an ImportWarning, which ``python -W default`` shows; if it cannot
    be used, or was built from other sources, a RuntimeWarning. `show_config` tells both any time.
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

    advise: Called as ``advise(function, args, names, error)``, where `args` are all arguments,
        those by name at the end, `names` their names or None, and `error` is Python's. Returns the
        error to raise.
    """
    global _advise
    _advise = advise
    if native is not None:
        native.set_advice(advise)


def with_native(function: Function) -> Function:
    """A decorator that puts the C implementation of a function in front of it.

    The compiled callable answers the common calls, as the function would, and passes the others on
    to it. It has the function's name, documentation and signature. Without the extension the
    function does all. In both cases errors are those of `with_advice`.
    """
    if native is None:
        return _with_python_advice(function)
    return _presented_as(function, native.front(function))


def with_advice(function: Function) -> Function:
    """A decorator for functions without a C implementation, whose callers often misplace arguments.

    Where the arguments fit no parameters, as in ``fft(x, 8)``, the TypeError says how the function
    is to be called. A call takes 10 ns more with the extension, and 200 ns without.
    """
    if native is None:
        return _with_python_advice(function)
    return _presented_as(function, native.guard(function))


def _presented_as(function: Function, compiled: Callable[..., object]) -> Function:
    """`compiled`, with the name, documentation and annotations of `function`."""
    # Python 3.14 copies `__annotate__` alone, from which only its own functions make annotations.
    update_wrapper(compiled, function, assigned=(*WRAPPER_ASSIGNMENTS, "__annotations__"))
    return cast("Function", compiled)


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
