"""Operands: arguments as arrays of ours, of one dtype, on one device.

Where all arguments are arrays on one device, which is found out by identity, they are left as they
are. Arrays that were made without ``device=`` are on a device that is not committed (see `Device`):
they follow others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from ..config import current as current_settings
from ..config import hints
from ..contract.events import transferred
from ..core import dtypes as d
from ..core.dtypes import SCALAR_PROMOTION, DType
from ..device import Device, available, default_device, default_dtype, nearest
from ..native import with_native
from ..tracing.recorder import current as current_recorder
from .annotations import Foreign, PythonScalar
from .array import Array, wrap
from .interop import as_numpy, from_numpy, moved, taking, to_device
from .scalars import SYMBOLIC, scalar_type, scalar_value

if TYPE_CHECKING:
    from ..contract.arguments import Handle

ArrayOrScalar: TypeAlias = "Array | PythonScalar"


def wrap_indices(handle: Handle, device: Device) -> Array:
    """The Array around a backend's int64 result, in the device's dtype of indices."""
    dtype = device.integral
    return wrap(handle if dtype is d.int64 else device.backend.cast(handle, dtype), dtype, device)


# ---------------------------------------------------------------------- what an argument is


def only_array(x: object, name: str = "x") -> Array:
    """`x` as an array: itself, or that over the memory of a NumPy array, or of a NumPy scalar.

    TypeError: If it is anything else, naming the call that makes an array of it.
    """
    if type(x) is Array:
        return x
    if isinstance(x, np.generic) and not refuses_numpy():
        x = np.asarray(x)
    return own_array(adopted(x, name), name)


def own_array(x: object, name: str = "x") -> Array:
    """`x`, if it is one of our arrays: where a function writes to it.

    TypeError: Otherwise, naming the call that makes one.
    """
    if type(x) is Array:
        return x
    raise TypeError(f"{name} must be an array_api_nx array, not {_describe(x)}; {_advice(x)}")


def adopted(x: Any, name: str = "x") -> Any:
    """`x` itself; if it is a NumPy array, and these are operands here, an array over its memory; an
    array of NumPy's face as the array that it is beneath."""
    if hasattr(type(x), "_standard"):
        return x._standard
    return _from_numpy(x, name) if isinstance(x, np.ndarray) and not refuses_numpy() else x


def refuses_numpy() -> bool:
    """Whether NumPy arrays, and Python scalars in place of arrays, are no operands here."""
    return hints.strict_operands and current_settings().operands == "strict"


def _from_numpy(x: np.ndarray[Any, Any], name: str) -> Array:
    """A NumPy array as an operand: over its memory where that can be, and not committed.

    TypeError: If the standard lacks its dtype, or it is of a class whose meaning an operation would
        lose.
    """
    if type(x) is not np.ndarray:
        if isinstance(x, np.matrix) or type(x).__array_ufunc__ is not np.ndarray.__array_ufunc__:
            raise TypeError(
                f"{name} is {_describe(x)}, whose operators mean more than those of its elements; "
                "make an array of these with asarray(numpy.asarray(x))"
            )
        x = as_numpy(x, None, None)
    dtype = d.known(x.dtype.newbyteorder("="))
    if dtype is None:
        raise TypeError(
            f"{name} is a NumPy array of dtype {x.dtype}, which the standard lacks; convert it "
            "with NumPy's astype(...), for instance to float64"
        )
    device = default_device()
    if hints.watched:
        taking(x, "asarray", device, x.nbytes)
    return from_numpy(x, nearest(dtype, device), device, None)


def _describe(x: object) -> str:
    kind = type(x)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__.partition('.')[0]} {name}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _advice(x: object) -> str:
    if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray | np.generic):
        return "convert it with from_dlpack(...) or asarray(...)"
    if isinstance(x, str | bytes):
        return "arrays hold numbers: convert it with float(...), then with asarray(...)"
    if x is None:
        return "make an array with asarray(...)"
    return "convert it with asarray(...)"


def as_array(x: object, name: str = "x") -> ArrayOrScalar:
    """`x` as an operand: an array or a Python scalar. NumPy scalars become 0-d arrays.

    TypeError: If it is anything else.
    """
    if type(x) is Array:
        return x
    if isinstance(x, np.generic):
        dtype = d.known(x.dtype)
        if dtype is None:
            raise TypeError(
                f"{name} is a NumPy scalar of dtype {x.dtype}, which the standard lacks; "
                "convert it with float() or int()"
            )
        device = hints.device or default_device()
        if device.missing:
            dtype = nearest(dtype, device)
            x = dtype.type(x)
        handle = device.backend.from_host(np.asarray(x), copy=False, lent=False)
        return wrap(handle, dtype, device)
    kind = scalar_type(x)
    known: Any = x
    if kind is not None:
        plain: PythonScalar = known if type(x) in SYMBOLIC else kind(known)
        return plain
    known = adopted(x, name)
    if type(known) is Array:
        return known
    raise TypeError(
        f"{name} must be an array_api_nx array or a Python scalar, not {_describe(x)}; {_advice(x)}"
    )


