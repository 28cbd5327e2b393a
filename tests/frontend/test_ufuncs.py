"""Ufuncs of NumPy and of other libraries on our arrays."""

import contextlib
import inspect
import pickle

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.alike import DTYPES
from tests.support.refusals import refused
from tests.support.tables import for_each

SAMPLE = np.asarray([[0.5, -1.25, 3.0], [2.0, 0.0, 7.5]])


def assert_equal(found, expected):
    if isinstance(expected, tuple):
        assert type(found) is tuple
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
        return
    expected = np.asarray(expected)
    assert type(found) is xp.Array
    assert (found.shape, str(found.dtype)) == (expected.shape, str(expected.dtype))
    np.testing.assert_array_equal(np.asarray(found), expected)


@for_each(
    "call",
    [
        lambda x: np.exp(x),
        lambda x: np.add(x, 1),
        lambda x: np.add(1.5, x),
        lambda x: np.cbrt(x),
        lambda x: np.frexp(x),
        lambda x: np.divmod(x, 2),
        lambda x: divmod(np.float64(7), x + 10),
        lambda x: np.heaviside(x, 0.5),
        lambda x: np.float32(2) * x,
        lambda x: np.float64(3) ** x,
        lambda x: np.float64(2) == x,
        lambda x: np.float64(2) < x,
        lambda x: np.matmul(x, x.T),
        lambda x: np.vecdot(x, x),
        lambda x: np.rint(x),
        lambda x: np.max(x),
        lambda x: np.min(x, axis=1),
        lambda x: np.sum(x),
        lambda x: np.prod(x, axis=0, keepdims=True),
        lambda x: np.any(x),
        lambda x: np.all(x, axis=1),
        lambda x: np.add.outer(x, x),
        lambda x: np.subtract.accumulate(x, axis=1),
        lambda x: np.hypot.reduce(x),
        lambda x: np.add.reduceat(x, [0, 1], axis=1),
    ],
)
def test_ufuncs_give_our_arrays(call):
    assert_equal(call(xp.asarray(SAMPLE)), call(SAMPLE))


def test_out_takes_our_arrays_and_numpys():
    x, y = xp.asarray([1.0, 2.0]), xp.zeros(2)
    assert np.add(x, 1, out=y) is y
    assert_equal(y, np.asarray([2.0, 3.0]))
    memory = np.zeros(2)
    assert np.multiply(x, 3, out=memory) is memory
    assert memory.tolist() == [3.0, 6.0]
    with pytest.raises(TypeError, match="loses data; leave out= out"):
        np.divide(x, 2, out=xp.zeros(2, dtype=xp.int64))
    refused(ValueError, "which out= must have", np.add, x, 1, out=xp.zeros(3))
    np.add.at(x, [0, 0], 5.0)
    assert_equal(x, np.asarray([11.0, 2.0]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: np.exp(x, where=True), TypeError, r"takes no where; use xp.where\("),
        (lambda x: np.exp(x, dtype=np.float32), TypeError, "x.astype first for dtype="),
        (lambda x: np.fmax(x, np.longdouble(1)), TypeError, "the standard lacks"),
        (lambda x: np.isnat(x), TypeError, "isnat has no loop for float64; convert"),
        (lambda x: np.frompyfunc(abs, 1, 1)(x), TypeError, "gives object, which the standard"),
        (lambda x: np.fmax(x, xp.ones(4)), ValueError, "cannot be broadcast"),
        (lambda x: np.gcd(xp.asarray([1], dtype=xp.int8), 1000), OverflowError, "out of range"),
        (lambda x: xp.extra.apply_ufunc(np.fmax, x), TypeError, "takes 2 operands, not 1"),
        (lambda x: xp.extra.apply_ufunc(np.fmax, 1.0, 2.0), TypeError, "at least one argument"),
        (lambda x: xp.extra.apply_ufunc(abs, x), TypeError, "takes a ufunc, such as"),
    ],
)
def test_refused(call, error, words):
    refused(error, words, call, xp.ones(3))


def test_other_classes_that_answer_ufuncs_are_asked():
    class Answers:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return f"{ufunc.__name__} of {len(inputs)}"

    assert np.add(xp.ones(2), Answers()) == "add of 2"


def _public(module):
    found = [inspect.unwrap(getattr(module, name)) for name in sorted(dir(module))]
    ufuncs = {x.__name__: x for x in found if isinstance(x, np.ufunc) and x.signature is None}
    return list(ufuncs.values())


def _operands(rng, ufunc, dtype):
    """Arrays of that dtype, also of shapes that are broadcast and in other orders than row-major.

    Their elements are small enough for functions that iterate as often as an element says.
    """
    shapes = [(3, 4), (4,), (3, 1), (), (3, 4)]
    operands = []
    for i in range(ufunc.nin):
        values = np.asarray(rng.normal(2, 2, shapes[i % 5]))
        if np.dtype(dtype).kind in "biu":
            values = np.abs(values) % 5
        operands.append(values.astype(dtype).T.copy().T)
    return operands


OPERATORS = {
    "floor_divide", "greater", "greater_equal", "left_shift", "less", "less_equal", "power",
    "remainder", "right_shift",
}  # fmt: skip


