# mypy: disable-error-code="empty-body"
"""The array object: a thin shell around (handle, dtype, device).

The class has its attributes, and declares methods and operators with their parameters and texts.
array_methods.py, which needs the functions of all chapters, attaches what these do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import update_wrapper
from math import prod
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, Never, TypeAlias, TypeVar, final

from ..native import native
from .annotations import LEFT_OUT, Axes, BasicIndex, Foreign, PythonScalar
from .docstrings import complete_docstrings
from .missing import MissingAttribute, missing_attributes

if TYPE_CHECKING:
    from ..contract.arguments import Handle
    from ..contract.numpy_dtypes import DTypeLike, NDArray
    from ..core.dtypes import DType
    from ..device import Device

Index: TypeAlias = "BasicIndex | Array | tuple[BasicIndex | Array, ...]"


def _attribute(slot: str, doc: str) -> Any:
    """The value of a slot, read-only: attrgetter makes a property without a Python frame."""
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

    @property
    def mT(self) -> Array:
        """The transpose of each matrix in a stack: a view. ValueError below two axes."""

    # ------------------------------------------------------------------ the namespace

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The namespace of this array: the module ``array_api_nx``.

        Raises
        ------
        ValueError
            If `api_version` is not one of those that the namespace conforms to.
        """

    def to_device(self, device: Device | str, /, *, stream: object = None) -> Array:
        """This array on `device`, and committed to it (see docs/devices.md, "Placement").

        It is itself if it is committed to that device already, and an array over the same memory
        if it is there, but not committed.

        Devices that see the same memory, such as ``cpu`` and ``torch:cpu``, share it if it may be
        written: then a write to either array shows in the other. Everything else is copied.

        ValueError: If the device is unknown, or a `stream` is given for one that has none.
        """

    # ------------------------------------------------------------------ conversion to Python

    def __bool__(self) -> bool: ...

    def __int__(self) -> int: ...

    def __float__(self) -> float: ...

    def __complex__(self) -> complex: ...

    def __round__(self, ndigits: int | None = None) -> Array | int:
        """Of an array without axes and without `ndigits` an int; else an array."""

    def __index__(self) -> int: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Array]: ...

    def __contains__(self, value: Foreign) -> bool: ...

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __format__(self, spec: str) -> str: ...

    def _repr_html_(self) -> str: ...

    def _repr_mimebundle_(
        self, include: Foreign = None, exclude: Foreign = None, **options: Foreign
    ) -> dict[str, str]: ...

    def __dir__(self) -> list[str]:
        there = type(self).__dict__
        return [n for n in object.__dir__(self) if type(there.get(n)) is not MissingAttribute]

    # ------------------------------------------------------------------ exchange

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> NDArray:
        """A NumPy array that shares this array's memory, or a copy of it (device cpu only)."""

    @property
    def __array_interface__(self) -> dict[str, object]:
        """For Pillow, and so of uint8 arrays alone; others have `__array__`."""

    def __array_ufunc__(
        self, ufunc: Foreign, method: str, *inputs: Foreign, **options: Foreign
    ) -> Foreign:
        """NumPy's protocol for its ufuncs and those of others: ``numpy.exp(x)`` gives an Array.

        A call is that of `extra.apply_ufunc`; operands may be NumPy arrays.
        ``out=`` takes an array that has the shape of the result. Other methods, such as
        ``numpy.add.outer``, and generalised ufuncs, are computed by NumPy.
        """

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, named: Foreign
    ) -> Foreign:
        """NumPy's protocol for its other functions: ``numpy.sort(x)`` gives an Array.

        So do those that docs/numpy-functions.md lists; any other one is computed by NumPy from
        NumPy arrays, and so are all where SciPy or scikit-learn call them.
        """

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

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device type and id of DLPack."""

    def __reduce__(self) -> tuple[object, ...]: ...

    def __copy__(self) -> Array: ...

    def __deepcopy__(self, memo: object) -> Array: ...

    # ------------------------------------------------------------------ indexing

    def __getitem__(self, key: Index, /) -> Array:
        """The elements that `key` selects: a view for basic keys, a copy with index arrays.

        Standard: indexing. Beyond it, index arrays mix with every other item, as in NumPy, and may
        be lists or NumPy arrays.
        """

    def __setitem__(self, key: Index, value: Array | PythonScalar, /) -> None:
        """Write `value`, after broadcasting and casting within its kind, where `key` selects."""

    # ------------------------------------------------------------------ NumPy's spelling
    #
    # NumPy's functions call these methods: np.sum(x) is x.sum(axis=None, dtype=None, out=None).

    @property
    def real(self) -> Array:
        """The real parts: a view, or the array itself if it is not complex.

        On JAX the view is a copy. ``x.real = y`` writes to the array everywhere. The function
        ``real`` gives a copy, which on the default device can be computed along with what needs it.
        """

    @real.setter
    def real(self, value: Array | PythonScalar) -> None: ...

    @property
    def imag(self) -> Array:
        """The imaginary parts: a view, or zeros that are read-only if the array is not complex.

        On JAX the view is a copy. ``x.imag = y`` writes to the array everywhere.
        """

    @imag.setter
    def imag(self, value: Array | PythonScalar) -> None: ...

    def all(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
    ) -> Array:
        """The function ``all`` as a method; `out` and `where` as in NumPy."""

    def any(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        *,
        where: Array | bool = True,
    ) -> Array:
        """The function ``any`` as a method; `out` and `where` as in NumPy."""

    def argmax(
        self, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
    ) -> Array:
        """The function ``argmax`` as a method; `out` as in NumPy."""

    def argmin(
        self, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
    ) -> Array:
        """The function ``argmin`` as a method; `out` as in NumPy."""

    def argsort(
        self,
        axis: int | None = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
    ) -> Array:
        """The function ``argsort`` as a method; equal elements keep their order in every case."""

    def astype(
        self,
        dtype: DTypeLike,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """The function ``astype`` as a method; `casting` as in NumPy, `subok` means nothing.

        TypeError: If complex numbers would lose their imaginary parts, or `casting` forbids it.
        """

    def conj(self) -> Array:
        """Complex conjugates: a copy, or the array itself if it is not complex."""

    def copy(self, order: str = "C") -> Array:
        """A row-major copy with memory of its own."""

    def flatten(self, order: str = "C") -> Array:
        """The elements in row-major order in one axis: a copy."""

    def item(self, *args: Foreign) -> Foreign:
        """An element as a Python scalar: the only one, or that at a position.

        *args (int or tuple of int): A position in row-major order, or an index per axis, also as
            one tuple.
        ValueError: If there are several elements and no position, or the wrong number of indices.
        IndexError: If an index is out of range.
        """

    def max(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``max`` as a method; `out`, `initial` and `where` as in NumPy."""

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

    def min(
        self,
        axis: Axes = None,
        out: Array | None = None,
        keepdims: bool = False,
        initial: PythonScalar | None = None,
        where: Array | bool = True,
    ) -> Array:
        """The function ``min`` as a method; `out`, `initial` and `where` as in NumPy."""

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

    def ravel(self, order: str = "C") -> Array:
        """The elements in row-major order in one axis: a view where strides can express it."""

    def reshape(self, *shape: Foreign, order: str = "C", copy: bool | None = None) -> Array:
        """The function ``reshape`` as a method; sizes as one tuple or as arguments."""

    def round(self, decimals: int = 0, out: Array | None = None) -> Array:
        """Each element rounded to `decimals` decimals, as NumPy does: halves to even.

        With fewer than none, to tens, hundreds and so on. A copy of the same dtype.
        """

    def searchsorted(
        self,
        v: Array | int | float,
        side: Literal["left", "right"] = "left",
        sorter: Array | None = None,
    ) -> Array:
        """The function ``searchsorted`` as a method of the sorted array."""

    def squeeze(self, axis: Axes = None) -> Array:
        """The function ``squeeze`` as a method: a view without the axes of size 1, or some."""

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

    def fill(self, value: Array | PythonScalar) -> None:
        """Write one value to all elements: ``x[...] = value``."""

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements, row-major for `order` "C", column-major for "F"."""

    def tolist(self) -> Foreign:
        """The elements as Python scalars, in lists within lists; without axes, the element."""

    def transpose(self, *axes: Foreign) -> Array:
        """A view with the axes in another order, reversed by default.

        The order is one tuple, or comes as arguments. The function is ``permute_dims``.
        """

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

    def view(self, dtype: DTypeLike | None = None) -> Array:
        """The bytes of this array read as another dtype: a view.

        dtype (dtype, optional): Numeric, as that of the array must be. If its elements are of
            another size, the last axis shrinks or grows, and must be contiguous. That of the array
            by default.
        TypeError: If either dtype is bool.
        ValueError: If the last axis is not contiguous, or is no whole number of new elements.
        """

    # ------------------------------------------------------------------ operators

    __hash__ = None  # type: ignore[assignment]  # mutable

    if TYPE_CHECKING:
        # array_methods.py makes them from tables.
        def __abs__(self) -> Array: ...

        __invert__ = __neg__ = __pos__ = __abs__

        def __add__(self, other: Array | PythonScalar, /) -> Array: ...

        __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __mul__ = __rmul__ = __add__
        __imul__ = __truediv__ = __rtruediv__ = __itruediv__ = __floordiv__ = __add__
        __rfloordiv__ = __ifloordiv__ = __mod__ = __rmod__ = __imod__ = __pow__ = __add__
        __rpow__ = __ipow__ = __and__ = __rand__ = __iand__ = __or__ = __ror__ = __add__
        __ior__ = __xor__ = __rxor__ = __ixor__ = __lshift__ = __rlshift__ = __add__
        __ilshift__ = __rshift__ = __rrshift__ = __irshift__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __add__
        __eq__ = __ne__ = __add__  # type: ignore[assignment]

        def __divmod__(self, other: Array | PythonScalar, /) -> tuple[Array, Array]: ...

        __rdivmod__ = __divmod__

        def __matmul__(self, other: Array, /) -> Array: ...

        __rmatmul__ = __imatmul__ = __matmul__


complete_docstrings(vars(Array), ["astype", "item", "to_device", "view"])

for _name, _missing in missing_attributes(vars(Array)).items():
    if not hasattr(Array, _name):
        setattr(Array, _name, _missing)

DECLARED: Final[dict[str, Any]] = dict(vars(Array))
"""The declarations of the class, by name."""

if native is not None:
    # The same type in C, which has some of them already.
    for _name, _value in vars(Array).items():
        if _name not in (*vars(native.Array), *native.ARRAY_METHODS, "__slots__", "__weakref__"):
            setattr(native.Array, _name, _value)
    native.Array.__doc__ = Array.__doc__  # every class has the name, if only with None
    Array = native.Array  # type: ignore[assignment, misc]


def wrap(handle: Handle, dtype: DType, device: Device) -> Array:
    """The Array around a backend's result."""
    array = Array()
    array._handle = handle
    array._dtype = dtype
    array._device = device
    return array


