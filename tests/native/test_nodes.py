"""Operations that wait in the extension (nodes.h): the same elements as NumPy computes at
once, whatever is held, shared, overlapping or written meanwhile."""

import gc
import tracemalloc
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.implementations import count_pending, needs_native
from tests.support.refusals import refused

pytestmark = [needs_native, pytest.mark.usefixtures("waits_when_small")]


# ---------------------------------------------------------------------- when it waits


def arrays(shape=50, count=2):
    rng = np.random.default_rng(1)
    return [xp.asarray(rng.random(shape)) for _ in range(count)]


def test_operations_wait_until_an_element_is_read():
    x, y = arrays()
    before = count_pending()
    z = 2 * x + 3 * y
    assert count_pending() == before + 3
    float(z[0])
    assert count_pending() == before


def test_what_is_dropped_is_never_computed():
    x, y = arrays()
    z = x / y
    assert count_pending() == 1
    del z
    assert count_pending() == 0


def test_settings_decide():
    x, y = arrays()
    with xp.config_context(fusion="off"):
        z = x + y
        assert count_pending() == 0
    assert float(z[0]) == float(x[0]) + float(y[0])
    lent = xp.asarray(np.ones(50))
    shown = np.asarray(lent)
    with xp.config_context(fusion="always"):
        z = lent + y
        assert count_pending() == 1
    assert float(z[0]) == float(shown[0]) + float(y[0])


def test_a_value_that_is_read_twice_is_computed_once():
    x, _ = arrays()
    made = xp.exp(x)
    first, second = made + 1, made - 1
    float(first[0])
    assert count_pending() == 1  # `second`: `made` was stored along the way
    float(second[0])
    assert np.array_equal(np.asarray(made), np.exp(np.asarray(x)))


@pytest.mark.parametrize("size", [3, 100, 700, 3000])
@pytest.mark.parametrize("width", [1.0, 0.98, 0.5])
@pytest.mark.parametrize("zeros", [[], [(4, -2)], [(4, -1), (2, 0)]])
def test_rows_of_any_length_are_updated_in_place(size, width, zeros):
    made = np.random.default_rng(5).random((7, size)) + 1
    for place in zeros:
        made[place] = 0  # some are no element of the views
    columns = slice(0, max(2, int(size * width)))

    def run(m, x):
        def statements():
            x[1:, columns] -= 0.5 * (x[1:, columns] / x[:-1, columns] - x[0, columns])
            x[:-1, columns] = x[1:, columns] * 2 + 1 / x[1:, columns]

        return statements

    mine, ours = made.copy(), xp.asarray(made.copy())
    assert messages(run(xp, ours)) == messages(run(np, mine))
    assert np.array_equal(np.asarray(ours), mine)


def test_many_updates_of_what_waits_are_computed_in_parts():
    x, y = arrays()
    expected = np.asarray(x, copy=True) * np.asarray(y, copy=True)
    z = x * y
    for _ in range(1000):
        z += 1
        expected += 1
    assert np.array_equal(np.asarray(z), expected)


def test_an_update_that_is_refused_leaves_what_waited():
    x, y = arrays()
    expected = np.asarray(x, copy=True) * np.asarray(y, copy=True)
    z = x * y
    for _ in range(399):
        z += 1
        expected += 1
    with np.errstate(divide="raise"):  # computed at once
        z /= 2
    assert np.array_equal(np.asarray(z), expected / 2)


def test_long_expressions_are_one_pass():
    x, y = arrays(3000)
    result, expected = x, np.asarray(x, copy=True)
    host = np.asarray(y, copy=True)
    for i in range(150):
        result = result * y + i
        expected = expected * host + i
    assert count_pending() == 300
    assert np.array_equal(np.asarray(result), expected)
    assert count_pending() == 0


