"""The array of strict namespaces: the standard's attributes and methods over an array of ours.

Each namespace has a class of its own. So arrays of two namespaces differ in type.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Never, Self

from ...core.dtypes import PROMOTION, SCALAR_PROMOTION
from ...device import Device
from ...frontend.annotations import LEFT_OUT, Foreign
from ...frontend.array import Array
from .base import StrictBase
from .dtypes import STRICT, StrictDType
from .errors import Section, refuse_attribute
from .indexing import plain_key
from .operands import ANY, check_devices, check_dtype, check_scalar, foreign
from .operators import INTEGER, PYTHON_SCALARS, operators, python_scalar
from .signatures import METHODS
from .versions import added_in, lacks

if TYPE_CHECKING:
    from ...contract.numpy_dtypes import NDArray
    from .policy import Policy

OBJECT = Section("Array object")

_new = object.__new__


class StrictArray(StrictBase):
    """An array of a strict namespace.

    Made by the namespace's functions. It has the standard's attributes and methods, and the
    methods by which Python prints, copies and pickles it.

    Standard: array object.
    """

    __slots__ = ()

    # As for every class that defines __eq__.
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *arguments: object, **options: object) -> Never:
        raise OBJECT.refuse(
            TypeError,
            "the class of arrays makes none; how arrays are constructed is not a part of the class",
            "use xp.asarray, xp.zeros or another creation function",
        )

    # ------------------------------------------------------------------ attributes

    @property
    def dtype(self) -> StrictDType:
        """Data type of the elements."""
        return STRICT[self._array.dtype]

    @property
    def device(self) -> Device:
        """Where the elements live."""
        return self._array.device

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self._array.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._array.size

    @property
    def T(self) -> Self:
        """The transpose of a matrix. ValueError unless there are two axes."""
        if self._array.ndim != 2:
            raise Section("Array object: T").refuse(
                ValueError,
                f"T of an array of {self._array.ndim} axes; it must have two",
                "use x.mT for the last two axes, or xp.permute_dims(x, axes)",
            )
        return self._wrap(self._array.T)

    @property
    def mT(self) -> Self:
        """The transpose of each matrix in a stack. ValueError below two axes."""
        return self._wrap(self._array.mT)

    def __getattr__(self, name: str) -> Never:
        raise refuse_attribute("an array", name, _MENDS.get(name) or self._function(name), OBJECT)

    def __dir__(self) -> list[str]:
        return sorted(METHODS)

    @classmethod
    def _function(cls, name: str) -> str | None:
        return f"xp.{name}(x)" if name in vars(cls._namespace) else None

    @classmethod
    def _wrap(cls, array: Array) -> Self:
        x: Self = _new(cls)
        x._array = array
        return x

    # ------------------------------------------------------------------ methods

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """The namespace of this array.

        Raises
        ------
        ValueError
            If `api_version` is another version than that of the namespace.
        """
        version = self._policy.version
        if api_version is not None and api_version != version:
            raise Section("Array object: __array_namespace__").refuse(
                ValueError,
                f"__array_namespace__(api_version={api_version!r}) of an array of {version}; it "
                "raises where the namespace is not of that version",
                f'use api_version="{version}", or another strict namespace',
            )
        return self._namespace

    def to_device(self, device: Device, /, *, stream: object = None) -> Self:
        """This array on `device`."""
        return self._wrap(self._array.to_device(check_device("to_device", device), stream=stream))

    def __dlpack__(
        self,
        /,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = LEFT_OUT,
        dl_device: tuple[Any, int] | None = LEFT_OUT,
        copy: bool | None = LEFT_OUT,
    ) -> Foreign:
        """A DLPack capsule over this array's memory, or over a copy if `copy`."""
        given: dict[str, Foreign] = {
            "max_version": max_version,
            "dl_device": dl_device,
            "copy": copy,
        }
        options = {name: value for name, value in given.items() if value is not LEFT_OUT}
        version = self._policy.version
        for name in options:
            if lacks(version, f"__dlpack__.{name}"):
                raise Section("Array object: __dlpack__").refuse(
                    TypeError,
                    f"__dlpack__ has no {name}= in {version}; it came with "
                    f"{added_in(f'__dlpack__.{name}')}",
                    "leave it out",
                )
        return self._array.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self, /) -> tuple[int, int]:
        """The device type and id of DLPack."""
        return self._array.__dlpack_device__()

    # ------------------------------------------------------------------ conversion to Python

    def __bool__(self) -> bool:
        return bool(python_scalar(self, "bool"))

    def __int__(self) -> int:
        return int(python_scalar(self, "int"))

    def __float__(self) -> float:
        return float(python_scalar(self, "float"))

    def __complex__(self) -> complex:
        return complex(python_scalar(self, "complex"))

    def __index__(self) -> int:
        array = python_scalar(self, "index")
        check_dtype("operator.index", INTEGER, array.dtype)
        return operator.index(array)

    # ------------------------------------------------------------------ indexing

    def __getitem__(self, key: object, /) -> Self:
        x: Self = _new(type(self))
        x._array = self._array[plain_key(self, key)]
        return x

    def __setitem__(self, key: Any, value: Any, /) -> None:
        key = plain_key(self, key, writing=True)
        array = self._array
        # NumPy's float64 and complex128 are instances of Python's, which is all that is asked.
        if isinstance(value, float):
            value = float(value)
        elif isinstance(value, complex):
            value = complex(value)
        if type(value) is type(self):
            value = value._array
            dtype = value.dtype
            check_devices("assignment", (array, value))
            result = PROMOTION[array.dtype, dtype]
            kind = (array.dtype, dtype) in ANY.pairs
        elif type(value) in PYTHON_SCALARS:
            check_scalar("assignment", array.dtype, value, self._policy.version, ANY)
            dtype, result, kind = array.dtype, SCALAR_PROMOTION[array.dtype, type(value)], True
        else:
            raise foreign("assignment", value)
        if result is not array.dtype or not kind:
            raise Section("Array object: __setitem__").refuse(
                TypeError,
                f"assignment of {dtype if dtype is not array.dtype else result} to an array of "
                f"{array.dtype}; what cannot be promoted to the array's dtype is left unspecified",
                "convert it first: xp.astype(value, x.dtype)",
            )
        array[key] = value

    def __iter__(self) -> Iterator[Self]:
        array = self._array
        if array.ndim != 1:
            raise Section("Array object: __getitem__").refuse(
                TypeError,
                f"iteration over an array of {array.ndim} axes; it is defined for one axis",
                "loop over xp.unstack(x)" if array.ndim else "use x itself",
            )
        return map(self._wrap, array)  # numpy.iterable takes no element of it

    def __len__(self) -> Never:
        raise OBJECT.refuse(
            TypeError, "len of an array, which has no length", "use x.shape[0] or x.size"
        )

    # ------------------------------------------------------------------ printing, copying, pickling

    def __repr__(self) -> str:
        return repr(self._array)

    def __str__(self) -> str:
        return str(self._array)

    def __reduce__(self) -> tuple[object, tuple[ModuleType, Array]]:
        return _restored, (self._namespace, self._array)

    def __copy__(self) -> Self:
        return self._wrap(self._array.__copy__())

    def __deepcopy__(self, memo: object) -> Self:
        return self._wrap(self._array.__copy__())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        """Refused: NumPy would find it missing, and make an array of objects instead."""
        if self._policy.numpy_conversion:
            return self._array.__array__(dtype, copy)
        raise Section("Data interchange mechanisms").refuse(
            TypeError,
            "conversion to a NumPy array by __array__, which the standard does not have",
            "use numpy.from_dlpack(x), or compute with the functions of x.__array_namespace__()",
        )


