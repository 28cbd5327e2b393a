"""array_api_nx: an array namespace that conforms to the Python Array API standard 2025.12.

Use it as a namespace::

    import array_api_nx as xp

    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    xp.mean(x, axis=0)

Besides the standard's names the top level holds controls only: `Array`, `Device`, `ShapeSpec`,
`compile`, `config_context`, `eval_shape`, `evaluate`, `explain` and `show_config`.
"""

# ruff: noqa: F403 - each chapter lists its functions in its `__all__`

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING

# The array comes first: its functions need the class.
from .frontend.array import Array  # isort: skip

from . import fft, linalg
from .backends.cpu.engine.threads import register_controller as _register_controller
from .compile import ShapeSpec, compile, eval_shape
from .config import config_context, current
from .core.dtypes import EXTRA as _EXTRA_DTYPES
from .core.dtypes import arrive as _arrive
from .core.dtypes import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .device import Device
from .frontend import array_methods as _array_methods  # noqa: F401 - it attaches them
from .frontend.configuration import show_config
from .frontend.docstrings import complete_docstrings as _complete_docstrings
from .frontend.evaluation import evaluate, explain
from .frontend.inspection import __array_namespace_info__
from .frontend.missing import BEYOND as _BEYOND
from .frontend.missing import missing as _missing
from .frontend.on_import import when_imported as _when_imported
from .frontend.standard import *
from .frontend.standard import _NAMES
from .native import set_advice as _set_advice
from .other_packages import give_numpys as _give_numpys
from .version import __version__

__array_api_version__ = "2025.12"
newaxis = None


# Libraries look for what the standard lacks at the top level. The functions of `extra` are found
# there, but listed nowhere, and so are `random`, `special` and further dtypes. The modules are
# imported at their first use.
# Type checkers see the functions themselves, and no `__getattr__`, under which any misspelt name
# would be an `object`.
if TYPE_CHECKING:
    from . import extra as extra
    from . import random as random
    from . import special as special
    from . import testing as testing
    from .core.dtypes import DType as _DType
    from .core.dtypes import float16 as float16

    bfloat16: _DType
    from .extra import *
else:

    @cache
    def _modules_beyond() -> dict[str, object]:
        """The modules that the standard lacks, by name."""
        found: dict[str, object] = {"lib": import_module(".extra.lib", __name__)}
        for name in ("random", "special"):
            found[name] = import_module(f".{name}", __name__)
            # An import made it an attribute, which the setting could not hide.
            globals().pop(name, None)
        return found

    # Libraries ask for the same names at every call.
    _extra = cache(partial(import_module, ".extra", __name__))

    def __getattr__(name: str) -> object:
        if name in ("extra", "numpy", "testing"):
            return import_module(f".{name}", __name__)
        if name in _EXTRA_DTYPES and current().extras:
            try:
                return _arrive(name)
            except ImportError as error:
                raise AttributeError(str(error)) from None
        beyond = _BEYOND if current().extras else ()
        if name in beyond:
            modules = _modules_beyond()
            if name in modules:
                return modules[name]
            # The function in its module now, which may be one that records calls.
            return linalg.cross if name == "cross" else getattr(_extra(), name)
        raise _missing(__name__, name, beyond)


def _advise(
    function: Callable[..., object],
    args: tuple[object, ...],
    names: tuple[str, ...] | None,
    error: TypeError,
) -> TypeError:
    from .frontend.misplaced import advise

    return advise(function, args, names, error)


# Errors of calls whose arguments fit no parameters.
_set_advice(_advise)

# Plain `einops.rearrange(x, ...)` takes arrays where einops knows the backend class of this module.
_when_imported("einops", partial(import_module, ".einops_backend", __name__))

# Functions of other packages that take NumPy's arrays alone get these.
_give_numpys()

# A limit of threadpoolctl holds for computations here, also one that is set before the first array.
_when_imported("threadpoolctl", _register_controller)


def __dir__() -> list[str]:
    # Without the submodules that this package happens to have imported.
    return __all__


__all__ = [
    # constants
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    # data types
    "bool",
    "complex64",
    "complex128",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    # extensions and inspection
    "fft",
    "linalg",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    # the array object and controls
    "Array",
    "Device",
    "ShapeSpec",
    "compile",
    "config_context",
    "eval_shape",
    "evaluate",
    "explain",
    "show_config",
]

__all__.extend(_NAMES)

_complete_docstrings(globals(), __all__)
