"""What becomes of a call with arrays of the namespace."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import perf_counter
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy.cluster import hierarchy
from scipy.interpolate import bisplrep, splrep

from . import arguments
from .subjects import ESTIMATORS, Subject

ROWS, MANY_ROWS = 48, 200_000
SECONDS, MANY_SECONDS = 20, 3  # for a call, with `ROWS` and with `MANY_ROWS`
_LONGEST = 70  # of a message
_KEPT, _NUMPY, _SOME, _NUMBERS = "kept", "become NumPy's", "some become NumPy's", "numbers"

Names = dict[str, Any]
Row = dict[str, Any]


class Trials:
    """Calls subjects with arrays of a namespace.

    Parameters
    ----------
    xp : module
        The namespace.
    device : str
        A device that is not the default one, or "" where there is none.
    """

    def __init__(self, xp: ModuleType, device: str) -> None:
        self.xp, self.device = xp, device
        self._array = type(xp.asarray(0.0))
        small = arguments.examples(ROWS)
        self._small = small
        self._holed = [arguments.with_nan(small, ndim) for ndim in (1, 2)]
        self._many: list[Names] = []
        self._seconds = SECONDS

    def row(self, subject: Subject) -> Row | None:
        """What the table says of a subject; None if it takes no arrays."""
        if subject.call is None:
            return {"untried": "no example for " + ", ".join(subject.parameters)}
        code = compile(subject.call, subject.name, "eval")
        if not set(code.co_names) & {*self._small, *_DERIVED}:
            return None
        expected, error = self._call(code, subject, self._names("numpy"))
        if error:
            return {"untried": f"NumPy's arrays: {error}"}
        found, error = self._call(code, subject, self._names(""))
        row = {"arrays": f"raise `{error}`" if error else self._what(found), "mend": ""}
        if not error and not agree(expected, found):
            row["arrays"] += ", other values"
        if self.device:
            row["device"] = self._device(code, subject)
        if "nan_policy" in subject.parameters:
            row["nan_policy"] = self._nan_policy(subject)
        row["mend"] = self._mend(code, subject, row)
        return row

    def prepare_speed(self) -> None:
        """Make the arrays that `speed` calls with, which takes a while."""
        arrays = arguments.examples(MANY_ROWS)
        self._many = [self._names_on(name, arrays) for name in ("numpy", "")]
        self._seconds = MANY_SECONDS

    def speed(self, subject: Subject) -> float | None:
        """How many times as fast a call is as with NumPy's arrays, on `MANY_ROWS` rows."""
        if subject.call is None:
            return None
        code = compile(subject.call, subject.name, "eval")
        times: tuple[list[float], list[float]] = [], []
        # The two take turns, so that what else the machine does slows both.
        while len(times[0]) < 2 or (sum(times[0] + times[1]) < 0.4 and len(times[0]) < 9):
            for names, seconds in zip(self._many, times, strict=True):
                taken = self._seconds_of(code, subject, names)
                if taken is None:
                    return None
                seconds.append(taken)
        return min(times[0]) / min(times[1])

    def _seconds_of(self, code: CodeType, subject: Subject, names: Names) -> float | None:
        """How long a call takes until the arrays in its result have their elements."""
        started = perf_counter()
        result, error = self._call(code, subject, names)
        with suppress(Exception):
            self.xp.evaluate(*[x for x in leaves(result) if isinstance(x, self._array)])
        return None if error else perf_counter() - started

    def _names(self, device: str) -> Names:
        """Names for one call, which may write to its arguments."""
        return self._names_on(device, self._small)

    def _names_on(self, device: str, arrays: Names) -> Names:
        """What calls can name: arrays of NumPy, or on a device of the namespace."""
        xp: Any = np if device == "numpy" else self.xp

        def convert(array: Any) -> Any:
            array = array.copy()
            return array if xp is np else xp.asarray(array, device=device or None)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {name: convert(each) for name, each in arrays.items()}
            found |= {name: make(convert) for name, make in _DERIVED.items()}
        return {"xp": xp, "np": np, "use": use, **_modules(), **found}

    def _call(self, code: CodeType, subject: Subject, names: Names) -> tuple[Any, str]:
        """The result of a call, or the first words of its error."""
        np.random.seed(0)
        before = signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(self._seconds)
        try:
            with warnings.catch_warnings(), sklearn.config_context(array_api_dispatch=True):
                warnings.simplefilter("ignore")
                return eval(code, {**names, "f": subject.target}), ""
        except Exception as error:
            return None, first_words(error)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def _what(self, result: Any) -> str:
        ours = [isinstance(x, self._array) for x in arrays_in(result)]
        if not ours:
            return _NUMBERS
        return _KEPT if all(ours) else _SOME if any(ours) else _NUMPY

    def _on_device(self, result: Any) -> list[bool]:
        arrays = [x for x in leaves(result) if isinstance(x, self._array)]
        return [str(x.device) == self.device for x in arrays]

    def _device(self, code: CodeType, subject: Subject) -> str:
        result, error = self._call(code, subject, self._names(self.device))
        if error:
            return f"raise `{error}`"
        kept = self._on_device(result)
        if not kept:
            return self._what(result)
        return _KEPT if all(kept) else "some on `cpu`" if any(kept) else "on `cpu`"

    def _nan_policy(self, subject: Subject) -> str:
        """Whether nan_policy="omit" gives what NumPy's arrays give."""
        said = []
        for ndim, arrays in enumerate(self._holed, start=1):
            axis = ", axis=-1" if ndim == 2 and "axis" in subject.parameters else ""
            assert subject.call is not None
            code = compile(f"{subject.call[:-1]}, nan_policy='omit'{axis})", subject.name, "eval")
            expected, error = self._call(code, subject, self._names_on("numpy", arrays))
            if error:
                continue
            found, error = self._call(code, subject, self._names_on("", arrays))
            said.append("refused" if error else "heeded" if agree(expected, found) else "ignored")
        if len(set(said)) > 1:
            return f"{said[0]}, for tables {said[1]}"
        return said[0] if said else ""

    def _mend(self, code: CodeType, subject: Subject, row: Row) -> str:
        """What to write for results that are those of NumPy's arrays, on the device."""
        if row["arrays"].startswith("raise"):
            if subject.section == ESTIMATORS:
                return (
                    "dispatch off" if self._works_without_dispatch(code, subject) else "arguments"
                )
            return "arguments"
        mends = []
        if "NumPy's" in row["arrays"]:
            mends.append("results")
        if "on `cpu`" in row.get("device", ""):
            with self.xp.config_context(default_device=self.device):
                result, error = self._call(code, subject, self._names(self.device))
            is_kept = not error and all(self._on_device(result))
            mends.append("default device" if is_kept else "results to the device")
        if row.get("device", "").startswith("raise"):
            mends.append("arguments on the device")
        if "ignored" in row.get("nan_policy", "") or "refused" in row.get("nan_policy", ""):
            mends.append("arguments for nan_policy")
        return "; ".join(mends)

    def _works_without_dispatch(self, code: CodeType, subject: Subject) -> bool:
        names = {**self._names(""), "use": _use_without_dispatch}
        return not self._call(code, subject, names)[1]


