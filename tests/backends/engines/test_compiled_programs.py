"""Programs that an engine's compiler runs: what steps give, to rounding; writes, views, errors."""

import pickle
import random

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.contract.errors import CannotCompileError
from array_api_nx.native import native
from tests.backends.engines.test_namespace_programs import (
    ALL_STEPS,
    FLOATS,
    INTEGERS,
    MOVEMENT,
    NUMBERS,
    random_values,
)
from tests.support.refusals import refused

# PyTorch's own, when Inductor is loaded.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

# What looks at how many elements there are: such programs go step by step.
NOT_COMPILED = {"unique"}


@pytest.fixture
def device(device):
    if device.backend.compiler is None:
        pytest.skip(f"{device} has no compiler")
    return device


@xp.compile(engine="native")
def doubled(x):
    return 2 * x


def programs(name):
    """Every step in one of them."""
    tables = MOVEMENT | NUMBERS | (INTEGERS if name == "int64" else FLOATS)
    names = sorted(set(tables) - NOT_COMPILED - {"square", "multiply", "matmul"})
    random.Random(name).shuffle(names)
    return [names[i : i + 7] for i in range(0, len(names), 7)]


@pytest.mark.parametrize("name", ["float32", "float64", "int64"])
def test_random_programs_agree_with_their_steps(device, name):
    for number, names in enumerate(programs(name)):

        def function(x, names=names):
            arrays = [x]
            for each in names:
                arrays.append(ALL_STEPS[each](arrays))
            return arrays[1:]

        x = xp.asarray(random_values(number, name), device=device, copy=True)
        with np.errstate(all="ignore"):
            expected = function(x)
        found = xp.compile(function, engine="native")(x)
        for each, mine, other in zip(names, found, expected, strict=True):
            assert mine.dtype is other.dtype, each
            assert mine.device == device
            left, right = np.asarray(mine.to_device("cpu")), np.asarray(other.to_device("cpu"))
            if name == "int64":
                np.testing.assert_array_equal(left, right, err_msg=each)
            else:
                tolerance = 1e-4 if name == "float32" else 1e-11
                scale = 1 + np.abs(right).max()
                np.testing.assert_allclose(left, right, tolerance, tolerance * scale, err_msg=each)


# Views, and writes through them, of arrays of (4, 4).
VIEWS = {
    "whole": lambda x: x,
    "turned": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::-1],
    "rows": lambda x: x[::2],
    "column": lambda x: x[:, 1],
    "flat": lambda x: xp.reshape(x, (-1,), copy=False)[3::2],
    "diagonal": lambda x: xp.reshape(x, (-1,), copy=False)[::5],
}
WRITES = {
    "add": lambda to, x, i: to.__iadd__(xp.sum(x) / 8),
    "multiply": lambda to, x, i: to.__imul__(0.5),
    "itself": lambda to, x, i: to.__setitem__(..., xp.flip(to, axis=0)),
    "first": lambda to, x, i: to.__setitem__(0, x[1, 2]),
    "mask": lambda to, x, i: to.__setitem__(to > 0.5, x[0, 0]),
    "mask of axis": lambda to, x, i: to.__setitem__(
        xp.arange(to.shape[0], device=to.device) > 1, 3
    ),
    "indices": lambda to, x, i: to.__setitem__(i, 7.0),
    "repeated": lambda to, x, i: to.__setitem__(i, xp.take(to, xp.abs(i), axis=0) * 2),
}


@pytest.mark.parametrize("seed", range(2))
def test_random_writes_and_views(device, seed):
    rng = random.Random(seed)
    writes = sorted(WRITES)[seed::2]
    rng.shuffle(writes)
    choices = [(rng.randrange(2), rng.choice(sorted(VIEWS)), write) for write in writes]
    shown = rng.sample(sorted(VIEWS), 3)

    def function(x, y, i):
        for number, view, write in choices:
            WRITES[write](VIEWS[view]((x, y)[number]), (y, x)[number], i)
        z = x * y
        return *[VIEWS[view](x) for view in shown], z, VIEWS[shown[0]](z), xp.max(y, axis=0)

    compiled = xp.compile(function, engine="native")
    outcomes = []
    for call in (function, compiled, compiled):
        x, y = [
            xp.asarray(np.random.default_rng(n).normal(size=(4, 4)), device=device, copy=True)
            for n in (seed, seed + 9)
        ]
        results = call(x, y, xp.asarray([1, 0, -1, 1], device=device))
        x += 1
        results[3][0] = 5.0
        outcomes.append([each.to_device("cpu") for each in (x, y, *results)])
    expected, *found = outcomes
    for outcome in found:
        for one, other in zip(outcome, expected, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, 1e-12, 1e-12)
    assert compiled.cache_info().compilations == 1


