"""The standard's functions: their names, dtypes, and the words for each argument.

The table below names the functions of the newest version; `versions` says what earlier ones lack.
Parameters, their defaults and types are read from the functions of this package, whose
annotations become the words for an argument:

- ``array[DTYPES]``: an array of the namespace; DTYPES is a key of `dtypes.GROUPS`;
- ``scalar``: a Python scalar that fits the dtype of the other array;
- ``arrays``: a tuple or list of arrays;
- ``int``, ``float``, ``complex``: a Python number of that kind or a lesser one; ``bool``, ``str``;
- ``ints``: a tuple of ints; ``sequence``: a tuple or list of ints;
- ``dtype``, ``device``, ``None``;
- ``unchecked``: any object; the function itself checks it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any, Final

from ...primitives import documentation
from ...primitives.table import Primitive, of_family
from . import dtypes as d

_PACKAGE: Final = __name__.partition(".")[0]

CONSTANTS: Final = ("e", "inf", "nan", "newaxis", "pi")

DTYPES: Final = tuple([dtype.name for dtype in d.STRICT])

ELEMENTWISE: Final = "Element-wise Functions"

# Functions element by element that take more dtypes here than in the standard.
_FEWER: Final = {
    "complex": "imag",
    "bool": "logical_and logical_not logical_or logical_xor",
    "numeric": "add isfinite isinf isnan multiply",
    "real": "greater greater_equal less less_equal maximum minimum",
}


def _elementwise() -> dict[str, list[str]]:
    """The functions element by element by the dtypes of their arrays, which most rows have."""
    of_rows = {group.dtypes: name for name, group in d.GROUPS.items()}
    fewer = {name: group for group, names in _FEWER.items() for name in names.split()}
    found = {group: ["clip"] if group == "real" else [] for group in d.GROUPS}
    for op in documentation.ELEMENTWISE:
        group = fewer.get(op.name) or of_rows[frozenset(op.results).intersection(d.STRICT)]
        found[group].append(op.name)
    return found


# By section of the standard, and by the dtypes of their arrays.
_TABLE: Final = {
    "Creation Functions": {
        "any": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid "
        "ones ones_like tril triu zeros zeros_like",
    },
    "Data Type Functions": {"any": "astype can_cast finfo iinfo isdtype result_type"},
    ELEMENTWISE: {group: " ".join(names) for group, names in _elementwise().items()},
    "Indexing Functions": {"any": "take take_along_axis"},
    "Inspection": {"any": "__array_namespace_info__"},
    "Linear Algebra Functions": {"any": "matrix_transpose", "numeric": "matmul tensordot vecdot"},
    "Manipulation Functions": {
        "any": "broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis "
        "permute_dims repeat reshape roll squeeze stack tile unstack",
    },
    "Searching Functions": {
        "any": "count_nonzero nonzero where",
        "real": "argmax argmin searchsorted top_k",
    },
    "Set Functions": {
        "any": "unique_all unique_counts unique_inverse unique_values",
        "integer": "isin",
    },
    "Sorting Functions": {"real": "argsort sort"},
    "Statistical Functions": {
        "numeric": "cumulative_prod cumulative_sum prod sum",
        "real": "max min",
        "floating": "mean",
        "real_floating": "std var",
    },
    "Utility Functions": {"any": "all any", "numeric": "diff"},
    "Linear Algebra Extension": {
        "any": "linalg.diagonal linalg.matrix_transpose",
        "numeric": "linalg.cross linalg.matmul linalg.outer linalg.tensordot linalg.trace "
        "linalg.vecdot",
        "floating": "linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals "
        "linalg.eigvalsh linalg.inv linalg.matrix_norm linalg.matrix_power linalg.matrix_rank "
        "linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals "
        "linalg.vector_norm",
    },
    "Fourier transform Functions": {
        "any": "fft.fftfreq fft.rfftfreq",
        "complex": "fft.fft fft.ifft fft.fftn fft.ifftn fft.irfft fft.irfftn fft.hfft",
        "real_floating": "fft.rfft fft.rfftn fft.ihfft",
        "floating": "fft.fftshift fft.ifftshift",
    },
}

# Arrays whose dtypes are not those of the function's other arrays, by the parameter's name.
_GROUPS: Final = {
    "condition": "bool",
    "indices": "integer",
    "repeats": "integer",
    "rtol": "real_floating",
    "sorter": "integer",
}

# Parameters that this package has and the standard does not.
_ADDED: Final = frozenset({"all.out", "any.out", "top_k.sorted"})

# Parameters that may be left out here, and not in the standard.
_REQUIRED: Final = frozenset({"where.x1", "where.x2"})

# Annotations as words, in this order. Numbers after an array are scalars that fit it.
_WORDS: Final = (
    (r"object|Foreign|(Array|DTypeLike) \| (DTypeLike|tuple).*|int \| tuple\[Seq.*", "unchecked"),
    (r"tuple\[Array, \.\.\.\] \| list\[Array\]", "arrays"),
    (r"PythonScalar \| Array", "bool | complex"),
    (r"ArrayOrScalar", "Array | int"),
    (r"Array( \| (bool|int|float|complex))+", "array | scalar"),
    (r"Array", "array"),
    (r"int \| float \| complex", "complex"),
    (r"int \| float", "float"),
    (r"Literal\[.*?\]|Norm", "str"),
    (r"Device \| str", "device"),
    (r"DTypeLike", "dtype"),
    (r"tuple\[int, \.\.\.\]", "ints"),
    (r"Sequence\[int\]", "sequence"),
)


def rows() -> Iterator[tuple[Primitive, str]]:
    """The primitives among the functions element by element, each with its group of dtypes."""
    groups = {name: group for group, names in _TABLE[ELEMENTWISE].items() for name in names.split()}
    for op in of_family("unary", "binary"):
        if op.name in groups:
            yield op, groups[op.name]


def operators() -> Iterator[tuple[str, str, str]]:
    """The operators of arrays: name, family of the primitive, and group of dtypes."""
    yield "matmul", "binary", "numeric"
    for op, group in rows():
        if op.operator:
            yield op.operator, op.family, group


def prefixes(name: str) -> tuple[str, ...]:
    """The prefixes of the names of an operator's methods: plain, reflected, in place."""
    return ("", "r", "i") if hasattr(operator, f"__i{name}__") else ("",)


