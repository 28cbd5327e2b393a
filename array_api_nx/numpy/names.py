"""What each of NumPy's names is in the face: found when a program first asks for it."""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, cast

import numpy

from ..native import native
from . import orders
from .adoption import as_faces, by_numpy
from .arrays import ndarray
from .closeness import QUICK, quickly
from .fronts import FUNCTIONS, fronted
from .functions import function_of, is_own, like, named
from .generators import GENERATORS, GLOBAL, SEEDED, default_rng
from .rebound import REBOUND, rebound
from .thresholds import most_for_numpy
from .ufuncs import has_loops, ufunc, ufunc_of


class _Indexed:
    """An object of NumPy's that makes arrays of keys, such as ``np.r_``."""

    def __init__(self, numpys: Any) -> None:
        self._numpys = numpys
        get = numpys.__getitem__
        self._get = fronted(lambda key: by_numpy(get, key), get)

    def __getitem__(self, key: Any) -> Any:
        return self._get(key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpys, name)


def _call_vectorized(self: Any, *args: Any, **named: Any) -> Any:
    return by_numpy(numpy.vectorize.__call__, self, *args, **named)


class _Vectorized(numpy.vectorize):
    __call__ = fronted(_call_vectorized, numpy.vectorize.__call__)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Any:
    """`a` as an array, itself where it is one: see `numpy.asarray`.

    `device` may name any device of array_api_nx.
    """
    found = by_numpy(numpy.asarray, a, dtype, order, copy=copy)
    return found if device is None or type(found) is not ndarray else found.to_device(device)


def _outer(a: Any, b: Any, out: Any = None) -> Any:
    """The products of the elements of two arrays: see `numpy.outer`."""
    if out is None and type(a) is ndarray and type(b) is ndarray:
        multiply = import_module("array_api_nx.numpy").multiply
        return multiply.outer(a.ravel(), b.ravel())
    return by_numpy(numpy.outer, a, b, *(() if out is None else (out,)))


def _reader(numpys: Any) -> Any:
    """A function of NumPy that reads the attribute of its own name."""
    name = numpys.__name__
    ask = fronted(partial(by_numpy, numpys), numpys)

    def call(a: Any, *args: Any, **options: Any) -> Any:
        if type(a) is ndarray and not args and not options:
            return getattr(a, name)
        return ask(a, *args, **options)

    return named(like(numpys, call), name)


_OWN: Final[dict[str, Any]] = {
    **{name: _reader(getattr(numpy, name)) for name in ("imag", "ndim", "real", "shape", "size")},
    # These ask any object, and make no array of it.
    **{name: getattr(numpy, name) for name in ("isscalar", "iterable")},
    "outer": named(like(numpy.outer, _outer), "outer"),
    "ndarray": ndarray,
    "ufunc": ufunc,
    "vectorize": _Vectorized,
    **{name: _Indexed(getattr(numpy, name)) for name in ("c_", "r_", "mgrid", "ogrid")},
    "asarray": asarray,
    **{
        name: named(like(getattr(numpy, name), getattr(orders, name)), name)
        for name in orders.__all__
    },
    **{f"random.{name}": value for name, value in (GENERATORS | SEEDED).items()},
    "random.default_rng": default_rng,
    "random.mtrand.RandomState": GENERATORS["RandomState"],
    "random.mtrand._rand": GLOBAL,
}


class _Named(ModuleType):
    """A module that pickles as its name. What pickles functions with the names that they use, as
    cloudpickle does, knows by itself modules of Python's class alone."""

    def __reduce__(self) -> Any:
        return import_module, (self.__name__,)


class _Module(_Named):
    """A module of NumPy's, whose functions take and give arrays of the face."""

    def __init__(self, path: str, numpys: ModuleType) -> None:
        super().__init__(f"array_api_nx.numpy.{path}", numpys.__doc__)
        self._path, self._numpys = path, numpys
        # Python asks it of the module. A method of the class would slow each attribute down.
        self.__getattr__ = self._find  # type: ignore[method-assign]
        if hasattr(numpys, "__all__"):
            self.__all__ = numpys.__all__
        if hasattr(numpys, "__path__"):
            self.__path__: list[str] = []

    def _find(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = faced(f"{self._path}.{name}", getattr(self._numpys, name))
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._numpys)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return {name: getattr(self, name) for name in vars(self._numpys) if name[:2] != "__"}


