"""Devices for tests refuse what their properties say, and compute the rest."""

import time

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.backends.limited import limits
from array_api_nx.backends.limited.devices import PROPERTIES
from array_api_nx.contract.errors import LimitError
from tests.support.refusals import refused
from tests.support.tables import for_each

ALL = ",".join(PROPERTIES)


def on_host(x):
    return np.asarray(x.to_device("cpu"))


def standardised(x):
    centred = x - xp.mean(x, axis=0)
    scale = xp.std(x, axis=0)
    order = xp.argsort(centred[:, 0])
    return (
        xp.where(scale > 0, centred / scale, 0),
        xp.take(x, order, axis=0)[::-1, 1:],
        xp.matmul(centred.T, centred),
        xp.concat([x, xp.flip(x)], axis=1)[:, 1:5],
        xp.linalg.solve(xp.matmul(x.T, x) + xp.eye(3, dtype=x.dtype), x.T),
        xp.astype(xp.cumulative_sum(x, axis=1), xp.int32),
    )


@pytest.mark.parametrize("name", [*PROPERTIES, ALL, "1", "immutable,lazy"])
def test_results_are_those_of_the_cpu(name):
    values = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    expected = standardised(xp.asarray(values))
    with xp.config_context(default_device=f"test:{name}"):
        x = xp.asarray(values)
        found = standardised(x)
        compiled = xp.compile(standardised)(x) if name != "lazy" else found
    for one, other, again in zip(expected, found, compiled, strict=True):
        assert str(other.device).startswith("test:")
        assert other.device == again.device == x.device
        assert one.dtype is other.dtype is again.dtype
        np.testing.assert_array_equal(on_host(one), on_host(other))
        np.testing.assert_allclose(on_host(one), on_host(again), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("prop", PROPERTIES)
def test_shapes_can_be_evaluated(prop):
    spec = xp.ShapeSpec(("n", 4), xp.float32, f"test:{prop}")
    (total,) = xp.eval_shape(lambda x: (xp.sum(x @ x.T, axis=1),), spec)
    assert [str(size) for size in total.shape] == ["n"]
    assert total.device == spec.device


def test_immutable_arrays_are_not_written_to():
    x = xp.ones((2, 3), device="test:immutable")
    for key in (0, (slice(None), 1), xp.asarray([0], device=x.device), x > 0, ...):
        with pytest.raises(ValueError, match=r"test:immutable never change; make another .* where"):
            x[key] = 5.0
    with pytest.raises(ValueError, match="never change"):
        x.real = x
    assert bool(xp.all(x == 1))


def test_in_place_operators_make_new_arrays_of_immutable_ones():
    x = y = xp.asarray([[1, 2], [3, 4]], dtype=xp.float32, device="test:immutable")
    for change, expected in (
        (lambda a: a.__iadd__(1), [[2, 3], [4, 5]]),
        (lambda a: a.__imul__(xp.asarray([1, 2], device=a.device)), [[1, 4], [3, 8]]),
        (lambda a: a.__imatmul__(a), [[7, 10], [15, 22]]),
    ):
        result = change(x)
        assert result is not x
        assert result.dtype is xp.float32
        np.testing.assert_array_equal(np.asarray(result), np.asarray(expected, np.float32))
    x += 1
    assert bool(xp.all(y + 1 == x))
    with pytest.raises(TypeError, match="loses data"):
        x += 1j
    with pytest.raises(ValueError, match="cannot change the shape"):
        x += xp.ones((3, 1, 1), dtype=xp.float32, device=x.device)


def test_immutable_arrays_share_nothing_with_the_host():
    values = np.ones(3)
    x = xp.asarray(values, device="test:immutable")
    values[0] = 5
    np.asarray(x)[1] = 5
    np.from_dlpack(x, copy=True)[1] = 5
    x.to_device("cpu")[2] = 5
    assert bool(xp.all(x == 1))
    refused(ValueError, "shares no memory", np.asarray, x, copy=False)


def test_functions_that_write_to_what_they_made_work_on_immutable_arrays():
    x = xp.asarray([[3.0, 1.0], [2.0, 5.0]], device="test:immutable")
    for function in (
        lambda a: xp.extra.nan_to_num(a),
        lambda a: xp.extra.median(a, axis=0),
        lambda a: xp.linalg.pinv(a),
        lambda a: xp.linalg.matrix_power(a, 3),
        lambda a: xp.special.gammaln(a),
        lambda a: (a * 1j).round(1),
        lambda a: xp.linalg.det(a),
    ):
        np.testing.assert_allclose(
            np.asarray(function(x)), np.asarray(function(x.to_device("cpu"))), rtol=1e-12
        )


@pytest.mark.parametrize(
    ("device", "lacking", "there"),
    [
        ("test:no_float64", xp.float64, "float32"),
        ("test:no_float64", xp.complex128, "complex64"),
        ("test:no_x64", xp.float64, "float32"),
        ("test:no_x64,lazy", xp.int64, "int32"),
        ("test:no_x64", xp.uint64, "uint32"),
    ],
)
def test_dtypes_that_are_not_there(device, lacking, there):
    x = xp.asarray([1, 2, 3], dtype=xp.int8, device=device)
    calls = [
        lambda: xp.zeros(3, dtype=lacking, device=device),
        lambda: xp.empty(3, dtype=lacking, device=device),
        lambda: xp.full(3, 1, dtype=lacking, device=device),
        lambda: xp.eye(3, dtype=lacking, device=device),
        lambda: xp.arange(3, dtype=lacking, device=device),
        lambda: xp.linspace(0, 1, 3, dtype=lacking, device=device),
        lambda: xp.asarray(1, dtype=lacking, device=device),
        lambda: xp.asarray([1, 2], dtype=lacking, device=device),
        lambda: xp.asarray(np.ones(3, lacking.name), device=device),
        lambda: xp.asarray(np.ones(3, np.int8), dtype=lacking, device=device),
        lambda: xp.asarray(xp.ones(3, dtype=lacking), device=device),
        lambda: xp.ones(3, dtype=lacking).to_device(device),
        lambda: xp.astype(x, lacking),
        lambda: x.astype(lacking),
        lambda: xp.zeros_like(x, dtype=lacking),
        lambda: xp.sum(x, dtype=lacking),
        lambda: xp.cumulative_prod(x, dtype=lacking),
        lambda: x[:0].view(lacking),
    ]
    for call in calls:
        refused(TypeError, f"has no {lacking}; give dtype={there}", call)
    with pytest.raises(BufferError, match=f"has no {lacking}"):
        xp.from_dlpack(np.ones(3, lacking.name), device=device)


def test_what_would_promote_to_a_dtype_that_is_not_there_is_an_error():
    x, y = [xp.ones(3, dtype=dtype, device="test:no_x64") for dtype in (xp.int32, xp.uint32)]
    refused(TypeError, "device test:no_x64 has no int64", lambda: x + y)
    refused(TypeError, "has no int64", xp.concat, [x, y])


@pytest.mark.parametrize(
    ("device", "integral"), [("test:no_float64", xp.int64), ("test:no_x64", xp.int32)]
)
def test_default_dtypes_follow_the_device(device, integral):
    with xp.config_context(default_device=device):
        numbers = xp.asarray([[3, 1], [2, 5]])
        flags = numbers > 2
        reals = xp.asarray([1.5, 0.5])
        for x in (numbers, xp.arange(3), xp.asarray(3), xp.full(2, 3)):
            assert x.dtype is integral
        for x in (
            reals, xp.asarray(1.5), xp.zeros(3), xp.ones(3), xp.linspace(0, 1, 3), xp.eye(2),
            xp.full(2, 1.5), xp.arange(1.5), xp.sin(numbers), numbers / 2, xp.mean(numbers),
            xp.var(numbers), xp.linalg.inv(numbers), xp.fft.fftfreq(4), xp.fft.rfftfreq(4),
            xp.extra.median(numbers), xp.extra.nanmean(numbers), xp.extra.quantile(reals, [0.5]),
            xp.extra.interp(reals, reals[::-1], reals), xp.extra.cov(numbers),
            xp.asarray([1, 2.5]), numbers * 0.5,
        ):  # fmt: skip
            assert x.dtype is xp.float32
        for x in (xp.asarray(1j), xp.asarray([1j]), reals + 1j, xp.fft.fft(reals)):
            assert x.dtype is xp.complex64
        unique = xp.unique_all(numbers)
        for x in (
            xp.argmax(numbers), xp.argmin(numbers, axis=0), xp.argsort(reals), xp.nonzero(flags)[0],
            xp.searchsorted(xp.sort(reals), reals), xp.count_nonzero(flags), unique.indices,
            unique.inverse_indices, unique.counts, xp.unique_counts(numbers).counts,
            xp.unique_inverse(numbers).inverse_indices, xp.sum(numbers), xp.sum(flags),
            xp.sum(xp.asarray([1], dtype=xp.int8)), xp.prod(numbers), xp.cumulative_sum(numbers[0]),
            xp.extra.bincount(xp.asarray([0, 3])), xp.extra.argpartition(reals, 1),
            xp.linalg.matrix_rank(reals * xp.ones((2, 2))),
        ):  # fmt: skip
            assert x.dtype is integral
        unsigned = xp.sum(xp.asarray([1], dtype=xp.uint8)).dtype
        assert unsigned is (xp.uint64 if integral is xp.int64 else xp.uint32)


def test_indices_of_32_bits_select():
    x = xp.reshape(xp.arange(12, device="test:no_x64"), (3, 4))
    index = xp.asarray([2, 0], device=x.device)
    assert index.dtype is xp.int32
    expected = np.arange(12).reshape(3, 4)
    for found, oracle in (
        (x[index], expected[[2, 0]]),
        (xp.take(x, index, axis=1), expected[:, [2, 0]]),
        (xp.take_along_axis(x, xp.argsort(-x, axis=1), axis=1), expected[:, ::-1]),
        (xp.repeat(x[0, :], x[0, :]), np.repeat(expected[0], expected[0])),
        (x[x > 5], expected[expected > 5]),
    ):
        np.testing.assert_array_equal(np.asarray(found), oracle)
        assert found.dtype is xp.int32


def test_integers_that_do_not_fit_the_default_are_errors():
    with pytest.raises(OverflowError, match="out of range for dtype int32"):
        xp.asarray([1, 2**40], device="test:no_x64")
    refused(OverflowError, "out of range for dtype int32", xp.asarray, 2**40, device="test:no_x64")


def test_no_index_by_masks():
    x = xp.arange(4, device="test:no_mask_index")
    refused(LimitError, r"test_limits.py:\d+: an index has a mask, .* takes no m", lambda: x[x > 1])
    with pytest.raises(LimitError, match=r"an assignment has a mask.*choose with where"):
        x[x > 1] = 0
    refused(LimitError, "has a mask", lambda: x[xp.asarray(True, device=x.device)])
    assert xp.nonzero(x > 1)[0].tolist() == [2, 3]
    assert xp.where(x > 1, 0, x).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("device", ["test:static_shapes", "test:lazy,static_shapes", "meta"])
@for_each(
    "call",
    [
        lambda x: x[x > 1],
        lambda x: xp.nonzero(x),
        lambda x: xp.where(x > 1),
        lambda x: xp.unique_all(x),
        lambda x: xp.unique_counts(x),
        lambda x: xp.unique_inverse(x),
        lambda x: xp.unique_values(x),
        lambda x: xp.repeat(x, x),
        lambda x: xp.extra.bincount(x),
    ],
)
def test_shapes_that_depend_on_elements(device, call):
    x = xp.arange(4, device=device)
    refused(LimitError, r"test_limits.py:\d+: .* a size that depends on the elem", call, x)


def test_shapes_that_are_known_are_no_errors():
    x = xp.arange(4, device="test:static_shapes")
    x[x > 1] = 7
    assert x.tolist() == [0, 1, 7, 7]
    assert xp.repeat(x, 2).shape == (8,)
    assert x[xp.asarray([0, 1], device=x.device)].tolist() == [0, 1]


def test_no_way_from_the_host_to_the_memory():
    x = xp.ones(3, device="test:no_host")
    refused(TypeError, r"not converted to NumPy silently; .*to_device\('cpu'\)", np.asarray, x)
    refused((BufferError, RuntimeError), None, np.from_dlpack, x)
    refused(BufferError, "the host cannot reach the memory of device test:no_h", x.__dlpack__)
    assert x.__dlpack_device__() == (7, 0)
    refused(ValueError, "shares no memory", xp.asarray, np.ones(3), device=x.device, copy=False)
    refused(ValueError, "without a copy", xp.asarray, x, device="cpu", copy=False)


def test_ways_that_say_so_lead_to_the_host():
    x = xp.ones(3, device="test:no_host")
    assert np.asarray(x.to_device("cpu")).tolist() == [1, 1, 1]
    assert np.from_dlpack(x, device="cpu").tolist() == [1, 1, 1]
    assert float(x[0]) == 1.0
    assert x.tolist() == [1, 1, 1]
    assert "1." in repr(x)
    other = x.to_device("test:1:no_host")
    other += 1
    assert (x.tolist(), str(other.device)) == ([1, 1, 1], "test:1:no_host")


def test_arrays_in_sequences_are_collected_where_they_are():
    for name in ("test:no_host", "test:lazy"):
        x = xp.asarray([1.0, 2.0], device=name)
        y = xp.asarray([[x[0], 3], [x[1], -x[0]]])
        assert (str(y.device), y.dtype, y.tolist()) == (name, xp.float64, [[1, 3], [2, -1]])
        assert xp.asarray((x, [5, 6]), dtype=xp.int64).tolist() == [[1, 2], [5, 6]]
        refused(ValueError, "equal shapes", xp.asarray, [x, x[0]])
        refused(ValueError, "no memory to share", xp.asarray, [x, x], copy=False)
        refused(TypeError, "NoneType", xp.asarray, [x[0], None])
        cycle = [x]
        cycle.append(cycle)
        refused(ValueError, "deeper", xp.asarray, cycle)


def test_what_is_done_on_the_host_does_not_show():
    values = np.ones(3)
    x = xp.asarray(values, device="test:no_host")
    values[0] = 5
    x.to_device("cpu")[1] = 5
    x[2] = 3
    assert x.tolist() == [1, 1, 3]
    assert values.tolist() == [5, 1, 1]


def test_transfers_take_their_time(monkeypatch):
    waited = []
    monkeypatch.setattr(limits, "sleep", waited.append)
    x = xp.asarray(np.ones(1000), device="test:slow_transfer")
    assert waited == [pytest.approx(limits.LATENCY + 8000 / limits.BANDWIDTH)]
    y = xp.sum(x * 2)
    assert len(waited) == 1
    float(y)
    x.to_device("cpu")
    np.asarray(x)
    assert len(waited) == 4


def test_a_transfer_is_slow():
    x = xp.ones(1, device="test:slow_transfer")
    start = time.perf_counter()
    float(x[0])
    assert time.perf_counter() - start >= limits.LATENCY


@pytest.mark.parametrize("device", ["test:immutable", "test:immutable,lazy"])
def test_at_writes_to_immutable_arrays(device):
    xpx = pytest.importorskip("array_api_extra")
    x = xp.ones(3, device=device)
    assert xpx.at(x)[1].set(5.0).tolist() == [1, 5, 1]
    assert xpx.at(x)[1].add(2.0, copy=True).tolist()[1] in (3.0, 7.0)
    with pytest.raises(ValueError, match="never change"):
        x[1] = 5.0


@pytest.mark.parametrize("device", ["test:no_mask_index", "test:immutable,lazy,static_shapes"])
def test_at_takes_masks(device):
    xpx = pytest.importorskip("array_api_extra")
    x = xp.asarray([1.0, 2.0, 3.0], device=device)
    assert xpx.at(x)[x > 1].set(5.0).tolist() == [1, 5, 5]
    y = xp.asarray([1.0, 2.0, 3.0], device=device)
    assert xpx.at(y)[y > 1].add(1.0).tolist() == [1, 3, 4]


def test_the_backend_is_the_cpu_backend_inside_the_contract():
    backend = limits.limited("test:immutable", ("immutable",))
    assert isinstance(backend, limits.LimitedBackend)
    assert isinstance(backend.inner, CPUBackend)
