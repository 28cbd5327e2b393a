"""Arrays and names of the face in functions that Numba compiles.

To Numba both are NumPy's: an argument is unboxed as NumPy's array over the same memory, and results
are NumPy's arrays. This module is imported after Numba, wherever that is imported, before this
package or after it; never without Numba.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy
from llvmlite.ir import IRBuilder, Value
from numba.core import cgutils, types
from numba.core.boxing import unbox_array
from numba.core.interpreter import Interpreter
from numba.core.pythonapi import NativeValue, _unboxers
from numba.extending import typeof_impl

from .adoption import as_numpys
from .arrays import ndarray


@typeof_impl.register(ndarray)  # type: ignore[untyped-decorator]
def _typeof(x: Any, context: Any) -> Any:
    return typeof_impl(as_numpys(x), context)


def _numpys(value: Any) -> Any:
    """A global of a compiled function, with NumPy's objects in place of those of the face."""
    is_module = isinstance(value, ModuleType)
    name = getattr(value, "__name__" if is_module else "__module__", None)
    before, face, path = str(name).partition("array_api_nx.numpy")
    if face and not before:
        if is_module:
            return getattr(value, "_numpys", numpy)
        if hasattr(value, "__qualname__") and not isinstance(value, type):
            # By the name by which pickles find it in the face.
            return getattr(sys.modules.get(f"numpy{path}"), value.__qualname__, value)
    return as_numpys(value)


def _with_numpys(get: Callable[..., Any]) -> Callable[..., Any]:
    return wraps(get)(lambda self, key: _numpys(get(self, key)))


# The one place where Numba reads the names that a function uses.
Interpreter.get_global_value = _with_numpys(Interpreter.get_global_value)
Interpreter.get_closure_value = _with_numpys(Interpreter.get_closure_value)


def _unbox(kind: Any, x: Value, context: Any) -> NativeValue:
    """Code that unboxes NumPy's arrays as Numba does, and of an array of the face the array that
    its method `__array__` gives."""
    builder: IRBuilder = context.builder
    found = unbox_array(kind, x, context)
    value = cgutils.alloca_once_value(builder, found.value)
    failed = cgutils.alloca_once_value(builder, found.is_error)
    with builder.if_then(found.is_error, likely=False):
        context.pyapi.err_clear()
        array = context.pyapi.call_method(x, "__array__")
        with builder.if_then(cgutils.is_not_null(builder, array)):
            again = unbox_array(kind, array, context)
            builder.store(again.value, value)
            builder.store(again.is_error, failed)
            context.pyapi.decref(array)
    return NativeValue(builder.load(value), is_error=builder.load(failed))


_unboxers.functions[types.Array] = _unbox
