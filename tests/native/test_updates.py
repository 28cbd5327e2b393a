"""Results written to an array that is there: operations in place, and functions with `out`."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native

pytestmark = needs_native

SIZES = [1, 7, 600, 5000, 20_000]
UNARY = ["negative", "sqrt", "exp", "abs", "logical_not", "isnan"]
BINARY = ["add", "subtract", "multiply", "divide", "less", "maximum", "logical_and", "arctan2"]


def bases(size, lent):
    """Two equal arrays, NumPy's and the face's; lent: on memory of NumPy's."""
    theirs = np.random.default_rng(size).standard_normal(2 * size + 4)
    memory = theirs.copy()
    return theirs, face.asarray(memory) if lent else face.array(memory)


def places(rng, size):
    """Where a vector of so many elements lies among these."""
    step = int(rng.choice([1, 1, 1, 2, -1]))
    first = int(rng.integers(0, 2 * size + 4 - (size - 1) * abs(step)))
    last = first + (size - 1) * abs(step)
    if step > 0:
        return slice(first, last + 1, step)
    return slice(last, first - 1 if first else None, step)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lent", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_results_in_out_are_numpys_wherever_operands_lie(size, lent):
    rng = np.random.default_rng(size)
    for name in (*UNARY, *BINARY):
        for _ in range(6):
            theirs, ours = bases(size, lent)
            x, y, place = (places(rng, size) for _ in range(3))
            theirs_out, ours_out = theirs[place], ours[place]
            if name in ("logical_not", "isnan", "less", "logical_and"):
                theirs_out, ours_out = np.empty(size, bool), face.empty(size, bool)
            operands = [(theirs[x], ours[x]), (theirs[y], ours[y]), (theirs[3], ours[3])]
            operands.append((2.5, 2.5))
            if name in UNARY:
                given = operands[:1]
            else:
                given = [operands[0], operands[rng.integers(1, 4)]][:: int(rng.choice([1, -1]))]
            getattr(np, name)(*[a for a, _ in given], out=theirs_out)
            result = getattr(face, name)(*[b for _, b in given], out=ours_out)
            assert result is ours_out
            # The last digit of a function may depend on how its operand lies.
            rtol = 1e-15 if name in ("exp", "arctan2") else 0
            case = f"{name} {x} {y} {place}"
            np.testing.assert_allclose(ours_out, theirs_out, rtol, err_msg=case)
            np.testing.assert_allclose(ours, theirs, rtol, err_msg=case)


@pytest.mark.parametrize("lent", [False, True])
@pytest.mark.parametrize("shape", [(1,), (5, 3), (70, 60)])
def test_operands_are_broadcast_to_out(shape, lent):
    values = np.random.default_rng(0).standard_normal(shape)
    for operand in (values[:1], values[..., :1], values.sum(), values.T.copy().T):
        theirs = np.empty(shape)
        ours = face.asarray(np.empty(shape)) if lent else face.empty(shape)
        np.add(operand, 1.5, out=theirs)
        face.add(face.asarray(operand), 1.5, out=ours)
        assert np.asarray(ours).tobytes() == theirs.tobytes()
        np.multiply(values, operand, out=theirs)
        face.multiply(face.asarray(values), face.asarray(operand), out=ours)
        assert np.asarray(ours).tobytes() == theirs.tobytes()


@pytest.mark.parametrize("size", [3, 5000])
def test_an_out_that_does_not_fit_is_numpys_error_and_stays(size):
    x = face.array(np.arange(float(size)))
    out = face.zeros(size + 1)
    with pytest.raises(ValueError, match="broadcast"):
        face.add(x, x, out=out)
    whole = face.zeros(size, face.int64)
    with pytest.raises(TypeError, match="same_kind"):
        face.add(x, x, out=whole)
    fixed = face.zeros(size)
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        face.add(x, x, out=fixed)
    assert not out.any()
    assert not whole.any()
    assert not fixed.any()


def test_what_waits_for_the_old_elements_of_out_has_them():
    x, y = face.array(np.arange(5000.0)), face.array(np.ones(5000))
    waits = x * 2.0 + y
    face.add(y, y, out=x)
    assert float(waits[100]) == 201
    assert float(x[100]) == 2
    lent = face.asarray(np.arange(5000.0))
    waits = lent * 2.0 + y
    face.negative(y, out=lent)
    assert float(waits[100]) == 201
    assert float(lent[100]) == -1


def test_errors_are_named_as_numpys():
    x, out = face.array(np.array([-1.0, 4.0])), face.zeros(2)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        face.sqrt(x, out=out)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        face.divide(x, 0.0, out=out)


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "bool", "complex128"])
@pytest.mark.parametrize("seed", range(20))
def test_axes_that_run_backwards_are_updated_in_place(dtype, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, rng.integers(1, 4)))
    theirs, other = [(rng.standard_normal(shape) * 9).astype(dtype) for _ in range(2)]
    ours = face.array(theirs)
    key = tuple(slice(None, None, int(rng.choice([1, -1, 2, -2]))) for _ in shape)
    for name in ("__iadd__", "__imul__"):
        getattr(theirs[key], name)(other[key])
        getattr(ours[key], name)(face.asarray(other)[key])
        np.testing.assert_array_equal(ours, theirs)
    theirs[key] = other[key]
    ours[key] = face.asarray(other)[key]
    np.testing.assert_array_equal(ours, theirs)


UPDATES_OF_MANY = {
    "a chain": lambda ns, x, y: x.__iadd__(0.1 * y),
    "slow": lambda ns, x, y: x.__isub__(ns.sin(x - y) * 2),
    "stored": lambda ns, x, y: x.__setitem__(..., x * y + ns.exp(y) - x),
    "a part": lambda ns, x, y: x[1:-1].__imul__(1 + y[1:-1] * x[1:-1]),
    "rows with gaps": lambda ns, x, y: x[..., 1:-1].__iadd__(ns.sqrt(y[..., 1:-1]) * x[..., 1:-1]),
    "backwards": lambda ns, x, y: x[::-1].__iadd__(y * 3 - x[::-1]),
    "errors": lambda ns, x, y: x.__itruediv__(ns.floor(y * 50_000) * 2),
    "columns": lambda ns, x, y: x.T.__iadd__(2 * y.T + x.T),
}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(400_001,), (700, 601), (30, 50, 270)])
@pytest.mark.parametrize("name", UPDATES_OF_MANY)
def test_many_elements_are_updated_by_threads(name, shape, threads):
    """Each part reads and writes its own elements alone, and errors are found where they occur."""
    rng = np.random.default_rng(7)
    given = rng.random(shape), rng.random(shape)
    with xp.config_context(num_threads=threads):
        outcomes = []
        for ns, (x, y) in ((np, [z.copy() for z in given]), (face, [face.array(z) for z in given])):
            with warnings.catch_warnings(record=True, action="always") as caught:
                UPDATES_OF_MANY[name](ns, x, y)
                elements = np.asarray(x).tobytes()
            outcomes.append((elements, [str(each.message) for each in caught]))
    assert outcomes[0] == outcomes[1]
