"""The standard's functions as a table: parameters, and what each may be.

The table is that of the newest version; `versions` says what earlier ones lack. A line, with what
is indented below it, reads as the signature in the standard does. The words for what an argument
may be:

- ``array[DTYPES]``: an array of the namespace; DTYPES is a key of `dtypes.GROUPS`;
- ``scalar``: a Python scalar that fits the dtype of the array beside it;
- ``arrays``: a tuple or list of arrays;
- ``int``, ``float``, ``complex``: a Python number of that kind or a lesser one; ``bool``, ``str``;
- ``ints``: a tuple of ints; ``sequence``: a tuple or list of ints;
- ``dtype``, ``device``, ``None``;
- ``unchecked``: whatever the function itself takes.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from typing import Any, Final, TypeAlias

_Kind: TypeAlias = Any  # inspect's enumeration of kinds has no public name

__all__ = ["CONSTANTS", "DTYPES", "METHODS", "PROMOTED", "Function", "functions"]

CONSTANTS: Final = ("e", "inf", "nan", "newaxis", "pi")

DTYPES: Final = (
    "bool", "complex64", "complex128", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip

# A line that begins where the first one does is the next one.
_NEXT_LINE: Final = re.compile(r"\n {8}(?! )")

# By chapter, under the name of the section of the standard that they stand in.
_TABLE: Final = {
    "Creation Functions": """
        arange(start: float, /, stop: float | None = None, step: float = 1, *,
            dtype: dtype | None = None, device: device | None = None)
        asarray(obj: unchecked, /, *, dtype: dtype | None = None, device: device | None = None,
            copy: bool | None = None)
        empty(shape: int | ints, *, dtype: dtype | None = None, device: device | None = None)
        empty_like(x: array[any], /, *, dtype: dtype | None = None, device: device | None = None)
        eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: dtype | None = None,
            device: device | None = None)
        from_dlpack(x: unchecked, /, *, device: device | None = None, copy: bool | None = None)
        full(shape: int | ints, fill_value: bool | complex, *, dtype: dtype | None = None,
            device: device | None = None)
        full_like(x: array[any], /, fill_value: bool | complex, *, dtype: dtype | None = None,
            device: device | None = None)
        linspace(start: complex, stop: complex, /, num: int, *, dtype: dtype | None = None,
            device: device | None = None, endpoint: bool = True)
        meshgrid(*arrays: array[any], indexing: str = 'xy')
        ones(shape: int | ints, *, dtype: dtype | None = None, device: device | None = None)
        ones_like(x: array[any], /, *, dtype: dtype | None = None, device: device | None = None)
        tril(x: array[any], /, *, k: int = 0)
        triu(x: array[any], /, *, k: int = 0)
        zeros(shape: int | ints, *, dtype: dtype | None = None, device: device | None = None)
        zeros_like(x: array[any], /, *, dtype: dtype | None = None, device: device | None = None)
    """,
    "Data Type Functions": """
        astype(x: array[any], dtype: dtype, /, *, copy: bool = True, device: device | None = None)
        can_cast(from_: dtype | array[any], to: dtype, /)
        finfo(type: dtype | array[any], /)
        iinfo(type: dtype | array[any], /)
        isdtype(dtype: dtype, kind: unchecked)
        result_type(*arrays_and_dtypes: unchecked)
    """,
    "Element-wise Functions": """
        abs(x: array[numeric], /)
        acos(x: array[floating], /)
        acosh(x: array[floating], /)
        add(x1: array[numeric] | scalar, x2: array[numeric] | scalar, /)
        asin(x: array[floating], /)
        asinh(x: array[floating], /)
        atan(x: array[floating], /)
        atan2(x1: array[real_floating] | scalar, x2: array[real_floating] | scalar, /)
        atanh(x: array[floating], /)
        bitwise_and(x1: array[integer_or_bool] | scalar, x2: array[integer_or_bool] | scalar, /)
        bitwise_left_shift(x1: array[integer] | scalar, x2: array[integer] | scalar, /)
        bitwise_invert(x: array[integer_or_bool], /)
        bitwise_or(x1: array[integer_or_bool] | scalar, x2: array[integer_or_bool] | scalar, /)
        bitwise_right_shift(x1: array[integer] | scalar, x2: array[integer] | scalar, /)
        bitwise_xor(x1: array[integer_or_bool] | scalar, x2: array[integer_or_bool] | scalar, /)
        ceil(x: array[real], /)
        clip(x: array[real], /, min: array[real] | scalar | None = None,
            max: array[real] | scalar | None = None)
        conj(x: array[numeric], /)
        copysign(x1: array[real_floating] | scalar, x2: array[real_floating] | scalar, /)
        cos(x: array[floating], /)
        cosh(x: array[floating], /)
        divide(x1: array[floating] | scalar, x2: array[floating] | scalar, /)
        equal(x1: array[any] | scalar, x2: array[any] | scalar, /)
        exp(x: array[floating], /)
        expm1(x: array[floating], /)
        floor(x: array[real], /)
        floor_divide(x1: array[real] | scalar, x2: array[real] | scalar, /)
        greater(x1: array[real] | scalar, x2: array[real] | scalar, /)
        greater_equal(x1: array[real] | scalar, x2: array[real] | scalar, /)
        hypot(x1: array[real_floating] | scalar, x2: array[real_floating] | scalar, /)
        imag(x: array[complex], /)
        isfinite(x: array[numeric], /)
        isinf(x: array[numeric], /)
        isnan(x: array[numeric], /)
        less(x1: array[real] | scalar, x2: array[real] | scalar, /)
        less_equal(x1: array[real] | scalar, x2: array[real] | scalar, /)
        log(x: array[floating], /)
        log1p(x: array[floating], /)
        log2(x: array[floating], /)
        log10(x: array[floating], /)
        logaddexp(x1: array[real_floating] | scalar, x2: array[real_floating] | scalar, /)
        logical_and(x1: array[bool] | scalar, x2: array[bool] | scalar, /)
        logical_not(x: array[bool], /)
        logical_or(x1: array[bool] | scalar, x2: array[bool] | scalar, /)
        logical_xor(x1: array[bool] | scalar, x2: array[bool] | scalar, /)
        maximum(x1: array[real] | scalar, x2: array[real] | scalar, /)
        minimum(x1: array[real] | scalar, x2: array[real] | scalar, /)
        multiply(x1: array[numeric] | scalar, x2: array[numeric] | scalar, /)
        negative(x: array[numeric], /)
        nextafter(x1: array[real_floating] | scalar, x2: array[real_floating] | scalar, /)
        not_equal(x1: array[any] | scalar, x2: array[any] | scalar, /)
        positive(x: array[numeric], /)
        pow(x1: array[numeric] | scalar, x2: array[numeric] | scalar, /)
        real(x: array[numeric], /)
        reciprocal(x: array[floating], /)
        remainder(x1: array[real] | scalar, x2: array[real] | scalar, /)
        round(x: array[numeric], /)
        sign(x: array[numeric], /)
        signbit(x: array[real_floating], /)
        sin(x: array[floating], /)
        sinh(x: array[floating], /)
        sqrt(x: array[floating], /)
        square(x: array[numeric], /)
        subtract(x1: array[numeric] | scalar, x2: array[numeric] | scalar, /)
        tan(x: array[floating], /)
        tanh(x: array[floating], /)
        trunc(x: array[real], /)
    """,
    "Indexing Functions": """
        take(x: array[any], indices: array[integer], /, *, axis: int | None = None)
        take_along_axis(x: array[any], indices: array[integer], /, *, axis: int = -1)
    """,
    "Inspection": """
        __array_namespace_info__()
    """,
    "Linear Algebra Functions": """
        matmul(x1: array[numeric], x2: array[numeric], /)
        matrix_transpose(x: array[any], /)
        tensordot(x1: array[numeric], x2: array[numeric], /, *, axes: unchecked = 2)
        vecdot(x1: array[numeric], x2: array[numeric], /, *, axis: int = -1)
    """,
    "Manipulation Functions": """
        broadcast_arrays(*arrays: array[any])
        broadcast_shapes(*shapes: ints)
        broadcast_to(x: array[any], /, shape: ints)
        concat(arrays: arrays, /, *, axis: int | None = 0)
        expand_dims(x: array[any], /, axis: int | ints)
        flip(x: array[any], /, *, axis: int | ints | None = None)
        moveaxis(x: array[any], source: int | ints, destination: int | ints, /)
        permute_dims(x: array[any], /, axes: ints)
        repeat(x: array[any], repeats: int | array[integer], /, *, axis: int | None = None)
        reshape(x: array[any], /, shape: ints, *, copy: bool | None = None)
        roll(x: array[any], /, shift: int | ints, *, axis: int | ints | None = None)
        squeeze(x: array[any], /, axis: int | ints)
        stack(arrays: arrays, /, *, axis: int = 0)
        tile(x: array[any], repetitions: ints, /)
        unstack(x: array[any], /, *, axis: int = 0)
    """,
    "Searching Functions": """
        argmax(x: array[real], /, *, axis: int | None = None, keepdims: bool = False)
        argmin(x: array[real], /, *, axis: int | None = None, keepdims: bool = False)
        count_nonzero(x: array[any], /, *, axis: int | ints | None = None, keepdims: bool = False)
        nonzero(x: array[any], /)
        searchsorted(x1: array[real], x2: array[real] | scalar, /, *, side: str = 'left',
            sorter: array[integer] | None = None)
        top_k(x: array[real], k: int, /, *, axis: int = -1, mode: str = 'largest')
        where(condition: array[bool], x1: array[any] | scalar, x2: array[any] | scalar, /)
    """,
    "Set Functions": """
        isin(x1: array[integer] | scalar, x2: array[integer] | scalar, /, *, invert: bool = False)
        unique_all(x: array[any], /)
        unique_counts(x: array[any], /)
        unique_inverse(x: array[any], /)
        unique_values(x: array[any], /)
    """,
    "Sorting Functions": """
        argsort(x: array[real], /, *, axis: int = -1, descending: bool = False, stable: bool = True)
        sort(x: array[real], /, *, axis: int = -1, descending: bool = False, stable: bool = True)
    """,
    "Statistical Functions": """
        cumulative_prod(x: array[numeric], /, *, axis: int | None = None,
            dtype: dtype | None = None, include_initial: bool = False)
        cumulative_sum(x: array[numeric], /, *, axis: int | None = None,
            dtype: dtype | None = None, include_initial: bool = False)
        max(x: array[real], /, *, axis: int | ints | None = None, keepdims: bool = False)
        mean(x: array[floating], /, *, axis: int | ints | None = None, keepdims: bool = False)
        min(x: array[real], /, *, axis: int | ints | None = None, keepdims: bool = False)
        prod(x: array[numeric], /, *, axis: int | ints | None = None, dtype: dtype | None = None,
            keepdims: bool = False)
        std(x: array[real_floating], /, *, axis: int | ints | None = None,
            correction: float = 0.0, keepdims: bool = False)
        sum(x: array[numeric], /, *, axis: int | ints | None = None, dtype: dtype | None = None,
            keepdims: bool = False)
        var(x: array[real_floating], /, *, axis: int | ints | None = None,
            correction: float = 0.0, keepdims: bool = False)
    """,
    "Utility Functions": """
        all(x: array[any], /, *, axis: int | ints | None = None, keepdims: bool = False)
        any(x: array[any], /, *, axis: int | ints | None = None, keepdims: bool = False)
        diff(x: array[numeric], /, *, axis: int = -1, n: int = 1,
            prepend: array[numeric] | None = None, append: array[numeric] | None = None)
    """,
    "Linear Algebra Extension": """
        linalg.cholesky(x: array[floating], /, *, upper: bool = False)
        linalg.cross(x1: array[numeric], x2: array[numeric], /, *, axis: int = -1)
        linalg.det(x: array[floating], /)
        linalg.diagonal(x: array[any], /, *, offset: int = 0)
        linalg.eig(x: array[floating], /)
        linalg.eigh(x: array[floating], /)
        linalg.eigvals(x: array[floating], /)
        linalg.eigvalsh(x: array[floating], /)
        linalg.inv(x: array[floating], /)
        linalg.matmul(x1: array[numeric], x2: array[numeric], /)
        linalg.matrix_norm(x: array[floating], /, *, keepdims: bool = False,
            ord: float | str | None = 'fro')
        linalg.matrix_power(x: array[floating], n: int, /)
        linalg.matrix_rank(x: array[floating], /, *,
            rtol: float | array[real_floating] | None = None)
        linalg.matrix_transpose(x: array[any], /)
        linalg.outer(x1: array[numeric], x2: array[numeric], /)
        linalg.pinv(x: array[floating], /, *, rtol: float | array[real_floating] | None = None)
        linalg.qr(x: array[floating], /, *, mode: str = 'reduced')
        linalg.slogdet(x: array[floating], /)
        linalg.solve(x1: array[floating], x2: array[floating], /)
        linalg.svd(x: array[floating], /, *, full_matrices: bool = True)
        linalg.svdvals(x: array[floating], /)
        linalg.tensordot(x1: array[numeric], x2: array[numeric], /, *, axes: unchecked = 2)
        linalg.trace(x: array[numeric], /, *, offset: int = 0, dtype: dtype | None = None)
        linalg.vecdot(x1: array[numeric], x2: array[numeric], /, *, axis: int = -1)
        linalg.vector_norm(x: array[floating], /, *, axis: int | ints | None = None,
            keepdims: bool = False, ord: float = 2)
    """,
    "Fourier transform Functions": """
        fft.fft(x: array[complex], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.ifft(x: array[complex], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.fftn(x: array[complex], /, *, s: sequence | None = None, axes: sequence | None = None,
            norm: str = 'backward')
        fft.ifftn(x: array[complex], /, *, s: sequence | None = None,
            axes: sequence | None = None, norm: str = 'backward')
        fft.rfft(x: array[real_floating], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.irfft(x: array[complex], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.rfftn(x: array[real_floating], /, *, s: sequence | None = None,
            axes: sequence | None = None, norm: str = 'backward')
        fft.irfftn(x: array[complex], /, *, s: sequence | None = None,
            axes: sequence | None = None, norm: str = 'backward')
        fft.hfft(x: array[complex], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.ihfft(x: array[real_floating], /, *, n: int | None = None, axis: int = -1,
            norm: str = 'backward')
        fft.fftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None,
            device: device | None = None)
        fft.rfftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None,
            device: device | None = None)
        fft.fftshift(x: array[floating], /, *, axes: int | sequence | None = None)
        fft.ifftshift(x: array[floating], /, *, axes: int | sequence | None = None)
    """,
}  # fmt: skip

METHODS: Final = frozenset(
    [
        "dtype",
        "device",
        "mT",
        "ndim",
        "shape",
        "size",
        "T",
        "__abs__",
        "__add__",
        "__and__",
        "__array_namespace__",
        "__bool__",
        "__complex__",
        "__dlpack__",
        "__dlpack_device__",
        "__eq__",
        "__float__",
        "__floordiv__",
        "__ge__",
        "__getitem__",
        "__gt__",
        "__index__",
        "__int__",
        "__invert__",
        "__le__",
        "__lshift__",
        "__lt__",
        "__matmul__",
        "__mod__",
        "__mul__",
        "__ne__",
        "__neg__",
        "__or__",
        "__pos__",
        "__pow__",
        "__rshift__",
        "__setitem__",
        "__sub__",
        "__truediv__",
        "__xor__",
        "to_device",
        "__iadd__",
        "__isub__",
        "__imul__",
        "__itruediv__",
        "__ifloordiv__",
        "__ipow__",
        "__imod__",
        "__imatmul__",
        "__iand__",
        "__ior__",
        "__ixor__",
        "__ilshift__",
        "__irshift__",
        "__radd__",
        "__rsub__",
        "__rmul__",
        "__rtruediv__",
        "__rfloordiv__",
        "__rpow__",
        "__rmod__",
        "__rmatmul__",
        "__rand__",
        "__ror__",
        "__rxor__",
        "__rlshift__",
        "__rrshift__",
    ]
)
"""The attributes and methods of the standard's array, the same in all versions from 2022.12 on."""

PROMOTED: Final = {
    "bitwise_left_shift": ("x1", "x2"),
    "bitwise_right_shift": ("x1", "x2"),
    "cross": ("x1", "x2"),
    "isin": ("x1", "x2"),
    "matmul": ("x1", "x2"),
    "outer": ("x1", "x2"),
    "searchsorted": ("x1", "x2"),
    "solve": ("x1", "x2"),
    "tensordot": ("x1", "x2"),
    "vecdot": ("x1", "x2"),
    "where": ("x1", "x2"),
    "clip": ("x", "min", "max"),
    "diff": ("x", "prepend", "append"),
}
"""The parameters whose dtypes are promoted together. Functions of two arrays, element by element,
promote both, and are listed here only if there is a rule for them in `rules`."""


@dataclass(frozen=True)
class Function:
    """A line of the table.

    Attributes
    ----------
    name : str
        With its extension, as in ``"linalg.det"``.
    chapter : str
        The section of the standard that it stands in.
    signature : inspect.Signature
        With the words above as annotations.
    """

    name: str
    chapter: str
    signature: Signature

    def words(self, parameter: str) -> tuple[str, ...]:
        """What an argument may be."""
        return tuple(str(self.signature.parameters[parameter].annotation).split(" | "))


@cache
def functions() -> dict[str, Function]:
    """The functions of the newest version, by name."""
    found = {}
    for chapter, lines in _TABLE.items():
        for line in _NEXT_LINE.split(lines.strip()):
            name, _, _ = line.partition("(")
            text = " ".join(line[len(name) :].split())
            found[name] = Function(name, chapter, _signature(text))
    return found


def _signature(text: str) -> Signature:
    (definition,) = ast.parse(f"def f{text}: pass").body
    assert isinstance(definition, ast.FunctionDef)
    given = definition.args
    by_position = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(by_position) - len(given.defaults)) + [*given.defaults]
    kinds: list[_Kind] = [Parameter.POSITIONAL_ONLY] * len(given.posonlyargs)
    kinds += [Parameter.POSITIONAL_OR_KEYWORD] * len(given.args)
    rows: list[tuple[ast.arg, _Kind, ast.expr | None]]
    rows = [*zip(by_position, kinds, defaults, strict=True)]
    if given.vararg is not None:
        rows.append((given.vararg, Parameter.VAR_POSITIONAL, None))
    rows += [
        (argument, Parameter.KEYWORD_ONLY, default)
        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return Signature(
        [
            Parameter(
                argument.arg,
                kind,
                default=Parameter.empty if default is None else ast.literal_eval(default),
                annotation=ast.unparse(argument.annotation) if argument.annotation else "",
            )
            for argument, kind, default in rows
        ]
    )
