"""The array of the face: to a program it is NumPy's ndarray, and it holds an array of this package.

It has the fields of `Array`, and so shares its elements with an `Array` by sharing its handle:
`standard` gives one, `adopt` takes one. The class is declared here; methods.py attaches what its
methods and operators do, which needs the functions.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any, Final

import numpy

from ..frontend.array import Array, wrap
from ..native import native


class ArrayType(type):
    """The class of `ndarray`: NumPy's own arrays are instances, too, and subclasses are NumPy's."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], members: dict[str, Any], **options: Any
    ) -> Any:
        """A class; that of a subclass of `ndarray` is a subclass of NumPy's ndarray."""
        if any([type(base) is mcs for base in bases]):
            bases = tuple([_Subclassed if type(base) is mcs else base for base in bases])
            return type(bases[0])(name, bases, members, **options)
        return super().__new__(mcs, name, bases, members, **options)

    # Python itself finds what is of this very class, and asks the method for the rest.
    __instancecheck__ = numpy.ndarray.__instancecheck__

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, numpy.ndarray)


class _Subclassed(numpy.ndarray):
    """The base of subclasses of `ndarray`, which are NumPy's, and may name that class."""

    __slots__ = ()

    def view(self, *args: Any, **named: Any) -> Any:
        """A view of another dtype or class: see `numpy.ndarray.view`.

        A view as a plain array is one of NumPy's, which a method ``__array_ufunc__`` of a subclass
        may hand to that of its base.
        """
        args = tuple([_numpys_class(x) for x in args])
        return super().view(*args, **{name: _numpys_class(x) for name, x in named.items()})


def _numpys_class(x: Any) -> Any:
    """`numpy.ndarray` in place of `ndarray`; every other argument of `view` as it is."""
    return numpy.ndarray if x is ndarray else x


class _Fields:
    """The fields of an array without the extension; with it `native.Face` has them."""

    __slots__ = ("__weakref__", "_device", "_dtype", "_handle")

    _handle: Any
    _dtype: Any
    _device: Any


class _OfNumpys:
    """A base that claims to be NumPy's. SymPy knows NumPy's arrays by the modules of their bases,
    and leaves operators to them; it would convert other objects to a float."""

    __slots__ = ()
    __module__ = "numpy"


_Held: Any = _Fields if native is None else native.Face


class ndarray(_Held, _OfNumpys, metaclass=ArrayType):  # type: ignore[misc]
    """An array of NumPy's face: see `numpy.ndarray`, whose methods and attributes it has.

    Elements are those of an array of `array_api_nx`, which `__array_namespace__` names.
    """

    __slots__ = ()

    __array_priority__ = 0.0
    __class_getitem__: Any = classmethod(GenericAlias)
    __hash__ = None  # type: ignore[assignment]

    def to_numpy(self) -> Any:
        """NumPy's array over the same memory.

        NumPy's own arrays have no such method. Matplotlib asks others for it: of what gives none
        it draws the rows, element by element, where it draws the columns of an array.
        """
        return self.__array__()

    def matvec(self, x: Any) -> Any:
        """``self @ x``. SciPy's iterative solvers take for matrices NumPy's own arrays, and what
        has this method."""
        return self @ x

    def rmatvec(self, x: Any) -> Any:
        """``self.conj().T @ x``; see `matvec`."""
        return self.conj().T @ x


_new: Final = object.__new__


def standard(x: Any) -> Array:
    """The array of the standard's namespace with the elements of an array of the face."""
    return wrap(x._handle, x._dtype, x._device)


def adopt(x: Array) -> Any:
    """The array of the face with the elements of an array of the standard's namespace."""
    array: Any = _new(ndarray)
    array._handle = x._handle
    array._dtype = x._dtype
    array._device = x._device
    return array


if native is not None:
    standard = native.standard  # type: ignore[assignment]
    adopt = native.adopt  # type: ignore[assignment]