PAIRS: Final = [op.name for op, _ in rows() if op.family == "binary"]
"""The functions of two arrays, element by element."""

METHODS: Final = frozenset(
    [
        *["dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device"],
        *["__array_namespace__", "__dlpack__", "__dlpack_device__", "__getitem__", "__setitem__"],
        *["__bool__", "__complex__", "__float__", "__index__", "__int__"],
        *[f"__{prefix}{name}__" for name, *_ in operators() for prefix in prefixes(name)],
    ]
)
"""The attributes and methods of the standard's array, the same in all versions from 2022.12 on."""

PROMOTED: Final = {
    **dict.fromkeys(
        [
            *["bitwise_left_shift", "bitwise_right_shift", "cross", "isin", "matmul", "outer"],
            *["searchsorted", "solve", "tensordot", "vecdot", "where"],
        ],
        ("x1", "x2"),
    ),
    "clip": ("x", "min", "max"),
    "diff": ("x", "prepend", "append"),
}
"""The parameters whose dtypes are promoted together. Functions of two arrays, element by element,
promote both, and are listed here only if there is a rule for them in `rules`."""


@dataclass(frozen=True)
class Function:
    """A function of the standard.

    name: With its extension, as in ``"linalg.det"``.
    chapter: The section of the standard that it stands in.
    signature: With the words above as annotations.
    target: The function of ours.
    """

    name: str
    chapter: str
    signature: Signature
    target: Callable[..., Any]

    def words(self, parameter: str) -> tuple[str, ...]:
        """The words for an argument."""
        return tuple(str(self.signature.parameters[parameter].annotation).split(" | "))


@cache
def functions() -> dict[str, Function]:
    """The functions of the newest version, by name."""
    found = {}
    for chapter, groups in _TABLE.items():
        for group, names in groups.items():
            for name in names.split():
                module, _, short = name.rpartition(".")
                ours = import_module(f".{module}" if module else _PACKAGE, _PACKAGE)
                target = getattr(ours, short)
                found[name] = Function(name, chapter, _signature(name, group, target), target)
    return found


def _signature(name: str, group: str, target: Callable[..., Any]) -> Signature:
    """The standard's signature of a function of ours."""
    found = []
    for parameter in signature(target).parameters.values():
        place = f"{name}.{parameter.name}"
        if place in _ADDED:
            continue
        words = str(parameter.annotation)
        for annotation, word in _WORDS:
            words = re.sub(annotation, word, words)
        words = re.sub(r"\barray\b", f"array[{_GROUPS.get(parameter.name, group)}]", words)
        if place in _REQUIRED:
            words = words.removesuffix(" | None")
            parameter = parameter.replace(default=Parameter.empty)
        found.append(parameter.replace(annotation=words))
    if name == "diff":
        # NumPy takes `n` by position, too.
        x, n, axis, *others = found
        found = [x, axis, n.replace(kind=Parameter.KEYWORD_ONLY), *others]
    return Signature(found)
