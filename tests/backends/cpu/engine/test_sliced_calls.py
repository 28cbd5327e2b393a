"""Operations whose rows are shared out to threads: the bits, warnings and errors of one call."""

import threading
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.backend import CPUBackend
from array_api_nx.backends.cpu.engine import sliced_calls
from array_api_nx.backends.cpu.engine.loops import MATMUL
from array_api_nx.backends.cpu.storage import wrap
from array_api_nx.primitives import table as p
from tests.support.programs import needs_extension
from tests.support.refusals import refused

BACKEND = CPUBackend()
SHAPE = (19, 21, 11)
STACK = (37, 41, 23)
"""Of matrices: the products of much smaller ones are left to one thread."""

THREADS = [1, 2, 3]

# From one element on, so that small arrays are divided, too.
LIMITS = (
    "ARGSORT_MIN", "PARTITION_MIN", "ARGPARTITION_MIN", "FFT_MIN",
    "MATMUL_MIN", "BINCOUNT_MIN",
)  # fmt: skip
pytestmark = needs_extension


@pytest.fixture
def divided(monkeypatch):
    """Lowers the limits, and notes how many parts operations are done in."""
    numbers = []
    run = sliced_calls.run

    def note(task, keys, name=""):
        numbers.append(len(keys))
        run(task, keys, name)

    for limit in LIMITS:
        monkeypatch.setattr(sliced_calls, limit, 2**3)
    monkeypatch.setattr(sliced_calls, "_MATMUL_SLICE_NS", 100)
    monkeypatch.setattr(sliced_calls, "run", note)
    return numbers


def memory(dtype, *, distinct=50, size=SHAPE):
    rng = np.random.default_rng(11)
    shape = [2 * n for n in size]
    values = rng.integers(-distinct, distinct, shape) / 2
    if dtype.startswith("float"):
        values[rng.random(shape) < 0.01] = np.nan
        values[rng.random(shape) < 0.01] *= -0.0
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal(shape)
    with np.errstate(invalid="ignore"):
        return values.astype(dtype)


def layouts(dtype, shape=SHAPE):
    whole = memory(dtype, size=shape)
    a, b, c = shape
    yield whole[:a, :b, :c].copy()
    yield np.asfortranarray(whole[:a, :b, :c])
    yield whole[:c, :a, :b].transpose(1, 2, 0)
    yield whole[:b, :a, :c].copy().transpose(1, 0, 2)
    yield whole[::2, ::2, ::2]
    yield whole[:a, ::-2, :c]
    yield whole[a::-1, b::-1, c::-1]
    yield np.broadcast_to(whole[:1, :b, :c], shape)


def same(found, expected):
    """The same bits at the same places; all NaN are one value."""
    found = BACKEND.array(found)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    for ours, other in (
        zip((found.real, found.imag), (expected.real, expected.imag), strict=True)
        if expected.dtype.kind == "c"
        else [(found, expected)]
    ):
        if expected.dtype.kind in "fc":
            assert np.array_equal(np.isnan(ours), np.isnan(other))
            ours, other = np.nan_to_num(ours), np.nan_to_num(other)
            assert np.array_equal(np.signbit(ours), np.signbit(other))
        assert np.array_equal(ours, other)
    assert found.strides == expected.strides
    assert found.flags.writeable


def everywhere(compute, expected, divided):
    for threads in THREADS:
        divided.clear()
        with xp.config_context(num_threads=threads):
            same(compute(), expected)
        assert bool(divided) == (threads > 1)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint16", "int8", "bool"])
def test_sort(dtype, axis):
    def everywhere(sort, expected):
        for threads in THREADS:
            with xp.config_context(num_threads=threads):
                same(sort(), expected)

    for x in layouts(dtype):
        for stable in (False, True):
            kind = "stable" if stable and dtype.startswith("float") else None
            sort = partial(BACKEND.sort, wrap(x), axis, stable=stable)
            expected = x.copy()
            expected.sort(axis, kind)
            everywhere(partial(sort, descending=False), expected)
            reverse = np.negative if dtype.startswith("float") else np.invert
            expected = reverse(x, order="C")
            expected.sort(axis, kind)
            everywhere(partial(sort, descending=True), reverse(expected))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint16", "bool"])
def test_argsort(dtype, axis, divided):
    for x in layouts(dtype):
        reverse = np.negative if dtype.startswith("float") else np.invert
        for stable in (False, True):
            kind = "stable" if stable else None
            argsort = partial(BACKEND.argsort, wrap(x), axis, stable=stable)
            everywhere(partial(argsort, descending=False), x.argsort(axis, kind), divided)
            expected = reverse(x).argsort(axis, kind)
            everywhere(partial(argsort, descending=True), expected, divided)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint16", "bool"])
def test_partition(dtype, axis, divided):
    for x in layouts(dtype):
        for kth in ((5,), (0, 5, x.shape[axis] - 1)):
            expected = x.copy()
            expected.partition(kth, axis)
            everywhere(partial(BACKEND.partition, wrap(x), kth, axis), expected, divided)
            order = x.argpartition(kth, axis)
            everywhere(partial(BACKEND.argpartition, wrap(x), kth, axis), order, divided)