def _compare(ufunc, operands):
    """Whether both calls agree; False if the standard lacks NumPy's dtypes."""
    with np.errstate(all="ignore"):
        try:
            expected = ufunc(*operands)
        except TypeError:
            with pytest.raises(TypeError, match=r"; (convert|use|make)|convert"):
                ufunc(*[xp.asarray(x) for x in operands])
            return False
        results = expected if isinstance(expected, tuple) else (expected,)
        names = {str(np.asarray(x).dtype) for x in results}
        arrays = [xp.asarray(x) for x in operands]
        if not names <= {*DTYPES}:
            # The standard's functions of such integers are computed in float64.
            with contextlib.suppress(TypeError):
                ufunc(*arrays)
            return False
        try:
            found = ufunc(*arrays)
        except TypeError:
            # Operators refuse the same operands as without NumPy.
            if ufunc.__name__ not in OPERATORS:
                raise
            return False
        assert_equal(found, expected)
    return True


@for_each("ufunc", _public(np))
def test_numpys_ufuncs_give_what_they_give_for_numpys_arrays(ufunc):
    rng = np.random.default_rng(5)
    # Of small complex numbers NumPy's log1p loses digits that ours keeps.
    dtypes = [each for each in DTYPES if ufunc is not np.log1p or "complex" not in each]
    agree = [_compare(ufunc, _operands(rng, ufunc, dtype)) for dtype in dtypes]
    assert any(agree) or ufunc.__name__ in ("isnat", "_arg", "matvec", "vecmat")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:floating point number trunc")
def test_scipys_ufuncs_give_what_they_give_for_numpys_arrays():
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(6)
    for ufunc in _public(special):
        agree = [_compare(ufunc, _operands(rng, ufunc, dtype)) for dtype in ("f4", "f8", "i8")]
        assert any(agree) or ufunc.types[0].count("D"), ufunc
        if any(["D" in each for each in ufunc.types]):
            _compare(ufunc, _operands(rng, ufunc, "c16"))


@pytest.mark.parametrize("name", ["torch:cpu", "jax:cpu", "dask"])
def test_results_stay_on_their_device(name):
    pytest.importorskip(name.partition(":")[0])
    x = xp.asarray(SAMPLE, device=name)
    for call in (
        lambda x: np.exp(x),
        lambda x: np.cbrt(x),
        lambda x: np.fmax(x, 0.5),
        lambda x: np.modf(x),
        lambda x: np.add.accumulate(x, axis=1),
        lambda x: np.float64(2) * x,
    ):
        found, expected = call(x), call(SAMPLE)
        pairs = zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]
        for one, other in pairs:
            assert one.device == xp.Device(name)
            np.testing.assert_allclose(np.asarray(one.to_device("cpu")), other, rtol=1e-15)
    if name != "torch:cpu":
        refused(TypeError, r"at cannot write .* to_device\('cpu'\)", np.add.at, x, (0, 0), 1.0)


def test_two_devices_are_refused():
    pytest.importorskip("dask")
    with pytest.raises(ValueError, match="different devices"):
        np.fmax(xp.ones(2, device="cpu"), xp.ones(2, device="dask"))


PROGRAMS = {
    "one": lambda x, y: np.cbrt(x),
    "chain": lambda x, y: xp.exp(-np.fmax(x, y)) * np.exp2(x) + 1,
    "scalars": lambda x, y: np.heaviside(x, 0.25) + np.logaddexp2(2.0, y),
    "of a size": lambda x, y: np.fmin(x, x.shape[0]),
    "transposed": lambda x, y: np.fmax(x.T, y.T),
    "broadcast": lambda x, y: np.hypot(x, y[0]) - np.float_power(xp.abs(x), 1.5),
    "several outputs": lambda x, y: xp.stack(list(np.modf(x + y))),
    "of other dtypes": lambda x, y: np.ldexp(x, xp.astype(y, xp.int32)),
    "written": lambda x, y: np.cbrt(xp.abs(x), out=x + 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_ufuncs_for_steps(name):
    function = PROGRAMS[name]
    compiled = xp.compile(function)
    for rows in (3, 5, 300):
        rng = np.random.default_rng(rows)
        x, y = (xp.asarray(rng.normal(size=(rows, 4))) for _ in range(2))
        expected = function(x, y)
        assert_equal(compiled(x, y), np.asarray(expected))
        found = xp.eval_shape(function, x, y)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert compiled.cache_info().traces == 1


def test_programs_of_ufuncs_can_be_pickled():
    compiled = xp.compile(_cube_root)
    x = xp.asarray([1.0, 8.0, 27.0])
    compiled(x)
    assert_equal(pickle.loads(pickle.dumps(compiled))(x), np.cbrt([1.0, 8.0, 27.0]))


def _cube_root(x):
    return np.cbrt(x)


def test_warnings_name_the_users_line():
    x = xp.asarray([0.0, 1.0])
    with pytest.warns(RuntimeWarning, match="encountered in fmod") as caught:
        xp.evaluate(np.fmod(x, 0.0))
    assert caught[0].filename == __file__
    with np.errstate(all="ignore"):
        np.fmod(x, 0.0)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        np.fmod(x, 0.0)


def test_numba_compiles_for_the_dtypes_of_our_arrays():
    numba = pytest.importorskip("numba")

    @numba.vectorize
    def doubled(x):
        return 2 * x

    for dtype in (np.float32, np.int64):
        x = np.asarray([1, 2], dtype=dtype)
        assert_equal(xp.extra.apply_ufunc(doubled, xp.asarray(x)), doubled(x))