def test_arguments_are_written(device):
    @xp.compile(engine="native")
    def function(x, y):
        x[1:] += y[0]
        x *= 2
        return x[::2]

    for size in (4, 5):
        x = xp.arange(float(size), device=device)
        y = xp.ones(3, device=device)
        view = x[1:]
        result = function(x, y)
        assert x.to_device("cpu").tolist() == [0.0, *[2.0 * (i + 1) for i in range(1, size)]]
        assert view.to_device("cpu").tolist() == x.to_device("cpu").tolist()[1:]
        x[0] = 7.0
        assert float(result[0]) == 7.0
    assert function.cache_info() == (1, 1, 2, 2)


@pytest.mark.parametrize("engine", ["auto", "steps"])
def test_what_is_written_shows_in_other_arguments_over_the_same_memory(device, engine):
    def function(x, y):
        x += 1
        return y * 2

    compiled = xp.compile(function, engine=engine)
    for _ in range(12):  # `auto` compiles functions that are called again
        x = xp.arange(8.0, device=device)
        result = compiled(x, x[::-1])
        assert result.to_device("cpu").tolist() == [2.0 * (8 - i) for i in range(8)]
    if device.backend.shares_host:
        # Each array has a storage of its own.
        block = np.arange(9.0)
        x, y = [xp.asarray(part, device=device, copy=False) for part in (block[1:], block[:-1])]
        assert compiled(x, y).to_device("cpu").tolist() == [0.0, *[2.0 * i for i in range(2, 9)]]


def test_arrays_from_outside_are_read_at_each_call(device):
    offset = xp.zeros(3, device=device)
    function = xp.compile(lambda x: x + offset, engine="native")
    x = xp.ones(3, device=device)
    assert function(x).to_device("cpu").tolist() == [1.0] * 3
    offset += 2.0
    assert function(x).to_device("cpu").tolist() == [3.0] * 3


def test_results_show_arguments(device):
    function = xp.compile(lambda x: (x.T, x + 1), engine="native")
    x = xp.zeros((2, 3), device=device)
    shown, _ = function(x)
    x[0, 1] = 5.0
    assert float(shown[1, 0]) == 5.0


def test_errors_of_elements_leave_arguments_alone(device):
    @xp.compile(engine="native")
    def function(x, i):
        x += 1
        return x[i]

    x = xp.arange(5.0, device=device)
    assert float(function(x, xp.asarray([-1, 0], device=device))[0]) == 5.0
    refused(IndexError, None, function, x, xp.asarray([0, 5], device=device))
    assert x.to_device("cpu").tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    inverse = xp.compile(xp.linalg.inv, engine="native")
    assert float(inverse(xp.asarray([[2.0, 0.0], [0.0, 4.0]], device=device))[1, 1]) == 0.25
    refused(np.linalg.LinAlgError, None, inverse, xp.ones((2, 2), device=device))


MASKS = {
    "all axes": ((3, 4), lambda x, m, v: x.__setitem__(m, v), (5,)),
    "one value": ((3, 4), lambda x, m, v: x.__setitem__(m, v[:1]), (5,)),
    "rows": ((3,), lambda x, m, v: x.__setitem__(m, v), (2, 4)),
    "rows, a row": ((3,), lambda x, m, v: x.__setitem__(m, v), (4,)),
    "rows, a column": ((3,), lambda x, m, v: x.__setitem__(m, v), (2, 1)),
    "columns": ((4,), lambda x, m, v: x.__setitem__((slice(None), m), v), (3, 2)),
    "columns of a view": ((4,), lambda x, m, v: x.T.__setitem__((m, ...), v), (2, 3)),
    "none": ((3,), lambda x, m, v: x.__setitem__(m & ~m, v[:0, :]), (2, 4)),
}


@pytest.mark.parametrize("case", MASKS)
def test_arrays_written_through_masks(device, case):
    mask_shape, write, value_shape = MASKS[case]
    count = 5 if len(mask_shape) == 2 else 2
    x, values = np.zeros((3, 4)), np.arange(1.0, np.prod(value_shape) + 1).reshape(value_shape)
    mask = np.zeros(mask_shape, bool)
    mask.ravel()[[0, 2, 3, 7, 11][:count]] = True

    @xp.compile(engine="native")
    def function(x, mask, values):
        write(x, mask, values)
        return xp.sum(x)

    expected = x.copy()
    write(expected, mask, values)
    given = [xp.asarray(each, device=device, copy=True) for each in (x, mask, values)]
    for _ in range(2):
        total = function(*given)
        np.testing.assert_array_equal(given[0].to_device("cpu"), expected)
        assert float(total) == expected.sum()
    if case in ("all axes", "rows", "columns", "columns of a view"):
        given[1][...] = True
        refused(ValueError, f"not {count} long", function, *given)
        np.testing.assert_array_equal(given[0].to_device("cpu"), expected)


