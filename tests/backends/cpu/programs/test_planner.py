"""From programs to actions, slots and the arena."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import settings as hypothesis_settings

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.backends.cpu.programs.actions import (
    BackendCall,
    Copy,
    Fill,
    KernelPass,
    Read,
    Update,
    allocated_by,
)
from array_api_nx.backends.cpu.programs.plan import ProgramPlan
from array_api_nx.backends.cpu.programs.running import PlannedRun
from array_api_nx.compile import TraceError
from array_api_nx.contract.program import ValueView
from tests.support.interpreter import programs
from tests.support.numpy_versions import ROUNDS_ALIKE
from tests.support.programs import settings
from tests.support.sizes import AT_ONCE, DEFERRED, MANY_TASKS, MIDDLE

from ....test_compile import STEPS, inputs, run
from .planning import BACKEND, actions, planned, traced


def ones(*shape: int) -> Array:
    return xp.ones(shape, dtype=xp.float64)


def names(plan: ProgramPlan) -> list[list[str]]:
    """What each pass computes."""
    # Beside each name may stand how errors are treated.
    return [
        [step.loop.name for step in each.work.kernel.program]
        for each in plan.actions
        if type(each) is KernelPass
    ]


# ---------------------------------------------------------------------- actions


def test_a_chain_is_one_pass():
    plan = planned(lambda x: xp.exp(-(x * 2 + 1)) / x, ones(50, 4))
    assert names(plan) == [["multiply", "add", "negative", "exp", "divide"]]
    assert plan.arena == 0
    assert [plan.slots[slot].dtype for slot in plan.scalars] == [np.float64] * 2
    assert plan.results == [x.slot for x in plan.actions[0].work.outputs]


def test_reductions():
    """Small floating-point sums are NumPy's, as outside of programs; everything else is fused."""

    def standardise(x: Array) -> Array:
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)

    assert actions(standardise, ones(5, 4)) == ["reduce", "var", "KernelPass", "KernelPass"]
    plan = planned(standardise, ones(DEFERRED // 4 + 1, 4))
    assert names(plan) == [["reduce"], ["sqrt"], ["subtract", "divide"]]
    moments = plan.actions[0]
    assert type(moments) is KernelPass
    assert [each.mean is not None for each in moments.work.accumulations] == [True]
    assert actions(lambda x: xp.max(x + 1, axis=0), ones(5, 4)) == ["KernelPass"]
    integers = xp.zeros((5, 4), dtype=xp.int64)
    assert actions(lambda x: xp.sum(x + 1, axis=0) * 2, integers) == ["KernelPass", "KernelPass"]


def test_what_is_called_comes_between():
    def function(x: Array) -> Any:
        y = (x + 1) @ (x.T * 2)
        return xp.exp(y) + y[0, :]

    plan = planned(function, ones(6, 4))
    assert actions(function, ones(6, 4)) == ["KernelPass", "KernelPass", "matmul", "KernelPass"]
    call = plan.actions[2]
    assert type(call) is BackendCall
    first, second = call.arguments
    assert (first.view.shape, second.view.shape) == ((6, 4), (4, 6))
    # The operands are not needed afterwards.
    assert [plan.slots[read.slot].last for read in (first, second)] == [2, 2]
    assert [plan.slots[slot].stored for slot in call.results] == [False]


def test_movement_is_no_action():
    plan = planned(lambda x: x.T[1:, ::-1] * 2, ones(6, 4))
    assert names(plan) == [["multiply"]]
    plan = planned(lambda x: (x + 1).T[1:], ones(6, 4))
    assert names(plan) == [["add"]]
    (output,) = plan.outputs
    assert type(output) is Read
    assert output.view.shape == (3, 6)


def test_fills():
    plan = planned(lambda x: (xp.zeros((3, 3)), xp.full(x.shape, 2.5), x + xp.ones(4)), ones(6, 4))
    assert [type(each) for each in plan.actions].count(Fill) == 2
    assert names(plan) == [["add"]]
    assert sorted([float(a.value[0]) for a in plan.actions if type(a) is Fill]) == [0.0, 2.5]


def test_fills_do_not_meet_those_outside():
    """Equal expressions are one, but one that is planned has no elements."""
    x = xp.asarray(ones(MANY_TASKS, 3), copy=True)

    def function(x: Array) -> Any:
        return xp.full(x.shape, 2.5), xp.full(x.shape, 2.5) * 3, x + 1

    with settings("default"):
        before = function(x)
        compiled = xp.compile(function)(x)
        plan = planned(function, x)
        for results in (before, compiled, function(x), xp.compile(function)(x)):
            assert [float(xp.max(each)) for each in results] == [2.5, 7.5, 2.0]
            assert [float(each[0, 0]) for each in results] == [2.5, 7.5, 2.0]
    assert len(plan.results) == 3


def test_equal_outputs():
    plan = planned(lambda x: (xp.exp(x), xp.exp(x), xp.exp(x)[1:]), ones(6, 4))
    assert [type(each) for each in plan.actions] == [KernelPass, Copy]
    assert len({read.slot for read in plan.outputs if type(read) is Read}) == 3
    assert names(plan) == [["exp", "cast"]]


# ---------------------------------------------------------------------- updates


def test_updates_in_place():
    def function(x: Array) -> Array:
        y = x + 1
        y[0, :] = 5.0
        return y

    plan = planned(function, ones(6, 4))
    assert [type(each) for each in plan.actions] == [KernelPass, Update]
    assert [plan.actions[1].target] == plan.results


def test_what_reads_the_memory_comes_before_the_update():
    """The values are pending, and nothing but the end would compute them."""

    def function(x: Array) -> Any:
        y = xp.exp(x)
        before = y[::-1, :] * 2
        y[0, :] = 5.0
        return y, before

    plan = planned(function, ones(6, 4))
    kinds = [type(each) for each in plan.actions]
    update = kinds.index(Update)
    assert kinds.count(KernelPass) == 2
    reading = [i for i, each in enumerate(plan.actions) if type(each) is KernelPass and i > 0]
    written = plan.actions[update].target  # type: ignore[union-attr]
    assert all([written in plan.actions[i].uses() for i in reading])
    assert max(reading) < update


def test_updates_of_arguments_and_constants_copy():
    constant = ones(6, 4)

    def function(x: Array) -> Any:
        y = xp.asarray(constant, copy=True)
        y[0, :] = x[0, :]
        x[1, :] = 7.0
        return y

    plan = planned(function, ones(6, 4))
    for update in [each for each in plan.actions if type(each) is Update]:
        assert update.target not in (0, 1)
    assert [i for i, _ in plan.stores] == [0]


def test_a_value_that_is_read_later_is_copied_first():
    def function(x: Array) -> Any:
        y = xp.cumulative_sum(x, axis=0)
        z = xp.asarray(y, copy=True)
        z[0, :] = 5.0
        return y, z

    plan = planned(function, ones(6, 4))
    assert [type(each) for each in plan.actions] == [BackendCall, Copy, Update]
    assert len(plan.results) == 2
    assert plan.actions[2].target == plan.results[1]


def test_what_two_steps_compute_is_not_updated_for_both():
    """To steps 1 and 1.0 are two numbers; in an expression they are one."""

    def function(x: Array) -> Any:
        y, z = x + 1, x + 1.0
        y[0, :] = 5.0
        return y, z

    plan = planned(function, ones(6, 4))
    assert [type(each) for each in plan.actions] == [KernelPass, Copy, Update]
    y, z = xp.compile(function)(ones(6, 4))
    assert float(xp.sum(y)) == 2 * 20 + 5 * 4
    assert float(xp.sum(z)) == 2 * 24


# ---------------------------------------------------------------------- arguments and outputs


def test_outputs_that_show_arguments():
    outside = ones(4)
    plan = planned(lambda x: (x[1:], xp.broadcast_to(outside, x.shape), x * 1), ones(6, 4))
    assert [type(each) for each in plan.outputs] == [ValueView, ValueView, Read]
    assert [each.value for each in plan.outputs if type(each) is ValueView] == [0, 1]
    assert not plan.is_simple


def test_arguments_that_are_written():
    def function(x: Array) -> Array:
        x += 1
        return x[1:]

    plan = planned(function, ones(6, 4))
    ((number, read),) = plan.stores
    assert number == 0
    assert read.slot in plan.results
    assert [type(each) for each in plan.outputs] == [ValueView]
    assert not plan.is_simple


def test_orders_of_axes():
    x = xp.asarray(np.asfortranarray(np.ones((6, 4))))
    plan = planned(lambda x: x * 2, x)
    assert plan.orders == [(1, 0)]
    assert plan.expected(0) == ((4, 6), np.dtype(np.float64))
    assert not plan.is_simple


def test_simple_programs():
    """Those whose runs need not look at what an output shows."""
    assert planned(lambda x: x * 2, ones(6)).is_simple
    plan = planned(lambda x: (xp.exp(x), xp.sum(x), x * 2), ones(6))
    assert plan.is_simple
    assert [plan.results[i] for i in plan.order] == [x.slot for x in plan.outputs]  # type: ignore[union-attr]
    assert planned(lambda x: (x * 2)[1:], ones(6)).is_simple
    assert not planned(lambda x: x[1:], ones(6)).is_simple
    assert not planned(lambda x: [(x * 2)] * 2, ones(6)).is_simple
    assert not planned(lambda x: xp.broadcast_to(x * 2, (3, 6)), ones(6)).is_simple


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3, 0), (1, 1)])
def test_sizes_of_0_and_1(shape):
    plan = planned(lambda x: x + 1, ones(*shape))
    (output,) = plan.outputs
    assert type(output) is Read
    assert output.view.shape == shape


