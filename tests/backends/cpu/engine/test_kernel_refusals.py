"""Kernels that the extension refuses, and memory that they must not read or write."""

import sys
import weakref
from typing import Any

import numpy as np
import pytest

from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Instruction,
    Kernel,
    KernelOperand,
    TileReduction,
    prepare,
)
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = needs_extension

F4, F8 = np.dtype(np.float32), np.dtype(np.float64)
ROW, ONE = KernelOperand(8, (0, 8), 0, "direct"), KernelOperand(8, (0, 0), 0, "direct")
BOXED = ROW._replace(access="packed", box=((0, 1), (2, 4)), fill=1)


def loop(op: Any) -> Any:
    return loops.find(op, F8)


def total(*slots: Any, op: Any = p.SUM, identity: Any = None) -> TileReduction:
    found, zero = loops.reduction(op, F8) or pytest.fail("no loop")
    return TileReduction(found, *slots, True, True, zero if identity is None else identity)


# out = 1 / (x * x), tile by tile, where x is 0, 1, ...
DIVISION = (Instruction(loop(p.MULTIPLY), (0, 0), 3), Instruction(loop(p.DIVIDE), (1, 3), 2))


def kernel(**changes: Any) -> Kernel:
    good = Kernel((1, 6), (1, 2), 1, 2, 3, (ROW, ONE, ROW), (8,), DIVISION)
    return good._replace(**changes)


def memories() -> list[tuple[Any, int]]:
    return [(np.arange(6.0), 0), (np.ones(1), 0), (np.zeros(6), 0)]


def first(**changes: Any) -> dict[str, Any]:
    return {"operands": (ROW._replace(**changes), ONE, ROW)}


def boxed(*box: Any, **changes: Any) -> dict[str, Any]:
    return {"operands": (BOXED._replace(box=box or BOXED.box, **changes), ONE, ROW)}


def last(**changes: Any) -> dict[str, Any]:
    return {"operands": (ROW, ONE, ROW._replace(**changes))}


def program(*steps: Any) -> dict[str, Any]:
    return {"program": steps}


ADD, EXP, HUGE = loop(p.ADD), loop(p.EXP), 1 << 50
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("dims must have 2 to 32 items", {"dims": (6,)}),
    ("a dim must be from 0", {"dims": (1, -6)}),
    ("a tile.s rows or columns must be from 1", {"tile": (0, 2)}),
    ("split must be from 0 to 1", {"split": 2}),
    ("step must be from 1", {"step": 0}),
    ("4 tasks of step 2 do not fit dim 1, which has 6", {"tasks": 4}),
    ("step 3 must be a multiple of the tile's 2 along dim 1", {"step": 3, "tasks": 2}),
    ("operands must have 1 to 256 items", {"operands": (ONE,) * 257}),
    ("registers must have 0 to 256 items", {"registers": (8,) * 257}),
    ("program must have 1 to 512 items", program()),
    (
        "too large for scratch memory",
        {"dims": (HUGE,) * 2, "tile": (HUGE,) * 2, "tasks": 1, "step": HUGE}
        | {"operands": (ONE,) * 3, **program(total(0, 2))},
    ),
    ("an itemsize must be from 1 to 40, not 64", first(itemsize=64)),
    ("an itemsize must be a power of 2", first(itemsize=6)),
    ("strides must have 2 to 2 items", first(strides=(0, 8, 8))),
    ("access must be 'direct', 'packed', 'invariant' or 'streamed'", first(access="copied")),
    ("operand 0 is not the same for all tiles", first(access="invariant")),
    ("breaks the alignment", first(strides=(0, 12), access="packed")),
    ("operand 0 steps by .* too far", first(strides=(0, 1 << 54), access="packed")),
    ("slot 0 has elements of 4 bytes, its loop wants 8", first(itemsize=4, strides=(0, 4))),
    ("operand 2 steps by 16 bytes along the columns; pack it", last(strides=(0, 16))),
    ("operand 2 is an output and cannot be broadcast", last(strides=(0, 0), access="packed")),
    (
        "operand 0 steps by 16 bytes along the columns; pack it",  # only loops read such elements
        {**first(strides=(0, 16)), **program(total(0, 1))},
    ),
    ("a box must have 2 to 2 items", boxed((0, 1))),
    ("start must be from 0 to 6, not 7", boxed((0, 1), (7, 8))),
    ("end must be from 3 to 6, not 7", boxed((0, 1), (2, 7))),
    ("end must be from 3 to 6, not 2", boxed((0, 1), (2, 2))),
    ("fill must be from 0 to 2, not 3", boxed(fill=3)),
    ("operand 0 has a box, and nothing to fill what is around it", boxed(fill=None)),
    ("operand 0 has a box; it must be an input, and packed", boxed(access="direct")),
    ("operand 0 must be filled with one element of its own size", boxed(fill=2)),
    ("sources must have 2 to 2 items, not 1", program(Instruction(ADD, (0,), 2))),
    (
        "the loop of moments reduces, it makes no instruction",
        program(Instruction(total(0, 2, op=p.VAR).loop, (0, 0), 2)),
    ),
    ("a slot must be from 0 to 3, not 4", program(Instruction(ADD, (0, 4), 2))),
    ("a slot must be from 0 to 3, not -1", program(Instruction(ADD, (0, 0), -1))),
    (
        "step 0 reads register 3, which no step before has written",
        program(Instruction(EXP, (3,), 2)),
    ),
    ("register 3 cannot be the target of a reduction", program(total(0, 3))),
    ("a reduction's loop must take", program(total(0, 2)._replace(loop=EXP))),
    ("identity must be a 0-d ndarray of 8", program(total(0, 2, identity=np.zeros((), F4)))),
    (
        "operand 2 is both an output and accumulators",
        program(Instruction(EXP, (0,), 2), total(0, 2)),
    ),
    (
        "step 1 reads operand 2, which holds accumulators",
        program(total(0, 2), Instruction(EXP, (2,), 3)),
    ),
]


