"""The operands that go with an array: arrays of the same namespace, Python scalars that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes as d
from ...core.dtypes import PROMOTION, DType
from ...frontend.array import Array
from .base import StrictBase
from .dtypes import GROUPS, SCALARS, Group
from .errors import Section
from .versions import widened_in

ANY = GROUPS["any"]
PROMOTING = Section("Type Promotion Rules")


def described(value: object) -> str:
    """A value in a few words, without its elements."""
    own: Any = type(value)
    if isinstance(value, StrictBase):
        policy = own._policy
        return f"an array of {policy.name.rpartition('.')[2]}"
    if isinstance(value, Array):
        return "an array of array_api_nx"
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if isinstance(value, np.generic):
        return f"NumPy's scalar {value!r}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"


def foreign(where: str, value: object) -> Exception:
    """The TypeError for an operand that is no array of the namespace and no Python scalar."""
    if isinstance(value, StrictBase | Array):
        instead = "keep to the arrays of one namespace, or convert with xp.from_dlpack(x)"
    elif isinstance(value, np.generic):
        instead = "convert it: float(value), int(value) or bool(value)"
    elif isinstance(value, np.ndarray | list | tuple):
        instead = "convert it: xp.asarray(values)"
    else:
        instead = "use an array of this namespace, or a Python scalar"
    return Section("Array object").refuse(
        TypeError,
        f"{where}: {described(value)} beside an array; operands are arrays of one namespace and "
        "Python scalars",
        instead,
    )


def check_devices(where: str, arrays: Sequence[Array]) -> None:
    """ValueError unless all arrays are on one device."""
    first = arrays[0].device
    for other in arrays[1:]:
        if other.device != first:
            raise Section("Device support").refuse(
                ValueError,
                f"{where}: arrays on the devices {first} and {other.device}; where arrays of two "
                "devices are computed is left unspecified",
                "move one of them: x.to_device(y.device)",
            )


def check_kinds(where: str, dtypes: Sequence[DType]) -> None:
    """TypeError unless the standard defines the promotion of the dtypes."""
    first = dtypes[0]
    for other in dtypes[1:]:
        if (first, other) not in ANY.pairs:
            raise PROMOTING.refuse(
                TypeError,
                f"{where}: {first} with {other}; what dtypes of different kinds promote to is left "
                "unspecified",
                f"convert one of them: xp.astype(x, xp.{_common(first, other)})",
            )
        first = PROMOTION[first, other]


def _common(first: DType, second: DType) -> DType:
    return PROMOTION[first, second] if d.bool not in (first, second) else d.bool


def check_dtype(where: str, group: Group, dtype: DType) -> None:
    """TypeError unless an operation is defined for a dtype."""
    if dtype not in group.dtypes:
        raise Section("Data Types").refuse(
            TypeError,
            f"{where} is defined for {group.words} dtypes, not for {dtype}",
            _mend(group, dtype),
        )


def _mend(group: Group, dtype: DType) -> str:
    """What to write before an operation that is not defined for a dtype."""
    if dtype in d.COMPLEX:
        return "say which part: xp.real(x) or xp.imag(x)"
    if d.float64 in group.dtypes:
        return "convert first: xp.astype(x, xp.float64)"
    if group.dtypes == {d.bool}:
        return "compare first: x != 0"
    if d.int64 in group.dtypes:
        return "convert first: xp.astype(x, xp.int64)"
    return "convert first: xp.astype(x, xp.complex128)"


def check_pair(where: str, group: Group, arrays: Sequence[Array]) -> None:
    """Whatever is wrong with operands of one operation: dtypes, kinds, devices."""
    for array in arrays:
        check_dtype(where, group, array.dtype)
    check_kinds(where, [array.dtype for array in arrays])
    check_devices(where, arrays)


def check_scalar(where: str, dtype: DType, scalar: object, version: str, group: Group) -> None:
    """TypeError or OverflowError unless a Python scalar fits an array of a dtype."""
    kind = type(scalar)
    if kind in SCALARS[dtype]:
        if not d.holds(dtype, scalar) and kind is int and dtype in d.INTEGRAL:
            raise PROMOTING.refuse(
                OverflowError,
                f"{where}: {scalar} is out of the bounds of {dtype}; what it gives is unspecified",
                "convert the array first: xp.astype(x, xp.int64)",
            )
        return
    if kind not in (bool, int, float, complex):
        raise foreign(where, scalar)
    if kind is complex and dtype in d.REAL_FLOATING:
        since = widened_in("operators", "complex with real")
        if version >= since and group.dtypes & {d.complex128}:
            return
        if version < since:
            raise PROMOTING.refuse(
                TypeError,
                f"{where}: a complex scalar beside an array of {dtype}, of which {version} says "
                f"nothing (it came with {since})",
                "convert the array first: xp.astype(x, xp.complex128)",
            )
        check_dtype(where, group, d.COMPLEX_OF[dtype])
    raise Section("Mixing arrays with Python scalars").refuse(
        TypeError,
        f"{where}: the {kind.__name__} {scalar!r} beside an array of {dtype}; scalars of a higher "
        "kind than the array's are left unspecified, and so are bools beside numbers",
        _scalar_mend(dtype, scalar),
    )


def _scalar_mend(dtype: DType, scalar: Any) -> str:
    if type(scalar) is bool:
        return f"use {int(scalar)}"
    if dtype is d.bool:
        return "convert the array first: xp.astype(x, xp.int64)"
    if type(scalar) is float and scalar.is_integer():
        return f"use {int(scalar)}, or convert the array: xp.astype(x, xp.float64)"
    to = "complex128" if type(scalar) is complex else "float64"
    return f"convert the array first: xp.astype(x, xp.{to})"


def wants_operand(value: object) -> bool:
    """Whether an operator should let the other operand try, before it refuses."""
    known = (StrictBase, Array, np.ndarray, np.generic, list, tuple, str, type(None))
    return not isinstance(value, known)
