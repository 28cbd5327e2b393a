"""The tests of all methods of the contract that compute: trials, in every layout.

A trial is a list of arguments of a method, in the order of its parameters, with NumPy arrays in
place of handles. `run` puts the arrays into layouts, calls the method, and compares the results
with those of an oracle, a function of the same arguments. It also checks the promises that the
contract makes for all methods: results share memory where the rules say so and nowhere else,
arguments keep their elements, results of some methods are row-major.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...contract.arguments import Handle
from ...contract.backend import Backend
from ...contract.checked_call import HeldType
from ...contract.derived import method_of
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives.rules import ROW_MAJOR, SHARING, ArrayType, results_of
from .layouts import (
    LAYOUTS,
    ONE_TO_ONE,
    Case,
    Layout,
    assert_close,
    assert_same,
    assert_shares,
    case,
    flushes,
    has,
    is_row_major_view,
    is_whole,
    must_have,
    normal,
    nothing_else_written,
    row_major,
)

Arguments: TypeAlias = tuple[Any, ...]

_TURNS = 1, 3, 7, 9
"""By how many layouts each array of a trial goes on while the first one goes on by one."""


def always(*arguments: object) -> bool:
    return True


class Trials(NamedTuple):
    """The trials of one method.

    oracle: From the arguments of a trial to the result or the tuple of results.
    arguments: From a dtype of the method's row to the trials.
    ulp: By how many units in the last place results may differ; 0 compares signs of zeros too.
    rtol: Where it is given, results agree to this in float64, and in narrower dtypes to 1e7 times
        this or to one unit in the last place, if that is more.
    suits: Whether the arguments of a trial, as their layouts have changed them, mean something.
    seen: The values to compare with the oracle: a function of the result and the arguments.
    """

    oracle: Callable[..., Any]
    arguments: Callable[[DType], Iterable[Arguments]]
    ulp: float = 0
    rtol: float = 0
    suits: Callable[..., bool] = always
    seen: Callable[..., Any] | None = None


def mapped(kind: type, function: Callable[[Any], Any], x: Any) -> Any:
    """`x` with `function` of each `kind` in it, which may lie within tuples and lists."""
    if type(x) in (tuple, list):
        return type(x)([mapped(kind, function, each) for each in x])
    return function(x) if isinstance(x, kind) else x


def cases_in(arguments: Arguments) -> list[Case]:
    found: list[Case] = []
    mapped(Case, found.append, arguments)
    return found


def called(backend: Backend, method: str, arguments: Arguments) -> Any:
    """Call a method with arguments in the order of its parameters."""
    signature = method_of(method)
    given = mapped(Case, lambda x: x.handle, arguments)
    count = signature.positional
    if signature.variadic:
        given = *given[: count - 1], *given[count - 1]
        count = len(given)
    names = signature.names[count:]
    return getattr(backend, method)(*given[:count], **dict(zip(names, given[count:], strict=True)))


def placed(
    backend: Backend, arguments: Arguments, number: int, layouts: tuple[Layout, ...], made: Any
) -> Arguments:
    """The arguments with their arrays in layouts; `number` says in which."""
    turn = 0

    def place(array: np.ndarray[Any, Any]) -> Case:
        nonlocal turn
        layout = layouts[(_TURNS[turn % 4] * number + turn) % len(layouts)]
        turn += 1
        key = id(array), layout
        if key not in made:
            made[key] = array, case(backend, layout, array)
        found: Case = made[key][1]
        return found

    placed: Arguments = mapped(np.ndarray, place, arguments)
    return placed


def run(
    backend: Backend,
    method: str,
    dtype: DType,
    trials: Trials,
    layouts: tuple[Layout, ...] = LAYOUTS,
) -> None:
    """Run the trials of a method for one dtype in all layouts."""
    made: dict[object, object] = {}
    must_have(backend, dtype)
    for trial, arguments in enumerate(trials.arguments(dtype)):
        if not all([has(backend, x) for x in arguments if isinstance(x, np.dtype)]):
            continue
        for number in range(len(layouts)):
            if trial > 1 and (trial + number) % 3:
                continue  # every trial in some layouts, and the first ones in all
            given = placed(backend, arguments, number + trial * len(layouts), layouts, made)
            plain = mapped(Case, lambda x: x.oracle, given)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
                if trials.suits(*plain):
                    verify(backend, method, given, trials.oracle(*plain), trials)
            if not made:
                break


def verify(
    backend: Backend, method: str, arguments: Arguments, expected: Any, trials: Trials
) -> None:
    """Call a method, compare its results, and hold the call against the contract."""
    result = called(backend, method, arguments)
    operands = cases_in(arguments)
    hint = (method, *mapped(Case, lambda x: (x.layout, x.oracle.dtype.name), arguments))
    if method == "try_reshape" and result is None:
        assert not is_row_major_view(backend, operands[0].handle), hint
        return
    several = isinstance(result, tuple)
    assert several == method_of(method).several, hint
    every = result if several else (result,)
    for each, kind in zip(every, kinds_of_results(backend, method, arguments), strict=True):
        assert backend.shape(each) == kind.shape, hint
        assert backend.dtype(each) is kind.dtype, hint
        check_memory(backend, method, each, operands, hint)
    for x in operands:
        assert backend.to_host(x.handle).tobytes() == x.oracle.tobytes(), (hint, "is unchanged")
    plain = mapped(Case, lambda x: x.oracle, arguments)
    actual = tuple([backend.to_host(x) for x in result]) if several else backend.to_host(result)
    if trials.seen is not None:
        actual = trials.seen(actual, *plain)
    if not isinstance(actual, tuple):
        actual, expected = (actual,), (expected,)
    for found, right in zip(actual, expected, strict=True):
        right = np.asarray(right)
        if trials.rtol:
            assert_close(np.asarray(found), right, trials.rtol, hint)
        elif flushes(backend, d.CANONICAL[right.dtype]):
            assert_same(normal(found), normal(right), trials.ulp, hint)
        else:
            assert_same(np.asarray(found), right, trials.ulp, hint)


def kinds_of_results(backend: Backend, method: str, arguments: Arguments) -> Sequence[ArrayType]:
    """Shapes and dtypes of the results, by the method's rule."""
    signature = method_of(method)
    held = mapped(Case, lambda x: HeldType(backend, x.handle), arguments)
    return results_of(
        method, {**signature.defaults, **dict(zip(signature.names, held, strict=False))}
    )


