"""The pool of released memory: which memory is reused, which must not be, and how much is kept."""

import gc
import itertools
import os
import tracemalloc
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as nx
from array_api_nx.backends.cpu.engine import memory_pool as module
from array_api_nx.native import native
from tests.support.arrays import address
from tests.support.processes import needs_fork, python
from tests.support.refusals import refused
from tests.support.threads import together

N = 2**16
"""The least that is kept."""
MANY = 2**30

pytestmark = pytest.mark.skipif(native is None, reason="without the extension nothing is kept")


class Pool:
    """The process's pool from a given moment on."""

    def __init__(self, limit):
        gc.collect()
        module.release()
        native.limit_spares(limit)
        self._before = module.stats()

    def take(self, nbytes):
        return module.empty((nbytes,), np.dtype(np.uint8))

    def stats(self):
        now = module.stats()
        hits, misses = now.hits - self._before.hits, now.misses - self._before.misses
        return now._replace(hits=hits, misses=misses)


@pytest.fixture(autouse=True)
def usual_limit():
    limit = module.stats().limit
    yield
    module.release()
    native.limit_spares(limit)


@pytest.fixture
def pool():
    return Pool(MANY)


# What take gives


@pytest.mark.parametrize("nbytes", [0, 1, N - 1, N, N + 1, 3 * N + 7, 2**21])
def test_memory_is_a_plain_writeable_array_of_bytes(pool, nbytes):
    memory = pool.take(nbytes)
    assert type(memory) is np.ndarray
    assert (memory.shape, memory.dtype) == ((nbytes,), np.uint8)
    assert memory.flags.c_contiguous
    assert memory.flags.writeable
    memory[...] = 7
    assert np.count_nonzero(memory == 7) == nbytes


@pytest.mark.parametrize("nbytes", [N, N + 8, 2**20, 2**23])
def test_pooled_memory_starts_a_cache_line(pool, nbytes):
    assert address(pool.take(nbytes)) % 64 == 0


def test_two_arrays_in_use_never_share_memory(pool):
    several = [pool.take(N) for _ in range(8)]
    for a, b in itertools.combinations(several, 2):
        assert not np.shares_memory(a, b)


# Reuse


def test_released_memory_is_handed_out_again(pool):
    memory = pool.take(N)
    place = address(memory)
    del memory
    assert pool.stats()[:2] == (N, 1)
    memory = pool.take(N)
    assert address(memory) == place
    assert pool.stats() == (0, 0, MANY, 1, 1)


@pytest.mark.parametrize(
    ("share", "served"), [(1.01, False), (1.0, True), (0.9, True), (0.88, False), (0.5, False)]
)
def test_a_buffer_serves_smaller_requests_if_little_is_wasted(pool, share, served):
    size = 2**23
    place = address(pool.take(size))
    memory = pool.take(int(size * share))
    assert memory.shape == (int(size * share),)
    assert pool.stats().hits == served
    assert not served or address(memory) == place


def test_a_buffer_keeps_its_size_when_a_smaller_request_had_it(pool):
    place = address(pool.take(N + 100))
    assert address(pool.take(N)) == place
    assert address(pool.take(N + 100)) == place


def test_the_latest_released_buffer_goes_first(pool):
    first, second = pool.take(N), pool.take(N)
    places = address(first), address(second)
    del first
    del second
    again = pool.take(N), pool.take(N)
    assert (address(again[1]), address(again[0])) == places


def test_small_and_huge_requests_are_not_pooled():
    pool = Pool(2 * N)
    for nbytes in (0, N - 1, 2 * N + 1):
        memory = pool.take(nbytes)
        del memory
        assert pool.stats() == (0, 0, 2 * N, 0, 0)


# Nothing that can still be read comes back


def dlpack(memory):
    return np.from_dlpack(memory.view(np.float64))


def structured(memory):
    return memory.view([("a", np.float32), ("b", np.int32)])["b"]