@pytest.mark.parametrize("dtype", ["int64", "uint16", "uint64"])
def test_bincount(dtype, divided):
    x = np.random.default_rng(5).integers(0, 50, 20_000).astype(dtype)
    for length in (0, 70):
        for each in (x, x[::-3]):
            expected = np.bincount(each.astype(np.int64), None, length)
            count = partial(BACKEND.bincount, wrap(each), None, length, extend=True)
            everywhere(count, expected, divided)


def test_bincount_in_one_table_if_that_is_large(divided):
    x = np.arange(5000)
    same(BACKEND.bincount(wrap(x), None, 0, extend=True), np.ones(5000, np.int64))
    assert not divided
    x = np.zeros(50_000, np.int64)
    x[1] = 2**22
    with xp.config_context(num_threads=2):
        same(BACKEND.bincount(wrap(x), None, 0, extend=True), np.bincount(x))
    assert not divided


SINGLE = pytest.param(
    "complex64",
    "ortho",
    marks=pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) < "2.1.3", reason="one thread computes it"
    ),
)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    ("dtype", "norm"), [("complex128", "backward"), ("complex128", "ortho"), SINGLE]
)
def test_fft(dtype, axis, norm, divided):
    for x in layouts(dtype):
        for ours, function in ((BACKEND.fft, np.fft.fft), (BACKEND.ifft, np.fft.ifft)):
            expected = function(x, None, axis, norm)
            everywhere(partial(ours, wrap(x), (axis,), norm), expected, divided)
        size = x.shape[axis]
        for last in (2 * size - 2, 2 * size - 1):
            expected = np.fft.irfft(x, last, axis, norm)
            everywhere(partial(BACKEND.irfft, wrap(x), (axis,), last, norm), expected, divided)
    for x in layouts(dtype.replace("complex128", "float64").replace("complex64", "float32")):
        for part in (x, x[:-1, :-1, :-1]):
            expected = np.fft.rfft(part, None, axis, norm)
            everywhere(partial(BACKEND.rfft, wrap(part), (axis,), norm), expected, divided)


@pytest.mark.parametrize("axes", [(0, 1), (2, 0), (1, 2, 0)])
def test_fft_over_several_axes(axes, divided):
    for x in layouts("complex128"):
        for ours, function in ((BACKEND.fft, np.fft.fftn), (BACKEND.ifft, np.fft.ifftn)):
            expected = function(x, None, axes, "ortho")
            everywhere(partial(ours, wrap(x), axes, "ortho"), expected, divided)
        sizes = [x.shape[axis] for axis in axes[:-1]]
        last = 2 * x.shape[axes[-1]] - 2
        expected = np.fft.irfftn(x, (*sizes, last), axes)
        everywhere(partial(BACKEND.irfft, wrap(x), axes, last, "backward"), expected, divided)
    for x in layouts("float64"):
        expected = np.fft.rfftn(x, None, axes)
        everywhere(partial(BACKEND.rfft, wrap(x), axes, "backward"), expected, divided)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_matmul(dtype, divided):
    for x in layouts(dtype, STACK):
        turned = x.swapaxes(1, 2)
        small = x[:1, : x.shape[2], :7]
        for left, right in [(x, turned), (turned, x), (x, small), (small.swapaxes(1, 2), turned)]:
            with xp.config_context(num_threads=2):
                same(BACKEND.matmul(wrap(left), wrap(right)), np.matmul(left, right))
            first, second = left.copy(), right.copy()
            expected = np.matmul(first, second)
            everywhere(partial(BACKEND.matmul, wrap(first), wrap(second)), expected, divided)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 2), (64, 64)])
def test_matmul_of_broadcast_stacks(shape, divided):
    rng = np.random.default_rng(10)
    left, right = rng.random((24, 1, *shape)), rng.random((26, *shape[::-1]))
    expected = MATMUL(left, right)
    np.testing.assert_allclose(expected, np.matmul(left, right), rtol=1e-14)
    everywhere(partial(BACKEND.matmul, wrap(left), wrap(right)), expected, divided)


def test_products_that_are_left_to_blas(divided):
    rng = np.random.default_rng(10)
    with xp.config_context(num_threads=2):
        for first, second in [
            ((4, 65, 65), (4, 65, 65)),
            ((4, 2, 2), (4, 2, 65)),
            ((400, 30), (30, 50)),
            ((200, 8, 9), (9,)),
            ((200,), (20, 200, 8)),
            ((4000, 12, 10), (4000, 10, 12)),  # its calls would wait for each other
        ]:
            left, right = rng.random(first), rng.random(second)
            same(BACKEND.matmul(wrap(left), wrap(right)), np.matmul(left, right))
        left, right = rng.random((900, 9, 4)), rng.random((900, 5, 4)).swapaxes(1, 2)
        same(BACKEND.matmul(wrap(left), wrap(right)), np.matmul(left, right))
    assert divided == []