def test_loops_that_never_read_do_not_grow():
    x = xp.asarray(np.zeros(5000))
    for _ in range(5000):
        x = x + 1
    assert count_pending() < 500
    assert float(x[7]) == 5000
    sums = [xp.asarray(np.ones(100_000)) + 1 for _ in range(300)]
    held = count_pending() * 100_000 * 8
    assert held <= 100_000_000
    assert all(float(each[0]) == 2 for each in sums)


def test_operands_are_freed_with_what_waits():
    x = xp.asarray(np.zeros(50))
    gc.collect()
    tracemalloc.start()
    for _ in range(100):
        x + 1
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(10_000):
        x + 1
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 50_000


# ---------------------------------------------------------------------- errors


def messages(function):
    with warnings.catch_warnings(record=True, action="always") as caught:
        function()
    return sorted(str(each.message) for each in caught)


ERRORS = {
    "one": lambda m, x, y: x / y,
    "several": lambda m, x, y: m.sqrt(x - 1) * y + x / y,
    "of a call": lambda m, x, y: m.log(x - 1) + 1,
    "overflow": lambda m, x, y: (x + 1) * 1e308 * 10.0 - y,
    "none": lambda m, x, y: (x + y) * 2 - x,
    "comparison": lambda m, x, y: m.where(x > y, x, y * m.nan),
}


@pytest.mark.parametrize("name", list(ERRORS))
@pytest.mark.parametrize("way", ["read", "assigned", "in place"])
def test_warnings_are_those_of_numpy(name, way):
    mine = [np.random.default_rng(4).random((30, 7)) for _ in range(2)]
    mine[1][3] = 0

    def run(m):
        x, y = [each.copy() if m is np else xp.asarray(each.copy()) for each in mine]

        def statement():
            value = ERRORS[name](m, x, y)
            if way == "read":
                float(value[0, 0])
            elif way == "assigned":
                x[...] = value
            else:
                x[1:] -= value[1:]

        return statement

    assert messages(run(xp)) == messages(run(np))


def test_gaps_between_rows_warn_of_nothing():
    mine = np.ones((30, 9))
    mine[:, -1] = 0  # no element of the views below
    x = xp.asarray(mine)
    y = xp.asarray(np.ones((30, 9)))
    assert messages(lambda: float((y[1:, :8] / x[:-1, :8] + 1)[0, 0])) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "read",
    [
        lambda z: float(z[0]),
        lambda z: bool(xp.all(z > 0)),
        lambda z: np.asarray(z),
        lambda z: xp.sum(z),
        lambda z: z.__setitem__(0, 1.0),
        lambda z: xp.concat([z, z]),
        lambda z: xp.sort(z),
        lambda z: z @ z,
        lambda z: xp.take(z, xp.asarray([1, 2])),
        lambda z: z[z > 1],
        lambda z: str(z),
        lambda z: z.__iadd__(xp.sort(z)),
        lambda z: [float(each) for each in z],
        lambda z: xp.astype(z, xp.uint32),
        lambda z: z.__dlpack__(),
    ],
)
def test_warnings_that_are_errors_are_raised_where_elements_are_needed(read):
    x, y = xp.asarray(np.ones(50)), xp.asarray(np.zeros(50))
    z = x / y
    refused(RuntimeWarning, "divide by zero encountered in divide", read, z)
    assert np.isinf(np.asarray(z)).all()  # it was computed


# ---------------------------------------------------------------------- threads


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("shape", [(1_100_003,), (1031, 1067)])
def test_large_results_that_go_past_the_caches(dtype, shape):
    mine = (np.random.default_rng(6).random(shape) * 100).astype(dtype)
    x, target = xp.asarray(mine.copy()), xp.zeros(shape, dtype=dtype)
    expected = mine * 3 + mine - 7
    assert np.array_equal(np.asarray(x * 3 + x - 7), expected)
    target[..., 1:] = x[..., :-1] * 3 + x[..., :-1] - 7
    assert np.array_equal(np.asarray(target)[..., 1:], expected[..., :-1])
    assert not np.asarray(target)[..., 0].any()


