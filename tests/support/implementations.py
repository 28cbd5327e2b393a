"""How tests hold the C core against its Python meaning: both answer the same call, and all that a
caller could tell apart is compared.

`assert_alike` is the comparison; `random_array`, `random_scalar` and `random_operands` make
arguments for it.
"""

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import threads
from array_api_nx.contract.strided import Storage, Tensor
from array_api_nx.core.dtypes import NUMPYS as DTYPES
from array_api_nx.core.dtypes import as_dtype
from array_api_nx.device import CPU
from array_api_nx.native import native

PACKAGE = str(Path(xp.__file__).parent)

needs_native = pytest.mark.skipif(native is None, reason="the extension is not there")
needs_call_lists = pytest.mark.skipif(
    os.environ.get("ARRAY_API_NX_CHECKED") == "1"
    or os.environ.get("ARRAY_API_NX_FUSION_THRESHOLD") == "0",
    reason="no list of calls is made where every backend call is checked, or all is deferred",
)

_python = False


def is_python_answering() -> bool:
    """Whether the code runs inside of `python_answers`."""
    return _python


@contextmanager
def python_answers() -> Iterator[None]:
    """Have C decline whatever looks at elements or layouts. The types of the objects stay."""
    global _python
    outer = _python
    xp.zeros(1)  # now the backend is loaded, which tells C that it is there
    if native is not None:
        # This is not the device's backend, so that C does not know the device.
        native.set_cpu(CPU.counterpart, CPU, object())
    _python = True
    try:
        yield
    finally:
        _python = outer
        if native is not None and not outer:
            native.set_cpu(CPU.counterpart, CPU, CPU.backend)


def has_implementation(function: Callable[..., Any]) -> bool:
    """Whether C answers calls of a compiled callable: others pass all on, and advise on errors."""
    return inspect.getsource(function).startswith("@with_native\n")


def is_answered_in_c(call: Callable[..., Any], *arguments: Any) -> bool:
    """Whether the call runs no Python function of the package, but the one that counts threads.

    For tests that C does answer: comparisons say nothing if it declines everything.
    """
    ours = []
    counting = threads.count.__code__

    def look(frame: Any, event: str, argument: Any) -> None:
        is_ours = event == "call" and frame.f_code.co_filename.startswith(PACKAGE)
        if is_ours and counting not in (frame.f_code, frame.f_back.f_code):
            ours.append(frame.f_code.co_name)

    call(*arguments)  # fills caches
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call(*arguments)
    finally:
        sys.setprofile(before)
    return not ours


def duplicate(value: Any, memo: dict[Any, Any] | None = None) -> Any:
    """A copy in which arrays that share memory, or are the same object, do so too.

    Lists, tuples, dicts, Arrays of device cpu and NumPy arrays are copied; other objects stay.
    """
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)][1]
    if type(value) is list:
        copy: Any = [duplicate(item, memo) for item in value]
    elif type(value) is tuple:
        copy = tuple([duplicate(item, memo) for item in value])
    elif type(value) is dict:
        copy = {key: duplicate(item, memo) for key, item in value.items()}
    elif type(value) is np.ndarray:
        copy = _duplicate_ndarray(value, memo)
    elif type(value) is xp.Array and type(value._handle) is Tensor and value.device == CPU:
        np.asarray(value)  # evaluates deferred operations
        copy = xp.Array()
        copy._handle = _duplicate_tensor(value._handle, memo)
        copy._dtype = value.dtype
        copy._device = value.device
    else:
        copy = value
    memo[id(value)] = value, copy  # the original too, so that its id stays its own
    return copy


def _duplicate_ndarray(array: np.ndarray, memo: dict[Any, Any]) -> np.ndarray:
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    low, high = byte_bounds(root)
    key = ("memory", low, high)
    if key not in memo:
        # At an address that is as far from a multiple of 64 as the original's.
        memory = np.empty(high - low + 128, np.uint8)
        start = (low - memory.ctypes.data) % 64
        memory = memory[start : start + high - low]
        if root.size:
            source = np.ndarray((high - low,), np.uint8, _Memory(low, high - low, root), 0)
            memory[:] = source
        memo[key] = root, memory
    memory = memo[key][1]
    offset = array.ctypes.data - low if array.size else 0
    copy = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    copy.flags.writeable = array.flags.writeable
    return copy


def _Memory(address: int, size: int, owner: object) -> Any:
    """The bytes at an address, as a buffer."""
    import ctypes

    buffer = (ctypes.c_char * size).from_address(address)
    buffer.owner = owner
    return buffer


