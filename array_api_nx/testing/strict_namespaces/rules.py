"""The rules of the standard for single functions beyond their signatures.

A rule is given a call whose arguments have been checked one by one. It gives the result, or None
where that is what our function computes of the arguments, which the rule may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...core import dtypes as d
from ...core.dtypes import DType
from ...frontend.array import Array
from .array import StrictArray
from .dtypes import PLAIN, StrictDType, in_kind
from .errors import Section
from .info import Limits, StrictInfo
from .operands import ANY, check_devices, check_kinds, check_scalar, described, foreign
from .operators import check_shift
from .policy import Policy
from .versions import widened_in


class StrictCall(NamedTuple):
    """A call of a function of ours.

    policy: The options of the namespace.
    own: The class of its arrays.
    target: The function.
    given, kwargs: Its arguments by position and by name, with arrays of ours in them.
    """

    policy: Policy
    own: type[StrictArray]
    target: Callable[..., Any]
    given: list[Any]
    kwargs: dict[str, Any]

    def compute(self) -> object:
        """The result of the function."""
        return self.target(*self.given, **self.kwargs)

    def refuse(self, kind: type[Exception], rule: str, instead: str) -> Exception:
        """The exception for a call that the function's own section forbids; see `Section`."""
        return Section(self.target.__name__).refuse(kind, rule, instead)


Rule = Callable[[StrictCall], object]


# ---------------------------------------------------------------------- creation


def _asarray(call: StrictCall) -> object:
    (obj,) = call.given
    if type(obj) is call.own:
        return call.target(obj._array, **call.kwargs)
    if isinstance(obj, StrictArray | Array):
        raise call.refuse(
            TypeError,
            f"asarray of {described(obj)}; arrays of other libraries come by DLPack",
            "use xp.from_dlpack(x)",
        )
    if isinstance(obj, list | tuple):
        for each in obj:
            if isinstance(each, StrictArray | Array):
                raise call.refuse(
                    TypeError,
                    "asarray of a sequence of arrays, which is left unspecified",
                    "use xp.stack(arrays), or float(x) and int(x) for single elements",
                )
        obj = _nested(obj, call.own)
    return call.target(obj, **call.kwargs)


def _nested(values: Any, own: type[StrictArray]) -> Any:
    """A sequence in which arrays within sequences are those inside of strict ones.

    The standard says nothing of them either, but the official suite writes its expectations so.
    """
    if not any([isinstance(each, list | tuple | StrictArray) for each in values]):
        return values
    made = []
    for each in values:
        if type(each) is own:
            made.append(each._array)
        elif isinstance(each, StrictArray):
            raise foreign("asarray", each)
        else:
            made.append(_nested(each, own) if isinstance(each, list | tuple) else each)
    return made


def _from_dlpack(call: StrictCall) -> object:
    (obj,) = call.given
    return call.target(obj._array if type(obj) is call.own else obj, **call.kwargs)


def _meshgrid(call: StrictCall) -> object:
    dtypes = {array.dtype for array in call.given}
    if len(dtypes) > 1:
        raise call.refuse(
            ValueError,
            "meshgrid of arrays of several dtypes; they must have one",
            "convert them: xp.astype(x, xp.float64)",
        )
    for array in call.given:
        if array.ndim != 1:
            raise call.refuse(
                ValueError,
                f"meshgrid of an array of {array.ndim} axes; each must have one",
                "use xp.reshape(x, (-1,))",
            )
    return _in_sequence(call.policy, call.compute())


def _in_sequence(policy: Policy, arrays: Any) -> Any:
    """Arrays in a tuple, or in a list before 2025.12."""
    return list(arrays) if policy.version < "2025.12" else tuple(arrays)


def _broadcast_arrays(call: StrictCall) -> object:
    return _in_sequence(call.policy, call.target(*call.given))


# ---------------------------------------------------------------------- data types


def _astype(call: StrictCall) -> None:
    x, dtype = call.given
    if x.dtype in d.COMPLEX and dtype not in (*d.COMPLEX, d.bool):
        raise call.refuse(
            TypeError,
            f"astype of {x.dtype} to {dtype}, which should not be permitted",
            "say which part: xp.astype(xp.real(x), dtype)",
        )


def _can_cast(call: StrictCall) -> object:
    from_ = call.given[0].dtype if type(call.given[0]) is Array else call.given[0]
    return in_kind(from_, call.given[1]) and call.target(from_, call.given[1])


def _limits(call: StrictCall) -> object:
    return Limits(call.target(*call.given))


