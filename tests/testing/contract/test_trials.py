"""Backends with one fault each: the trials report every one, for every method and dtype."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from array_api_nx.contract.backend import METHODS
from array_api_nx.contract.derived import Derived, derive
from array_api_nx.core import dtypes as d
from array_api_nx.primitives.rules import ROW_MAJOR, SHARING
from array_api_nx.primitives.table import TABLE
from array_api_nx.testing.contract import test_primitives, trials_axes, trials_elementwise
from array_api_nx.testing.contract.test_primitives import REFUSED, TRIALS, WRITES, dtypes_of
from array_api_nx.testing.contract.trials import run, run_writes
from tests.support.refusals import refused
from tests.support.tables import for_each
from tests.testing.contract.backends import CPU

Handle = Any
Fault = Callable[[Handle, list[Handle]], Handle]
IN_MEMORY = type(CPU.empty((1,), d.float64))
REPORTS = (AssertionError, ValueError, IndexError, TypeError)


@derive([name for name in METHODS if name not in ("draw", "draw_from")])
class Broken(Derived):
    """The CPU's backend with a fault in the results of one method, or of one operation of it."""

    def __init__(self, method, fault, op=None):
        self.inner = CPU
        self.shares_host = CPU.shares_host
        self.broken = method, op
        self.fault = fault

    def call(self, method, arguments, keywords):
        result = getattr(CPU, method.name)(*arguments, **keywords)
        name, op = self.broken
        if method.name != name or op not in (None, arguments[0]):
            return result
        operands = [x for x in _flat(arguments) if isinstance(x, IN_MEMORY)]
        if name in WRITES:
            self.fault(operands[0], operands)
            return result
        if isinstance(result, tuple):
            return *result[:-1], self.fault(result[-1], operands)
        return None if result is None else self.fault(result, operands)


def _flat(values):
    for x in values:
        if type(x) in (tuple, list):
            yield from _flat(x)
        else:
            yield x


def other_value(result, operands):
    """The last element is another one, but where there is none."""
    host = CPU.to_host(result)
    if host.size:
        host = host if host.flags.writeable else host.copy()
        last = tuple([n - 1 for n in host.shape])
        value = host[last]
        finite = np.isfinite(value) and value + 1 != value
        host[last] = value + 1 if finite and host.dtype.kind != "b" else value == 0
        return result if result in operands else CPU.from_host(host, copy=True)
    return result


def other_value_in_some_layouts(result, operands):
    is_plain = all([CPU.view(x).is_row_major for x in operands])
    return result if is_plain else other_value(result, operands)


def other_dtype(result, operands):
    return CPU.cast(result, d.int16 if CPU.dtype(result) is not d.int16 else d.int8)


def other_shape(result, operands):
    return CPU.expand(result, (1, *CPU.shape(result)))


def other_shape_of_nothing(result, operands):
    return result if CPU.to_host(result).size else other_shape(result, operands)


def memory_of_an_operand(result, operands):
    """The result is written over an operand, whose memory it then has."""
    for x in operands:
        view = CPU.view(x)
        same = CPU.shape(x) == CPU.shape(result) and CPU.dtype(x) is CPU.dtype(result)
        if same and view.mask is None and view.size > 1:
            memory = x.storage.memory
            memory.flags.writeable = True
            found = CPU.to_host(result).copy()
            strides = [step * memory.itemsize for step in view.strides]
            np.lib.stride_tricks.as_strided(memory[view.offset :], view.shape, strides)[...] = found
            memory.flags.writeable = False
            return x
    return result


def memory_of_its_own(result, operands):
    return CPU.copy(result)


def column_major(result, operands):
    return CPU.from_host(np.asfortranarray(CPU.to_host(result)), copy=False)


def trials_of(method, op, dtype):
    if op is None:
        return TRIALS[method]
    table = trials_elementwise if method in ("unary", "binary") else trials_axes
    return table.of_row(op, dtype)


ROWS = [*trials_elementwise.ROWS, *trials_axes.ROWS]
EVERY = [
    *[(method, None, dtypes_of(method)) for method in TRIALS],
    *[(op.family, op, [*op.results]) for op in ROWS],
]
FAULTS = [other_value, other_value_in_some_layouts, other_dtype, other_shape]


def test_every_row_has_trials_but_those_of_random_numbers_and_of_the_host():
    others = {"empty", "from_host", "to_host", "draw", "threefry"}
    tried = {*TRIALS, *WRITES, *[op.name for op in ROWS]}
    assert {op.name for op in TABLE} - tried == others


def assert_reported(method, op, dtypes, fault):
    for dtype in dtypes:
        with pytest.raises(REPORTS):
            run(Broken(method, fault, op), method, dtype, trials_of(method, op, dtype))


@for_each("fault", FAULTS)
@pytest.mark.parametrize(("method", "op", "dtypes"), EVERY)
def test_faults_are_reported(method, op, dtypes, fault):
    created = method in ("full", "arange", "linspace", "eye")
    if fault is not other_value_in_some_layouts or not created:
        assert_reported(method, op, dtypes, fault)


@for_each("method", [method for method in TRIALS if method in SHARING - {"strided", "contiguous"}])
def test_a_copy_in_place_of_a_view_is_reported(method):
    assert_reported(method, None, dtypes_of(method), memory_of_its_own)


@for_each("method", ["where", "clip", "sort", "copy", "roll", "triangle", "cholesky", "inv"])
def test_a_result_in_the_memory_of_an_operand_is_reported(method):
    assert_reported(method, None, dtypes_of(method), memory_of_an_operand)


@for_each("op", [op for op in ROWS if op.family == "binary" and op.results.get(d.int8) is d.int8])
def test_an_operand_that_is_written_is_reported(op):
    assert_reported("binary", op, [d.int8], memory_of_an_operand)


@for_each("method", [method for method in TRIALS if method in ROW_MAJOR])
def test_results_in_another_order_of_axes_are_reported(method):
    assert_reported(method, None, dtypes_of(method), column_major)


@for_each("method", ["permute", "take", "matmul", "cat", "sort", "fft", "where", "index_get"])
def test_another_shape_of_no_elements_is_reported(method):
    assert_reported(method, None, dtypes_of(method), other_shape_of_nothing)


@for_each("method", WRITES)
def test_faults_of_methods_that_write_are_reported(method):
    trials, write = WRITES[method]
    for dtype in d.NUMPYS:
        with pytest.raises(REPORTS):
            run_writes(Broken(method, other_value), method, trials(dtype), write)


class Careless(Broken):
    """The CPU's backend, which refuses nothing."""

    def call(self, method, arguments, keywords):
        try:
            return super().call(method, arguments, keywords)
        except (ValueError, IndexError):
            return CPU.empty((), d.float64)


def test_what_is_not_refused_is_reported():
    backend = Careless("none", other_value)
    for arguments in REFUSED:
        refused(pytest.fail.Exception, None, test_primitives.test_refusals, backend, *arguments)