for _name, _operator in operators():
    setattr(StrictArray, _name, _operator)

_MENDS = {
    "astype": "xp.astype(x, dtype)",
    "copy": "xp.asarray(x, copy=True)",
    "dot": "x @ y",
    "fill": "x[...] = value",
    "flatten": "xp.reshape(x, (-1,))",
    "item": "float(x), int(x), complex(x) or bool(x)",
    "itemsize": "xp.finfo(x.dtype).bits // 8 or xp.iinfo(x.dtype).bits // 8",
    "nbytes": "x.size * xp.finfo(x.dtype).bits // 8",
    "ravel": "xp.reshape(x, (-1,))",
    "tolist": "numpy.from_dlpack(x).tolist()",
    "transpose": "xp.permute_dims(x, axes), x.T or x.mT",
    "view": "xp.astype(x, dtype)",
}


def check_device(where: str, device: object) -> Device:
    """`device`, if it is one; ValueError if it is only its name."""
    if type(device) is Device:
        return device
    named = f"array_api_nx.Device({device!r})" if isinstance(device, str) else "a device object"
    raise Section("Device support").refuse(
        ValueError,
        f"{where}: the device {device!r}; devices are objects, and names for them are each "
        "library's own",
        f"use x.device of another array, or {named}",
    )


def array_class(policy: Policy, namespace: ModuleType) -> type[StrictArray]:
    """The class of a namespace's arrays."""
    attributes: dict[str, object] = {
        "__slots__": (),
        "__module__": policy.name,
        "__doc__": StrictArray.__doc__,
        "_policy": policy,
        "_namespace": namespace,
    }
    if not policy.numpy_conversion:
        # NumPy leaves its operators to the array, which refuses, and refuses its functions.
        attributes["__array_ufunc__"] = None
    return type("Array", (StrictArray,), attributes)


def _restored(namespace: ModuleType, array: Array) -> StrictArray:
    own: type[StrictArray] = namespace._array_class
    return own._wrap(array)