def test_a_reduction_of_a_large_expression_takes_it_over():
    mine = np.random.default_rng(6).random((2, 600_000))
    x, y = [xp.asarray(each.copy()) for each in mine]
    value = x * y + 1
    total = xp.sum(value)
    assert len(xp.explain(total).passes) == 1
    assert np.isclose(float(total), (mine[0] * mine[1] + 1).sum())
    assert np.array_equal(np.asarray(value), mine[0] * mine[1] + 1)


def test_choices_between_numbers_are_reduced():
    mine = np.random.default_rng(7).random(600_000)
    x = xp.asarray(mine.copy())
    assert int(xp.sum(xp.where(x > 0.5, 1, 0))) == (mine > 0.5).sum()
    chosen = xp.where(xp.asarray(True), x * 2, x)
    assert np.isclose(float(xp.sum(chosen)), (mine * 2).sum())


def test_long_expressions_are_explained_as_one_pass():
    (x,) = arrays(600_000, 1)
    value = x
    for i in range(100):
        value = value * x + i
    told = xp.explain(value)
    assert (told.operations, len(told.passes)) == (200, 1)
    assert told.pending


def test_the_module_says_what_waits():
    assert native is not None
    x, _ = arrays()
    before = native.count_pending()
    kept = x + 1
    assert native.count_pending() == before + 1
    native.release_readers(x._handle.storage)
    assert native.count_pending() == before
    del kept


@pytest.mark.parametrize("how", ["asarray", "to_host", "dlpack"])
def test_a_value_does_not_see_writes_of_those_who_got_its_operand(how):
    """The operand itself still waits when its memory is handed out."""
    one, two = xp.asarray(np.ones(4000)), xp.asarray(np.arange(4000.0))
    x = one + two
    y = x * 2.0
    if how == "asarray":
        handed = np.asarray(x)
    elif how == "to_host":
        handed = x._device.backend.to_host(x._handle)
    else:
        handed = np.from_dlpack(x)
    handed[...] = 7.0
    assert np.asarray(y).tolist() == (np.arange(1.0, 4001.0) * 2.0).tolist()
    assert np.asarray(x).tolist() == [7.0] * 4000


@pytest.mark.parametrize("name", ["transposed", "reversed", "columns reversed", "stack", "row"])
@pytest.mark.parametrize("size", [9, 260])
def test_operands_in_another_order_wait_with_others(name, size):
    rng = np.random.default_rng(8)
    mine = rng.random((size, size))
    other, stack = rng.random((size, size)), rng.random((3, size, size))
    x, y, z = [xp.asarray(each.copy()) for each in (mine, other, stack)]
    expected, value = {
        "transposed": lambda: (mine * 2 + other.T - mine.T, x * 2 + y.T - x.T),
        "reversed": lambda: (mine[::-1] * other + 1, x[::-1] * y + 1),
        "columns reversed": lambda: (mine[:, ::-1] + 1, x[:, ::-1] + 1),
        "stack": lambda: (stack + stack[:, ::-1].mT * other.T, z + z[:, ::-1].mT * y.T),
        "row": lambda: (other.T + mine[0], y.T + x[0]),
    }[name]()
    result = np.asarray(value)
    assert result.tobytes() == expected.tobytes()
    if name != "stack":  # where NumPy writes over a temporary array
        assert result.strides == expected.strides
    target = xp.zeros(value.shape)
    target[...] = value
    assert np.array_equal(np.asarray(target), expected)


def test_copies_of_small_operands_do_not_decide_the_order_of_axes():
    rng = np.random.default_rng(3)
    rows = rng.random((1, 1, 30, 1300))
    factors = np.asfortranarray(rng.random((2, 1, 30, 1)))
    found = xp.asarray(rows, copy=True) + xp.from_dlpack(factors)
    expected = rows + factors
    assert found.__array__().strides == expected.strides
    assert np.array_equal(np.asarray(found), expected)
