"""Arrays made without device= follow those that were put on a device."""

import copy
import logging
import pickle
import sys

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Device
from array_api_nx.testing import HostAccessError, HostAccessWarning, TransferError, transfers
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each

CPU = Device("cpu")


def free(*values):
    """On the default device, without `device=`."""
    return xp.asarray(values)


READERS = {
    "add": lambda x, y: x + y,
    "mixed_dtypes": lambda x, y: xp.astype(x, xp.float32) + y,
    "compare": lambda x, y: x < y,
    "matmul": lambda x, y: x @ y,
    "outer": lambda x, y: xp.linalg.outer(x, y),
    "where": lambda x, y: xp.where(x > 1, x, y),
    "where_condition": lambda x, y: xp.where(x > 1, y, 0.0),
    "clip": lambda x, y: xp.clip(x, y, 2.0),
    "concat": lambda x, y: xp.concat([x, y]),
    "stack": lambda x, y: xp.stack([x, y]),
    "take": lambda x, y: xp.take(x, xp.astype(y, xp.int64) - 1),
    "take_along_axis": lambda x, y: xp.take_along_axis(x, xp.astype(y, xp.int64) - 1),
    "mask": lambda x, y: x[y > 1],
    "indices": lambda x, y: x[xp.astype(y, xp.int64) - 1],
    "several_indices": lambda x, y: xp.stack([x, x])[0, xp.astype(y, xp.int64) - 1],
    "searchsorted": lambda x, y: xp.searchsorted(x, y),
    "sorter": lambda x, y: xp.searchsorted(x, 2.5, sorter=xp.argsort(y)),
    "repeat": lambda x, y: xp.repeat(x, xp.astype(y, xp.int64)),
    "vecdot": lambda x, y: xp.vecdot(x, y),
    "isin": lambda x, y: xp.isin(x, y),
    "asarray": lambda x, y: xp.asarray([x[0], y[1], 3.0]),
    "ufunc": lambda x, y: np.hypot(x, y),
    "einsum": lambda x, y: xp.extra.einsum("i,i->", x, y),
    "interp": lambda x, y: xp.extra.interp(x, y, y),
    "bincount": lambda x, y: xp.extra.bincount(xp.astype(x, xp.int64), y),
    "histogram": lambda x, y: xp.extra.histogram(x, y)[0],
    "cov": lambda x, y: xp.extra.cov(x, y),
    "convolve": lambda x, y: xp.extra.convolve(x, y),
    "maximum": lambda x, y: xp.maximum(x, y),
    "tensordot": lambda x, y: xp.tensordot(x, y, axes=1),
    "diff": lambda x, y: xp.diff(x, append=y),
    "solve": lambda x, y: xp.linalg.solve(x[:1, None], y[:1]),
    "cross": lambda x, y: xp.linalg.cross(x, y),
    "keys": lambda x, y: xp.stack([x, x])[:, xp.astype(y, xp.int64) - 1],
}


@for_each("name", READERS)
@pytest.mark.parametrize("place", ["cpu", "fake:0"])
def test_results_are_where_one_operand_was_put(name, place, fake):
    call = READERS[name]
    values = [1.0, 2.0, 3.0]
    expected = call(free(*values), free(*values))
    assert not expected.device.committed
    put = xp.asarray(values, device=place)
    for found in (call(put, free(*values)), call(free(*values), put), call(put, put)):
        assert found.device is Device(place)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert np.array_equal(np.asarray(found), np.asarray(expected))


@for_each("name", READERS)
def test_two_places_are_an_error_that_names_both(name, fake):
    x, y = xp.asarray([1.0, 2.0, 3.0], device="cpu"), xp.asarray([1.0, 2.0, 3.0], device=fake)
    refused(ValueError, "different devices, cpu and fake:0; move them with", READERS[name], x, y)


@for_each("name", READERS)
def test_strict_placement_refuses_all_mixtures(name, fake):
    x, y = free(1.0, 2.0, 3.0), xp.asarray([1.0, 2.0, 3.0], device=fake)
    with xp.config_context(placement="strict"):
        refused(ValueError, r"cpu and fake:0.*placement='strict'", READERS[name], x, y)
        # Two devices of one name are no mixture.
        assert READERS[name](x, xp.asarray([1.0, 2.0, 3.0], device="cpu")).device is CPU