def test_calls_that_the_extension_makes(device):
    function = xp.compile(lambda x, y: (x @ y, x + 1, xp.sum(y)), engine="native")

    def check(x, y, turned=False):
        x = np.asarray(x)
        given = [xp.asarray(each, device=device, copy=True) for each in (x, y)]
        if turned:
            given[0] = given[0].T[::-1]
            x = x.T[::-1]
        found = function(*given)
        assert type(found) is tuple
        for each, expected in zip(found, (x @ y, x + 1, y.sum()), strict=True):
            assert type(each) is xp.Array
            assert each.device is device
            assert each.shape == expected.shape
            assert each.dtype is xp.asarray(expected).dtype
            np.testing.assert_allclose(each.to_device("cpu"), expected, 1e-6)

    x, y = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    for dtype in (np.float64, np.float64, np.float32, np.float64):
        check(x.astype(dtype), y.astype(dtype))
        if native is not None:
            assert function._program is not None
            assert function._program[2] is device
    check(x[:2], y)
    check(x, y, turned=True)
    check(x, y)
    refused(TypeError, None, function, 1, xp.asarray(y, device=device))
    refused(TypeError, None, function, xp.asarray(x, device=device))
    with pytest.raises(ValueError, match="matmul of shapes"):
        function(xp.asarray(x, device=device), xp.asarray(y[:2], device=device, copy=True))


@pytest.mark.skipif(native is None, reason="there is no extension")
def test_arrays_that_views_were_taken_of_stay_quick(device, monkeypatch):
    function = xp.compile(lambda x, y: x + 2 * y, engine="native")
    x, y = xp.ones((2, 3), device=device), xp.zeros((2, 3), device=device)
    function(x, y)
    row = x[0, :]
    x += 1
    function(x, y)

    def fail(self, *args):
        raise AssertionError("Python was asked")

    monkeypatch.setattr(type(function), "_run", fail)
    assert function(x, y).to_device("cpu").tolist() == [[2.0] * 3] * 2
    x += 1
    assert function(x, y).to_device("cpu").tolist() == [[3.0] * 3] * 2
    assert row.to_device("cpu").tolist() == [3.0] * 3
    # Not whole, or turned.
    for other in (xp.ones((3, 2), device=device).T, xp.ones((2, 6), device=device)[:, ::2]):
        refused(AssertionError, "Python was asked", function, x, other[::-1, :])


@pytest.mark.skipif(native is None, reason="there is no extension")
def test_quick_calls_that_look_for_errors(device):
    inverse = xp.compile(lambda x: 2 * xp.linalg.inv(x), engine="native")
    x, singular = xp.eye(2, device=device), xp.ones((2, 2), device=device)
    for _ in range(2):
        inverse(x)
        quick = inverse._program
        assert quick is not None
        refused(np.linalg.LinAlgError, None, inverse, singular)
        assert inverse(x).to_device("cpu").tolist() == [[2.0, 0.0], [0.0, 2.0]]
        assert inverse._program == quick
    nan = xp.full((2, 2), xp.nan, device=device)
    if device.backend.compiler == "jax.jit":
        assert xp.all(xp.isnan(inverse(nan)))


def test_arguments_of_jax_stay_as_they_are(device):
    if device.backend.compiler != "jax.jit":
        pytest.skip("elsewhere the view says whether an array may be written")
    function = xp.compile(lambda x, y: x + y, engine="native")
    x, y = xp.ones(3, device=device), xp.zeros(3, device=device)
    function(x, y)
    assert x._handle.view is None
    assert y._handle.view is None


@pytest.mark.skipif(native is None, reason="there is no extension")
def test_errors_of_quick_calls_are_left_to_python(device):
    function = xp.compile(lambda x: x + 1, engine="native")
    x = xp.ones(3, device=device)
    function(x)
    quick = function._program

    def failing(error):
        def fail(*arrays):
            raise error

        return (fail, *quick[1:])

    function._program = failing(RuntimeError("of the engine"))
    assert function(x).to_device("cpu").tolist() == [2.0] * 3
    assert function._program == quick
    function._program = failing(KeyboardInterrupt())
    refused(KeyboardInterrupt, None, function, x)


def test_compiled_functions_within_others(device):
    inner = xp.compile(lambda x: 2 * x, engine="native")
    one = xp.ones(3, device=device)
    inner(one)
    inner(one)  # the extension has the program now, and must not run it while a function is traced
    outer = xp.compile(lambda x: inner(x) + inner(one))
    assert outer(one).to_device("cpu").tolist() == [4.0] * 3
    one += 1
    assert outer(xp.zeros(3, device=device)).to_device("cpu").tolist() == [4.0] * 3


