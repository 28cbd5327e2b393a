"""What to write for the attributes of other libraries' arrays that `Array` lacks.

Those of NumPy's arrays are all here, of PyTorch's and JAX's those that users write most. With them
are the misspelt names of our own attributes that Python has no guess for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Never

from ..core.spelling import swapped

__all__ = ["INSTEAD", "MissingAttribute", "misspelt"]

_GRADIENTS: Final = "arrays have no gradients: a tensor has, before xp.asarray(tensor)"
_ASTYPE: Final = "use xp.astype(x, xp.{})"
_FUNCTION: Final = "use xp.{}(x, ...)"
_COPY_TO_NUMPY: Final = "use np.asarray(x).{}"

INSTEAD: Final[dict[str, str]] = {
    "argpartition": "use xp.argpartition(x, ...)",
    "base": "use np.shares_memory(np.asarray(x), np.asarray(y))",
    "byteswap": _COPY_TO_NUMPY.format("byteswap()"),
    "choose": "use xp.where, or xp.take_along_axis of a stack of the choices",
    "clip": "use xp.clip(x, ...)",
    "compress": "use x[condition]",
    "conjugate": "use xp.conj(x)",
    "ctypes": _COPY_TO_NUMPY.format("ctypes"),
    "cumprod": "use xp.cumulative_prod(x)",
    "cumsum": "use xp.cumulative_sum(x)",
    "data": _COPY_TO_NUMPY.format("data"),
    "diagonal": "use xp.linalg.diagonal(x)",
    "dot": "use the operator @, or xp.matmul, xp.vecdot, xp.tensordot",
    "dump": "use pickle.dump(x, file)",
    "dumps": "use pickle.dumps(x)",
    "flags": _COPY_TO_NUMPY.format("flags"),
    "flat": "use xp.reshape(x, (-1,))",
    "getfield": "use x.view(dtype), and a slice",
    "itemset": "assign: x[index] = value",
    "newbyteorder": _COPY_TO_NUMPY.format("byteswap()"),
    "nonzero": "use xp.nonzero(x)",
    "partition": "use xp.partition(x, ...), which gives a new array",
    "ptp": "use xp.max(x) - xp.min(x)",
    "put": "assign: x[indices] = values",
    "repeat": "use xp.repeat(x, ...)",
    "resize": "use xp.reshape, or a slice of xp.tile",
    "setfield": "assign to x.view(dtype)[...]",
    "setflags": _COPY_TO_NUMPY.format("setflags(...)"),
    "sort": "use xp.sort(x), which gives a new array",
    "strides": _COPY_TO_NUMPY.format("strides"),
    "swapaxes": "use xp.permute_dims, or x.mT for the last two axes",
    "take": "use xp.take(x, ...)",
    "tofile": _COPY_TO_NUMPY.format("tofile(file)"),
    "tostring": _COPY_TO_NUMPY.format("tobytes()"),
    "trace": "use xp.linalg.trace(x)",
    # PyTorch's and JAX's.
    "at": "assign: x[index] = value, on every device",
    "block_until_ready": "use xp.evaluate(x)",
    "bmm": "use the operator @, or xp.matmul",
    "clamp": "use xp.clip(x, ...)",
    "clone": "use x.copy()",
    "contiguous": "how elements lie in memory is not for the caller to say: leave it out",
    "cpu": 'use x.to_device("cpu")',
    "cuda": 'use x.to_device("torch:cuda:0")',
    "devices": "use x.device",
    "dim": "use x.ndim",
    "element_size": "use x.itemsize",
    "expand": "use xp.broadcast_to(x, shape)",
    "gather": "use xp.take_along_axis(x, ...)",
    "index_select": "use xp.take(x, indices, axis=axis)",
    "is_contiguous": _COPY_TO_NUMPY.format("flags.c_contiguous"),
    "is_cuda": "use x.device",
    "is_floating_point": 'use xp.isdtype(x.dtype, "real floating")',
    "masked_fill": "use xp.where(mask, value, x), or assign: x[mask] = value",
    "matmul": "use the operator @, or xp.matmul",
    "mm": "use the operator @, or xp.matmul",
    "numel": "use x.size",
    "numpy": "use np.asarray(x)",
    "permute": "use xp.permute_dims(x, axes)",
    "sharding": "use x.device",
    "t": "use x.T",
    "to": "use x.to_device(device), or xp.astype(x, dtype)",
    "topk": "use xp.top_k(x, k)",
    "type": "use x.dtype, or xp.astype(x, dtype)",
    "unbind": "use xp.unstack(x)",
    "unsqueeze": "use xp.expand_dims(x, axis)",
    **dict.fromkeys(("backward", "detach", "grad", "requires_grad"), _GRADIENTS),
    **dict.fromkeys(("add_", "copy_", "fill_", "mul_", "zero_"), "assign: x[...] = value"),
    **{
        name: _ASTYPE.format(dtype)
        for name, dtype in (
            *(("bool", "bool"), ("double", "float64"), ("float", "float32"), ("int", "int32")),
            ("long", "int64"),
        )
    },
    **{
        name: _FUNCTION.format(name)
        for name in (
            *("abs", "exp", "flip", "log", "median", "pow", "quantile", "roll", "softmax", "sqrt"),
            *("square", "tile"),
        )
    },
}
"""Attributes that arrays of NumPy have, or had before NumPy 2, that users of PyTorch and JAX write,
and ours lack, and what to do."""


class MissingAttribute:
    """Stands in the class for an attribute that its arrays lack: reading it is an AttributeError.

    `hasattr` says no, and `dir` of an array does not list it; `help` of the class tells what to
    call instead. A method `__getattr__` would need no entries in the class, but make every other
    attribute slower to read: `x.dtype` takes 29 ns with one and 13 without, `x.shape` 29 and 24
    (CPython 3.11).
    """

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead
        self.__doc__ = f"Missing: {instead}."

    def __get__(self, x: object, owner: type) -> Never:
        # With a name Python would append a guess to what to call instead.
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}; {self._instead}",
            obj=owner if x is None else x,
        )


def misspelt(names: Iterable[str]) -> dict[str, str]:
    """The words in which two letters of a public attribute changed places, and what was meant."""
    public = [name for name in names if not name.startswith("_")]
    return {word: f"did you mean {name!r}?" for name in public for word in swapped(name)}
