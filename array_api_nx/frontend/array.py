"""The array object: a thin shell around (handle, dtype, device).

Operators, indexing and conversions each take one line here; the frontend does the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, Never, TypeAlias, final

from ..config import hints
from ..native import native, with_advice, with_twin
from .annotations import LEFT_OUT, Axes, BasicIndex, Foreign, PythonScalar
from .missing import MissingAttribute, missing_attributes

if TYPE_CHECKING:
    from ..contract.backend import Handle
    from ..contract.numpy_dtypes import DTypeLike, NDArray
    from ..core.dtypes import DType
    from ..device import Device

__all__ = ["MEANINGS", "Array"]

Index: TypeAlias = "BasicIndex | Array | tuple[BasicIndex | Array, ...]"


def _attribute(slot: str, doc: str) -> Any:
    """What a slot holds, read-only: attrgetter makes a property without a Python frame."""
    return property(attrgetter(slot), doc=doc)


@final
class Array:
    """A multi-dimensional array.

    Made by the namespace's functions (``asarray``, ``zeros``, ...), not by calling this class.
    Indexing with ints, slices, None and ``...`` gives a view of the same memory; indexing with
    arrays gives a copy. Arrays are mutable and so not hashable.

    Standard: array object.
    """

    __slots__ = ("__weakref__", "_device", "_dtype", "_handle")

    _handle: Handle
    _dtype: DType
    _device: Device

    __array_priority__ = 1000.0  # above ndarray's, for libraries that ask who answers an operator

    # ------------------------------------------------------------------ attributes

    dtype: DType = _attribute("_dtype", "Data type of the elements.")
    device: Device = _attribute("_device", "Where the elements live.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self._device.backend.shape(self._handle)

    @shape.setter
    def shape(self, value: Foreign) -> Never:
        raise AttributeError("the shape of an array cannot be assigned; use x = x.reshape(shape)")

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._device.backend.sizes(self._handle))

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self._device.backend.shape(self._handle))

    @property
    def itemsize(self) -> int:
        """Number of bytes of an element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Number of bytes of all elements."""
        return self.size * self._dtype.itemsize

    @property
    def T(self) -> Array:
        """The transpose: a view with all axes in reverse order."""
        return transpose(self)

    @property
    def mT(self) -> Array:
        """The transpose of each matrix in a stack: a view. ValueError below two axes."""
        return linear_algebra.matrix_transpose(self)

    # ------------------------------------------------------------------ the namespace

    @with_twin
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The namespace of this array: the module ``array_api_nx``.

        Raises
        ------
        ValueError
            If `api_version` is not one of those that the namespace conforms to.
        """
        return inspection.namespace(api_version)

    def to_device(self, device: Device | str, /, *, stream: object = None) -> Array:
        """This array on `device`, and committed to it (see docs/devices.md, "Placement").

        It is itself if it is committed to that device already, and an array over the same memory
        if it is there, but not committed.

        Devices that see the same memory, such as ``cpu`` and ``torch:cpu``, share it if it may be
        written: then a write to either array shows in the other. Everything else is copied.

        Raises
        ------
        ValueError
            If the device is unknown, or a `stream` is given for one that has none.
        """
        return interop.to_device(self, device, stream)

    # ------------------------------------------------------------------ conversion to Python

    def __bool__(self) -> bool:
        return bool(item(self, bool))

    def __int__(self) -> int:
        return int(item(self, int))

    def __float__(self) -> float:
        return float(item(self, float))

    def __complex__(self) -> complex:
        return complex(item(self, complex))

    def __round__(self, ndigits: int | None = None) -> Array | int:
        """Of an array without axes and without `ndigits` an int; else an array."""
        return methods.python_rounded(self, ndigits)

    def __index__(self) -> int:
        return interop.as_index(self)

    def __len__(self) -> int:
        return len(indexing.rows(self))

    def __iter__(self) -> Iterator[Array]:
        return indexing.iterate(self)

    def __contains__(self, value: Foreign) -> bool:
        return bool(utility.any(elementwise.equal(self, value)))

    def __repr__(self) -> str:
        return formatting.array_repr(self)

    def __str__(self) -> str:
        return formatting.array_str(self)

    def __format__(self, spec: str) -> str:
        return formatting.array_format(self, spec)

    def _repr_html_(self) -> str:
        return formatting.array_html(self)

    def _repr_mimebundle_(
        self, include: Foreign = None, exclude: Foreign = None, **options: Foreign
    ) -> dict[str, str]:
        return formatting.array_bundle(self)

    def __dir__(self) -> list[str]:
        there = type(self).__dict__
        return [n for n in object.__dir__(self) if type(there.get(n)) is not MissingAttribute]

    # ------------------------------------------------------------------ exchange

    @with_twin
    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> NDArray:
        """A NumPy array that shares this array's memory, or a copy of it (device cpu only)."""
        return interop.to_numpy(self, dtype, copy)

    @property
    def __array_interface__(self) -> dict[str, object]:
        """For Pillow, and so of uint8 arrays alone; others have `__array__`."""
        return interop.array_interface(self)

    def __array_ufunc__(
        self, ufunc: Foreign, method: str, *inputs: Foreign, **options: Foreign
    ) -> Foreign:
        """NumPy's protocol for its ufuncs and those of others: ``numpy.exp(x)`` gives an Array.

        A call is that of `extra.apply_ufunc`; operands may be NumPy arrays.
        ``out=`` takes an array that has the shape of the result. Other methods, such as
        ``numpy.add.outer``, and generalised ufuncs, are computed by NumPy.
        """
        return ufuncs.array_ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, named: Foreign
    ) -> Foreign:
        """NumPy's protocol for its other functions: ``numpy.sort(x)`` gives an Array.

        So do those that docs/numpy-functions.md lists; any other one is computed by NumPy from
        NumPy arrays, and so are all where SciPy or scikit-learn call them.
        """
        return numpy_functions.array_function(function, types, args, named)

    @with_twin
    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[object, int] | None = LEFT_OUT,
        copy: bool | None = LEFT_OUT,
    ) -> Foreign:
        """A DLPack capsule over this array's memory, or over a copy if `copy`.

        Raises
        ------
        BufferError
            If the memory cannot be exported as asked. An axis that runs backwards is exported
            only as a copy, or to a consumer that passes ``dl_device=None`` or ``copy=None`` as
            NumPy does, because PyTorch ends the process when it is given a negative stride.
        TypeError, ValueError
            If an argument is not what the protocol says.
        """
        return interop.to_dlpack(self, stream, max_version, dl_device, copy)

    @with_twin
    def __dlpack_device__(self) -> tuple[int, int]:
        """The device type and id of DLPack."""
        return self._device.backend.dlpack_device()

    def __reduce__(self) -> tuple[object, ...]:
        return interop.reduce(self)

    def __copy__(self) -> Array:
        return data_type.copy_array(self)

    def __deepcopy__(self, memo: object) -> Array:
        return data_type.copy_array(self)

    # ------------------------------------------------------------------ indexing

    def __getitem__(self, key: Index, /) -> Array:
        """The elements that `key` selects: a view for basic keys, a copy with index arrays.

        Standard: indexing. Beyond it, index arrays mix with every other item, as in NumPy, and may
        be lists or NumPy arrays.
        """
        if type(key) is Array:
            return getitem(self, key)
        device = self._device
        backend = device.backend
        handle = self._handle
        # A key together with a shape always makes the same selection.
        try:
            selection = selections[hashable_key(key), backend.shape(handle)]
        except KeyError:
            return getitem(self, key)
        array = Array()
        array._handle = backend.slice(handle, selection)
        array._dtype = self._dtype
        array._device = device
        return array

    def __setitem__(self, key: Index, value: Array | PythonScalar, /) -> None:
        """Write `value`, after broadcasting and casting within its kind, where `key` selects."""
        setitem(self, key, value)

    # ------------------------------------------------------------------ NumPy's spelling
    #
    # NumPy's functions call these methods: np.sum(x) is x.sum(axis=None, dtype=None, out=None).

    @property
    def real(self) -> Array:
        """The real parts: a view, or the array itself if it is not complex.

        On JAX the view is a copy. ``x.real = y`` writes to the array everywhere. The function
        ``real`` gives a copy, which on the default device can be computed along with what needs it.
        """
        return methods.real(self)

    @real.setter
    def real(self, value: Array | PythonScalar) -> None:
        methods.set_real(self, value)

    @property
    def imag(self) -> Array:
        """The imaginary parts: a view, or zeros that are read-only if the array is not complex.

        On JAX the view is a copy. ``x.imag = y`` writes to the array everywhere.
        """
        return methods.imag(self)

    @imag.setter
    def imag(self, value: Array | PythonScalar) -> None:
        methods.set_imag(self, value)

    @with_advice
    def all(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
    ) -> Array:
        """The function ``all`` as a method; `out` and `where` as in NumPy."""
        if out is None and where is True:
            return utility.all(self, axis=axis, keepdims=keepdims)
        return methods.reduced("all", self, axis, keepdims, out, where, None)

    @with_advice
    def any(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
    ) -> Array:
        """The function ``any`` as a method; `out` and `where` as in NumPy."""
        if out is None and where is True:
            return utility.any(self, axis=axis, keepdims=keepdims)
        return methods.reduced("any", self, axis, keepdims, out, where, None)

    @with_advice
    def argmax(
        self, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
    ) -> Array:
        """The function ``argmax`` as a method; `out` as in NumPy."""
        return methods.written("argmax", out, searching.argmax(self, axis=axis, keepdims=keepdims))

    @with_advice
    def argmin(
        self, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
    ) -> Array:
        """The function ``argmin`` as a method; `out` as in NumPy."""
        return methods.written("argmin", out, searching.argmin(self, axis=axis, keepdims=keepdims))

    def argsort(
        self,
        axis: int | None = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
    ) -> Array:
        """The function ``argsort`` as a method; equal elements keep their order in every case."""
        if order is not None:
            raise TypeError("argsort has no order=, since no dtype here has fields; leave it out")
        if axis is None:
            return sorting.argsort(manipulation.reshape(self, (-1,)))
        return sorting.argsort(self, axis=axis)

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """The function ``astype`` as a method; `casting` as in NumPy, `subok` means nothing.

        Raises
        ------
        TypeError
            If complex numbers would lose their imaginary parts, or `casting` forbids it.
        """
        methods.check_order("astype", order, "KAC")
        methods.check_casting(self._dtype, dtype, casting)
        return data_type.astype(self, dtype, copy=copy)

    def conj(self) -> Array:
        """Complex conjugates: a copy, or the array itself if it is not complex."""
        return methods.conj(self)

    def copy(self, order: str = "C") -> Array:
        """A row-major copy with memory of its own."""
        methods.check_order("copy", order, "KAC")
        return data_type.copy_array(self)

    def flatten(self, order: str = "C") -> Array:
        """The elements in row-major order in one axis: a copy."""
        methods.check_order("flatten", order, "C")
        return manipulation.reshape(self, (-1,), copy=True)

    def item(self, *args: Foreign) -> Foreign:
        """An element as a Python scalar: the only one, or that at a position.

        Parameters
        ----------
        *args : int or tuple of int
            A position in row-major order, or an index per axis, also as one tuple.

        Raises
        ------
        ValueError
            If there are several elements and no position, or the wrong number of indices.
        IndexError
            If an index is out of range.
        """
        return methods.element(self, args)

    @with_advice
    def max(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``max`` as a method; `out`, `initial` and `where` as in NumPy."""
        if out is None and where is True and initial is None:
            return statistical.max(self, axis=axis, keepdims=keepdims)
        return methods.reduced("max", self, axis, keepdims, out, where, initial)

    @with_advice
    def mean(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
    ) -> Array:
        """The function ``mean`` as a method; `dtype`, floating-point, is what to compute in."""
        x = methods.as_floating(self, dtype, "mean")
        if out is None and where is True:
            return statistical.mean(x, axis=axis, keepdims=keepdims)
        return methods.mean(x, axis, keepdims, out, where)

    @with_advice
    def min(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``min`` as a method; `out`, `initial` and `where` as in NumPy."""
        if out is None and where is True and initial is None:
            return statistical.min(self, axis=axis, keepdims=keepdims)
        return methods.reduced("min", self, axis, keepdims, out, where, initial)

    @with_advice
    def prod(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``prod`` as a method; `out`, `initial` and `where` as in NumPy."""
        if out is None and where is True and initial is None:
            return statistical.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return methods.reduced("prod", self, axis, keepdims, out, where, initial, dtype=dtype)

    def ravel(self, order: str = "C") -> Array:
        """The elements in row-major order in one axis: a view where strides can express it."""
        methods.check_order("ravel", order, "C")
        return manipulation.reshape(self, (-1,))

    def reshape(self, *shape: Foreign, order: str = "C", copy: bool | None = None) -> Array:
        """The function ``reshape`` as a method; sizes as one tuple or as arguments."""
        methods.check_order("reshape", order, "C")
        return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)

    def round(self, decimals: int = 0, out: Array | None = None) -> Array:
        """Each element rounded to `decimals` decimals, as NumPy does: halves to even.

        With fewer than none, to tens, hundreds and so on. A copy of the same dtype.
        """
        return methods.written("round", out, methods.rounded(self, decimals))

    def searchsorted(
        self,
        v: Array | int | float,
        side: Literal["left", "right"] = "left",
        sorter: Array | None = None,
    ) -> Array:
        """The function ``searchsorted`` as a method of the sorted array."""
        return searching.searchsorted(self, v, side=side, sorter=sorter)

    @with_advice
    def squeeze(self, axis: Axes = None) -> Array:
        """The function ``squeeze`` as a method: a view without the axes of size 1, or some."""
        return methods.squeezed(self, axis)

    @with_advice
    def std(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        ddof: int | float = 0,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
        correction: int | float | None = None,
    ) -> Array:
        """The function ``std`` as a method; `ddof` is NumPy's older name of `correction`."""
        x = methods.as_floating(self, dtype, "std")
        less = methods.one_correction(ddof, correction)
        if out is None and where is True:
            return statistical.std(x, axis=axis, correction=less, keepdims=keepdims)
        return methods.variance(x, axis, keepdims, out, where, less, 2)

    @with_advice
    def sum(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``sum`` as a method; `out`, `initial` and `where` as in NumPy."""
        if out is None and where is True and initial is None:
            return statistical.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return methods.reduced("sum", self, axis, keepdims, out, where, initial, dtype=dtype)

    def fill(self, value: Array | PythonScalar) -> None:
        """Write one value to all elements: ``x[...] = value``."""
        self[...] = value

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements, row-major for `order` "C", column-major for "F"."""
        methods.check_order("tobytes", order, "CF")
        return interop.to_numpy(self).tobytes("F" if order == "F" else "C")

    def tolist(self) -> Foreign:
        """The elements as Python scalars, in lists within lists; without axes, the element."""
        if hints.watched:
            interop.reading(self, "list", "python")
        return self._device.backend.to_host(self._handle).tolist()

    def transpose(self, *axes: Foreign) -> Array:
        """A view with the axes in another order, reversed by default.

        The order is one tuple, or comes as arguments. The function is ``permute_dims``.
        """
        return methods.transposed(self, axes)

    @with_advice
    def var(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        ddof: int | float = 0,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
        correction: int | float | None = None,
    ) -> Array:
        """The function ``var`` as a method; `ddof` is NumPy's older name of `correction`."""
        x = methods.as_floating(self, dtype, "var")
        less = methods.one_correction(ddof, correction)
        if out is None and where is True:
            return statistical.var(x, axis=axis, correction=less, keepdims=keepdims)
        return methods.variance(x, axis, keepdims, out, where, less, 1)

    @with_advice
    def view(self, dtype: DTypeLike | None = None) -> Array:
        """The bytes of this array read as another dtype: a view.

        Parameters
        ----------
        dtype : dtype, optional
            Numeric, as that of the array must be. If its elements are of another size, the last
            axis shrinks or grows, and must be contiguous. That of the array by default.

        Raises
        ------
        TypeError
            If either dtype is bool.
        ValueError
            If the last axis is not contiguous, or is no whole number of new elements.
        """
        return data_type.view_as(self, dtype)

    # ------------------------------------------------------------------ operators

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __abs__(self) -> Array:
        return unary(p.ABS, self)

    def __invert__(self) -> Array:
        return unary(p.BITWISE_INVERT, self)

    def __neg__(self) -> Array:
        return unary(p.NEGATIVE, self)

    def __pos__(self) -> Array:
        return unary(p.POSITIVE, self)

    def __add__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.ADD, self, other, NotImplemented)

    def __radd__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.ADD, other, self, NotImplemented)

    def __iadd__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.ADD, self, other)

    def __and__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_AND, self, other, NotImplemented)

    def __rand__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_AND, other, self, NotImplemented)

    def __iand__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.BITWISE_AND, self, other)

    def __floordiv__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.FLOOR_DIVIDE, self, other, NotImplemented)

    def __rfloordiv__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.FLOOR_DIVIDE, other, self, NotImplemented)

    def __divmod__(self, other: Array | PythonScalar, /) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: Array | PythonScalar, /) -> tuple[Array, Array]:
        return other // self, other % self

    def __ifloordiv__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.FLOOR_DIVIDE, self, other)

    def __lshift__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_LEFT_SHIFT, self, other, NotImplemented)

    def __rlshift__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_LEFT_SHIFT, other, self, NotImplemented)

    def __ilshift__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.BITWISE_LEFT_SHIFT, self, other)

    def __mod__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.REMAINDER, self, other, NotImplemented)

    def __rmod__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.REMAINDER, other, self, NotImplemented)

    def __imod__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.REMAINDER, self, other)

    def __mul__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.MULTIPLY, self, other, NotImplemented)

    def __rmul__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.MULTIPLY, other, self, NotImplemented)

    def __imul__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.MULTIPLY, self, other)

    def __or__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_OR, self, other, NotImplemented)

    def __ror__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_OR, other, self, NotImplemented)

    def __ior__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.BITWISE_OR, self, other)

    def __pow__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.POW, self, other, NotImplemented)

    def __rpow__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.POW, other, self, NotImplemented)

    def __ipow__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.POW, self, other)

    def __rshift__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_RIGHT_SHIFT, self, other, NotImplemented)

    def __rrshift__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_RIGHT_SHIFT, other, self, NotImplemented)

    def __irshift__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.BITWISE_RIGHT_SHIFT, self, other)

    def __sub__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.SUBTRACT, self, other, NotImplemented)

    def __rsub__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.SUBTRACT, other, self, NotImplemented)

    def __isub__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.SUBTRACT, self, other)

    def __truediv__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.DIVIDE, self, other, NotImplemented)

    def __rtruediv__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.DIVIDE, other, self, NotImplemented)

    def __itruediv__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.DIVIDE, self, other)

    def __xor__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_XOR, self, other, NotImplemented)

    def __rxor__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.BITWISE_XOR, other, self, NotImplemented)

    def __ixor__(self, other: Array | PythonScalar, /) -> Array:
        return inplace(p.BITWISE_XOR, self, other)

    def __eq__(self, other: Array | PythonScalar, /) -> Array:  # type: ignore[override]
        return binary(p.EQUAL, self, other, NotImplemented)

    def __ge__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.GREATER_EQUAL, self, other, NotImplemented)

    def __gt__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.GREATER, self, other, NotImplemented)

    def __le__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.LESS_EQUAL, self, other, NotImplemented)

    def __lt__(self, other: Array | PythonScalar, /) -> Array:
        return binary(p.LESS, self, other, NotImplemented)

    def __ne__(self, other: Array | PythonScalar, /) -> Array:  # type: ignore[override]
        return binary(p.NOT_EQUAL, self, other, NotImplemented)

    def __matmul__(self, other: Array, /) -> Array:
        return matmul_operator(self, other)

    def __rmatmul__(self, other: Array, /) -> Array:
        return matmul_operator(other, self)

    def __imatmul__(self, other: Array, /) -> Array:
        return inplace_matmul(self, other)