# ---------------------------------------------------------------------- memory


def test_small_and_large():
    small = planned(lambda x: xp.exp(x).T @ x, ones(6, 4))
    assert small.keeps_memory
    # Every slot that is neither an argument nor a result nor a scalar.
    own = set(range(len(small.slots))) - {*small.given, *small.scalars}
    assert {slot for slot, _ in small.places} == own
    large = planned(lambda x: xp.exp(x).T @ x, ones(MANY_TASKS, 4))
    assert not large.keeps_memory
    # What NumPy's kernels find lies where they put it.
    assert all([large.slots[slot].stored for slot, _ in large.places])


def test_cheap_programs_run_on_one_thread():
    """As long as a second thread is worth little."""

    def chain(x: Array) -> Array:
        return x * 2 + 1

    assert planned(chain, ones(MIDDLE)).is_small
    assert not planned(chain, ones(MANY_TASKS)).is_small
    assert not planned(xp.sin, ones(MIDDLE)).is_small
    assert planned(lambda x: x @ x, ones(180, 180)).is_small
    assert not planned(lambda x: x @ x, ones(190, 190)).is_small


def test_what_the_extension_runs_in_one_call_keeps_memory():
    assert planned(xp.sin, ones(MIDDLE)).keeps_memory
    assert planned(lambda x: x * 2 + 1, ones(MANY_TASKS)).keeps_memory
    # The backend keeps account of who reads larger arrays.
    assert not planned(lambda x: x * 2 + 1, ones(DEFERRED)).keeps_memory
    assert not planned(lambda x: [x * 2 + 1] * 2, ones(MANY_TASKS)).keeps_memory


