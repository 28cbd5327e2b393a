"""Methods, attributes and operators of the face's arrays, attached here to their class."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import lru_cache, partial, update_wrapper
from types import GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

import numpy

from ..frontend.array import Array
from ..frontend.inspection import namespace
from ..frontend.interop import to_numpy
from ..frontend.numpy_functions import known_functions
from ..native import native
from .adoption import (
    adopted,
    as_faces,
    as_numpys,
    as_standards,
    by_numpy,
    called,
    count_numpys,
    known_numpys,
    numpys_of,
    scalar,
)
from .arrays import adopt, ndarray, standard
from .differences import PRIMITIVES
from .fronts import FUNCTIONS, METHODS, fronted
from .functions import REFUSALS, is_ours, ours
from .names import computed
from .orders import argsort
from .thresholds import ANY, most_for_numpy

# Classes of operands that our operators take. Other classes may define the operator themselves.
_OPERANDS: Final = (ndarray, Array, numpy.ndarray, bool, int, float, complex)

# ---------------------------------------------------------------------- operators

_UFUNCS: Final[dict[str, numpy.ufunc]] = {
    "matmul": numpy.matmul,
    **{op.operator: numpys for numpys, op in PRIMITIVES.items() if op.operator},
}
"""By the operator's name."""


# The method that Python asks of the right operand if the left one has no answer.
_REFLECTIONS: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _computed(name: str, function: Any, reflected: bool, self: Any, other: Any) -> Any:
    """``function(self, other)``, or with the operands in the other order if it is `reflected`.

    `name` is that of NumPy's ufunc.
    """
    kind = type(other)
    if getattr(kind, "__array_ufunc__", kind) is None:
        return NotImplemented
    is_known = kind in _OPERANDS or isinstance(other, numpy.generic)
    operands = (other, self) if reflected else (self, other)
    if is_known and is_ours(name, operands, {}, broadcasts=True):
        try:
            return scalar(function(*as_standards(operands)))
        except REFUSALS:
            pass
    count_numpys(1)
    if is_known or reflected or isinstance(other, numpy.ndarray):
        found = called(function, [as_numpys(x) for x in operands], {})
    else:
        found = _with_foreign(function.__name__.strip("_"), self, other)
    return as_faces(found, None, self._device)


def _with_foreign(name: str, self: Any, other: Any) -> Any:
    """What an operator gives for an operand of another class, or NotImplemented.

    Its class is asked as Python would ask it, and if it does not know arrays of the face, it is
    asked with NumPy's: SciPy's sparse arrays take these alone.
    """
    array = as_numpys(self)
    found = called(getattr(numpy.ndarray, f"__{name}__"), [array, as_numpys(other)], {})
    reflection = getattr(type(other), f"__{_REFLECTIONS.get(name, f'r{name}')}__", None)
    for given in (self, array):
        if found is NotImplemented and reflection is not None:
            found = reflection(other, given)
    return found


def _updated(name: str, function: Any, self: Any, other: Any) -> Any:
    if is_ours(name, (self, other), {}, broadcasts=True):
        own, given = as_standards((self, other))
        try:
            updated = function(own, given)
        except REFUSALS:
            pass
        else:
            self._handle = updated._handle
            return self
    return by_numpy(function, self, other)  # another object, where the operand's class says so


def _operators(operator_name: str, ufunc: numpy.ufunc) -> dict[str, Any]:
    """The methods of an operator."""
    name = ufunc.__name__
    function = getattr(operator, f"__{operator_name}__")
    if ufunc.nin == 1:
        return {f"__{operator_name}__": lambda self: _of_one(name, function, self)}
    found: dict[str, Any] = {
        f"__{operator_name}__": lambda self, other: _computed(name, function, False, self, other)
    }
    in_place = getattr(operator, f"__i{operator_name}__", None)
    if in_place is not None:
        found |= {
            f"__r{operator_name}__": lambda self, x: _computed(name, function, True, self, x),
            f"__i{operator_name}__": lambda self, x: _updated(name, in_place, self, x),
        }
    return found


def _of_one(name: str, function: Any, self: Any) -> Any:
    if is_ours(name, (self,), {}):
        try:
            return scalar(function(standard(self)))
        except REFUSALS:
            pass
    return by_numpy(function, self)