def test_no_elements(divided):
    none = np.zeros((500, 0, 3))
    indices = np.zeros((500, 0, 3), np.int64)
    with xp.config_context(num_threads=2):
        for axis in (0, 1, 2):
            same(BACKEND.sort(wrap(none), axis, descending=True, stable=True), none)
            same(BACKEND.argsort(wrap(none), axis, descending=False, stable=True), indices)
            same(BACKEND.scan(p.CUMULATIVE_SUM, wrap(none), axis), none)
        same(BACKEND.matmul(wrap(none), wrap(np.zeros((500, 3, 0)))), np.zeros((500, 0, 0)))
        same(BACKEND.matmul(wrap(none.swapaxes(1, 2)), wrap(none)), np.zeros((500, 3, 3)))


def test_one_row(divided):
    x = np.random.default_rng(1).random(9000)
    with xp.config_context(num_threads=2):
        same(BACKEND.sort(wrap(x), 0, descending=False, stable=True), np.sort(x))
        same(BACKEND.argsort(wrap(x), 0, descending=False, stable=True), np.argsort(x))
        same(BACKEND.fft(wrap(x + 0j), (0,), "backward"), np.fft.fft(x + 0j))
    assert not divided


@pytest.mark.parametrize("shape", [(1000, 3), (3, 1000), (2, 2, 900, 1), (7, 9, 11), (1, 64)])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_parts_cover_everything_once(shape, axis):
    with xp.config_context(num_threads=3):
        keys = sliced_calls.divide(shape, axis, 10)
    if keys is None:
        assert shape == (1, 64)
        assert axis == 1
        return
    seen = np.zeros(shape, int)
    for key in keys:
        seen[key] += 1
        assert axis is None or len(key) != axis + 1
    assert (seen == 1).all()
    assert 2 <= len(keys) <= 12


def test_stacks_that_do_not_broadcast(divided):
    left, right = wrap(np.ones((400, 3, 3))), wrap(np.ones((401, 3, 3)))
    with xp.config_context(num_threads=2), pytest.raises(ValueError, match="broadcast"):
        BACKEND.matmul(left, right)


def test_the_first_exception_ends_it():
    begun = []

    def task(key):
        begun.append(key)
        raise LookupError(len(begun))

    with xp.config_context(num_threads=2):
        keys = sliced_calls.divide((1000, 100), 1, 10)
        assert keys is not None
        refused(LookupError, None, sliced_calls.run, task, keys)
    assert 1 <= len(begun) <= 2


@pytest.mark.filterwarnings("error")
def test_errors_are_told_of_once_and_in_numpys_words(divided):
    huge = np.full((100, 64), 1e308)
    stack = np.full((100, 16, 16), 1e308)
    operations = [
        (lambda: BACKEND.matmul(wrap(stack), wrap(stack)), lambda: np.matmul(stack, stack)),
        (lambda: BACKEND.fft(wrap(huge + 0j), (1,), "backward"), lambda: np.fft.fft(huge + 0j)),
        (lambda: BACKEND.rfft(wrap(huge), (1,), "backward"), lambda: np.fft.rfft(huge)),
        (
            lambda: BACKEND.rfft(wrap(huge[:, 1:]), (1,), "backward"),
            lambda: np.fft.rfft(huge[:, 1:]),
        ),
        (
            lambda: BACKEND.irfft(wrap(huge + 0j), (1,), 126, "backward"),
            lambda: np.fft.irfft(huge + 0j),
        ),
    ]
    for compute, numpy in operations:
        with pytest.warns(RuntimeWarning) as expected:
            numpy()
        with xp.config_context(num_threads=2):
            divided.clear()
            with pytest.warns(RuntimeWarning) as found:
                compute()
            assert divided
            assert [str(x.message) for x in found] == [str(x.message) for x in expected]
            assert {x.filename for x in found} == {__file__}
            with np.errstate(all="ignore"):
                compute()
            divided.clear()
            with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
                compute()
            assert str(raised.value) == str(expected[0].message)
            assert divided


def test_several_threads_do_the_work():
    meeting = threading.Barrier(2, timeout=60)
    seen = set()

    def task(key):
        # Neither of the first two tasks ends before the other one has begun.
        if key[0].start == 0 or key[0].start == 1:
            meeting.wait()
        seen.add(threading.current_thread())

    with xp.config_context(num_threads=2):
        keys = sliced_calls.divide((8, 100), 1, 10)
        assert keys is not None
        sliced_calls.run(task, keys)
    assert len(seen) == 2
    assert threading.current_thread() in seen


def test_through_the_frontend(monkeypatch):
    divided = []
    run = sliced_calls.run
    monkeypatch.setattr(sliced_calls, "run", lambda *args: (divided.append(1), run(*args)))
    rng = np.random.default_rng(3)
    x = rng.random((700, 700))
    stack = rng.random((4_000, 20, 20))
    ours = xp.asarray(x, copy=True)
    products = xp.asarray(stack, copy=True)
    with xp.config_context(num_threads=2):
        for found, expected in [
            (xp.argsort(ours, axis=0), np.argsort(x, 0)),
            (xp.fft.rfft(ours), np.fft.rfft(x)),
            (products @ products, stack @ stack),
        ]:
            assert np.asarray(found).tobytes() == expected.tobytes()
    assert len(divided) == 3