VIEWS = {
    "itself": lambda memory: memory,
    "slice": lambda memory: memory[16:],
    "slice of a slice": lambda memory: memory[16:][::-1][5:20:3],
    "dtype": lambda memory: memory.view(np.float64),
    "reshape": lambda memory: memory.view(np.float64).reshape(2, -1).T,
    "element view": lambda memory: memory[3, ...],
    "field": structured,
    "real part": lambda memory: memory.view(np.complex128).real,
    "subclass": lambda memory: memory.view(np.matrix),
    "ndarray over it": lambda memory: np.ndarray((2, 3), np.float64, memory, 8),
    "as_strided": lambda memory: np.lib.stride_tricks.as_strided(memory, (4,), (2,)),
    "broadcast": lambda memory: np.broadcast_to(memory[:1], (3, 3)),
    "asarray": lambda memory: np.asarray(memory),
    "dlpack": dlpack,
    "capsule": lambda memory: memory.__dlpack__(),
    "memoryview": lambda memory: memoryview(memory),
    "slice of a memoryview": lambda memory: memoryview(memory)[3:],
    "cast memoryview": lambda memory: memoryview(memory).cast("B").cast("d"),
    "array over a memoryview": lambda memory: np.asarray(memoryview(memory)[5:]),
    "ndarray over a memoryview": lambda memory: np.ndarray((3,), np.uint8, memoryview(memory)),
    "frombuffer": lambda memory: np.frombuffer(memory, np.float32),
    "array interface": lambda memory: np.asarray(
        type("Other", (), {"__array_interface__": memory[1:].__array_interface__, "m": memory})()
    ),
    "iterator": lambda memory: memory.flat,
    "nditer": lambda memory: np.nditer(memory),
    "ctypes": lambda memory: memory.ctypes.data_as(np.ctypeslib.ctypes.c_void_p),
    "in a cycle": lambda memory: cycle(memory),
}


def cycle(memory):
    several = [memory[2:], memory]
    several.append(several)
    return several


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_no_reuse_while_a_view_lives(pool, view):
    memory = pool.take(N)
    place = address(memory)
    kept = view(memory)
    del memory
    gc.collect()
    others = [pool.take(N) for _ in range(4)]
    # Only this buffer can be a hit.
    assert pool.stats().hits == 0
    assert place not in [address(other) for other in others]
    del kept


@pytest.mark.parametrize(
    "name", ["slice of a slice", "dtype", "ndarray over it", "dlpack", "memoryview", "in a cycle"]
)
def test_reuse_after_the_last_view(pool, name):
    memory = pool.take(N)
    place = address(memory)
    kept = VIEWS[name](memory)
    del memory
    assert pool.stats().blocks == 0
    del kept
    gc.collect()
    again = pool.take(N)
    assert address(again) == place


def test_a_finaliser_in_a_cycle_still_sees_its_memory(pool):
    seen = []

    class Reader:
        def __init__(self):
            self.me = self
            self.memory = pool.take(N)
            self.memory[...] = 5

        def __del__(self):
            other = pool.take(N)
            other[...] = 9
            seen.append(bool((self.memory == 5).all()))

    Reader()
    gc.collect()
    assert seen == [True]


# What else has memory of the pool


