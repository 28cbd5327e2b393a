"""Copies and views: what the standard says of them, and what it leaves open.

Sharing is seen by writing: an array is changed, and the other is looked at. Where arrays cannot be
written, nobody can tell, and nothing is said.
"""

from __future__ import annotations

import array as buffers
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .findings import FAILS, NOTED, PASSES, SKIPPED, Finding, UnsupportedError, said, tried
from .subject import Subject, Value

Write: TypeAlias = Callable[[Value, Value], Value]

CHAPTER = "aliasing"
_COPY_TRUE = "{}: if copy is True, the function must always copy"
_COPY_NONE = "{}: if copy is None, the function must reuse the memory if possible, or avoid copying"
_COPY_FALSE = "{}: if copy is False, the function must never copy"
_ASTYPE_SAME = (
    "astype: if copy is False and the dtype matches, the input array must be returned; otherwise,"
    " a newly allocated array"
)
_INPUTS = (
    "copies, views and mutation: in-place operators and assignments change arrays; functions do not"
)
_NEW = "{}: returns a new array"
_IN_PLACE = (
    "in-place operators: x1 must equal the result of x1[...] = x1 + x2, with its dtype and shape"
)
_OPEN = "the standard does not say whether this is a view or a copy"
_VALUES = [3.0, 1.0, 2.0, 0.0, 5.0, 4.0]


def check(subject: Subject) -> list[Finding]:
    """Judge what the standard says, and note what it leaves open."""
    return [
        *_copy_keywords(subject),
        *_new_arrays(subject),
        *_unchanged_inputs(subject),
        *_in_place(subject),
        *_views(subject),
    ]


def _matrix(subject: Subject) -> Value:
    return subject.array([_VALUES[:3], _VALUES[3:]], "float64")


def _vector(subject: Subject) -> Value:
    return subject.array(_VALUES, "float64")


def shares(subject: Subject, first: Value, second: Value) -> bool:
    """Whether writing the first array changes the second; both keep what is written."""
    before = subject.numpy(second)
    subject.write(first, 77.0)
    return not np.array_equal(before, subject.numpy(second))


def _copy_keywords(subject: Subject) -> list[Finding]:
    xp = subject.xp

    def reshape(copy: bool | None) -> Callable[[Value], Value]:
        return lambda x: xp.reshape(x, (6,), copy=copy)

    return [
        _shared(subject, "asarray", "copy=True of an array", False,
                lambda x: xp.asarray(x, copy=True), _COPY_TRUE.format("asarray")),
        _shared(subject, "asarray", "copy=False of an array", True,
                lambda x: xp.asarray(x, copy=False), _COPY_FALSE.format("asarray")),
        _shared(subject, "asarray", "copy=None of an array", True,
                lambda x: xp.asarray(x, copy=None), _COPY_NONE.format("asarray")),
        _shared(subject, "astype", "copy=True, the same dtype", False,
                lambda x: xp.astype(x, x.dtype, copy=True), _ASTYPE_SAME),
        _shared(subject, "astype", "no copy=, the same dtype", False,
                lambda x: xp.astype(x, x.dtype), _ASTYPE_SAME),
        _shared(subject, "astype", "copy=False, another dtype", False,
                lambda x: xp.astype(x, xp.float32, copy=False), _ASTYPE_SAME),
        _shared(subject, "reshape", "copy=True", False, reshape(True),
                _COPY_TRUE.format("reshape")),
        _shared(subject, "reshape", "copy=True, the same shape", False,
                lambda x: xp.reshape(x, (2, 3), copy=True), _COPY_TRUE.format("reshape")),
        _shared(subject, "reshape", "copy=False", True, reshape(False),
                _COPY_FALSE.format("reshape")),
        _shared(subject, "reshape", "copy=None", True, reshape(None), _COPY_NONE.format("reshape")),
        _shared(subject, "from_dlpack", "copy=True", False,
                lambda x: xp.from_dlpack(x, copy=True), _COPY_TRUE.format("from_dlpack")),
        _shared(subject, "from_dlpack", "copy=False", True,
                lambda x: xp.from_dlpack(x, copy=False), _COPY_FALSE.format("from_dlpack")),
        _shared(subject, "from_dlpack", "copy=None", True, lambda x: xp.from_dlpack(x),
                _COPY_NONE.format("from_dlpack")),
        _refused(subject, "asarray", "copy=False with another dtype",
                 lambda: xp.asarray(_vector(subject), dtype=xp.float32, copy=False),
                 "asarray: if copy is False, it must raise a ValueError in case a copy would be"
                 " necessary, for input which supports the buffer protocol"),
        _refused(subject, "reshape", "copy=False where no view can do",
                 lambda: xp.reshape(_matrix(subject).T, (6,), copy=False),
                 "reshape: if copy is False, it must never copy; a ValueError should be raised"),
        _returned(subject), _buffer(subject, True), _buffer(subject, False),
    ]  # fmt: skip


