"""What the methods of `Generator` take: seeds, sizes, dtypes and parameters, checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.random import SeedSequence

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import DType, as_dtype
from ..core.shape import broadcast_shapes, check_shape
from ..device import Device, available
from ..frontend.array import Array
from ..frontend.dispatch import is_operand

__all__ = [
    "Parameter",
    "Seed",
    "Size",
    "as_parameter",
    "as_seed",
    "as_size",
    "real_dtype",
    "result_shape",
]

Size: TypeAlias = "int | Sequence[int] | None"
Seed: TypeAlias = "int | Sequence[int] | SeedSequence | None"
Parameter: TypeAlias = "Array | float"


def as_seed(seed: Seed) -> SeedSequence:
    """The seed's sequence, from which keys and the seeds of children come."""
    if seed is None or isinstance(seed, SeedSequence):
        return SeedSequence() if seed is None else seed
    words: list[Any] = [seed]
    if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
        words = list(seed)
    try:
        numbers = [operator.index(word) for word in words]
    except TypeError:
        raise TypeError(
            "a seed is None, an int, a sequence of ints or a numpy.random.SeedSequence, not "
            f"{type(seed).__name__}"
        ) from None
    if any([number < 0 for number in numbers]):
        raise ValueError(f"a seed must not be negative, as {seed!r} is; use its absolute value")
    return SeedSequence(numbers if isinstance(seed, Sequence) else numbers[0])


def as_size(size: Size) -> tuple[int, ...] | None:
    """The shape that `size` asks for; None if it leaves the shape to the parameters."""
    if size is None:
        return None
    try:
        shape = tuple([operator.index(n) for n in size])  # type: ignore[union-attr]
    except TypeError:
        try:
            shape = (operator.index(size),)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"size must be an int, a tuple of ints or None, not {size!r}") from None
    if any([n < 0 for n in shape]):
        raise ValueError(f"a size must not be negative, as in {shape}")
    check_shape(shape)
    return shape


def real_dtype(dtype: DTypeLike | None, device: Device) -> DType:
    """float32 or float64; the device's default by default."""
    if dtype is None:
        return device.real
    wanted = available(as_dtype(dtype), device)
    if wanted not in (d.float32, d.float64):
        raise TypeError(
            f"random real numbers are float32 or float64, not {wanted}; convert them with astype"
        )
    return wanted


def as_parameter(x: object, name: str, least: float | None = None, *, strict: bool = False) -> Any:
    """A parameter of a distribution: an array of real numbers, or a float.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If one is NaN or below `least`, or, if `strict`, equal to it.
    """
    if type(x) is Array:
        if x.dtype not in d.REAL:
            raise TypeError(f"{name} must be real, not {x.dtype}")
        wrong = (x != x) if least is None else ~(x > least if strict else x >= least)
        bad = x.size != 0 and bool(wrong.any())
        value: Array | float = x
    else:
        if (
            isinstance(x, np.ndarray)
            or not is_operand(x)
            or isinstance(x, complex | np.complexfloating)
        ):
            raise TypeError(
                f"{name} must be an array_api_nx array or a float, not {type(x).__name__}; convert "
                "it with asarray(...)"
            )
        value = float(x)  # type: ignore[arg-type]
        bad = isnan(value) or (
            least is not None and not (value > least if strict else value >= least)
        )
    if bad:
        bound = "a number" if least is None else f"{'above' if strict else 'at least'} {least:g}"
        raise ValueError(f"{name} must be {bound}")
    return value


def result_shape(size: tuple[int, ...] | None, *parameters: object) -> tuple[int, ...]:
    """The shape of a draw: `size`, to which the parameters broadcast; else their common shape."""
    shapes = [x.shape for x in parameters if type(x) is Array]
    common = broadcast_shapes(*shapes) if shapes else ()
    if size is None:
        return common
    if broadcast_shapes(common, size) != size:
        raise ValueError(
            f"parameters of shape {common} do not broadcast to size {size}; "
            "give that shape, or None"
        )
    return size
