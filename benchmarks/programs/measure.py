"""One program with one namespace: ready to be timed, once its results are NumPy's."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

from ..worker import Prepared, Problem, Service
from . import npbench, own
from .sources import Program, compiled_by_numba, load

SECONDS = 0.02
"""The least duration of a turn: short programs are repeated."""
WRONG = "wrong: "
"""How the problem of a program begins whose results are not NumPy's."""

_MODULES = {
    "numpy": "numpy",
    "nx": "array_api_nx.numpy",
    "standard": "array_api_nx",
    "numba": "numpy",
}
_SOURCES: dict[str, Callable[..., Program]] = {
    "npbench": lambda checkout, name, preset: npbench.program(Path(checkout), name, preset),
    "own": lambda name, dtype, elements: own.program(name, dtype, elements),
}


class FreshArguments(Timer):
    """Times calls that may write to their arguments: each gets new ones, made before its time."""

    def __init__(self, make: Callable[[], Any], call: Callable[[Any], Any]) -> None:
        super().__init__()
        self._make, self._call = make, call

    def timeit(self, number: int = 1) -> float:
        """The seconds of `number` calls."""
        seconds = 0.0
        collects = gc.isenabled()
        gc.disable()
        try:
            for _ in range(number):
                arguments = self._make()
                start = time.perf_counter()
                result = self._call(arguments)
                seconds += time.perf_counter() - start
                del arguments, result
        finally:
            if collects:
                gc.enable()
        return seconds


def connect(name: str) -> Service:
    """Serve numpy, nx, standard or numba in this process.

    nx is NumPy's face of the package, standard its namespace of the standard. A case is "npbench"
    or "own", and its arguments.
    """
    warnings.simplefilter("ignore")  # programs divide by zero, and Numba advises
    module = import_module("numba" if name == "numba" else _MODULES[name])
    return Service(module.__version__, partial(prepare, name))


def prepare(peer: str, source: str, *case: Any) -> Prepared:
    """Make a program ready. Raises `Problem` if its results are not NumPy's."""
    program = _SOURCES[source](*case)
    function = load(program.file, program.function, _MODULES[peer])
    asarray, evaluate = _conversions(peer)
    if peer == "numba":
        function = compiled_by_numba(function)

    def make() -> list[Any]:
        arguments = program.arguments
        return [asarray(x) if isinstance(x, np.ndarray) else x for x in arguments]

    def call(arguments: list[Any]) -> Any:
        result = function(*arguments)
        evaluate(result, arguments)
        return result

    arguments = make()
    start = time.perf_counter()
    result = call(arguments)
    seconds = time.perf_counter() - start
    note = ""
    if peer != "numpy":
        note = compare(_outcome(result, arguments), _expected(program))
    del result, arguments
    return Prepared(FreshArguments(make, call), seconds, note)


def compare(outcome: list[Any], expected: list[Any]) -> str:
    """Say how far the arrays of `outcome` lie from NumPy's. Raises `Problem` if too far.

    The difference is that of the elements furthest apart, relative to the array's largest. The
    limit is the square root of the precision.
    """
    if len(outcome) != len(expected):
        raise Problem(f"{WRONG}{len(outcome)} arrays instead of {len(expected)}")
    largest = 0.0
    equal = True
    for ours, theirs in zip(outcome, expected, strict=True):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            raise Problem(
                f"{WRONG}{ours.dtype} of shape {ours.shape} "
                f"instead of {theirs.dtype} of shape {theirs.shape}"
            )
        if ours.tobytes() == theirs.tobytes():
            continue
        equal = False
        difference = _relative_difference(ours, theirs)
        exact = ours.dtype.kind not in "fc"
        if not difference <= (0 if exact else np.finfo(ours.dtype).eps ** 0.5):
            raise Problem(f"{WRONG}differs by {difference:.1e}")
        largest = max(largest, difference)
    return "bits equal" if equal else f"within {largest:.0e}"


def _relative_difference(ours: Any, theirs: Any) -> float:
    """NaN where one has a number and the other has none; the share that differs, of integers."""
    if ours.dtype.kind not in "fc":
        return float(np.mean(ours != theirs))
    finite = np.isfinite(theirs)
    if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True):
        return float("nan")
    largest = np.max(np.abs(theirs[finite]), initial=0) or 1
    return float(np.max(np.abs(ours[finite] - theirs[finite]), initial=0) / largest)


def _conversions(peer: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Make an array of the peer of NumPy's, and end all that it has deferred."""
    if peer not in ("nx", "standard"):
        return np.array, lambda result, arguments: None
    xp: Any = import_module("array_api_nx")
    module: Any = import_module(_MODULES[peer])
    kinds = (xp.Array, type(module.zeros(1)))

    def evaluate(result: Any, arguments: list[Any]) -> None:
        xp.evaluate(*[x for x in (*_parts(result), *arguments) if type(x) in kinds])

    return partial(module.asarray, copy=True), evaluate


def _expected(program: Program) -> list[Any]:
    arguments = [x.copy() if isinstance(x, np.ndarray) else x for x in program.arguments]
    result = load(program.file, program.function)(*arguments)
    return _outcome(result, arguments)


def _outcome(result: Any, arguments: list[Any]) -> list[Any]:
    """All that a program returned, and all arrays that it may have written to, as NumPy's."""
    arrays = [x for x in arguments if not isinstance(x, (int, float, complex, np.generic))]
    return [np.asarray(x) for x in (*_parts(result), *arrays)]


def _parts(result: Any) -> tuple[Any, ...]:
    if result is None:
        return ()
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)