def array_operand(x: object, name: str = "x") -> Array:
    """`x` as an array. NumPy scalars become 0-d arrays.

    TypeError: If it is anything else, a Python scalar among them.
    """
    if type(x) is Array:
        return x
    return only_array(as_array(x, name) if isinstance(x, np.generic) else x, name)


def unary_operand(x: object, name: str = "x") -> Array:
    """`x` as the operand of a function of one array, element by element.

    As `array_operand`; Python scalars become 0-d arrays of the default dtypes.
    """
    kind = scalar_type(x)
    if kind is not None and not refuses_numpy():
        return scalar_array(x, kind, None, default_device())
    return array_operand(x, name)


def scalar_array(x: object, kind: type, dtype: DType | None, device: Device) -> Array:
    """The Python scalar `x`, whose `scalar_type` is `kind`, as a 0-d array.

    `dtype` is the device's default for `kind` if it is None.
    """
    if dtype is None:
        dtype = default_dtype(kind, device)
    available(dtype, device)
    value = scalar_value(x if kind is type(x) else as_array(x), dtype)
    return wrap(device.backend.full((), dtype, value), dtype, device)


def is_operand(x: object) -> bool:
    """Whether a binary operator has an opinion on `x`: it computes, or says how to convert."""
    return (
        type(x) is Array
        or isinstance(x, bool | int | float | complex | np.generic | np.ndarray | list | tuple)
        or type(x) in SYMBOLIC
        or hasattr(x, "__array_namespace__")
        or hasattr(x, "__dlpack__")
    )


def check_writable(x: Array) -> None:
    """ValueError, saying why, unless `x` may be written to."""
    reason = x._device.backend.read_only_reason(x._handle)
    if reason is not None:
        mend = "copy it with asarray(x, copy=True)"
        if reason == x._device.backend.immutable:
            mend = "make another array, with where(...), concat(...) or array_api_extra's at(x)"
        raise ValueError(f"cannot write to the array: {reason}; {mend}")


# ---------------------------------------------------------------------- dtypes


@with_native
def cast(x: Array, dtype: DType) -> Array:
    """`x` itself, or a copy with another dtype."""
    if x._dtype is dtype:
        return x
    device = x._device
    if device.missing:
        available(dtype, device)
    return wrap(device.backend.cast(x._handle, dtype), dtype, device)


def int64_operand(x: Array) -> Array:
    """`x` as int64, as backends take indices, even where the device lacks that dtype."""
    if x._dtype is d.int64:
        return x
    return wrap(x._device.backend.cast(x._handle, d.int64), d.int64, x._device)


def placed_operands(
    values: Sequence[object], convert: Callable[[object, str], ArrayOrScalar]
) -> tuple[list[ArrayOrScalar], Device]:
    """Arrays on one device and Python scalars, as `convert` makes them of each value and its name.

    TypeError: If none is an array.
    ValueError: If the arrays are on different devices.
    """
    result = [convert(x, f"x{i}") for i, x in enumerate(values, start=1)]
    device = device_of_operands(values, result)
    if device is None:
        raise TypeError(
            "at least one argument must be an array, but all are Python scalars; "
            "convert one with asarray(...)"
        )
    placed = [placed_operand(given, x, device) for given, x in zip(values, result, strict=True)]
    return placed, device


def operands(*values: object) -> tuple[list[ArrayOrScalar], DType, Device]:
    """Check mixed arrays and scalars together.

    Returns operands (list): Arrays and Python scalars, of which at least one is an array.
    Returns dtype (dtype): What they promote to.
    Returns device (Device):
    TypeError: If a value is neither, or none is an array.
    ValueError: If the arrays are on different devices.
    """
    result, device = placed_operands(values, as_array)
    dtype = d.promote(*[x._dtype for x in result if type(x) is Array])
    for x in result:
        if type(x) is not Array:
            kind = scalar_type(x)
            assert kind is not None
            dtype = SCALAR_PROMOTION[dtype, kind]
    if device.missing:
        dtype = promoted(dtype, device)
    return result, dtype, device


def promote_arrays(*arrays: Array) -> tuple[list[Array], DType, Device]:
    """Arrays (scalars excluded) cast to their common dtype."""
    placed = together(*[only_array(x, f"x{i}") for i, x in enumerate(arrays, start=1)])
    device = placed[0]._device
    dtype = d.promote(*[x._dtype for x in placed])
    if device.missing:
        dtype = promoted(dtype, device)
    return [cast(x, dtype) for x in placed], dtype, device