def _shared(
    subject: Subject,
    function: str,
    check: str,
    wanted: bool,
    do: Callable[[Value], Value],
    rule: str,
) -> Finding:
    def judge() -> Finding:
        subject.function(function)
        if wanted and not subject.views:
            raise UnsupportedError(f"no write to an array of {subject.name} shows in another")
        x = _matrix(subject)
        result = do(x)
        found = shares(subject, x, result)
        if not found:  # only copies on write would differ in the other direction
            other = _matrix(subject)
            found = shares(subject, do(other), other)
        outcome = PASSES if found == wanted else FAILS
        message = "" if found == wanted else ("is a copy" if wanted else "shares memory")
        return Finding(CHAPTER, function, check, outcome, message, rule)

    return tried(CHAPTER, function, check, rule, judge)


def _refused(
    subject: Subject, function: str, check: str, do: Callable[[], Value], rule: str
) -> Finding:
    """Whether a ValueError is raised; another exception is no copy, either."""
    if function == "asarray" and not _has_buffer(_vector(subject)):
        return Finding(CHAPTER, function, check, SKIPPED, "arrays have no buffer protocol", rule)
    try:
        do()
    except ValueError:
        return Finding(CHAPTER, function, check, PASSES, "", rule)
    except Exception as error:
        outcome = FAILS if function == "asarray" else NOTED
        return Finding(CHAPTER, function, check, outcome, f"raises {said(error)}", rule)
    return Finding(CHAPTER, function, check, FAILS, "copies", rule)


def _has_buffer(array: Value) -> bool:
    try:
        memoryview(array)
    except (TypeError, BufferError):
        return False
    return True


def _returned(subject: Subject) -> Finding:
    check = "copy=False, the same dtype"

    def judge() -> Finding:
        x = _vector(subject)
        same = subject.function("astype")(x, x.dtype, copy=False)
        if same is x:
            return Finding(CHAPTER, "astype", check, PASSES, "", _ASTYPE_SAME)
        shared = subject.mutable and shares(subject, x, same)
        message = "another array object" + (" on the same memory" if shared else "")
        # Another object for the same memory does not differ in anything that a user does.
        outcome = NOTED if shared or not subject.mutable else FAILS
        return Finding(CHAPTER, "astype", check, outcome, message, _ASTYPE_SAME)

    return tried(CHAPTER, "astype", check, _ASTYPE_SAME, judge)


def _buffer(subject: Subject, copy: bool) -> Finding:
    rule = (_COPY_TRUE if copy else _COPY_FALSE).format("asarray")
    check = f"copy={copy} of an object with the buffer protocol"

    def judge() -> Finding:
        buffer = buffers.array("d", _VALUES)
        try:
            result = subject.xp.asarray(buffer, dtype=subject.dtype("float64"), copy=copy)
        except ValueError as error:
            # It may be that a copy is necessary: then this is what the standard asks for.
            outcome = FAILS if copy else PASSES
            return Finding(CHAPTER, "asarray", check, outcome, f"raises {said(error)}", rule)
        buffer[0] = 77.0
        shared = bool(subject.numpy(result)[0] == 77.0)
        outcome = PASSES if shared != copy else FAILS
        message = "" if outcome == PASSES else ("shares memory" if copy else "is a copy")
        return Finding(CHAPTER, "asarray", check, outcome, message, rule)

    return tried(CHAPTER, "asarray", check, rule, judge)


def _new_arrays(subject: Subject) -> list[Finding]:
    """Functions that the standard says give a new array, or a copy."""

    def filled(array: Value) -> Value:
        # What is not initialised may change between two looks.
        subject.write(array, 1.0)
        return array

    calls: dict[str, Callable[[Value], Value]] = {
        "empty_like": lambda x: filled(subject.function("empty_like")(x)),
        "ones_like": lambda x: subject.function("ones_like")(x),
        "zeros_like": lambda x: subject.function("zeros_like")(x),
        "full_like": lambda x: subject.function("full_like")(x, 2.0),
        "sort": lambda x: subject.function("sort")(x),
    }
    return [
        _shared(subject, name, "the result and the input", False, call, _NEW.format(name))
        for name, call in calls.items()
    ]


