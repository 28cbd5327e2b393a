"""What arrays look like: in print as NumPy shows them, under its options, and in notebooks."""

from __future__ import annotations

from math import prod

import numpy as np

from ..config import hints
from ..contract.numpy_dtypes import NDArray
from ..device import default_device
from ..tracing.recorder import Traced
from .annotations import Foreign
from .array import Array, method
from .interop import host_copy, reading

_PREFIX = "Array("


@method("__repr__")
def array_repr(x: Array) -> str:
    """The elements with dtype, with the shape where they do not show it, and with the device
    where it is not the default one; large arrays abbreviated."""
    if not x._device.backend.has_elements(x._handle):
        return _without_elements(x)
    return _repr(x, _shown(x))


def _shown(x: Array) -> NDArray:
    """The elements of `x`, reported as such that are shown."""
    if hints.watched:
        reading(x, "print", "python")
    return host_copy(x)


def _repr(x: Array, host: NDArray) -> str:
    """`array_repr` with the elements of `x`."""
    options = np.get_printoptions()
    shape = x.shape
    tail = f", dtype={x.dtype}"
    if x.device != default_device():
        tail += f", device={str(x.device)!r}"
    tail += ")"
    size = prod(shape)
    if (size == 0 and shape != (0,)) or size > options["threshold"]:
        tail = f", shape={shape}" + tail
    text = np.array2string(host, separator=", ", prefix=_PREFIX, suffix=")")
    last_line = len(text) - text.rfind("\n") - 1 + (0 if "\n" in text else len(_PREFIX))
    if last_line + len(tail) > options["linewidth"]:
        tail = ",\n" + " " * len(_PREFIX) + tail[2:]
    return _PREFIX + text + tail


@method("__str__")
def array_str(x: Array) -> str:
    """The elements alone; large arrays abbreviated."""
    if not x._device.backend.has_elements(x._handle):
        return _without_elements(x)
    return str(_shown(x))


def _without_elements(x: Array) -> str:
    why = "being traced" if type(x._handle) is Traced else f"device={str(x._device)!r}"
    return f"Array(shape={x.shape}, dtype={x.dtype}, {why})"


@method("__format__")
def array_format(x: Array, spec: str) -> str:
    """``format(x, spec)``: a 0-d array as its Python scalar, any other without a spec only.

    TypeError: If there is a spec for an array that has axes.
    """
    if not spec:
        return array_str(x)
    shape = x.shape
    if shape:
        raise TypeError(
            f"the format {spec!r} is for scalars, not for an array of shape {shape}; "
            "format its elements one by one, or leave out the format"
        )
    return format(_shown(x).item(), spec)


@method("_repr_html_")
def array_html(x: Array) -> str:
    """The array as HTML, see `array_bundle`."""
    return array_bundle(x)["text/html"]


@method("_repr_mimebundle_")
def array_bundle(
    x: Array, include: Foreign = None, exclude: Foreign = None, **options: Foreign
) -> dict[str, str]:
    """What a notebook shows: shape, dtype, device, bytes, and the elements as far as repr does.

    Of a pending array also what is computed for that. Where that may take hours, as
    on ``dask``, nothing is computed, and the elements are left out; also of an array that is
    computed, but so large that most of them would be.

    Returns: Texts by MIME type: "text/plain" and "text/html".
    """
    # Loaded for the first notebook: programs show no HTML.
    from ..explain.html import card, preformatted
    from ..explain.model import size_text

    facts: list[tuple[str, object]] = [("shape", x.shape), ("dtype", x.dtype)]
    facts.append(("device", x.device))
    if type(x._handle) is Traced:
        return {
            "text/plain": _without_elements(x),
            "text/html": card("Array", [*facts, ("", "being traced")]),
        }
    facts.append(("", size_text(x.nbytes)))
    backend = x._device.backend
    if not backend.has_elements(x._handle):
        return {"text/plain": _without_elements(x), "text/html": card("Array", facts)}
    # Asked for before the elements, which computes what is pending.
    told = backend.explain(x._handle)
    is_small = x.size <= np.get_printoptions()["threshold"]
    if not told.on_display and (told.pending or not is_small):
        state = "pending" if told.pending else "computed"
        text = f"Array(shape={x.shape}, dtype={x.dtype}, device={str(x.device)!r}, {state})"
        return {"text/plain": text, "text/html": card("Array", facts, told.in_short())}
    host = _shown(x)
    page = card("Array", facts, preformatted(str(host)), told.in_short(was=True))
    return {"text/plain": _repr(x, host), "text/html": page}