def promoted(dtype: DType, device: Device) -> DType:
    """What operands on a device promote to, if it is `dtype` elsewhere.

    The standard leaves open what integers and floats make together. Where there is no double
    precision, it is single. The result of integers alone is defined there, and must be available.
    """
    return nearest(dtype, device) if dtype in d.FLOATING else dtype


# ---------------------------------------------------------------------- devices


def device_of_operands(given: Sequence[object], values: Sequence[ArrayOrScalar]) -> Device | None:
    """The device of what `as_array` made of operands; None if all are Python scalars."""
    arrays = [x for x in values if type(x) is Array]
    # A NumPy scalar goes wherever the arrays are.
    placed = [x for x, each in zip(values, given, strict=True) if not isinstance(each, np.generic)]
    devices = [x._device for x in placed if type(x) is Array] or [x._device for x in arrays]
    return common_device(devices) if devices else None


def placed_operand(given: object, x: ArrayOrScalar, device: Device) -> ArrayOrScalar:
    """What `as_array` made of an operand, on the device of all of them."""
    if type(x) is not Array or x._device is device:
        return x
    return moved_scalar(x, device) if isinstance(given, np.generic) else on_device(x, device)


def moved_scalar(x: Array, device: Device) -> Array:
    """A NumPy scalar as an array on the device of the arrays, in a dtype that is available."""
    return to_device(cast(x, nearest(x._dtype, device)), device)


def common_device(devices: Iterable[Device]) -> Device:
    """The device on which operands from `devices` are computed.

    Where all have one name it is that device, committed if one of them is. Else it is that of the
    committed ones, or the default device if there are none.

    ValueError: If there are two committed ones of different names; or two names, while the setting
        `placement` is "strict".
    """
    found: Device | None = None
    differs = False
    for device in devices:
        if found is None or found is device:
            found = device
        elif found == device:
            found = found if found.committed else device
        elif (found.committed and device.committed) or is_strict():
            refuse(found, device)
        elif found.committed is device.committed:
            differs = True
        else:
            found = found if found.committed else device
    assert found is not None
    return default_device() if differs and not found.committed else found


def device_of_program(devices: Sequence[Device]) -> Device:
    """Where a traced function is computed whose arguments are on these devices.

    Several committed ones are no error yet, as it may compute on one of them alone.
    """
    for device in devices:
        if device.committed:
            return device
    return devices[0] if len({*devices}) == 1 else default_device()


def is_strict() -> bool:
    """Whether no array follows another one."""
    return current_settings().placement == "strict"


def refuse(first: Device, second: Device) -> NoReturn:
    """Raise the ValueError for two devices."""
    why = ""
    if not (first.committed and second.committed):
        why = ", and placement='strict' lets no array follow another one"
    raise ValueError(
        f"arrays are on different devices, {first} and {second}{why}; "
        "move them with to_device first"
    )


def together(*arrays: Array) -> Sequence[Array]:
    """Arrays on one device: see `common_device`."""
    device = arrays[0]._device
    if all([x._device is device for x in arrays]):
        return arrays
    device = common_device([x._device for x in arrays])
    return [on_device(x, device) for x in arrays]


def beside(x: Array, value: Array) -> Array:
    """`value` on the device of `x`, to write it there, or to select there.

    An array that is written stays where it is, committed or not: its views, and the
    owner of its memory, would not see a write elsewhere.

    ValueError: If both are committed to different devices; or if these differ, while the setting
        `placement` is "strict".
    """
    if value._device != x._device and (
        (value._device.committed and x._device.committed) or is_strict()
    ):
        refuse(x._device, value._device)
    return on_device(value, x._device)


def on_device(x: Array, device: Device) -> Array:
    """`x` on the device of another operand, in the nearest dtype that there is.

    It shares the memory of `x` where that is there already.
    """
    if x._device is device:
        return x
    if x._device == device:
        return wrap(x._handle, x._dtype, device)
    if current_recorder.get() is not None:
        raise ValueError(
            f"arrays are on different devices, {x._device} and {device}, and none follows while a "
            "function is traced; move them with to_device first"
        )
    x = cast(x, nearest(x._dtype, device))
    if hints.watched:
        transferred("placement", x._device.name, device.name, x.nbytes)
    return moved(x, device)


def arrays_in(sequence: Sequence[Foreign]) -> list[Array]:
    """Arrays among the elements of a nested sequence: those of the first level that has some."""
    level: Iterable[Foreign] = sequence
    seen: set[int] = set()  # a list may have itself among its elements
    while True:
        kinds = {*map(type, level)}
        if Array in kinds:
            return [x for x in level if type(x) is Array]
        if not kinds & {list, tuple}:
            return []
        lists = {id(x): x for x in level if type(x) in (list, tuple) and id(x) not in seen}
        seen.update(lists)
        level = [*chain.from_iterable(lists.values())]