def test_special_functions_are_readers_like_others(fake):
    """They are not in the table because SciPy, which computes them here, may be missing."""
    pytest.importorskip("scipy")
    betaln, values = xp.special.betaln, [1.0, 2.0, 3.0]
    x, y = free(*values), xp.asarray(values, device=fake)
    for found in (betaln(x, y), betaln(y, x)):
        assert found.device is fake
        assert np.array_equal(np.asarray(found), np.asarray(betaln(x, x)))
    with pytest.raises(ValueError, match="different devices, cpu and fake:0; move them with"):
        betaln(xp.asarray(values, device="cpu"), y)
    refused = pytest.raises(ValueError, match=r"cpu and fake:0.*placement='strict'")
    with xp.config_context(placement="strict"), refused:
        betaln(x, y)


def test_the_environment_makes_it_strict():
    code = (
        "import array_api_nx as xp\n"
        "try: xp.zeros(2) + xp.zeros(2, device='test')\n"
        "except ValueError as error: print(error)"
    )
    printed = python("-c", code, ARRAY_API_NX_PLACEMENT="strict")
    assert "different devices, cpu and test, and placement='strict'" in printed


def test_who_is_committed(fake):
    x = xp.zeros(2)
    assert x.device == CPU
    assert hash(x.device) == hash(CPU)
    assert not x.device.committed
    assert repr(x.device) == repr(CPU)
    for made in (
        xp.ones(2, device=x.device),
        xp.asarray(x),
        xp.asarray(np.ones(2)),
        xp.zeros_like(x),
        x[1:],
        x.T if x.ndim == 2 else x,
        -x,
        x.to_device(x.device),
        xp.asarray([x[0], 1.0]),
        copy.deepcopy(x),
        pickle.loads(pickle.dumps(x)),
    ):
        assert not made.device.committed
    y = xp.zeros(2, device="cpu")
    for made in (
        y,
        x.to_device("cpu"),
        xp.asarray(x, device=CPU),
        y[1:],
        -y,
        x + y,
        y @ x,
        pickle.loads(pickle.dumps(y)),
        xp.zeros_like(y),
        xp.asarray(np.ones(2), device=CPU),
        xp.sum(y),
        np.add(x, y),
        xp.unique_values(y),
        *xp.unique_all(y),
    ):
        assert made.device.committed
    assert y.to_device("cpu") is y
    with xp.config_context(default_device=fake):
        assert xp.zeros(2).device == fake
        assert not xp.zeros(2).device.committed
        assert xp.zeros(2).device is xp.__array_namespace_info__().default_device()


def test_to_device_shares_what_is_there_already():
    x = xp.zeros(3)
    y = x.to_device("cpu")
    y[0] = 7.0
    assert float(x[0]) == 7.0


def test_without_anyone_put_somewhere_the_default_device_decides(fake):
    x = xp.ones(2)
    with xp.config_context(default_device=fake):
        y = xp.ones(2)
        assert (x + y).device == fake
    assert (x + y).device == CPU
    assert not (x + y).device.committed