for _name, _missing in missing_attributes(vars(Array)).items():
    if not hasattr(Array, _name):
        setattr(Array, _name, _missing)

MEANINGS: Final[dict[str, Any]] = dict(vars(Array))
"""What methods and operators mean, by their names; of attributes, the functions that get them."""

for _name in ("shape", "ndim", "size", "T", "mT", "__array_interface__"):
    MEANINGS[_name] = MEANINGS[_name].fget

if native is not None:
    # The same in C, which asks the methods above where it does not answer itself.
    native.complete_array(MEANINGS)
    for _name, _value in vars(Array).items():
        if _name not in (*vars(native.Array), *native.ARRAY_METHODS, "__slots__", "__weakref__"):
            setattr(native.Array, _name, _value)
    native.Array.__doc__ = Array.__doc__  # every class has the name, be it with None
    Array = native.Array  # type: ignore[assignment, misc]

# The functions over arrays need the class, and its methods need them: class first.
from math import prod

from ..core.indexing import hashable_key
from ..primitives import table as p
from . import (
    data_type,
    elementwise,
    exchange,
    formatting,
    indexing,
    inspection,
    interop,
    linear_algebra,
    manipulation,
    methods,
    numpy_functions,
    searching,
    sorting,
    statistical,
    ufuncs,
    utility,
)
from .dispatch import binary, inplace, unary
from .indexing import getitem, selections, setitem
from .interop import item
from .linear_algebra import inplace_matmul, matmul_operator
from .manipulation import transpose

exchange.offer()