def _isdtype(call: StrictCall) -> object:
    said = dict(zip(("dtype", "kind"), call.given, strict=False)) | call.kwargs
    dtype, kind = said["dtype"], said["kind"]
    if type(kind) is str and kind in d.KINDS:
        return dtype in d.KINDS[kind]
    asked = kind if isinstance(kind, tuple) else (kind,)
    plain: list[Any] = []
    for each in asked:
        if type(each) is StrictDType:
            plain.append(PLAIN[each])
        elif isinstance(each, str) and each in d.KINDS:
            plain.append(each)
        elif isinstance(each, str):
            raise call.refuse(
                ValueError,
                f"isdtype: no kind {each!r} of dtypes",
                f"use one of {', '.join(d.KINDS)}",
            )
        else:
            raise call.refuse(
                TypeError,
                f"isdtype: the kind {described(each)}; it is a dtype, a string or a tuple of these",
                'use xp.float64 or "real floating"',
            )
    return call.target(dtype, tuple(plain))


def _result_type(call: StrictCall) -> object:
    if len(call.given) == 1 and type(call.given[0]) is call.own:
        return call.given[0]._array.dtype
    arrays = []
    dtypes: list[DType] = []
    scalars = []
    since = widened_in("result_type", "scalar")
    for each in call.given:
        if type(each) is call.own:
            arrays.append(each._array)
            dtypes.append(each._array.dtype)
        elif type(each) is StrictDType:
            dtypes.append(PLAIN[each])
        elif type(each) in (bool, int, float, complex):
            scalars.append(each)
        elif isinstance(each, StrictArray | Array | np.ndarray | np.generic):
            raise foreign("result_type", each)
        else:
            raise call.refuse(
                TypeError,
                f"result_type of {described(each)}; it takes arrays, dtypes and Python scalars",
                "use a dtype of the namespace, such as xp.float64",
            )
    if scalars and call.policy.version < since:
        raise call.refuse(
            TypeError,
            f"result_type of scalars in {call.policy.version}; they came with {since}",
            "leave the scalars out",
        )
    if not dtypes:
        raise call.refuse(
            ValueError,
            "result_type of scalars alone; at least one array or dtype is required",
            "use the dtype itself, such as xp.float64",
        )
    check_kinds("result_type", dtypes)
    if arrays:
        check_devices("result_type", arrays)
    result = d.promote(*dtypes)
    for each in scalars:
        check_scalar("result_type", result, each, call.policy.version, ANY)
    return d.promote(result, *[d.SCALAR_PROMOTION[result, type(each)] for each in scalars])


# ---------------------------------------------------------------------- element by element


def _shift(call: StrictCall) -> None:
    check_shift(call.target.__name__, call.given[1])


def _clip(call: StrictCall) -> None:
    bounds = dict(zip(("min", "max"), call.given[1:], strict=False)) | call.kwargs
    x = call.given[0]
    for name, bound in bounds.items():
        if type(bound) is Array and bound.dtype is not x.dtype:
            raise call.refuse(
                TypeError,
                f"clip: {name} is an array of {bound.dtype} and x of {x.dtype}; it is defined "
                "where all have one dtype",
                f"convert it: xp.astype({name}, x.dtype)",
            )
    low, high = bounds.get("min"), bounds.get("max")
    if _is_greater(low, high):
        raise call.refuse(
            ValueError,
            "clip: min is greater than max; what that gives is left unspecified",
            "exchange them, or use xp.minimum(xp.maximum(x, min), max)",
        )


def _is_greater(low: Any, high: Any) -> bool:
    """Whether a lower bound is above an upper one, as far as no waiting computation is needed."""
    if low is None or high is None:
        return False
    for bound in (low, high):
        if type(bound) is Array and bound.device.name != "cpu":
            return False
    above = low > high
    return bool(above.any()) if type(above) is Array else bool(above)


# ---------------------------------------------------------------------- along axes


def _total(call: StrictCall) -> None:
    (x,) = call.given
    if call.policy.version < "2023.12" and call.kwargs.get("dtype") is None:
        # Sums of floats had the default dtype, whatever that of the array.
        if x.dtype in d.REAL_FLOATING:
            call.kwargs["dtype"] = x.device.real
        elif x.dtype in d.COMPLEX:
            call.kwargs["dtype"] = x.device.complex


def _scan(call: StrictCall) -> None:
    (x,) = call.given
    if not x.ndim:
        raise Section("Statistical Functions").refuse(
            ValueError,
            f"{call.target.__name__} of a zero-dimensional array is left unspecified",
            "use xp.reshape(x, (1,))",
        )