# ---------------------------------------------------------------------- elements

_PLAIN: Final = (int, slice, type(None), type(...))


def _is_ours(key: Any) -> bool:
    """Whether a key means the same here and in NumPy: no arrays and lists between slices."""
    if type(key) is tuple:
        return all([type(each) in _PLAIN for each in key])
    return type(key) in _PLAIN or (type(key) is ndarray and key.ndim > 0)


def _getitem(self: Any, key: Any) -> Any:
    if _is_ours(key):
        try:
            found = standard(self)[as_standards(key)]
        except REFUSALS:
            pass
        else:
            has_ellipsis = key is ... or (type(key) is tuple and any([x is ... for x in key]))
            return adopt(found) if has_ellipsis else scalar(found)
    return by_numpy(operator.getitem, self, key)


def _setitem(self: Any, key: Any, value: Any) -> None:
    # NumPy writes no array with axes into one element, and no scalar that a signed integer lacks.
    keys = key if type(key) is tuple else (key,)
    is_element = len(keys) == self.ndim and all([type(each) is int for each in keys])
    is_refused = (is_element and getattr(value, "ndim", 0)) or (
        isinstance(value, numpy.generic) and not numpy.can_cast(value.dtype, self.dtype)
    )
    if _is_ours(key) and not is_refused:
        try:
            standard(self)[as_standards(key)] = as_standards(value)
        except REFUSALS:
            pass
        else:
            return
    by_numpy(operator.setitem, self, key, value)


def _iter(self: Any) -> Iterator[Any]:
    return iter([self[i] for i in range(len(self))])


def _conversion(function: Callable[..., Any]) -> Any:
    return lambda self, *args: function(as_numpys(self), *args)


def _attribute(name: str, read: Callable[[Any], Any] | None = None) -> property:
    """An attribute of NumPy's arrays; `read` gives it where arrays of ours have it, too.

    An assignment changes the layout of the same elements, or writes them.
    """

    def assign(self: Any, value: Any) -> None:
        array = as_numpys(self)
        setattr(array, name, as_numpys(value))
        _become(self, array)

    return property(read or (lambda self: as_faces(getattr(as_numpys(self), name))), assign)