def _duplicate_tensor(tensor: Tensor, memo: dict[Any, Any]) -> Tensor:
    if id(tensor) not in memo:
        copy = Tensor()
        view, storage = tensor.view, tensor.storage
        copy.view = view
        copy.storage = None if storage is None else _duplicate_storage(storage, memo)
        copy.array = None if storage is not None else _duplicate_ndarray(tensor.array, memo)
        memo[id(tensor)] = tensor, copy
    return memo[id(tensor)][1]


def _duplicate_storage(storage: Storage, memo: dict[Any, Any]) -> Storage:
    if id(storage) not in memo:
        memory = _duplicate_ndarray(storage.memory, memo)
        copy = Storage(memory, shared=storage.shared)
        memo[id(storage)] = storage, copy
    return memo[id(storage)][1]


def _as_numpy(value: xp.Array | np.ndarray) -> np.ndarray:
    if type(value) is xp.Array and value.device != CPU:
        return np.asarray(value.to_device(CPU))
    return np.asarray(value)


def steps(array: np.ndarray) -> tuple[int | None, ...]:
    """The strides, with None for those without a step: along axes of size 1, and of arrays
    without elements. NumPy's own results have there what its iterator leaves over."""
    shape = array.shape if array.size else (1,) * array.ndim
    return tuple([s if n != 1 else None for n, s in zip(shape, array.strides, strict=True)])


def _bits(array: np.ndarray) -> bytes:
    """The bytes of the elements; all NaN among the parts of complex numbers are one value."""
    if array.dtype.kind != "c":
        return array.tobytes()
    parts = np.stack([array.real.ravel(), array.imag.ravel()], axis=-1)
    parts[np.isnan(parts)] = np.nan
    return parts.tobytes()


def describe(value: Any) -> dict[str, Any]:
    """The properties of an argument or a result, as fields with names."""
    if type(value) is xp.Array:
        elements = _as_numpy(value)
        return {
            "type": "Array", "dtype": value.dtype, "device": str(value.device),
            "shape": value.shape, "strides": steps(elements),
            "writeable": elements.flags.writeable, "bits": _bits(elements),
        }  # fmt: skip
    if isinstance(value, np.ndarray):
        return {
            "type": type(value), "dtype": value.dtype, "shape": value.shape,
            "strides": steps(value), "writeable": value.flags.writeable, "bits": _bits(value),
        }  # fmt: skip
    if isinstance(value, tuple | list):
        fields = {"type": type(value), "length": len(value)}
        for i, item in enumerate(value):
            fields.update({f"item {i}, {name}": field for name, field in describe(item).items()})
        return fields
    if value is None or value is NotImplemented or callable(value) or isinstance(value, str):
        return {"type": type(value), "object": value}
    return {"type": type(value), "repr": repr(value)}


def _arrays(value: Any) -> list[Any]:
    """All arrays in a value."""
    if type(value) is xp.Array or isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple | list):
        return [array for item in value for array in _arrays(item)]
    if isinstance(value, dict):
        return _arrays(list(value.values()))
    return []


def count_pending() -> int:
    """How many operations wait in the extension."""
    return 0 if native is None else native.count_pending()


def observe(call: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
    """Call it, and say all that happened, as fields with names."""
    seen: dict[str, Any] = {}
    waiting = count_pending()
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            result = call(*arguments)
            seen["waits"] = count_pending() > waiting
        except Exception as error:
            seen["exception"] = type(error), str(error)
        else:
            seen["exception"] = None
            found = _arrays(result)
            given = _arrays(arguments)
            seen["is argument"] = [[one is other for other in given] for one in found]
            seen.update({f"result: {name}": field for name, field in describe(result).items()})
            seen["shares memory"] = [
                [np.shares_memory(_as_numpy(one), _as_numpy(other)) for other in given]
                for one in found
                if _on_cpu(one)
            ]
        after = describe(list(arguments))
    seen["warnings"] = [
        (message.category, str(message.message), message.filename, message.lineno)
        for message in caught
    ]
    seen["arguments afterwards"] = after
    return seen


def _on_cpu(value: xp.Array | np.ndarray) -> bool:
    return type(value) is not xp.Array or value.device == CPU


def assert_alike(
    call: Callable[..., Any], arguments: list[Any] | Callable[[], list[Any]], label: str = ""
) -> dict[str, Any]:
    """AssertionError unless `call` does the same whether C or Python answers.

    Parameters
    ----------
    call : callable
        Called with the arguments, by position.
    arguments : list, or callable
        A list is duplicated for either call. A callable must return equal lists each time; it is of
        use for arguments whose state a copy would not have, such as results of C's own.
    label : str
        Words of the error about the case.

    Returns
    -------
    seen : dict
        The result of `observe`.
    """
    make = arguments if callable(arguments) else lambda: duplicate(arguments)
    mine, theirs = make(), make()
    in_c = observe(call, mine)
    with python_answers():
        in_python = observe(call, theirs)
    if in_c.pop("waits", False) | in_python.pop("waits", False):
        # What waits warns when its elements are needed, at another line.
        for seen in (in_c, in_python):
            seen["warnings"] = [told[:2] for told in seen["warnings"]]
    if in_c != in_python:
        names = [n for n in {**in_c, **in_python} if in_c.get(n, "") != in_python.get(n, "")]
        lines = [f"{n}: C {in_c.get(n)!r}, Python {in_python.get(n)!r}" for n in names]
        shown = [_show(argument) for argument in make()]
        raise AssertionError("\n".join([f"{label}: {', '.join(shown)}", *lines]))
    return in_c


def _show(argument: Any) -> str:
    if not _arrays(argument) or isinstance(argument, tuple | list | dict):
        return repr(argument)[:200]
    elements = _as_numpy(argument)
    text = " ".join(np.array2string(elements, threshold=40).split())
    return f"<{argument.dtype} {elements.shape} strides {elements.strides} {text}>"


LAYOUTS = (
    *["row-major", "column-major", "permuted", "stepped", "flipped", "offset", "broadcast"],
    *["stepped and flipped", "permuted and stepped", "overlapping"],
)
ORIGINS = "computed", "copied", "imported", "imported view", "imported read-only"

_SPECIAL = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 2.0, 0.5, -2.5, 3.0]


