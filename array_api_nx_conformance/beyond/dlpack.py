"""DLPack round trips between a namespace and all installed libraries, in both directions."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from ..dtypes import ALL
from .findings import FAILS, MISSING, NOTED, PASSES, SKIPPED, Finding, UnsupportedError, said, tried
from .subject import Subject, Value

CHAPTER = "dlpack"
_LIBRARIES = (
    "numpy", "array_api_strict", "array_api_compat.torch", "jax.numpy", "array_api_nx",
    "array_api_compat.dask.array", "array_api_compat.cupy",
)  # fmt: skip
_ROOTS = {
    "array_api_compat.torch": "torch",
    "array_api_compat.dask.array": "dask",
    "array_api_compat.cupy": "cupy",
}
_RULES = {
    "dtypes": "from_dlpack: an array containing the data in x",
    "layouts": "from_dlpack: an array containing the data in x",
    "copy=True": "from_dlpack: if copy is True, the function must always copy",
    "copy=False": "from_dlpack: if copy is False, the function must never copy, and raise"
    " BufferError in case a copy is deemed necessary",
    "copy=None": "from_dlpack: if copy is None, the function must reuse the existing memory buffer"
    " if possible and copy otherwise",
}
_EXPORT = "__dlpack__: if copy is True, the function must always copy; if False, never"
_COPIES = {"copy=True": True, "copy=False": False, "copy=None": None}
# Some consumers look at the alignment of memory before they share it, to 64 bytes: memory comes in
# multiples of 16.
_ALLOCATIONS = 16
_SECONDS = 120.0  # for one trip in a process of its own
_FINE, _REFUSED, _WRONG = "fine", "refused", "wrong"


@dataclass(frozen=True)
class _Case:
    """An array to be handed over: its name, its dtype, and how it is made."""

    name: str
    dtype: str
    make: Callable[[Subject], Value]


def _cases(aspect: str) -> list[_Case]:
    def of(dtype: str) -> Callable[[Subject], Value]:
        values = [[1, 0, 1], [0, 1, 1]] if dtype == "bool" else [[1, 2, 3], [4, 5, 6]]
        return lambda s: s.array(values, dtype)

    def wide(s: Subject) -> Value:
        return s.array(np.arange(24.0).reshape(4, 6).tolist(), "float64")

    if aspect == "dtypes":
        return [_Case(dtype, dtype, of(dtype)) for dtype in ALL]
    layouts: dict[str, Callable[[Subject], Value]] = {
        "row-major": wide,
        "0-d": lambda s: s.array(2.5, "float64"),
        "empty": lambda s: s.function("zeros")((0, 3), dtype=s.dtype("float64")),
        "transposed": lambda s: wide(s).T,
        "every other column": lambda s: wide(s)[:, ::2],
        "a column": lambda s: wide(s)[:, 1],
        "flipped": lambda s: s.function("flip")(wide(s)),
        "broadcast": lambda s: s.function("broadcast_to")(wide(s)[0, :], (3, 6)),
        "read-only": _read_only,
    }
    plain = ("row-major", "transposed", "every other column")
    return [
        _Case(name, "float64", make)
        for name, make in layouts.items()
        if aspect == "layouts" or name in plain
    ]


def _read_only(subject: Subject) -> Value:
    array = subject.array([1.0, 2.0, 3.0], "float64")
    if isinstance(array, np.ndarray):
        array.setflags(write=False)
    elif subject.mutable:
        raise UnsupportedError(f"{subject.name} has no read-only arrays")
    return array


def check(subject: Subject) -> list[Finding]:
    """Judge round trips with all installed libraries, itself included."""
    others = {name: other for name in installed() if (other := _imported(name, subject))}
    partners = [*others.values()]
    out = [_exported(subject, copy) for copy in (True, False)]
    out += _directions(subject, subject, subject, partners)
    for other in partners:
        out += _directions(subject, other, subject, partners)
        out += _directions(other, subject, subject, partners)
    return out


def installed() -> list[str]:
    """The libraries that are here."""
    names = [(name, _ROOTS.get(name, name.partition(".")[0])) for name in _LIBRARIES]
    return [name for name, root in names if importlib.util.find_spec(root)]


def _imported(name: str, subject: Subject) -> Subject | None:
    if name == subject.name:
        return None
    try:
        return Subject(name)
    except Exception:
        return None  # it is installed, and broken: nobody judges it here


def _directions(
    producer: Subject, consumer: Subject, judged: Subject, partners: list[Subject]
) -> list[Finding]:
    pair = f"{producer.name} to {consumer.name}"
    function = "from_dlpack" if consumer is judged else "__dlpack__"
    if not hasattr(producer.array([1.0], "float32"), "__dlpack__"):
        outcome = MISSING if producer is judged else SKIPPED
        message = f"arrays of {producer.name} have no __dlpack__"
        return [Finding(CHAPTER, function, pair, outcome, message)]
    if not consumer.has("from_dlpack"):
        outcome = MISSING if consumer is judged else SKIPPED
        return [Finding(CHAPTER, function, pair, outcome, f"{consumer.name} has no from_dlpack")]
    out = []
    for aspect, rule in _RULES.items():
        judge = partial(_pair, producer, consumer, judged, partners, aspect)
        out.append(tried(CHAPTER, function, f"{pair}, {aspect}", rule, judge))
    return out


def _pair(
    producer: Subject, consumer: Subject, judged: Subject, partners: list[Subject], aspect: str
) -> Finding:
    function = "from_dlpack" if consumer is judged else "__dlpack__"
    label = f"{producer.name} to {consumer.name}, {aspect}"
    failed, noted = [], []
    tried_any = False
    for case in _cases(aspect):
        try:
            status, message = _trip(producer, consumer, case, aspect)
        except UnsupportedError:
            continue
        tried_any = True
        if status == _FINE:
            continue
        plain = aspect == "dtypes" or case.name in ("row-major", "0-d")
        if status == _REFUSED and not (plain and aspect in ("dtypes", "layouts")):
            noted.append(f"{case.name}: {message}")
        elif _other_is_to_blame(producer, consumer, judged, partners, case, aspect):
            noted.append(f"{case.name}: {message} (so with another partner)")
        else:
            failed.append(f"{case.name}: {message}")
    outcome = FAILS if failed else NOTED if noted else PASSES if tried_any else SKIPPED
    message = "; ".join(failed or noted)
    return Finding(CHAPTER, function, label, outcome, message, _RULES[aspect])


def _other_is_to_blame(
    producer: Subject,
    consumer: Subject,
    judged: Subject,
    partners: list[Subject],
    case: _Case,
    aspect: str,
) -> bool:
    """Whether the other library fails with itself or with a third one in the same way."""
    if producer is consumer:
        return False
    other = consumer if producer is judged else producer
    third = next((p for p in partners if p is not other and p is not judged), other)
    for partner in (other, third):
        pair = (partner, other) if producer is judged else (other, partner)
        try:
            if _trip(*pair, case, aspect)[0] != _FINE:
                return True
        except Exception:
            return True
    return False


def _trip(producer: Subject, consumer: Subject, case: _Case, aspect: str) -> tuple[str, str]:
    """Hand an array over; how that went, and what was seen."""
    consumer.array([1], case.dtype)  # does it have the dtype?
    kept = []
    for _ in range(_ALLOCATIONS if aspect == "copy=True" else 1):
        array = case.make(producer)
        kept.append(array)  # so that the next one lies elsewhere
        found = _trip_of(producer, consumer, case, aspect, array)
        if found[0] != _FINE:
            break
    return found


def _trip_of(
    producer: Subject, consumer: Subject, case: _Case, aspect: str, array: Value
) -> tuple[str, str]:
    if case.name == "flipped" and _has_negative_strides(array):
        # DLPack permits these strides, and consumers have died of them.
        return _elsewhere(producer.name, consumer.name, case.name, aspect)
    return _handed_over(producer, consumer, case, aspect, array)


def _handed_over(
    producer: Subject, consumer: Subject, case: _Case, aspect: str, array: Value
) -> tuple[str, str]:
    wanted = producer.numpy(array)
    options = {"copy": _COPIES[aspect]} if aspect in _COPIES else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of memory that is read-only
            got = consumer.function("from_dlpack")(array, **options)
    except Exception as error:
        return _REFUSED, f"raises {said(error)}"
    found = consumer.numpy(got)
    if consumer.dtype_of(got) != case.dtype:
        return _WRONG, f"{case.dtype} becomes {consumer.dtype_of(got)}"
    if tuple(got.shape) != wanted.shape:
        return _WRONG, f"shape {wanted.shape} becomes {tuple(got.shape)}"
    if not np.array_equal(found, wanted):
        return _WRONG, f"{wanted.tolist()} becomes {found.tolist()}"
    shared = _shared(array, got)
    if shared is None or not options:
        return _FINE, ""
    if options["copy"] is None:
        if not shared and _shares_on_request(consumer, array):
            return _WRONG, "is a copy, and copy=False is none"
        return _FINE, ""
    if options["copy"] and shared and _writes_show(producer, consumer, array, got):
        return _WRONG, "shares memory"
    if not options["copy"] and not shared:
        return _WRONG, "is a copy"
    return _FINE, ""


def _writes_show(producer: Subject, consumer: Subject, array: Value, got: Value) -> bool:
    """Whether a write to one of two arrays shows in the other; nobody minds shared constants."""
    for owner, written, other in ((producer, array, got), (consumer, got, array)):
        if owner.mutable:
            looking = consumer if other is got else producer
            before = looking.numpy(other)
            owner.write(written, 77.0)
            if not np.array_equal(before, looking.numpy(other)):
                return True
    return False


def _has_negative_strides(array: Value) -> bool:
    try:
        return any(stride < 0 for stride in np.from_dlpack(array).strides)
    except Exception:
        return False


@cache
def _elsewhere(producer: str, consumer: str, case: str, aspect: str) -> tuple[str, str]:
    """The same in a process of its own, which may die."""
    command = [sys.executable, "-m", __name__, producer, consumer, case, aspect]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return _WRONG, f"not done in {_SECONDS:g} s"
    if done.returncode:
        return _WRONG, f"the process dies with exit status {done.returncode}"
    status, message = json.loads(done.stdout.splitlines()[-1])
    return status, message


def _here(producer: str, consumer: str, name: str, aspect: str) -> tuple[str, str]:
    case = next(case for case in _cases(aspect) if case.name == name)
    subject = Subject(producer)
    return _handed_over(subject, Subject(consumer), case, aspect, case.make(subject))


def _shares_on_request(consumer: Subject, array: Value) -> bool:
    try:
        return bool(_shared(array, consumer.function("from_dlpack")(array, copy=False)))
    except Exception:
        return False


def _shared(first: Value, second: Value) -> bool | None:
    """Whether two arrays share memory; None where NumPy cannot look at it.

    Arrays that are computed whenever somebody looks have no memory to share.
    """
    try:
        views = [np.from_dlpack(each, copy=False) for each in (first, first, second)]
    except Exception:
        return None
    if not np.may_share_memory(views[0], views[1]):
        return None
    return bool(np.may_share_memory(views[0], views[2]))


class _Exported:
    """An object that NumPy takes for an array, and exports with another `copy`."""

    def __init__(self, array: Value, copy: bool) -> None:
        self.array, self.copy = array, copy

    def __dlpack__(self, **options: object) -> Value:
        return self.array.__dlpack__(**(options | {"copy": self.copy}))

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


def _exported(subject: Subject, copy: bool) -> Finding:
    label = f"copy={copy}"

    def judge() -> Finding:
        array = subject.array([1.0, 2.0, 3.0], "float64")
        if not hasattr(array, "__dlpack__"):
            message = f"arrays of {subject.name} have no __dlpack__"
            return Finding(CHAPTER, "__dlpack__", label, MISSING, message, _EXPORT)
        try:
            plain = np.from_dlpack(array)
        except Exception as error:
            message = f"NumPy cannot look at it: {said(error)}"
            return Finding(CHAPTER, "__dlpack__", label, SKIPPED, message, _EXPORT)
        try:
            got = np.from_dlpack(_Exported(array, copy))
        except BufferError as error:
            outcome = FAILS if copy else NOTED
            return Finding(CHAPTER, "__dlpack__", label, outcome, said(error), _EXPORT)
        if not np.may_share_memory(plain, np.from_dlpack(array)):
            message = "arrays are computed when somebody looks, and have no memory of their own"
            return Finding(CHAPTER, "__dlpack__", label, SKIPPED, message, _EXPORT)
        shared = bool(np.may_share_memory(plain, got))
        outcome = PASSES if shared != copy and np.array_equal(plain, got) else FAILS
        message = "" if outcome == PASSES else ("shares memory" if shared else "is a copy")
        return Finding(CHAPTER, "__dlpack__", label, outcome, message, _EXPORT)

    return tried(CHAPTER, "__dlpack__", label, _EXPORT, judge)


if __name__ == "__main__":
    print(json.dumps(_here(*sys.argv[1:])))