_LINKAGE = hierarchy.linkage(arguments.examples(ROWS)["O"])
_FILTER = scipy.signal.butter(4, 0.2, output="sos")
_SPLINE = splrep(np.linspace(0.0, 10.0, 20), np.sin(np.linspace(0.0, 10.0, 20)))
_SURFACE = bisplrep(*arguments.examples(ROWS)["X"][:40, :3].T)
_DERIVED: dict[str, Callable[[Any], Any]] = {
    "Z": lambda convert: convert(_LINKAGE),
    "sos": lambda convert: convert(_FILTER),
    "tck": lambda convert: (convert(_SPLINE[0]), convert(_SPLINE[1]), _SPLINE[2]),
    "surface": lambda convert: _SURFACE,
}
"""Arguments that SciPy makes from others."""


def _modules() -> Names:
    from sklearn import linear_model, metrics, preprocessing
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    parts = ("ndimage", "sparse", "spatial", "special", "stats")
    return {
        "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
        "LogisticRegression": linear_model.LogisticRegression,
        "Ridge": linear_model.Ridge,
        "StandardScaler": preprocessing.StandardScaler,
        "metrics": metrics,
        **{name: getattr(scipy, name) for name in parts},
    }


def use(estimator: Any, *data: Any) -> Any:
    """What an estimator gives for the data that it was fitted to."""
    fitted = estimator.fit(*data)
    for method in ("predict", "transform", "score_samples"):
        if hasattr(fitted, method):
            return getattr(fitted, method)(data[0])
    attributes = ("labels_", "embedding_", "row_labels_", "covariance_", "components_")
    return next(getattr(fitted, name) for name in attributes if hasattr(fitted, name))


def _use_without_dispatch(estimator: Any, *data: Any) -> Any:
    with sklearn.config_context(array_api_dispatch=False):
        return use(estimator, *data)


def leaves(result: Any, depth: int = 4) -> Iterator[Any]:
    """The arrays and numbers in a result: in tuples and the like, and attributes of objects."""
    if hasattr(result, "__array_namespace__") or isinstance(result, int | float | complex):
        yield result
    elif depth == 0 or isinstance(result, str | type | ModuleType) or callable(result):
        return
    elif isinstance(result, dict):
        yield from leaves(list(result.values()), depth)
    elif isinstance(result, list | tuple):
        for each in result:
            yield from leaves(each, depth - 1)
    elif type(result).__module__.startswith(("scipy", "sklearn")) and hasattr(result, "__dict__"):
        public = [value for name, value in vars(result).items() if not name.startswith("_")]
        yield from leaves(public, depth)


def arrays_in(result: Any) -> list[Any]:
    """The arrays in a result, of any library."""
    return [x for x in leaves(result) if not isinstance(x, int | float | complex | np.generic)]


def agree(expected: Any, found: Any) -> bool:
    """Whether two results have the same numbers, but for rounding."""
    for a, b in zip(leaves(expected), leaves(found), strict=False):
        wanted, given = np.asarray(a), np.asarray(b)
        if wanted.dtype.kind not in "biufc" or given.dtype.kind not in "biufc":
            continue
        if wanted.size != given.size:
            return False
        scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-300)
        near = np.isclose(
            given.ravel(), wanted.ravel(), rtol=1e-5, atol=1e-7 * scale, equal_nan=True
        )
        if not near.all():
            return False
    return True


def first_words(error: BaseException) -> str:
    """The type of an error, and its message as far as it is the same everywhere."""
    line = next(iter(str(error).splitlines()), "")
    line = re.split(r"\s*[\[<(]?<module | at 0x|\s\(docs/", line)[0].replace("`", "'").rstrip(" [(")
    if len(line) > _LONGEST:
        line = line[:_LONGEST].rpartition(" ")[0] + " ..."
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("takes too long")