def random_values(rng: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A NumPy array, about half of it special values: infinities, extremes, signed zeros."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape), dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [info.min, info.max, 0, 1, 2, max(info.min, -1), info.max - 1, info.min + 1, 7]
        values = np.asarray(rng.integers(0, 9, shape), dtype)
        special = np.asarray(edges, dtype)[rng.integers(0, len(edges), shape)]
    else:
        if dtype.kind == "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            result = np.empty(shape, dtype)
            result.real = random_values(rng, part, shape)
            result.imag = random_values(rng, part, shape)
            return result
        info = np.finfo(dtype)
        edges = [*_SPECIAL, info.max, info.min, info.tiny, info.smallest_subnormal, info.eps]
        values = np.asarray(rng.normal(0, 3, shape), dtype)
        special = np.asarray(edges, dtype)[rng.integers(0, len(edges), shape)]
    if rng.random() < 0.3:
        return np.asarray(values)  # often without warnings
    return np.asarray(np.where(rng.random(shape) < 0.5, values, special), dtype)


def random_shape(rng: np.random.Generator, most: int = 4) -> tuple[int, ...]:
    """Of few elements mostly; also empty, with axes of size 1, or long enough for vector loops."""
    kind = rng.random()
    if kind < 0.1:
        return (int(rng.integers(6, 150)),)
    if kind < 0.13:
        return (int(rng.integers(2, 30)), int(rng.integers(17, 40)))
    if kind < 0.15:
        most = 7
    sizes = [1, 1, 2, 3, 3, 4, 5] if rng.random() < 0.93 else [0, 1, 2]
    return tuple([int(rng.choice(sizes)) for _ in range(int(rng.integers(0, most + 1)))])


def arrange(
    lib: Any, rng: np.random.Generator, layout: str, shape: tuple[int, ...], make: Any
) -> Any:
    """An array of `shape` that lies as `layout` says, made of `make(another shape)` by `lib`."""
    ndim = len(shape)
    if layout == "row-major":
        return make(shape)
    if layout in ("column-major", "permuted", "permuted and stepped"):
        axes = [*range(ndim)][::-1]
        if layout != "column-major":
            axes = [int(axis) for axis in rng.permutation(ndim)]
        inner = tuple([shape[axis] for axis in axes])
        if layout == "permuted and stepped":
            x = arrange(lib, rng, "stepped", inner, make)
        else:
            x = make(inner)
        return lib.permute_dims(x, tuple([axes.index(axis) for axis in range(ndim)]))
    if layout in ("stepped", "stepped and flipped", "offset"):
        most = 1 if layout == "offset" else 3 if ndim < 5 else 2
        step = [int(rng.integers(1, most + 1)) for _ in shape]
        start = [int(rng.integers(0, 3 if ndim < 5 else 2)) for _ in shape]
        sizes = [b + max(n * s, 0) + 1 for b, n, s in zip(start, shape, step, strict=True)]
        key = [slice(b, b + n * s, s) for b, n, s in zip(start, shape, step, strict=True)]
        x = make(tuple(sizes))[(*key, ...)]
        return arrange(lib, rng, "flipped", shape, lambda _: x) if "flipped" in layout else x
    if layout == "flipped":
        axes = [axis for axis in range(ndim) if rng.random() < 0.7]
        x = make(shape)
        return lib.flip(x, axis=tuple(axes)) if axes else x
    if layout == "broadcast":
        sizes = [1 if rng.random() < 0.5 else n for n in shape]
        return lib.broadcast_to(make(tuple(sizes[int(rng.integers(0, ndim + 1)) :])), shape) \
            if ndim and 0 not in shape else make(shape)  # fmt: skip
    assert layout == "overlapping", layout
    if ndim < 2 or 0 in shape:
        return make(shape)
    rows = make((shape[0] + shape[1] - 1, *shape[2:]))
    if lib is not np:
        return lib.broadcast_to(rows[0], shape)
    windows = np.lib.stride_tricks.sliding_window_view(rows, shape[1], 0, writeable=True)
    return np.moveaxis(windows, -1, 1)


def random_array(
    rng: np.random.Generator,
    dtype: Any = None,
    shape: tuple[int, ...] | None = None,
    layout: str | None = None,
    origin: str | None = None,
) -> xp.Array:
    """An Array whose other properties are chosen at random.

    Its memory may be C's own, NumPy's or lent; if lent, perhaps not to be written.
    """
    dtype = DTYPES[int(rng.integers(len(DTYPES)))] if dtype is None else as_dtype(np.dtype(dtype))
    shape = random_shape(rng) if shape is None else shape
    if layout is None:
        layout = "row-major" if rng.random() < 0.3 else LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    if origin is None:
        origin = ORIGINS[int(rng.integers(len(ORIGINS)))]

    def make(sizes: tuple[int, ...]) -> Any:
        values = random_values(rng, dtype, sizes)
        if origin == "computed":
            x = xp.asarray(values, copy=True)
            return xp.logical_not(xp.logical_not(x)) if dtype is xp.bool else xp.positive(x)
        return xp.asarray(values, copy=origin == "copied")

    if origin.startswith("imported ") or layout == "overlapping":
        memory = arrange(np, rng, layout, shape, lambda sizes: random_values(rng, dtype, sizes))
        if origin == "imported read-only":
            memory = memory.view()
            memory.flags.writeable = False
        return xp.asarray(memory, copy=False)
    return arrange(xp, rng, layout, shape, make)


SCALARS = (
    *[0, 1, 2, 3, -1, -2, 7, 127, 128, 255, 256, 2**31 - 1, 2**31],
    *[2**63 - 1, 2**63, 2**64, -(2**63)],
    *[2**24, 2**24 + 1, 2**53 + 1, 10**30, -(10**400), True, False],
    *[0.0, -0.0, 1.0, 0.5, -2.5, 1e-40, 1e39, 3.4028235e38, 1e300, float("inf"), -float("inf")],
    *[float("nan"), 1j, 1 + 2j, complex(0, -0.0), complex(float("nan"), float("inf")), 1e300 + 1j],
)
"""Python scalars: in range of all dtypes, of some, of none."""

NOT_PYTHON = (
    *[np.float64(1.5), np.float32(2), np.int8(3), np.uint64(2**63), np.bool_(True)],
    np.complex64(1j),
    *[None, "text", [1, 2], (1,), object, slice(None), b"1", {}],
)
"""NumPy scalars, objects that are no operands, and types that merely look like numbers."""


def random_scalar(rng: np.random.Generator, strange: float = 0.1) -> Any:
    """A Python scalar; with the probability `strange` something that C should not take."""
    source = NOT_PYTHON if rng.random() < strange else SCALARS
    return source[int(rng.integers(len(source)))]


def random_partner(rng: np.random.Generator, x: xp.Array) -> Any:
    """Another operand for `x`: an array that broadcasts with it or not, perhaps over the same
    memory, or a scalar."""
    kind = rng.random()
    if kind < 0.25:
        return random_scalar(rng)
    dtype = x.dtype if rng.random() < 0.85 else None
    shape = x.shape
    if kind < 0.6:
        return random_array(rng, dtype, shape)
    if kind < 0.8:
        sizes = tuple([1 if rng.random() < 0.3 else n for n in shape])
        sizes = sizes[int(rng.integers(0, len(sizes) + 1)) :] if rng.random() < 0.5 else sizes
        return random_array(rng, dtype, sizes)
    if kind < 0.85:
        return random_array(rng, dtype)  # may not broadcast
    if kind < 0.9:
        return x
    if x.ndim and kind < 0.95:
        return xp.flip(x, axis=int(rng.integers(x.ndim)))
    return xp.permute_dims(x, tuple(range(x.ndim))[::-1])


def random_operands(rng: np.random.Generator, dtype: Any = None) -> list[Any]:
    """An array, and another operand for it."""
    x = random_array(rng, dtype)
    return [x, random_partner(rng, x)]