# ---------------------------------------------------------------------- methods

Body = TypeVar("Body", bound=Callable[..., Any])

MEANINGS: Final[dict[str, Any]] = {name: DECLARED[name].fget for name in ("shape", "ndim", "size")}
"""What methods and operators mean, by their names; of attributes, the functions that get them."""


def attach(name: str, member: Any, meaning: Any) -> None:
    """Make `member` the attribute `name` of arrays, which `meaning` computes."""
    MEANINGS[name] = meaning
    if native is None or name not in native.ARRAY_METHODS:
        setattr(Array, name, member)


def name_body(function: Any, name: str) -> None:
    """Let tracebacks, and reports of transfers, show a function under the name of a member."""
    function.__code__ = function.__code__.replace(co_name=name, co_qualname=f"Array.{name}")


def method(name: str, front: Callable[[Any], Any] | None = None) -> Callable[[Body], Body]:
    """A decorator that makes a function the method that the class declares under a name.

    The function has the parameters of the declaration, whose defaults and text it takes over.
    `front` is what to put in front of it: `with_native` or `with_advice`.
    """

    def take_over(function: Body) -> Body:
        declared = DECLARED[name]
        function.__defaults__ = declared.__defaults__
        function.__kwdefaults__ = declared.__kwdefaults__
        update_wrapper(function, declared)
        name_body(function, name)
        fronted = function if front is None else front(function)
        attach(name, fronted, fronted)
        return function

    return take_over


def attribute(name: str, get: Any, set_: Any = None) -> None:
    """Make a function the getter of the attribute that the class declares under a name."""
    if set_ is not None:
        name_body(get, name)
        name_body(set_, name)
    attach(name, property(get, set_, doc=DECLARED[name].__doc__), get)
