"""Compiled functions and their programs in other processes."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from tests.support.processes import python
from tests.support.programs import assert_same

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
OUTSIDE = xp.asarray([1.0, 2.0, 3.0])


@xp.compile
def scaled(x, factor=1.0):
    if x.shape[0] > 5:
        return {"y": (x - xp.mean(x, axis=0)) * factor, "n": 2 * x.shape[0] + 1}
    return [x[::-1, :] * factor, x]


@xp.compile
def constants(x):
    return x * OUTSIDE + xp.asarray([0.5, 0.25, 0.125]), OUTSIDE


def plain(x):
    return xp.sqrt(x)


class Model:
    @xp.compile
    def step(self, x):
        return x + 1

    def __eq__(self, other):
        return isinstance(other, Model)

    def __hash__(self):
        return 7


def loaded_elsewhere(code, *objects):
    """The output of a fresh process, where the objects are `found`."""
    start = f"import pickle; found = pickle.loads(bytes.fromhex({pickle.dumps(objects).hex()!r}))\n"
    return python("-c", start + code)


def test_in_another_process():
    x, y = xp.reshape(xp.arange(21.0), (7, 3)), xp.ones((4, 3))
    expected = [scaled(x, 2.0), scaled(y), constants(y)]
    assert scaled.cache_info().programs == 2
    printed = loaded_elsewhere(
        """if True:
            import numpy as np, array_api_nx as xp
            scaled, constants, expected = found
            from tests import test_compile_pickle as module
            assert scaled is module.scaled and constants is module.constants
            for rows in (7, 9):
                x = xp.reshape(xp.arange(3.0 * rows), (rows, 3))
                result = scaled(x, 2.0)
                assert result["n"] == 2 * rows + 1
                if rows == 7:
                    wanted = expected[0]
                    np.testing.assert_array_equal(result["y"], wanted["y"])
            y = xp.ones((4, 3))
            result, same = scaled(y)
            assert same is y
            result, outside = constants(y)
            assert np.asarray(result).tobytes() == np.asarray(expected[2][0]).tobytes()
            assert np.asarray(outside).tolist() == [1.0, 2.0, 3.0]
            scaled(xp.ones((4, 3, 2)))
            for each in (scaled, constants):
                print(*each.cache_info()[:3])
        """,
        scaled,
        constants,
        expected,
    )
    # Traced there was only what came with another number of dimensions.
    assert printed.split("\n")[:2] == ["1 3 4", "0 1 1"]


def test_in_this_process():
    scaled(xp.ones((4, 3)))
    before = scaled.cache_info()
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    assert copy.copy(scaled) is scaled
    assert copy.deepcopy([scaled])[0] is scaled
    assert scaled.cache_info() == before


def test_functions_that_keep_their_own_name():
    """The module has the plain function under this name."""
    compiled = xp.compile(plain)
    x = xp.asarray([4.0, 9.0])
    compiled(x)
    again = pickle.loads(pickle.dumps(compiled))
    assert again is not compiled
    assert_same(again(x * 4), np.asarray([4.0, 6.0]))
    assert again.cache_info()[:3] == (0, 1, 1)


def test_methods():
    Model().step(xp.ones(3))
    assert pickle.loads(pickle.dumps(Model.step)) is Model.step
    printed = loaded_elsewhere(
        "import array_api_nx as xp\n"
        "model, step = found\n"
        "print(float(model.step(xp.ones(4))[3]), step.cache_info().traces)",
        Model(),
        Model.step,
    )
    assert printed == "2.0 0\n"


def test_functions_without_a_name():
    def local(x):
        return x

    for function in (local, lambda x: x):
        with pytest.raises(pickle.PicklingError, match="is not that function; define it"):
            pickle.dumps(xp.compile(function))
    assert copy.deepcopy(compiled := xp.compile(local)) is compiled


def test_programs():
    explanation = scaled.explain(ShapeSpec((7, 3), xp.float64))
    again = pickle.loads(pickle.dumps(explanation))
    assert str(again) == str(explanation)
    x = xp.reshape(xp.arange(21.0), (7, 3))
    program = scaled.explain(x, 2.0).program
    printed = loaded_elsewhere(
        """if True:
            import numpy as np, array_api_nx as xp
            (program,) = found
            assert len(program.guards) == 1
            assert program.match(((4, 3),)) is None
            sizes = program.match(((8, 3),))
            x = xp.reshape(xp.arange(24.0), (8, 3))
            (handle,) = x.device.backend.prepare(program, sizes)(x._handle)
            print(x.device.backend.to_host(handle)[0].tolist())
            print(program)
        """,
        program,
    )
    first, _, text = printed.partition("\n")
    assert first == "[-21.0, -21.0, -21.0]"
    assert text.strip() == str(program)
    with pytest.raises(TypeError, match="arrays from outside"):
        pickle.dumps(constants.explain(xp.ones((4, 3))).program)