@pytest.mark.parametrize("make", [nx.zeros, nx.empty, nx.ndarray])
def test_new_arrays_lie_in_released_memory(pool, make):
    memory = pool.take(8 * N)
    memory[...] = 7
    del memory
    array = make((N // 4, 4))
    assert pool.stats().hits == 1
    assert array.shape == (N // 4, 4)
    assert make is not nx.zeros or not array.any()
    del array
    assert pool.stats()[:2] == (8 * N, 1)


def test_many_zeros_are_not_written(pool):
    """A program that reads few of them would wait for all: they are the system's."""
    many = 2**25 + 64
    memory = pool.take(many)
    memory[...] = 7
    del memory
    zeros = nx.zeros(many, nx.uint8)
    assert pool.stats()[3:] == (0, 1)
    assert not zeros.any()


def test_what_numpy_makes_for_us_lies_in_it(pool):
    x, y = nx.arange(N) % 7, nx.arange(N)[::-1].copy()
    before = pool.stats()
    order = nx.lexsort((x, y))
    assert handler(order.to_numpy()) == "array_api_nx"
    assert (order.to_numpy() == np.arange(N)[::-1]).all()
    del order
    assert pool.stats().blocks > before.blocks
    assert nx.lexsort((x, y)).shape == (N,)
    assert pool.stats().hits > before.hits


def test_numpy_has_its_own_allocator_elsewhere():
    x = nx.arange(N)
    nx.lexsort((x, x))
    refused(ValueError, None, nx.lexsort, (x, x), axis=5)
    assert handler(np.empty(N)) == handler(np.empty(1)) == "default_allocator"

    seen = []
    nx.apply_along_axis(lambda row: seen.append(handler(np.empty(N))), 1, x.reshape(1, N))
    assert {*seen} == {"array_api_nx"}
    assert handler(np.empty(N)) == "default_allocator"


def test_tracemalloc_counts_arrays_and_not_what_waits(pool):
    tracemalloc.start()
    try:
        x = nx.zeros(N) + 1.0
        x[0] = 2.0
        assert 8 * N <= tracemalloc.get_traced_memory()[0] < 9 * N
        del x
        assert tracemalloc.get_traced_memory()[0] < N
        assert pool.stats().blocks > 0
    finally:
        tracemalloc.stop()


def test_memory_of_the_pool_grows(pool):
    count = 3 * N
    grown = nx.fromiter((k % 251 for k in range(count)), nx.int64)
    assert handler(grown.to_numpy()) == "array_api_nx"
    assert (grown == nx.arange(count) % 251).all()


def handler(array):
    """The name of the allocator of an array's memory."""
    while array.base is not None:
        array = array.base
    return np._core.multiarray.get_handler_name(array)


# The bound


def test_what_waits_is_bounded_and_the_oldest_go_first():
    pool = Pool(4 * N)
    several = [pool.take(N) for _ in range(6)]
    places = [address(memory) for memory in several]
    while several:
        del several[0]
    assert pool.stats()[:2] == (4 * N, 4)
    again = [pool.take(N) for _ in range(4)]
    assert [address(memory) for memory in again] == places[:1:-1]


def test_a_large_buffer_displaces_several_small_ones():
    pool = Pool(8 * N - 1)
    small = [pool.take(N) for _ in range(6)]
    large = pool.take(7 * N)
    small.clear()
    assert pool.stats().blocks == 6
    del large
    assert pool.stats()[:2] == (7 * N, 1)


def test_the_number_of_buffers_is_bounded(pool):
    several = [pool.take(N) for _ in range(400)]
    several.clear()
    assert 64 <= pool.stats().blocks <= 256


def test_new_memory_takes_the_place_of_what_has_waited_longest(pool):
    held = [pool.take(k * N) for k in (1, 2, 4)]
    held.clear()
    for size in (8, 16, 32, 64):
        memory = pool.take(size * N)
        assert pool.stats().free_bytes <= max(7, size // 2) * N
        del memory
    assert pool.stats()[:2] == (64 * N, 1)


def test_small_requests_leave_a_large_spare(pool):
    large = pool.take(64 * N)
    del large
    for size in range(1, 9):
        memory = pool.take(size * N)
        del memory
    assert pool.take(64 * N).shape == (64 * N,)
    assert pool.stats().hits == 1


def test_release_gives_everything_back(pool):
    lent = pool.take(N)
    free = pool.take(N)
    del free
    assert pool.stats().blocks == 1
    module.release()
    assert pool.stats()[:2] == (0, 0)
    lent[...] = 3
    del lent
    assert pool.stats().blocks == 1


def test_with_a_limit_of_zero_nothing_is_kept(pool):
    lent = pool.take(N)
    free = pool.take(N)
    del free
    native.limit_spares(0)
    assert pool.stats()[:3] == (0, 0, 0)
    del lent
    memory = pool.take(N)
    memory[...] = 1
    del memory
    assert pool.stats()[:3] == (0, 0, 0)


def test_a_lack_of_memory_gives_up_what_waits():
    pool = Pool(2**62)
    free = pool.take(N)
    del free
    assert pool.stats().blocks == 1
    refused(MemoryError, None, pool.take, 2**60)
    assert pool.stats().blocks == 0


@pytest.mark.parametrize(
    ("shape", "error"), [((-1,), ValueError), ((2**40, 2**40), ValueError), (("a",), TypeError)]
)
def test_bad_shapes_are_refused(pool, shape, error):
    refused(error, None, module.empty, shape, np.dtype(np.float64))
    refused(error, None, module.empty, shape, np.dtype(object))
    assert pool.stats()[:2] == (0, 0)


@pytest.mark.parametrize("bytes", [-1, 1.5, None])
def test_bad_limits_are_refused(pool, bytes):
    refused((TypeError, ValueError), None, native.limit_spares, bytes)
    assert pool.stats().limit == MANY


@pytest.mark.parametrize("dtype", ["bool", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (2**17,), (3, 2**16), (2, 0, 2**16), (256, 256, 2)])
def test_arrays_of_any_shape_and_dtype(pool, shape, dtype):
    array = module.empty(shape, np.dtype(dtype))
    assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
    assert array.flags.carray
    array[...] = 1
    assert np.count_nonzero(array) == array.size


def test_objects_do_not_lie_in_memory_that_was_used(pool):
    used = module.empty((N,), np.dtype(np.float64))
    used[...] = np.pi
    del used
    for dtype in (object, [("number", np.int64), ("object", object)]):
        array = module.empty((N,), np.dtype(dtype))
        objects = array if array.dtype.names is None else array["object"]
        assert objects[0] is None or objects[0] == 0
        assert array.flags.owndata


# Threads, fork, exit


def test_threads_never_get_the_same_buffer(pool):
    def work(number):
        held = []
        for k in range(300):
            memory = pool.take(N + 64 * (k % 3))
            memory[:8] = number
            memory[-8:] = number
            held.append(memory)
            if len(held) > 3:
                old = held.pop(k % 3)
                assert (old[:8] == number).all()
                assert (old[-8:] == number).all()

    together(*[partial(work, number) for number in range(1, 7)])
    stats = pool.stats()
    assert stats.hits > 0
    assert stats.free_bytes <= stats.limit


def test_memory_released_by_another_thread_comes_back(pool):
    held = [pool.take(N)]
    place = address(held[0])
    together(held.clear)
    again = pool.take(N)
    assert address(again) == place


@needs_fork
def test_a_forked_child_has_a_pool_of_its_own():
    code = (
        "import os\n"
        "import numpy as np\n"
        "from array_api_nx.backends.cpu.engine import memory_pool as pool\n"
        "def take(n): return pool.empty((n,), np.dtype(np.uint8))\n"
        "lent, free = take(2**20), take(2**20)\n"
        "lent[...] = 1\n"
        "del free\n"
        "child = os.fork()\n"
        "again = take(2**20)\n"
        "again[...] = 2 if child else 3\n"
        "del again\n"
        "assert (lent == 1).all() and pool.stats().hits == 1 and pool.stats().blocks == 1\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    assert python("-W", "error", "-c", code) == ""


def test_arrays_may_outlive_the_interpreter():
    code = (
        "import atexit, builtins, threading\n"
        "import numpy as np\n"
        "from array_api_nx.backends.cpu.engine import memory_pool as pool\n"
        "def take(n): return pool.empty((n,), np.dtype(np.uint8))\n"
        "builtins.kept = [take(2**20) for _ in range(3)]\n"
        "builtins.kept.append(builtins.kept)\n"
        "atexit.register(lambda: take(2**20).fill(1))\n"
        "class Late:\n"
        "    def __init__(self): self.memory = take(2**20)\n"
        "    def __del__(self): self.memory = self.memory[1:]\n"
        "late = threading.current_thread().late = Late()\n"
    )
    assert python("-W", "error", "-c", code) == ""


# The pool that everything uses


def test_results_of_mid_sized_operations_lie_in_it(pool):
    x = xp.ones((300, 200))
    calls = (
        lambda: x + 1.0,
        lambda: 2.0 * x,
        lambda: xp.sqrt(x),
        lambda: x.T * x.T,
        lambda: xp.astype(x, xp.int64),
    )
    places = {address(np.asarray(call())) for call in calls * 5}
    assert len(places) == 1
    assert pool.stats().hits >= 24


def test_the_limit_is_a_share_of_the_memory():
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert module.stats().limit <= min(2**29, installed // 16)