def _functions(subject: Subject) -> dict[str, Callable[[Value], object]]:
    """Calls of most functions, on a matrix of six float64 numbers."""
    f = subject.function
    unary = [
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp",
        "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative",
        "positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
        "tan", "tanh", "trunc", "all", "any", "argmax", "argmin", "argsort", "count_nonzero",
        "cumulative_prod", "cumulative_sum", "diff", "flip", "matrix_transpose", "max", "mean",
        "min", "nonzero", "prod", "sort", "squeeze", "std", "sum", "tril", "triu", "unique_all",
        "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "linalg.pinv",
        "linalg.qr", "linalg.svdvals", "linalg.vector_norm", "linalg.matrix_norm", "fft.rfft",
        "fft.fftshift", "linalg.matrix_rank", "linalg.trace", "linalg.diagonal",
    ]  # fmt: skip
    binary = [
        "add", "atan2", "copysign", "divide", "equal", "floor_divide", "greater", "hypot", "less",
        "logaddexp", "maximum", "minimum", "multiply", "nextafter", "pow", "remainder", "subtract",
        "vecdot", "isin",
    ]  # fmt: skip
    needs_axis = {"argsort", "cumulative_prod", "cumulative_sum", "squeeze", "diff", "sort"}

    def one(name: str) -> Callable[[Value], object]:
        if name == "squeeze":
            return lambda x: f(name)(x[:1, :], axis=0)
        options = {"axis": 0} if name in needs_axis else {}
        return lambda x: f(name)(x, **options)

    def two(name: str) -> Callable[[Value], object]:
        return lambda x: f(name)(x, x)

    def square(name: str) -> Callable[[Value], object]:
        return lambda x: f(name)(x[:, :2])

    calls = {name: one(name) for name in unary} | {name: two(name) for name in binary}
    calls |= {
        name: square(name)
        for name in ("linalg.det", "linalg.inv", "linalg.slogdet", "linalg.eigvalsh", "linalg.eigh")
    }
    return calls | {
        "astype": lambda x: f("astype")(x, subject.xp.float32),
        "broadcast_to": lambda x: f("broadcast_to")(x, (2, 2, 3)),
        "clip": lambda x: f("clip")(x, 1.0, 2.0),
        "concat": lambda x: f("concat")([x, x]),
        "expand_dims": lambda x: f("expand_dims")(x, axis=0),
        "linalg.outer": lambda x: f("linalg.outer")(x[0, :], x[1, :]),
        "linalg.solve": lambda x: f("linalg.solve")(x[:, :2], x),
        "matmul": lambda x: f("matmul")(x, f("matrix_transpose")(x)),
        "meshgrid": lambda x: f("meshgrid")(x[0, :], x[1, :]),
        "moveaxis": lambda x: f("moveaxis")(x, 0, 1),
        "permute_dims": lambda x: f("permute_dims")(x, (1, 0)),
        "repeat": lambda x: f("repeat")(x, 2),
        "reshape": lambda x: f("reshape")(x, (3, 2)),
        "roll": lambda x: f("roll")(x, 1),
        "searchsorted": lambda x: f("searchsorted")(x[0, :], x[1, :]),
        "stack": lambda x: f("stack")([x, x]),
        "take": lambda x: f("take")(x, subject.array([1, 0], "int64"), axis=0),
        "tensordot": lambda x: f("tensordot")(x, x, axes=2),
        "tile": lambda x: f("tile")(x, (2, 1)),
        "where": lambda x: f("where")(x > 1.0, x, -x),
    }


def _unchanged_inputs(subject: Subject) -> list[Finding]:
    return [_unchanged(subject, name, call) for name, call in _functions(subject).items()]


def _unchanged(subject: Subject, name: str, call: Callable[[Value], object]) -> Finding:
    check = "the input keeps its values"

    def judge() -> Finding:
        x = _matrix(subject)
        before = subject.numpy(x)
        try:
            result = call(x)
            for part in result if isinstance(result, (tuple, list)) else (result,):
                subject.numpy(part)  # so that what is lazy is computed
        except Exception as error:
            return Finding(CHAPTER, name, check, SKIPPED, f"raises {said(error)}", _INPUTS)
        unchanged = np.array_equal(before, subject.numpy(x), equal_nan=True)
        outcome = PASSES if unchanged else FAILS
        message = "" if unchanged else f"{before.tolist()} became {subject.numpy(x).tolist()}"
        return Finding(CHAPTER, name, check, outcome, message, _INPUTS)

    return tried(CHAPTER, name, check, _INPUTS, judge)