def check_memory(
    backend: Backend, method: str, result: Handle, operands: list[Case], hint: object
) -> None:
    """Check the memory of a result, its order, and that the backend knows its shape."""
    host = backend.to_host(result)
    assert backend.shape(result) == host.shape, hint
    assert backend.dtype(result) is host.dtype, hint
    if method in ROW_MAJOR:
        assert host.flags.c_contiguous, hint
        if method != "contiguous":
            assert backend.read_only_reason(result) is backend.immutable, hint
    for x in operands:
        if method not in SHARING:
            assert not np.may_share_memory(host, backend.to_host(x.handle)), hint
        elif method in ("contiguous", "reshape"):
            known = is_row_major_view(backend, x.handle)
            if known and method == "reshape":
                assert_shares(backend, result, x.handle, hint)
            elif not known and method == "contiguous":
                assert not np.may_share_memory(host, backend.to_host(x.handle)), hint
        elif method != "strided" and is_whole(backend, x.handle):
            assert_shares(backend, result, x.handle, hint)


# ---------------------------------------------------------------------- methods that write


def run_writes(
    backend: Backend, method: str, trials: Iterable[Arguments], write: Callable[..., None]
) -> None:
    """Run trials of a method that writes to its first argument, in the layouts that show all of it.

    `write` does the same to an array. Memory between the elements that are written stays.
    """
    made: dict[object, object] = {}
    for trial, (values, *rest) in enumerate(trials):
        for number, layout in enumerate(ONE_TO_ONE):
            if method == "assign_strided" and layout is not row_major:
                continue
            others = placed(backend, tuple(rest), number + trial, LAYOUTS[:9], made)
            target = case(backend, layout, values, writable=True)
            expected = target.oracle.copy()
            try:
                write(expected, *mapped(Case, lambda x: x.oracle, others))
            except (IndexError, ValueError):
                continue  # a layout has changed the keys
            hint = method, layout.__name__, values.dtype.name, trial
            with nothing_else_written(backend, target.handle, hint):
                assert called(backend, method, (target, *others)) is None, hint
                assert_same(backend.to_host(target.handle), expected, hint=hint)
                for x in cases_in(others):
                    assert backend.to_host(x.handle).tobytes() == x.oracle.tobytes(), hint
