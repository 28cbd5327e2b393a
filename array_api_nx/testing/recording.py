"""Which functions, methods and operators of the namespace code under test called, and with what.

While a `recorded` statement is open, anywhere in the process, functions that record stand in the
places of those of the public modules, and of the methods of the class of arrays. They record the
calls of those threads that asked for it, where the caller is no file of this package: so calls
that the namespace makes for its own purposes are not recorded. The extension, which knows no
functions in other places than its own, leaves all that arrays do to the Python methods meanwhile.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from importlib import import_module
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from ..contract.callers import PACKAGE, caller
from ..contract.events import Present
from ..core.dtypes import DType
from ..device import Device
from ..frontend import recorded_calls
from ..frontend.array import MEANINGS, Array
from ..frontend.docstrings import complete_docstrings
from ..native import native
from .observation import Record, table

__all__ = ["Call", "Calls", "recorded"]

Member: TypeAlias = Any
"""An attribute of a module or a class."""

_NAMESPACE: Final = __name__.partition(".")[0]
_PARTS: Final = ("linalg", "fft", "extra", "special")

# Questions about an array that every print, pickle or test asks, and that compute nothing.
_NOT_RECORDED: Final = frozenset(
    {
        "__dir__", "__format__", "__getattr__", "__init_subclass__", "__new__", "__reduce__",
        "__repr__", "__str__", "__subclasshook__", "ndim", "shape", "size",
    }
)  # fmt: skip


class Call(NamedTuple):
    """A call of a name of the namespace.

    Attributes
    ----------
    name : str
        Such as ``"add"``, ``"linalg.norm"`` or ``"Array.__add__"``.
    dtypes : tuple of dtype
    shapes : tuple of tuple of int
    devices : tuple of Device
        Of the arrays among the arguments, also in lists and tuples, in order.
    keywords : tuple of str
        The names of keyword arguments, in order.
    filename : str
    lineno : int
        The user's line.
    """

    name: str
    dtypes: tuple[DType, ...]
    shapes: tuple[tuple[int, ...], ...]
    devices: tuple[Device, ...]
    keywords: tuple[str, ...]
    filename: str
    lineno: int


class Calls(Record[Call]):
    """The calls of a `recorded` statement: a sequence of `Call`, in order.

    Attributes
    ----------
    counts : Counter of str
        How often each name was called.
    """

    @property
    def counts(self) -> Counter[str]:
        """How often each name was called."""
        return Counter([call.name for call in self])

    def named(self, name: str) -> list[Call]:
        """The calls of one name."""
        return [call for call in self if call.name == name]

    def summary(self) -> str:
        """A table: how often each name was called, with which dtypes and keyword names."""
        if not self:
            return "no calls"
        rows = []
        for name, count in self.counts.most_common():
            calls = self.named(name)
            dtypes = dict.fromkeys([", ".join(map(str, call.dtypes)) or "-" for call in calls])
            keywords = dict.fromkeys([word for call in calls for word in call.keywords])
            rows.append((count, name, " | ".join(dtypes), ", ".join(keywords)))
        return table(("calls", "name", "dtypes", "keywords"), rows)


_recorders: Final[Present[Calls]] = Present("recorders")

_lock: Final = RLock()


class _Replaced(NamedTuple):
    """The attributes that recording functions have replaced."""

    uses: int
    members: list[tuple[Member, str, Member]]


# By the name of the namespace: how many statements record it, and the attributes they replaced.
_replaced: Final[dict[str, _Replaced]] = {}


@contextmanager
def recorded(*namespaces: ModuleType, all_threads: bool = False) -> Iterator[Calls]:
    """A `with` statement that records which names of the namespace are called, and with what.

    Names are those of the functions of the main module, ``linalg``, ``fft``, ``extra`` and
    ``special``, and of the methods and operators of arrays. Recorded are the calls that code
    outside this package makes, not those that the namespace makes for itself. A function that was
    imported by its name before the statement (``from array_api_nx import add``) is not seen, nor
    are the calls of a compiled function. A loop over an array is ``Array.__iter__``, and
    ``Array.__getitem__`` for each row. Meanwhile arrays are slower, in all threads.

    *namespaces (module): ``array_api_nx``, which is the default, or strict namespaces; of these the
        functions, and the methods of their arrays.
    all_threads: Whether the calls of all threads are recorded, and not only of this one (or of this
        task of an event loop, and what begins with a copy of its context).
    Returns (context manager): Gives a `Calls`: a sequence, whose text is a table.
    TypeError: If a namespace is none of this package.

    >>> x = xp.asarray([1.0, 2.0])
    >>> with xp.testing.recorded() as calls:
    ...     y = xp.sum(x + 1, axis=0)
    >>> calls
    calls  name           dtypes   keywords
        1  Array.__add__  float64
        1  sum            float64  axis
    """
    chosen = namespaces or (sys.modules[_NAMESPACE],)
    for each in chosen:
        if not isinstance(each, ModuleType) or not each.__name__.startswith(_NAMESPACE):
            raise TypeError(
                f"recorded takes array_api_nx and its strict namespaces, not {each!r}; leave it "
                "out for array_api_nx"
            )
    calls = Calls()
    with ExitStack() as stack:
        for each in chosen:
            _replace(each)
            stack.callback(_restore, each)
        stack.enter_context(_recorders.including(calls, all_threads=all_threads))
        yield calls


# ---------------------------------------------------------------------- what records


def _recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, recording its calls under a name."""

    @wraps(function)
    def recording(*arguments: object, **keywords: object) -> object:
        recorders = _recorders.get()
        frame = sys._getframe(1)
        while frame.f_code.co_filename == recorded_calls.__file__ and frame.f_back is not None:
            frame = frame.f_back  # in a trace
        if recorders and not frame.f_code.co_filename.startswith(PACKAGE):
            described = _described(name, arguments, keywords)
            for calls in recorders:
                calls._entries.append(described)
        return function(*arguments, **keywords)

    return recording