def _in_place(subject: Subject) -> list[Finding]:
    xp = subject.xp

    def add(x: Value, y: Value) -> Value:
        x += y
        return x

    def multiply(x: Value, y: Value) -> Value:
        x *= y
        return x

    def subtract(x: Value, y: Value) -> Value:
        x -= y
        return x

    def shifted(x: Value, y: Value) -> Value:
        x[1:] += x[:-1]
        return x

    def assigned(x: Value, y: Value) -> Value:
        x[...] = xp.flip(x)
        return x

    def moved(x: Value, y: Value) -> Value:
        x[1:] = x[:-1]
        return x

    numbers = np.array(_VALUES)
    head = numbers.copy()
    head[1:] += numbers[:-1]
    forward = numbers.copy()
    forward[1:] = numbers[:-1]
    tried_with: list[tuple[str, str, Write, Callable[[Value], Value], Value]] = [
        ("__add__", "x += y", add, lambda x: x * 2, numbers * 3),
        ("__add__", "x += x", add, lambda x: x, numbers * 2),
        ("__add__", "x += flip(x)", add, lambda x: xp.flip(x), numbers + numbers[::-1]),
        ("__mul__", "x *= flip(x)", multiply, lambda x: xp.flip(x), numbers * numbers[::-1]),
        ("__sub__", "x -= x[0]", subtract, lambda x: x[0], numbers - numbers[0]),
        ("__add__", "x[1:] += x[:-1]", shifted, lambda x: x, head),
        ("__setitem__", "x[...] = flip(x)", assigned, lambda x: x, numbers[::-1]),
        ("__setitem__", "x[1:] = x[:-1]", moved, lambda x: x, forward),
    ]
    out = [_result_in_place(subject, *each) for each in tried_with]
    return [*out, _identity(subject)]


def _result_in_place(
    subject: Subject,
    function: str,
    check: str,
    do: Write,
    other: Callable[[Value], Value],
    wanted: Value,
) -> Finding:
    def judge() -> Finding:
        x = _vector(subject)
        writes = "[" in check.partition("=")[0]
        if writes and not subject.mutable:
            return Finding(CHAPTER, function, check, SKIPPED, "arrays cannot be written", _IN_PLACE)
        try:
            result = do(x, other(x))
        except Exception as error:
            # The standard advises against writing where there are views.
            overlaps = writes or "x[0]" in check
            outcome = NOTED if overlaps else FAILS
            return Finding(CHAPTER, function, check, outcome, f"raises {said(error)}", _IN_PLACE)
        found = subject.numpy(result)
        good = np.array_equal(found, wanted) and result.dtype == subject.dtype("float64")
        message = "" if good else f"gives {found.tolist()}, not {wanted.tolist()}"
        return Finding(CHAPTER, function, check, PASSES if good else FAILS, message, _IN_PLACE)

    return tried(CHAPTER, function, check, _IN_PLACE, judge)


def _identity(subject: Subject) -> Finding:
    rule = "in-place operators do not guarantee in-place mutation"
    check = "identity after x += 1"

    def judge() -> Finding:
        x = _vector(subject)
        before = x
        x += 1.0
        message = "the same array object" if x is before else "another array object"
        return Finding(CHAPTER, "__add__", check, NOTED, message, rule)

    return tried(CHAPTER, "__add__", check, rule, judge)


def _views(subject: Subject) -> list[Finding]:
    """What shares memory with its input, where the standard leaves that open."""
    f = subject.function
    calls: dict[str, Callable[[Value], object]] = {
        "__getitem__": lambda x: x[:, 1:],
        "T": lambda x: x.T,
        "mT": lambda x: x.mT,
        "broadcast_to": lambda x: f("broadcast_to")(x, (2, 2, 3)),
        "expand_dims": lambda x: f("expand_dims")(x, axis=0),
        "flip": lambda x: f("flip")(x),
        "moveaxis": lambda x: f("moveaxis")(x, 0, 1),
        "permute_dims": lambda x: f("permute_dims")(x, (1, 0)),
        "squeeze": lambda x: f("squeeze")(x[:1, :], axis=0),
        "unstack": lambda x: f("unstack")(x)[0],
        "matrix_transpose": lambda x: f("matrix_transpose")(x),
        "linalg.diagonal": lambda x: f("linalg.diagonal")(x),
        "broadcast_arrays": lambda x: f("broadcast_arrays")(x, x)[0],
        "meshgrid": lambda x: f("meshgrid")(x[0, :], x[1, :])[0],
        "positive": lambda x: f("positive")(x),
        "roll": lambda x: f("roll")(x, 0),
        "concat": lambda x: f("concat")([x]),
        "clip": lambda x: f("clip")(x),
        "to_device": lambda x: x.to_device(x.device),
    }
    return [_noted(subject, name, call) for name, call in calls.items()]


def _noted(subject: Subject, name: str, call: Callable[[Value], Value]) -> Finding:
    check = "a view or a copy"

    def judge() -> Finding:
        x = _matrix(subject)
        result = call(x)
        message = "a view" if shares(subject, x, result) else "a copy"
        if message == "a view":
            try:
                subject.write(result, 1.0)
            except Exception as error:
                message = f"a view that cannot be written ({said(error)})"
        return Finding(CHAPTER, name, check, NOTED, message, _OPEN)

    found = tried(CHAPTER, name, check, _OPEN, judge)
    if found.outcome == FAILS:  # it is for the official suite to judge
        return Finding(CHAPTER, name, check, SKIPPED, found.message, _OPEN)
    return found