class Face(_Named):
    """The module of NumPy's names. Programs that wrap them all read its dictionary."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        for name in [*vars(numpy)]:
            if name[:2] != "__" or name in numpy.__all__:
                getattr(self, name)
        return super().__dict__


class _Finder(Loader):
    """NumPy's modules for import statements: ``from array_api_nx.numpy.linalg import inv``."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        before, _, own = name.partition("array_api_nx.numpy.")
        if before or not own or find_spec(f"numpy.{own}") is None:
            return None
        return ModuleSpec(name, cls())

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        path = spec.name.removeprefix("array_api_nx.numpy.")
        return cast("ModuleType", faced(path, import_module(f"numpy.{path}")))

    def exec_module(self, module: ModuleType) -> None:
        pass


sys.meta_path.append(_Finder)


def _is_function(numpys: Any) -> bool:
    """Whether an object of NumPy is a function: no class, no annotation of a type, and none of the
    callables of ``numpy.ma``, which have methods and give NumPy's masked arrays."""
    is_other = isinstance(numpys, type) or hasattr(numpys, "__origin__")
    return callable(numpys) and not is_other and type(numpys).__module__ != "numpy.ma.core"


def kind_of(path: str, numpys: Any) -> str:
    """Who computes what NumPy has at a path: the title of its list in docs/numpy-names.md."""
    if not _is_function(numpys):
        own = path in _OWN or isinstance(numpys, ModuleType)
        return "Of the face" if own else "NumPy's own objects"
    if path in REBOUND and path not in FUNCTIONS:
        return "NumPy's code on arrays of the face"
    if path in FUNCTIONS or path in orders.__all__ or is_own(numpys) or has_loops(numpys):
        return "Computed here"
    return "Of the face" if path in _OWN else "Computed by NumPy"


_COMPUTED: Final = ("Computed here", "NumPy's code on arrays of the face")


@lru_cache(maxsize=1024)
def computed(numpys: Any) -> Any:
    """The face's function for one of NumPy's, None if NumPy computes what that gives."""
    path = f"{numpys.__module__}.{numpys.__name__}".removeprefix("numpy.")
    owner, _, name = path.rpartition(".")
    module = sys.modules.get(f"numpy.{owner}" if owner else "numpy")
    if getattr(module, name, None) is not numpys or kind_of(path, numpys) not in _COMPUTED:
        return None
    return getattr(import_module(f"{__package__}.{owner}" if owner else __package__), name)


def faced(path: str, numpys: Any) -> Any:
    """The face's object for the object of NumPy at a path such as ``linalg.inv``.

    It is one object, wherever NumPy has it: ``np._core.umath.sin`` is ``np.sin``, and ``np.acos``
    is ``np.arccos``.
    """
    for name in (getattr(numpys, "__name__", path), path.rpartition(".")[2]):
        if name != path and vars(numpy).get(name) is numpys:
            return getattr(sys.modules[__package__], name)
    if path in _OWN:
        own, row = _OWN[path], FUNCTIONS.get(path)
        if row is None:
            return own
        return named(fronted(own, numpys, row, name=path, most=most_for_numpy(path)), path)
    if isinstance(numpys, ModuleType):
        if not numpys.__name__.startswith("numpy."):
            return numpys
        module = _Module(path, numpys)
        return sys.modules.setdefault(module.__name__, module)
    if isinstance(numpys, numpy.ufunc):
        return ufunc_of(numpys)
    if not _is_function(numpys):
        return as_faces(numpys)
    function = function_of(numpys, path, None if native is None else rebound(numpys, path, faced))
    if path in QUICK:
        quick = like(numpys, quickly(QUICK[path], function))
        function = named(fronted(quick, numpys, most=-1), path)
    return function