def _take(call: StrictCall) -> None:
    x, indices = call.given
    if not x.ndim or indices.ndim != 1:
        raise call.refuse(
            ValueError,
            f"take of {x.ndim} axes by indices of {indices.ndim}; x must have an axis, and indices "
            "exactly one",
            "use xp.reshape, or xp.take_along_axis",
        )
    if call.kwargs.get("axis") is None and x.ndim != 1:
        raise call.refuse(
            ValueError,
            f"take without axis from {x.ndim} axes; it may be left out for one axis only",
            "name the axis: xp.take(x, indices, axis=0)",
        )


def _along_vectors(call: StrictCall) -> None:
    axis = call.kwargs.get("axis", -1)
    if call.policy.version < "2023.12":
        most = max([x.ndim for x in call.given])
        if 0 <= axis < most and call.target.__name__ == "vecdot":
            # Axes were those of the shape that both arrays are broadcast to.
            call.kwargs["axis"] = axis - most
    elif axis >= 0:
        raise Section("Linear Algebra Functions").refuse(
            ValueError,
            f"{call.target.__name__} along axis {axis}; axes are counted from the last: negative",
            "count from the last axis: axis=axis - x.ndim",
        )


def _permute_dims(call: StrictCall) -> None:
    axes = call.kwargs["axes"] if "axes" in call.kwargs else call.given[1]
    since = widened_in("permute_dims.axes", "negative")
    if call.policy.version < since and any(axis < 0 for axis in axes):
        raise call.refuse(
            ValueError,
            f"permute_dims by negative axes in {call.policy.version}; they came with {since}",
            "count from the first axis: axis + x.ndim",
        )


def _tensordot(call: StrictCall) -> None:
    axes = call.kwargs.get("axes", 2)
    pair = isinstance(axes, tuple) and len(axes) == 2
    if type(axes) is not int and not (pair and all(isinstance(a, list | tuple) for a in axes)):
        raise call.refuse(
            TypeError,
            f"tensordot: axes is {described(axes)}, not an int or a tuple of two sequences of ints",
            "use axes=((i, ...), (j, ...))",
        )
    if call.policy.version < "2023.12" and pair and any(axis < 0 for a in axes for axis in a):
        raise call.refuse(
            ValueError,
            f"tensordot over negative axes in {call.policy.version}; they came with 2023.12",
            "count from the first axis: axis + x.ndim",
        )


# ---------------------------------------------------------------------- shapes that depend on data


def _data_dependent(call: StrictCall) -> None:
    if not call.policy.data_dependent_shapes:
        name = call.target.__name__
        instead = {
            "nonzero": "use xp.where(condition, x, other)",
            "repeat": "repeat by an int, or use xp.take with indices",
        }
        raise Section("Data-dependent output shapes").refuse(
            RuntimeError,
            f"{name}: the result's shape depends on elements, which libraries may leave out "
            "(data_dependent_shapes=False)",
            instead.get(name, "use xp.sort(x), and compare neighbours"),
        )


def _nonzero(call: StrictCall) -> None:
    if not call.given[0].ndim:
        raise call.refuse(
            ValueError,
            "nonzero of a zero-dimensional array, for which it must raise",
            "use xp.reshape(x, (1,))",
        )
    _data_dependent(call)


def _repeat(call: StrictCall) -> None:
    if type(call.given[1]) is Array:
        _data_dependent(call)


def _info(call: StrictCall) -> object:
    return StrictInfo(call.policy, call.target())


RULES: Final[dict[str, Rule]] = {
    name: rule
    for names, rule in {
        "__array_namespace_info__": _info,
        "asarray": _asarray,
        "astype": _astype,
        "bitwise_left_shift bitwise_right_shift": _shift,
        "broadcast_arrays": _broadcast_arrays,
        "can_cast": _can_cast,
        "clip": _clip,
        "cross vecdot": _along_vectors,
        "cumulative_prod cumulative_sum": _scan,
        "finfo iinfo": _limits,
        "from_dlpack": _from_dlpack,
        "isdtype": _isdtype,
        "meshgrid": _meshgrid,
        "nonzero": _nonzero,
        "permute_dims": _permute_dims,
        "prod sum trace": _total,
        "repeat": _repeat,
        "result_type": _result_type,
        "take": _take,
        "tensordot": _tensordot,
        "unique_all unique_counts unique_inverse unique_values": _data_dependent,
    }.items()
    for name in names.split()
}
"""The rules by the names of functions."""