@for_each(("message", "changes"), WRONG)
def test_wrong_kernels(message, changes):
    refused(ValueError, message, prepare, kernel(**changes))


def test_fields_are_given_by_name():
    assert native is not None
    fields = kernel()._asdict()
    for name in fields:
        some: Any = {key: value for key, value in fields.items() if key != name}
        with pytest.raises(TypeError, match=f"needs the keyword {name}"):
            native.Kernel(**some)
    garbled: Any = fields | {"program": ((ADD, (0, 0), 2),)}
    with pytest.raises(AttributeError, match="loop"):
        native.Kernel(**garbled)
    wrong_call: Any = native.Kernel
    refused(TypeError, "by keywords", wrong_call, *fields.values())


def test_operands_stay_inside_their_memory():
    x, one, out = memories()
    run = prepare(kernel()).run
    for offset in (-8, 8, 48, 1 << 40, -(1 << 40)):
        refused(ValueError, "operand 0 covers the bytes", run, [(x[0], offset), one, out], 1)
        refused(ValueError, "operand 2 covers the bytes", run, [x, one, (out[0], offset)], 1)
    with pytest.raises(ValueError, match="operand 0 covers the bytes 0 to 48, its memory has 40"):
        run([(x[0][:5], 0), one, out], 1)
    # Backwards, over several dims, and in copies for each task.
    for strides, stride, low, high in [
        ((0, -8), 0, -40, 8),
        ((0, 16), 0, 0, 88),
        ((8, -8), 0, -40, 8),
        ((0, 8), 80, 0, 208),
    ]:
        run = prepare(kernel(**first(strides=strides, task_stride=stride, access="packed"))).run
        memory = np.zeros((high - low) // 8)
        run([(memory, -low), one, out], 1)
        for wrong in (-low + 8, -low - 8):
            refused(ValueError, "operand 0 covers the bytes", run, [(memory, wrong), one, out], 1)


def test_wrong_memories():
    run = prepare(kernel()).run
    x, one, out = memories()
    frozen = np.zeros(6)
    frozen.flags.writeable = False
    run([(frozen, 0), one, out], 1)
    out[0][:] = 0
    for wrong, message in [
        ([x, one], "memories must have 3 to 3 items"),
        ([x, one, out, out], "memories must have 3 to 3 items"),
        ([(np.zeros(20)[::2], 0), one, out], "memory 0 must be contiguous"),
        ([(np.zeros(60, np.uint8), 1), one, out], "operand 0 is not aligned to 8 bytes"),
        ([x, one, (frozen, 0)], "operand 2 is written, but its memory is read-only"),
    ]:
        refused(ValueError, message, run, wrong, 1)
    garbled: list[Any] = [
        [(b"12345678", 0), one, out], [(x[0], "0"), one, out], [x[0], one, out], 3,
    ]  # fmt: skip
    for wrong in garbled:
        refused(TypeError, None, run, wrong, 1)
    refused(ValueError, "threads must be from 1", run, [x, one, out], 0)
    assert not out[0].any()


@for_each("dims", [(0, 6), (1, 0), (0, 0)])
def test_nothing_runs_on_nothing(dims):
    given = memories()
    run = prepare(kernel(dims=dims, tasks=3 if dims[1] else 1)).run
    assert run(given, 2) == (0, 0)
    assert not given[2][0].any()


@for_each("threads", [1, 3])
def test_flags_belong_to_the_step_that_raised_them(threads):
    run, given = prepare(kernel()).run, memories()
    assert run(given, threads) == (0, 1)
    for values, flags in [
        ([1, 2, 3, 4, 1e200, 5], (2, 0)),
        ([1, 2, 1e-200, 4, 1, 5], (4, 1)),
        ([np.nan] * 6, (0, 0)),
    ]:
        given[0][0][:] = values
        assert run(given, threads) == flags
    with np.errstate(divide="ignore"):
        np.divide(1.0, np.zeros(1))  # flags raised before do not count
    assert run(given, threads) == (0, 0)


def test_references_are_kept_and_released():
    run, good = prepare(kernel()).run, memories()
    arrays = [memory for memory, _ in good]
    counts = [sys.getrefcount(array) for array in arrays]
    for given in (good, good[:2], [*good[:2], (arrays[2], 8)]) * 3:
        try:
            run(given, 3)
        except ValueError:
            assert given is not good
    del given
    assert [sys.getrefcount(array) for array in arrays] == counts

    class Loop:
        pointer = ADD.pointer

    alive = weakref.ref(kept := Loop())
    prepared = prepare(kernel(program=(Instruction(kept, (0, 0), 2),)))  # type: ignore[arg-type]
    del kept
    assert alive() is not None
    del prepared
    assert alive() is None