WRITERS = {
    "setitem": lambda x, y: x.__setitem__(slice(None), y + 1),
    "one": lambda x, y: x.__setitem__(0, y[2]),
    "mask": lambda x, y: x.__setitem__(y > 1, y[:2]),
    "mask_alone": lambda x, y: x.__setitem__(y > 1, 7.0),
    "indices": lambda x, y: x.__setitem__((xp.astype(y, xp.int64) - 1,), y * 2),
    "iadd": lambda x, y: x.__iadd__(y),
    "imatmul": lambda x, y: x.__imatmul__(xp.linalg.outer(y, y)),
    "at": lambda x, y: np.add.at(x, [0, 0], y[1]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_stays(name, fake):
    """Writes show in views and in lent memory, whichever operand is committed."""
    values = [1.0, 2.0, 3.0]
    write = WRITERS[name]
    expected = free(*values)
    write(expected, free(*values))
    assert expected.tolist() != values
    for x, y in (
        (free(*values), xp.asarray(values, device=fake)),
        (xp.asarray(values, device=fake), free(*values)),
        (xp.asarray(values, device="cpu"), free(*values)),
    ):
        device, view = x.device, x[:]
        write(x, y)
        assert x.device is device
        assert view.tolist() == x.tolist() == expected.tolist()
        assert x.dtype is xp.float64


@pytest.mark.parametrize("name", WRITERS)
def test_what_cannot_be_written_is_not_changed(name, fake):
    values = [1.0, 2.0, 3.0]
    there = xp.asarray(values, device=fake)
    x = xp.asarray(values, device="cpu")
    with pytest.raises(ValueError, match="different devices, cpu and fake:0; move them with"):
        WRITERS[name](x, there)
    y = free(*values)
    with (
        xp.config_context(placement="strict"),
        pytest.raises(ValueError, match=r"cpu and fake:0.*placement='strict'"),
    ):
        WRITERS[name](y, there)
    with xp.config_context(transfers="error"), pytest.raises(TransferError):
        WRITERS[name](y, there)
    assert x.tolist() == y.tolist() == values


def test_dtypes_that_are_not_there_become_the_nearest():
    put = xp.asarray([1.0, 2.0], device="test:no_float64")
    found = put + free(0.5, 0.25)
    assert (found.device, found.dtype) == (put.device, xp.float32)
    assert found.to_device("cpu").tolist() == [1.5, 2.25]


def test_transfers_can_be_seen(fake, caplog):
    x, y = free(1.0, 2.0), xp.ones(2, device=fake)
    with transfers() as log:
        x + y
    assert [(each.kind, each.source, each.target, each.nbytes) for each in log] == [
        ("placement", "cpu", "fake:0", 16)
    ]
    with caplog.at_level(logging.WARNING, "array_api_nx"):
        x + y
        assert not caplog.records
        with xp.config_context(transfers="log"):
            line = sys._getframe().f_lineno + 1
            x + y
    assert [record.getMessage() for record in caplog.records] == [
        f"{__file__}:{line}: x + y moves 16 bytes from cpu to fake:0, where another array is"
    ]
    with xp.config_context(transfers="error"):
        message = r"x \+ y moves 16 bytes from cpu to fake:0, .* transfers='error' forbids; make"
        refused(TransferError, message, lambda: x + y)
        assert (y + y).device is fake
        assert (x + xp.ones(2, device="cpu")).device is CPU


def test_what_goes_to_the_host_is_host_access(fake):
    x, y = free(1.0, 2.0), xp.asarray([3.0, 4.0], device=fake)
    with xp.config_context(host_access="error"):
        assert (x + y).device is fake
        with pytest.raises(HostAccessError, match=r"x\[key\] = value reads 8 bytes .* make the"):
            x[0] = y[1]
    assert x.tolist() == [1.0, 2.0]
    with xp.config_context(host_access="warn"), pytest.warns(HostAccessWarning, match="16 bytes"):
        x += y
    assert x.tolist() == [4.0, 6.0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"placement": "loose"}, "placement must be 'follow' or 'strict', not 'loose'"),
        ({"transfers": "warn"}, "transfers must be 'allow', 'log' or 'error', not 'warn'"),
    ],
)
def test_settings_are_checked(settings, words):
    refused(ValueError, words, xp.config_context, **settings)


def test_compiled_functions(fake):
    function = xp.compile(lambda x, y: (x + y * xp.ones(3), xp.zeros(2)))
    x, y = free(1.0, 2.0, 3.0), xp.ones(3, device=fake)
    for arguments, place in (((x, x), x.device), ((x, y), fake), ((y, x), fake), ((y, y), fake)):
        for _ in range(3):
            found, made = function(*arguments)
            assert found.device is place
            assert made.device == place
            assert np.array_equal(np.asarray(found), np.asarray(arguments[0] + arguments[1]))
    put = x.to_device("cpu")
    for _ in range(3):
        assert function(put, x)[0].device is CPU
        assert function(x, x)[0].device is x.device
    spec = xp.eval_shape(lambda x, y: x + y, xp.ShapeSpec((3,), xp.float64), y)
    assert spec.device is fake


def test_a_compiled_function_that_writes_to_what_would_follow(fake):
    @xp.compile
    def write(x, y):
        x[0] = y[0]
        return x

    x, y = xp.zeros(3), xp.ones(3, device=fake)
    view = x[:]
    for _ in range(2):
        assert write(x, y) is x
        assert view.tolist() == [1.0, 0.0, 0.0]
        x[...] = 0.0


def test_generators_of_random_numbers(fake):
    assert not xp.random.default_rng(1).random(3).device.committed
    rng = xp.random.default_rng(1, device=fake)
    assert rng.random(3).device is fake
    assert xp.random.default_rng(rng, device=fake) is rng
    found = xp.random.default_rng(1).normal(xp.ones(3, device=fake), 2.0)
    assert found.device is fake
    assert found.tolist() == xp.random.default_rng(1).normal(xp.ones(3), 2.0).tolist()