def test_gradients_pass_through_compiled_functions(device):
    if device.backend.compiler != "torch.compile":
        pytest.skip("only PyTorch has gradients in its arrays")
    import torch

    tensor = torch.arange(3.0, requires_grad=True)
    function = xp.compile(lambda x: xp.sum(x * x), engine="native")
    function(xp.asarray(torch.arange(3.0)))
    for _ in range(2):
        total = function(xp.asarray(tensor))
        device.backend.native(total._handle).backward()
    assert tensor.grad is not None
    assert tensor.grad.tolist() == [0.0, 4.0, 8.0]


def test_a_step_that_cannot_be_compiled_is_named(device):
    x = xp.arange(4.0, device=device)

    def function(x):
        return xp.floor_divide(x + 1, 2.0)

    with pytest.raises(CannotCompileError, match=r"step v2: .*floor_divide.*engine='steps'"):
        xp.compile(function, engine="native")(x)
    for engine in ("steps", "auto"):
        compiled = xp.compile(function, engine=engine)
        for _ in range(12):
            assert compiled(x).to_device("cpu").tolist() == [0.0, 1.0, 1.0, 2.0]
        assert compiled.cache_info().compilations == 0
    assert "floor_divide" in str(compiled.explain(x)).splitlines()[-1]


def test_auto_compiles_what_is_called_again_and_again(device):
    function = xp.compile(lambda x: xp.sum(2 * x))
    x = xp.ones(6, device=device)
    for _ in range(9):
        function(x)
    assert function.cache_info().compilations == 0
    for _ in range(3):
        assert float(function(x)) == 12.0
    assert function.cache_info() == (1, 1, 12, 1)
    assert f"compiled by {device.backend.compiler}" in str(function.explain(x))


def test_a_program_that_the_compiler_refuses_goes_on_step_by_step(device, monkeypatch):
    asked = []

    def refuse(*arguments, **options):
        asked.append(arguments)
        raise RuntimeError("there are no loops today\nand so on")

    if device.backend.compiler == "torch.compile":
        import torch._dynamo

        monkeypatch.setattr(torch._dynamo, "lookup_backend", lambda name: refuse)
    else:
        import jax

        monkeypatch.setattr(jax.stages.Lowered, "compile", refuse)

    def function(x):
        x += 1
        return 2 * x

    compiled = xp.compile(function)
    for size in (3, 4):
        for _ in range(12):
            x = xp.zeros(size, device=device)
            assert compiled(x).to_device("cpu").tolist() == [2.0] * size
            assert x.to_device("cpu").tolist() == [1.0] * size
    assert len(asked) == 1
    assert compiled.cache_info().compilations == 0
    assert "RuntimeError: there are no loops today)" in str(compiled.explain(x)).splitlines()[-1]
    x = xp.zeros(3, device=device)
    native = xp.compile(function, engine="native")
    for _ in range(2):
        refused(CannotCompileError, r"no loops today\); use engine='steps'", native, x)
    assert len(asked) == 2
    assert x.to_device("cpu").tolist() == [0.0] * 3


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_unsigned_integers_are_moved_and_chosen(device, name):
    def function(x):
        y = xp.asarray(x, copy=True)
        y[x > 5] = 7
        z = xp.asarray(x, copy=True)
        z[1:] = z[:-1]
        chosen = [xp.where(x > 5, x, 0), xp.where(x > 5, 1, x), xp.where(x > 5, x, y)]
        moved = [xp.tril(x), xp.triu(x, k=1), xp.sort(x, axis=0), xp.roll(x, 1), xp.flip(x)]
        return [y, z, *chosen, *moved, xp.take(x, xp.argsort(x[:, 0]), axis=0), xp.clip(x, 2, 9)]

    x = xp.asarray(np.arange(20).reshape(4, 5).astype(name)[::-1], device=device, copy=True)
    for mine, other in zip(xp.compile(function, engine="native")(x), function(x), strict=True):
        assert mine.dtype is other.dtype
        np.testing.assert_array_equal(mine.to_device("cpu"), other.to_device("cpu"))


def test_steps_are_not_compiled(device):
    function = xp.compile(lambda x: 2 * x, engine="steps")
    for _ in range(12):
        function(xp.ones(3, device=device))
    assert function.cache_info().compilations == 0


def test_the_engine_is_kept_by_pickling(device):
    x = xp.ones(3, device=device)
    doubled(x)
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert doubled.cache_info().compilations >= 1