def _described(name: str, arguments: tuple[object, ...], keywords: dict[str, object]) -> Call:
    arrays = list(_arrays((*arguments, *keywords.values())))
    _, filename, lineno = caller()
    return Call(
        name,
        tuple([x.dtype for x in arrays]),
        tuple([x.shape for x in arrays]),
        tuple([x.device for x in arrays]),
        tuple(keywords),
        filename,
        lineno,
    )


def _arrays(values: tuple[object, ...] | list[object]) -> Iterator[Member]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _arrays(value)
        elif hasattr(type(value), "__array_namespace__"):
            yield value


# ---------------------------------------------------------------------- places

_ABSENT: Final = object()


def _put(owner: Member, name: str, value: Member) -> None:
    """Set an attribute of a module, also of a read-only one, or of a class."""
    if isinstance(owner, ModuleType):
        vars(owner)[name] = value
    elif value is _ABSENT:
        if name in vars(owner):
            delattr(owner, name)
    else:
        setattr(owner, name, value)


def _replace(namespace: ModuleType) -> None:
    """Put functions that record into a namespace, unless they are there."""
    name = namespace.__name__
    with _lock:
        if name in _replaced:
            uses, members = _replaced[name]
            _replaced[name] = _Replaced(uses + 1, members)
            return
        found = [*_functions(namespace), *_methods(namespace)]
        members = [(owner, each, vars(owner).get(each, _ABSENT)) for owner, each, _ in found]
        _replaced[name] = _Replaced(1, members)
        try:
            _put_recording(namespace, found)
        except BaseException:
            _restore(namespace)
            raise


def _put_recording(namespace: ModuleType, found: list[tuple[Member, str, Member]]) -> None:
    for owner, name, function in found:
        label = _label(namespace, owner, name)
        if isinstance(function, property):
            assert function.fget is not None
            _put(owner, name, property(_recording(label, function.fget), doc=function.__doc__))
        else:
            _put(owner, name, _recording(label, function))
    if namespace.__name__ == _NAMESPACE and native is not None:
        slots = {
            name: function if name in _NOT_RECORDED else _recording(f"Array.{name}", function)
            for name, function in MEANINGS.items()
            if name in native.ARRAY_METHODS
        }
        native.complete_array(slots)
        native.set_recorded(True)


def _restore(namespace: ModuleType) -> None:
    """Put the attributes back, unless another statement still records."""
    name = namespace.__name__
    with _lock:
        uses, members = _replaced.pop(name)
        if uses > 1:
            _replaced[name] = _Replaced(uses - 1, members)
            return
        for owner, each, found in members:
            _put(owner, each, found)
        if name == _NAMESPACE and native is not None:
            native.set_recorded(False)
            native.complete_array(MEANINGS)


def _functions(namespace: ModuleType) -> Iterator[tuple[Member, str, Member]]:
    """The functions of a namespace: their modules, their names there, and themselves."""
    modules = [namespace]
    for part in _PARTS:
        if namespace.__name__ == _NAMESPACE:
            modules.append(import_module(f"{_NAMESPACE}.{part}"))
        elif isinstance(vars(namespace).get(part), ModuleType):
            modules.append(vars(namespace)[part])
    for module in modules:
        for name in module.__all__:
            found = vars(module).get(name)
            if isinstance(found, FunctionType | _Front):
                yield module, name, found


def _methods(namespace: ModuleType) -> Iterator[tuple[Member, str, Member]]:
    """The methods of the arrays of a namespace that are attributes of their class.

    Those of a base class, which other namespaces may have, too, are replaced in the class itself.
    """
    own = namespace.__name__ == _NAMESPACE
    # Methods in C call the functions that `complete_array` is given.
    slots = native.ARRAY_METHODS if own and native is not None else ()
    type_: type = Array if own else type(namespace.empty(()))
    attributes: dict[str, Member] = {}
    for base in reversed(type_.__mro__[:-1]):
        attributes.update(vars(base))
    for name, found in attributes.items():
        if name in _NOT_RECORDED or name in slots or (name[:1] == "_" and name[:2] != "__"):
            continue
        is_transpose = isinstance(found, property) and name in ("T", "mT")
        if is_transpose or isinstance(found, FunctionType | _Front):
            yield type_, name, found


_Front: Final = type(Array.__array__)
"""The type of compiled callables, where the extension is there."""


def _label(namespace: ModuleType, owner: Member, name: str) -> str:
    if owner is namespace:
        return name
    if isinstance(owner, type):
        return f"Array.{name}"
    return f"{owner.__name__.rpartition('.')[2]}.{name}"


complete_docstrings(globals(), ["recorded"])