class _Flags:
    """See `numpy.ndarray.flags`. An assignment changes the array."""

    __slots__ = ("_array",)
    _array: Any

    def __init__(self, array: Any) -> None:
        object.__setattr__(self, "_array", array)

    def __setattr__(self, name: str, value: Any) -> None:
        array: Any = to_numpy(standard(self._array))
        setattr(array.flags, name, value)
        _become(self._array, array)

    def __getitem__(self, key: str) -> Any:
        return as_numpys(self._array).flags[key]

    def __setitem__(self, key: str, value: Any) -> None:
        array: Any = to_numpy(standard(self._array))
        array.flags[key] = value
        _become(self._array, array)

    def __eq__(self, other: object) -> bool:
        return bool(as_numpys(self._array).flags == getattr(other, "_flags", other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(as_numpys(self._array).flags)


def _flag(name: str) -> property:
    return property(lambda flags: getattr(as_numpys(flags._array).flags, name))


for _name in dir(numpy.empty(0).flags):
    if _name[0] != "_":
        setattr(_Flags, _name, _flag(_name))


def _become(self: Any, array: numpy.ndarray[Any, Any]) -> None:
    """Give an array of the face the elements and the layout of an array of NumPy."""
    new = adopted(array, self._device)
    if type(new) is not ndarray:
        raise TypeError(
            f"an array of the face cannot become one of dtype {array.dtype}; make another array "
            "with view or astype"
        )
    self._handle, self._dtype = new._handle, new._dtype


class _Memory(numpy.ndarray[Any, Any]):
    """See `memoryview`: what `numpy.ndarray.data` gives.

    netCDF4 takes each array with a memoryview as `data` for one of NumPy's, and fails, but converts
    others. Of Python's classes those of NumPy's arrays can lend memory without being memoryviews.
    """

    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        return getattr(_viewed(self), name)

    def __getitem__(self, key: Any) -> Any:
        return _viewed(self)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        _viewed(self)[key] = value

    def __eq__(self, other: object) -> Any:
        return _viewed(self) == (_viewed(other) if isinstance(other, _Memory) else other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __repr__(self) -> str:
        return repr(_viewed(self))


def _viewed(memory: _Memory) -> memoryview:
    return memoryview(memory.view(numpy.ndarray))  # type: ignore[arg-type]  # NumPy's stubs lack it on 3.11


def _comparison(compare: Any) -> Any:
    def compared(self: Any, other: object) -> Any:
        return as_faces(compare(self._flat, as_numpys(other)))

    return compared


class _Flat:
    """See `numpy.ndarray.flat`. Keys, values and results are arrays of the face."""

    __slots__ = ("_array", "_flat")

    def __init__(self, array: Any) -> None:
        self._array = array
        self._flat = as_numpys(array).flat

    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __hash__ = None  # type: ignore[assignment]

    base = property(lambda self: self._array)
    coords = property(lambda self: self._flat.coords)
    index = property(lambda self: self._flat.index)

    def copy(self) -> Any:
        """The elements in an array of one axis."""
        return as_faces(self._flat.copy())

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int:
            return self._flat[key]
        return as_faces(self._flat[as_numpys(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._flat[as_numpys(key)] = as_numpys(value)

    def __delitem__(self, key: Any) -> None:
        del self._flat[key]

    def __iter__(self) -> Any:
        return self._flat  # which knows the place that this has

    def __next__(self) -> Any:
        return next(self._flat)

    def __len__(self) -> int:
        return len(self._flat)

    def __array__(self, *args: Any, **named: Any) -> Any:
        return self._flat.__array__(*args, **named)


def _part(name: str) -> property:
    def read(self: Any) -> Any:
        if self.dtype.kind == "c":
            return as_faces(getattr(standard(self), name))
        # The imaginary part of real numbers is an array of its own.
        return self if name == "real" else as_faces(as_numpys(self).imag)

    attribute = _attribute(name, fronted(read, None, (f"{name}_part", "", False)))

    def assign(self: Any, value: Any) -> None:
        if self.dtype.kind == "c":
            attribute.fget(self)[...] = value  # type: ignore[misc]  # it has a getter
        else:
            attribute.fset(self, value)  # type: ignore[misc]

    return property(attribute.fget, assign)


# ---------------------------------------------------------------------- methods

_OWN: Final = """
all any argmax argmin item max mean min prod round searchsorted std sum var
"""
_VIEWS: Final = "copy flatten reshape squeeze transpose"
_FUNCTIONS: Final = """
astype clip cumprod cumsum dot nonzero repeat swapaxes take trace
"""
"""Methods whose functions in NumPy are functions here."""


def _method(name: str, convert: Any) -> Any:
    """A method that arrays of the standard's namespace have with NumPy's parameters, too."""
    return _by_ours(name, lambda x, *args, **named: getattr(x, name)(*args, **named), convert)


def _function(name: str) -> Any:
    """A method that is a function of the standard's namespace."""
    _, own = known_functions()[getattr(numpy, name)]
    convert = as_faces if name in ("astype", "repeat", "swapaxes") else scalar
    return _by_ours(name, partial(own, namespace(None)), convert)


def _by_ours(name: str, own: Callable[..., Any], convert: Callable[..., Any]) -> Any:
    numpys = getattr(numpy.ndarray, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        # An order of axes is the first argument of these.
        is_laid_out = args and name in ("copy", "flatten")
        if not is_laid_out and is_ours(name, (self, *args), named):
            try:
                return convert(own(standard(self), *as_standards(args), **as_standards(named)))
            except REFUSALS:
                pass
        return by_numpy(numpys, self, *args, **named)

    return method


def _numpys(name: str) -> Any:
    numpys = getattr(numpy.ndarray, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return by_numpy(numpys, self, *args, **named)

    return method


def _new(
    cls: Any,
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    """An array without initialised elements, or over the memory of a buffer."""
    if cls is not ndarray:
        return numpy.ndarray.__new__(cls, shape, dtype, as_numpys(buffer), offset, strides, order)
    if buffer is None and strides is None and not offset and order in (None, "C"):
        return _empty(shape, dtype)
    return adopted(numpy.ndarray(shape, dtype, as_numpys(buffer), offset, strides, order))


def _empty_by_numpy(shape: Any, dtype: Any) -> Any:
    return adopted(numpy.ndarray(shape, dtype))


# Not by NumPy's empty: in its arrays no element has a width of 0.
_empty: Final = fronted(_empty_by_numpy, None, FUNCTIONS["empty"], name="empty")


def _resize(self: Any, *shape: Any, refcheck: bool = True) -> None:
    operator.index(refcheck)  # references are not counted: other arrays keep the memory
    old = as_numpys(self)
    array = numpy.array(old)
    array.resize(*shape, refcheck=False)
    if array.size == old.size and old.flags.c_contiguous:
        array = old.reshape(array.shape)  # the same memory, which views of the array show, too
    _become(self, array)


def _setflags(self: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    array: Any = to_numpy(standard(self))  # its base is an array, whose flags NumPy asks
    array.setflags(write, align, uic)
    _become(self, array)


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    array = as_numpys(self)
    return array.__array__(dtype, copy=copy) if copy is not None else array.__array__(dtype)


@lru_cache(256)
def _of_ufunc(ufunc: Any, method: str) -> Any:
    """A ufunc of NumPy or another package, or its method, on arrays of the face."""
    from .ufuncs import apply

    if method == "__call__":
        name = ufunc.__name__
        most = most_for_numpy(name)
        return fronted(lambda *x, **named: apply(ufunc, x, named), ufunc, name=name, most=most)
    numpys = getattr(ufunc, method)
    return fronted(partial(by_numpy, numpys), numpys)


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    for x in (*inputs, *options.get("out", ())):
        kind = type(x)
        answer = getattr(kind, "__array_ufunc__", numpy.ndarray.__array_ufunc__)
        if kind not in (ndarray, Array) and answer is not numpy.ndarray.__array_ufunc__:
            return NotImplemented
    # One of a single loop may be made of a function by `frompyfunc`, and is not to be kept.
    front = _of_ufunc if getattr(ufunc, "ntypes", 2) > 1 else _of_ufunc.__wrapped__
    return front(ufunc, method)(*inputs, **options)


_NONE: Final = numpy.empty(0)


def _array_function(self: Any, function: Any, types: Any, args: Any, named: Any) -> Any:
    for kind in types:
        if kind is not ndarray and kind is not Array and not issubclass(kind, numpy.ndarray):
            return NotImplemented
    # The caller named NumPy's own function, and may hand the result to C that wants NumPy's array.
    front = computed(function)
    if front is not None and ndarray in map(type, args):  # and not in a container, looked at below
        return numpys_of(front(*args, **named))
    values = [*named.values()]
    numpys, options = known_numpys(args), known_numpys(values)
    if numpys is None or options is None:
        if ours([args, values]):
            return as_numpys(by_numpy(function, *args, **named))
        numpys, options = args, values
    if numpys is args and options is values:
        # They are in a container of another class, such as a deque, where NumPy finds them again.
        # Of no types it calls the function's implementation, which makes NumPy's arrays of them.
        return numpy.ndarray.__array_function__(_NONE, function, (), args, named)
    if front is not None:
        return numpys_of(front(*args, **named))
    count_numpys(1)
    return function(*numpys, **dict(zip(named, options, strict=True)))


def _interface(self: Any) -> dict[str, Any]:
    interface: dict[str, Any] = as_numpys(self).__array_interface__
    # Pillow calls `tobytes` of images with strides, and of others wants the buffer protocol.
    return interface | {"strides": self.strides} if self.ndim > 1 else interface


def _reduce(self: Any) -> tuple[Any, ...]:
    return adopted, (as_numpys(self),)  # NumPy's array may leave its memory out of the pickle


def _inherited(name: str, member: object) -> Any:
    """A member of NumPy's class, on arrays of NumPy's over the same memory."""
    if isinstance(member, MethodDescriptorType | WrapperDescriptorType):
        return _numpys(name)
    if isinstance(member, GetSetDescriptorType):
        return _attribute(name)
    return getattr(numpy.ndarray, name)


_INHERITED: Final = {name: _inherited(name, each) for name, each in vars(numpy.ndarray).items()}
_MEMBERS: Final[dict[str, Any]] = {
    **_INHERITED,
    **{name: _method(name, scalar) for name in _OWN.split()},
    **{name: _method(name, as_faces) for name in _VIEWS.split()},
    **{name: _function(name) for name in _FUNCTIONS.split()},
    **{name: _part(name) for name in ("real", "imag")},
    "argsort": lambda self, *args, **named: argsort(self, *args, **named),
    "data": property(lambda self: as_numpys(self).view(_Memory)),
    "flags": property(_Flags),
    "flat": _attribute("flat", _Flat),
    "ndim": property(lambda self: standard(self).ndim),
    "size": property(lambda self: standard(self).size),
    "_standard": property(lambda self: standard(self)),
    "device": property(lambda self: self._device),
    "T": property(lambda self: adopt(standard(self).T)),
    "mT": property(lambda self: as_faces(as_numpys(self).mT)),
    "__new__": staticmethod(_new),
    "resize": _resize,
    "setflags": _setflags,
    "to_device": lambda self, device, /, *, stream=None: adopt(
        standard(self).to_device(device, stream=stream)
    ),
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__iter__": _iter,
    "__len__": _conversion(len),
    "__bool__": _conversion(bool),
    "__int__": _conversion(int),
    "__float__": _conversion(float),
    "__index__": _conversion(operator.index),
    "__copy__": lambda self: self.copy("K"),
    "__deepcopy__": lambda self, memo: self.copy("K"),
    "__hash__": None,
    # Without a buffer, bytes(x) would be the elements, each as one byte.
    "__bytes__": lambda self: self.tobytes(),
    "__sizeof__": lambda self: object.__sizeof__(self) + self.nbytes,
    "__reduce__": _reduce,
    "__reduce_ex__": object.__reduce_ex__,
    "__array__": _array,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "__array_interface__": property(_interface),
    "__array_namespace__": lambda self, *, api_version=None: standard(self).__array_namespace__(
        api_version=api_version
    ),
    "__dlpack__": lambda self, **options: standard(self).__dlpack__(**options),
    "__dlpack_device__": lambda self: standard(self).__dlpack_device__(),
}
_OPERATORS: Final = {
    member: (ufunc.__name__, function)
    for name, ufunc in _UFUNCS.items()
    for member, function in _operators(name, ufunc).items()
}
"""By the method's name: the name of NumPy's ufunc, and the function."""
_MEMBERS.update({member: function for member, (_, function) in _OPERATORS.items()})


def _fronted(name: str, member: Any) -> Any:
    is_numpys = name[0] != "_" or member is _INHERITED.get(name) or name in _OPERATORS
    is_own = name in ("resize", "setflags", "to_device")
    if name in METHODS or (is_numpys and not is_own and hasattr(member, "__code__")):
        numpys = getattr(numpy.ndarray, name) if is_numpys else None
        ufunc, _ = _OPERATORS.get(name, ("", None))
        has_own = name in ("argsort", *_OWN.split(), *_FUNCTIONS.split())
        most = most_for_numpy(ufunc or name) if ufunc or has_own else ANY
        return fronted(member, numpys, METHODS.get(name), name=name, most=most)
    return member


for _name, _member in _MEMBERS.items():
    if hasattr(_member, "__code__"):
        _numpys_member = getattr(numpy.ndarray, _name, None)
        if callable(_numpys_member):  # the signature is its, too
            update_wrapper(_member, _numpys_member, assigned=("__doc__",))
        _member.__name__, _member.__qualname__ = _name, f"ndarray.{_name}"
_FRONTED: Final = {name: _fronted(name, member) for name, member in _MEMBERS.items()}
for _name, _member in _FRONTED.items():
    if native is None or _name not in vars(native.Face) or _name == "__new__":
        setattr(ndarray, _name, _member)


def _assign(self: Any, name: str, value: Any) -> None:
    _MEMBERS[name].fset(self, value)


if native is not None:
    # C calls these where it declines.
    meanings = {name: getattr(each, "fget", each) for name, each in _FRONTED.items()}
    native.complete_face(ndarray, meanings, scalar, _assign)
    native.set_as_faces(as_faces)
