"""What the standard asks of single functions beyond their signatures.

A rule is called with the options of the namespace, the class of its arrays, the function of ours
and its checked arguments, and gives the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core import dtypes as d
from ...core.dtypes import DType
from ...frontend.array import Array
from .array import StrictArray, check_shift
from .dtypes import PLAIN, StrictDType, in_kind
from .errors import refuse
from .info import Limits, StrictInfo
from .operands import Group, check_devices, check_kinds, check_scalar, described, foreign
from .versions import widened_in

if TYPE_CHECKING:
    from .policy import Policy

__all__ = ["RULES"]

Rule = Callable[["Policy", type[StrictArray], Callable[..., Any], list[Any], dict[str, Any]], Any]

DATA_DEPENDENT = "Data-dependent output shapes"


# ---------------------------------------------------------------------- creation


def _asarray(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    (obj,) = given
    if type(obj) is own:
        return target(obj._array, **kwargs)
    if isinstance(obj, StrictArray | Array):
        raise refuse(
            TypeError,
            f"asarray of {described(obj)}; arrays of other libraries come by DLPack",
            "asarray",
            "use xp.from_dlpack(x)",
        )
    if isinstance(obj, list | tuple):
        for each in obj:
            if isinstance(each, StrictArray | Array):
                raise refuse(
                    TypeError,
                    "asarray of a sequence of arrays, which is left unspecified",
                    "asarray",
                    "use xp.stack(arrays), or float(x) and int(x) for single elements",
                )
        obj = _nested(obj, own)
    return target(obj, **kwargs)


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


def _from_dlpack(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    (obj,) = given
    return target(obj._array if type(obj) is own else obj, **kwargs)


def _meshgrid(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    dtypes = {array.dtype for array in given}
    if len(dtypes) > 1:
        raise refuse(
            ValueError,
            "meshgrid of arrays of several dtypes; they must have one",
            "meshgrid",
            "convert them: xp.astype(x, xp.float64)",
        )
    for array in given:
        if array.ndim != 1:
            raise refuse(
                ValueError,
                f"meshgrid of an array of {array.ndim} axes; each must have one",
                "meshgrid",
                "use xp.reshape(x, (-1,))",
            )
    return _in_sequence(policy, target(*given, **kwargs))


def _in_sequence(policy: Policy, arrays: Any) -> Any:
    """Arrays in a tuple, or in a list before 2025.12."""
    return list(arrays) if policy.version < "2025.12" else tuple(arrays)


def _broadcast_arrays(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    return _in_sequence(policy, target(*given))


# ---------------------------------------------------------------------- data types


def _astype(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    x, dtype = given
    if x.dtype in d.COMPLEX and dtype not in (*d.COMPLEX, d.bool):
        raise refuse(
            TypeError,
            f"astype of {x.dtype} to {dtype}, which should not be permitted",
            "astype",
            "say which part: xp.astype(xp.real(x), dtype)",
        )
    return target(x, dtype, **kwargs)


def _can_cast(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    from_ = given[0].dtype if type(given[0]) is Array else given[0]
    return in_kind(from_, given[1]) and target(from_, given[1])


def _limits(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    return Limits(target(*given))


def _isdtype(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    dtype, kind = [*given, *kwargs.values()]
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
            raise refuse(
                ValueError,
                f"isdtype: no kind {each!r} of dtypes",
                "isdtype",
                f"use one of {', '.join(d.KINDS)}",
            )
        else:
            raise refuse(
                TypeError,
                f"isdtype: the kind {described(each)}; it is a dtype, a string or a tuple of these",
                "isdtype",
                'use xp.float64 or "real floating"',
            )
    return target(dtype, tuple(plain))


def _result_type(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    if len(given) == 1 and type(given[0]) is own:
        return given[0]._array.dtype
    arrays = []
    dtypes: list[DType] = []
    scalars = []
    since = widened_in("result_type", "scalar")
    for each in given:
        if type(each) is own:
            arrays.append(each._array)
            dtypes.append(each._array.dtype)
        elif type(each) is StrictDType:
            dtypes.append(PLAIN[each])
        elif type(each) in (bool, int, float, complex):
            scalars.append(each)
        elif isinstance(each, StrictArray | Array | np.ndarray | np.generic):
            raise foreign("result_type", each)
        else:
            raise refuse(
                TypeError,
                f"result_type of {described(each)}; it takes arrays, dtypes and Python scalars",
                "result_type",
                "use a dtype of the namespace, such as xp.float64",
            )
    if scalars and policy.version < since:
        raise refuse(
            TypeError,
            f"result_type of scalars in {policy.version}; they came with {since}",
            "result_type",
            "leave the scalars out",
        )
    if not dtypes:
        raise refuse(
            ValueError,
            "result_type of scalars alone; at least one array or dtype is required",
            "result_type",
            "use the dtype itself, such as xp.float64",
        )
    check_kinds("result_type", dtypes)
    if arrays:
        check_devices("result_type", arrays)
    result = d.promote(*dtypes)
    for each in scalars:
        check_scalar("result_type", result, each, policy.version, Group("any"))
    return d.promote(result, *[result.with_scalar[type(each)] for each in scalars])


# ---------------------------------------------------------------------- element by element


def _shift(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    check_shift(target.__name__, given[1])
    return target(*given)


def _clip(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    bounds = dict(zip(("min", "max"), given[1:], strict=False)) | kwargs
    x = given[0]
    for name, bound in bounds.items():
        if type(bound) is Array and bound.dtype is not x.dtype:
            raise refuse(
                TypeError,
                f"clip: {name} is an array of {bound.dtype} and x of {x.dtype}; it is defined "
                "where all have one dtype",
                "clip",
                f"convert it: xp.astype({name}, x.dtype)",
            )
    low, high = bounds.get("min"), bounds.get("max")
    if _is_greater(low, high):
        raise refuse(
            ValueError,
            "clip: min is greater than max; what that gives is left unspecified",
            "clip",
            "exchange them, or use xp.minimum(xp.maximum(x, min), max)",
        )
    return target(*given, **kwargs)


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


def _total(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    (x,) = given
    if policy.version < "2023.12" and kwargs.get("dtype") is None:
        # Sums of floats had the default dtype, whatever that of the array.
        if x.dtype in d.REAL_FLOATING:
            kwargs["dtype"] = x.device.real
        elif x.dtype in d.COMPLEX:
            kwargs["dtype"] = x.device.complex
    return target(x, **kwargs)


def _scan(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    (x,) = given
    if not x.ndim:
        raise refuse(
            ValueError,
            f"{target.__name__} of a zero-dimensional array is left unspecified",
            "Statistical Functions",
            "use xp.reshape(x, (1,))",
        )
    return target(x, **kwargs)


def _take(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    x, indices = given
    if not x.ndim or indices.ndim != 1:
        raise refuse(
            ValueError,
            f"take of {x.ndim} axes by indices of {indices.ndim}; x must have an axis, and indices "
            "exactly one",
            "take",
            "use xp.reshape, or xp.take_along_axis",
        )
    if kwargs.get("axis") is None and x.ndim != 1:
        raise refuse(
            ValueError,
            f"take without axis from {x.ndim} axes; it may be left out for one axis only",
            "take",
            "name the axis: xp.take(x, indices, axis=0)",
        )
    return target(x, indices, **kwargs)


def _along_vectors(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    axis = kwargs.get("axis", -1)
    if policy.version < "2023.12":
        most = max([x.ndim for x in given])
        if 0 <= axis < most and target.__name__ == "vecdot":
            # Axes were those of the shape that both arrays are broadcast to.
            kwargs["axis"] = axis - most
    elif axis >= 0:
        raise refuse(
            ValueError,
            f"{target.__name__} along axis {axis}; axes are counted from the last: negative",
            "Linear Algebra Functions",
            "count from the last axis: axis=axis - x.ndim",
        )
    return target(*given, **kwargs)


def _permute_dims(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    axes = kwargs["axes"] if "axes" in kwargs else given[1]
    since = widened_in("permute_dims.axes", "negative")
    if policy.version < since and any(axis < 0 for axis in axes):
        raise refuse(
            ValueError,
            f"permute_dims by negative axes in {policy.version}; they came with {since}",
            "permute_dims",
            "count from the first axis: axis + x.ndim",
        )
    return target(*given, **kwargs)


def _tensordot(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    axes = kwargs.get("axes", 2)
    pair = isinstance(axes, tuple) and len(axes) == 2
    if type(axes) is not int and not (pair and all(isinstance(a, list | tuple) for a in axes)):
        raise refuse(
            TypeError,
            f"tensordot: axes is {described(axes)}, not an int or a tuple of two sequences of ints",
            "tensordot",
            "use axes=((i, ...), (j, ...))",
        )
    if policy.version < "2023.12" and pair and any(axis < 0 for a in axes for axis in a):
        raise refuse(
            ValueError,
            f"tensordot over negative axes in {policy.version}; they came with 2023.12",
            "tensordot",
            "count from the first axis: axis + x.ndim",
        )
    return target(*given, **kwargs)


# ---------------------------------------------------------------------- shapes that depend on data


def _data_dependent(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    if not policy.data_dependent_shapes:
        raise _refuse_shape(target.__name__)
    return target(*given, **kwargs)


def _refuse_shape(name: str) -> Exception:
    instead = {
        "nonzero": "use xp.where(condition, x, other)",
        "repeat": "repeat by an int, or use xp.take with indices",
    }.get(name, "use xp.sort(x), and compare neighbours")
    return refuse(
        RuntimeError,
        f"{name}: the result's shape depends on elements, which libraries may leave out "
        "(data_dependent_shapes=False)",
        DATA_DEPENDENT,
        instead,
    )


def _nonzero(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    if not given[0].ndim:
        raise refuse(
            ValueError,
            "nonzero of a zero-dimensional array, for which it must raise",
            "nonzero",
            "use xp.reshape(x, (1,))",
        )
    return _data_dependent(policy, own, target, given, kwargs)


def _repeat(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    if type(given[1]) is Array and not policy.data_dependent_shapes:
        raise _refuse_shape("repeat")
    return target(*given, **kwargs)


def _info(
    policy: Policy, own: type[StrictArray], target: Any, given: list[Any], kwargs: dict[str, Any]
) -> Any:
    return StrictInfo(policy, target())


RULES: Final[dict[str, Rule]] = {
    "__array_namespace_info__": _info,
    "asarray": _asarray,
    "astype": _astype,
    "bitwise_left_shift": _shift,
    "bitwise_right_shift": _shift,
    "broadcast_arrays": _broadcast_arrays,
    "can_cast": _can_cast,
    "clip": _clip,
    "cross": _along_vectors,
    "cumulative_prod": _scan,
    "cumulative_sum": _scan,
    "finfo": _limits,
    "from_dlpack": _from_dlpack,
    "iinfo": _limits,
    "isdtype": _isdtype,
    "meshgrid": _meshgrid,
    "nonzero": _nonzero,
    "permute_dims": _permute_dims,
    "prod": _total,
    "repeat": _repeat,
    "result_type": _result_type,
    "sum": _total,
    "take": _take,
    "tensordot": _tensordot,
    "trace": _total,
    "unique_all": _data_dependent,
    "unique_counts": _data_dependent,
    "unique_inverse": _data_dependent,
    "unique_values": _data_dependent,
    "vecdot": _along_vectors,
}