def test_slots_of_a_long_chain_take_turns():
    def function(x: Array) -> Array:
        for _ in range(6):
            x = xp.exp(x) @ xp.eye(4)
        return x * 2

    plan = planned(function, ones(MANY_TASKS, 4))
    sizes = [plan.slots[slot].size * 8 for slot, _ in plan.places]
    assert len(sizes) >= 6
    assert plan.arena < sum(sizes) / 2


def check(plan: ProgramPlan) -> None:
    """Whatever is read was written before, and nothing that is needed is overwritten."""
    places = dict(plan.places)
    holders: dict[int, int] = {}
    written = {*range(len(plan.orders) + len(plan.constants)), *plan.scalars}
    for number, action in enumerate(plan.actions):
        new = {*allocated_by(action)}
        if type(action) is KernelPass:
            new |= {output.slot for output in action.work.outputs}
        elif type(action) in (Copy, Fill):
            new.add(action.target if type(action) is Copy else action.slot)
        for slot in action.uses():
            described = plan.slots[slot]
            assert described.first <= number <= described.last
            assert slot in written or slot in new, (slot, action)
        written |= new
        assert type(action) is not Update or action.target in written
        for slot, position in places.items():
            described = plan.slots[slot]
            if described.first <= number <= described.last:
                nbytes = described.size * described.dtype.itemsize
                assert position + nbytes <= plan.arena
                for other in holders:
                    if plan.slots[other].last < number:
                        continue
                    start = places[other]
                    end = start + plan.slots[other].size * plan.slots[other].dtype.itemsize
                    assert other == slot or end <= position or position + nbytes <= start
                holders[slot] = position
    assert set(plan.results) <= written


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["default", "process"])
@hypothesis_settings(max_examples=40)
@given(program=programs(STEPS))
def test_random_programs(program, mode):
    with settings(mode), np.errstate(all="ignore"):
        arrays = inputs((5, 4), 0)
        try:
            recorded, sizes = traced(lambda *arrays: run(program, *arrays)[1], *arrays)
        except TraceError:
            # It returns what is a view or a copy, depending on how the arguments lie in memory.
            reject()
        prepared = BACKEND.prepare(recorded, sizes)
        if isinstance(prepared, PlannedRun):
            check(prepared.plan)


@pytest.mark.skipif(not ROUNDS_ALIKE, reason="NumPy before 2.3 rounds variances otherwise")
@pytest.mark.parametrize("size", [AT_ONCE // 3, AT_ONCE // 2 + 1, MANY_TASKS])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_sums_round_as_outside(size: int, dtype: Any) -> None:
    x = xp.asarray(np.random.default_rng(5).random(size), dtype=dtype, copy=True)

    def function(x: Array) -> Any:
        return xp.sum(x), xp.mean(x), xp.var(x)

    assert list(map(float, xp.compile(function)(x))) == list(map(float, function(x)))
