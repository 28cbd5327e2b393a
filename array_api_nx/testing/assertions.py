"""Assertions about arrays of any library: namespace, device, dtype, shape and values.

Arrays are moved to NumPy by an explicit call before they are compared, so that neither a device
that refuses silent transfers nor a log of transfers is disturbed; elements on
the device ``meta``, which has none, are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from array_api_compat import (
    array_namespace,
    is_array_api_obj,
    is_cupy_array,
    is_dask_array,
    is_torch_array,
)
from array_api_compat import device as device_of

from ..contract import events
from ..contract.numpy_dtypes import NDArray
from ..device import Device
from ..frontend.array import Array
from ..frontend.docstrings import complete_docstrings
from .strict_namespaces.base import StrictBase

__all__ = ["xp_assert_close", "xp_assert_equal", "xp_assert_same_device"]

AnyArray: TypeAlias = Any
"""An array of any library; or, as the expected value, a Python scalar or nested sequence."""

_META: Final = Device("meta")


def xp_assert_equal(
    actual: AnyArray,
    desired: AnyArray,
    *,
    check_namespace: bool = True,
    check_device: bool = True,
    check_dtype: bool = True,
    check_shape: bool = True,
    err_msg: str = "",
) -> None:
    """Assert that two arrays are of one namespace and device, and equal in dtype, shape and value.

    NaN equals NaN.

    actual (array): The result to be judged.
    desired (array, Python scalar or nested sequence): The expected value. Other objects than arrays
        imply no namespace, device and dtype; a scalar stands for all elements, unless the shape is
        checked, when `actual` must be 0-dimensional.
    check_namespace, check_device, check_dtype, check_shape: Which properties to compare in addition
        to the values. Values are compared after broadcasting where shapes need not agree.
    err_msg: The beginning of the message.
    AssertionError: If something differs: what, and for values where and by how much.
    TypeError: If `actual` is not an array.
    """
    __tracebackhide__ = True
    compared = _compared(
        actual, desired, check_namespace, check_device, check_dtype, check_shape, err_msg
    )
    if compared is not None:
        found, expected = compared
        np.testing.assert_array_equal(found, expected, err_msg=err_msg)


def xp_assert_close(
    actual: AnyArray,
    desired: AnyArray,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    check_namespace: bool = True,
    check_device: bool = True,
    check_dtype: bool = True,
    check_shape: bool = True,
    err_msg: str = "",
) -> None:
    """Assert what `xp_assert_equal` does, but that values need only be close.

    actual (array): The result to be judged.
    desired (array, Python scalar or nested sequence): The expected value; see `xp_assert_equal`.
    rtol (float, optional): The largest difference, relative to `desired`; by default four times the
        square root of the machine epsilon of the dtype of `actual`, and nothing for integers and
        bools.
    atol: The largest difference beyond that.
    check_namespace, check_device, check_dtype, check_shape: Which properties to compare in addition
        to the values.
    err_msg: The beginning of the message.
    AssertionError: If something differs: what, and for values where and by how much.
    TypeError: If `actual` is not an array.
    """
    __tracebackhide__ = True
    compared = _compared(
        actual, desired, check_namespace, check_device, check_dtype, check_shape, err_msg
    )
    if compared is not None:
        found, expected = compared
        if rtol is None:
            inexact = found.dtype.kind in "fc"
            rtol = 4 * float(np.finfo(found.dtype).eps) ** 0.5 if inexact else 0.0
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=err_msg)


def xp_assert_same_device(*arrays: AnyArray, err_msg: str = "") -> None:
    """Assert that all arrays are on one device.

    *arrays (array): Of one namespace, or of several.
    err_msg: The beginning of the message.
    AssertionError: If they are not; the message names the devices in order.
    """
    __tracebackhide__ = True
    devices = [device_of(array) for array in arrays]
    if any(device != devices[0] for device in devices[1:]):
        names = ", ".join([str(device) for device in devices])
        raise AssertionError(_message(err_msg, f"arrays on different devices: {names}"))


def _compared(
    actual: AnyArray,
    desired: AnyArray,
    check_namespace: bool,
    check_device: bool,
    check_dtype: bool,
    check_shape: bool,
    err_msg: str,
) -> Sequence[AnyArray] | None:
    """Both arrays on the host, after everything but the values was compared; None on ``meta``."""
    __tracebackhide__ = True
    if not is_array_api_obj(actual):
        raise TypeError(
            f"the result is no array but {type(actual).__name__} ({actual!r}); compare it with =="
        )
    is_array = is_array_api_obj(desired)
    if is_array:
        if check_namespace:
            names = [array_namespace(x).__name__ for x in (actual, desired)]
            _same(err_msg, "namespace", *names)
        if check_device:
            _same(err_msg, "device", device_of(actual), device_of(desired))
        if check_dtype:
            _same(err_msg, "dtype", str(actual.dtype), str(desired.dtype))
    if check_shape:
        shape = desired.shape if is_array else np.shape(desired)
        _same(err_msg, "shape", tuple(actual.shape), tuple(shape))
    with events.unobserved():
        found = _on_host(actual)
        expected = _on_host(desired) if is_array else desired
    if found is None or expected is None:
        return None
    return (found, expected) if check_shape else np.broadcast_arrays(found, expected)


def _same(err_msg: str, what: str, actual: object, desired: object) -> None:
    __tracebackhide__ = True
    if actual != desired:
        raise AssertionError(
            _message(err_msg, f"another {what}: the result has {actual}, expected was {desired}")
        )


def _message(err_msg: str, text: str) -> str:
    return f"{err_msg}\n{text}" if err_msg else text


def _on_host(x: AnyArray) -> NDArray | None:
    """An array of any library as NumPy's; None if it has no elements to look at."""
    if isinstance(x, StrictBase):
        x = x._array
    if isinstance(x, Array):
        if x.device == _META:
            return None
        return x.to_device("cpu").__array__()
    if is_dask_array(x):
        x = x.compute()
    elif is_torch_array(x):
        x = x.detach().cpu()
    elif is_cupy_array(x):
        x = x.get()
    return np.asarray(x)


complete_docstrings(globals(), __all__)
