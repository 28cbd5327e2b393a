"""How arrays behave where the standard speaks and clients rely on it."""

import inspect
import operator

import numpy as np
import pytest
from array_api_compat import is_lazy_array, is_writeable_array

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

DTYPES = xp.__array_namespace_info__().dtypes()


class TestPythonScalars:
    @pytest.mark.parametrize("name", DTYPES)
    def test_come_out_of_0d_arrays(self, name):
        x = xp.ones((), dtype=DTYPES[name])
        assert bool(x) is True
        assert complex(x) == 1
        if not name.startswith("complex"):
            assert type(int(x)) is int
            assert type(float(x)) is float
            assert int(x) == float(x) == 1

    def test_int_truncates_floats(self):
        assert int(xp.asarray(-2.75)) == -2

    def test_index_is_for_integers(self):
        assert operator.index(xp.asarray(3, dtype=xp.uint8)) == 3
        assert [10, 20, 30][xp.asarray(1)] == 20
        for x in (xp.asarray(3.0), xp.asarray(True), xp.asarray([3])):
            refused(TypeError, "index", operator.index, x)

    def test_come_out_of_any_array_of_one_element(self):
        assert float(xp.asarray([[2.5]])) == 2.5
        assert bool(xp.asarray([0])) is False

    @pytest.mark.parametrize("convert", [bool, int, float, complex])
    @pytest.mark.parametrize("shape", [(2,), (0,), (2, 2)])
    def test_do_not_come_out_of_others(self, convert, shape):
        refused(TypeError, "one element", convert, xp.ones(shape))

    def test_the_empty_key_keeps_a_0d_array(self):
        x = xp.asarray(1.5)[()]
        assert type(x) is xp.Array
        assert x.shape == ()


class TestZeroDimensions:
    def test_neither_iterate_nor_have_a_length(self):
        x = xp.asarray(1.0)
        for function in (iter, len):
            refused(TypeError, "0-dimensional", function, x)

    def test_tell_numpy_so(self):
        # scipy.optimize and scipy.stats decide by it whether args need a tuple around them.
        assert not np.iterable(xp.asarray(1.0))
        assert np.iterable(xp.asarray([1.0]))


class TestMutation:
    def test_is_what_array_api_compat_expects(self):
        assert is_writeable_array(xp.zeros(2))


class TestScalarsAsArguments:
    x = xp.asarray([-1.0, 0.5, 2.0], dtype=xp.float32)

    @pytest.mark.parametrize(
        "function",
        [xp.add, xp.pow, xp.maximum, xp.minimum, xp.hypot, xp.copysign, xp.less, xp.atan2],
    )
    def test_on_either_side(self, function):
        two = xp.asarray(2.0, dtype=xp.float32)
        for scalar in (2, 2.0):
            for ours, same in (
                (function(self.x, scalar), function(self.x, two)),
                (function(scalar, self.x), function(two, self.x)),
            ):
                assert ours.dtype is same.dtype
                assert np.array_equal(np.asarray(ours), np.asarray(same), equal_nan=True)

    def test_in_where_and_clip(self):
        assert xp.where(self.x > 0, self.x, 0).dtype is xp.float32
        assert xp.where(self.x > 0, 0.0, self.x).dtype is xp.float32
        clipped = xp.clip(self.x, 0, 1.0)
        assert clipped.dtype is xp.float32
        assert np.array_equal(np.asarray(clipped), [0, 0.5, 1])


class TestTruth:
    @pytest.mark.parametrize("name", DTYPES)
    def test_any_and_all_take_every_dtype(self, name):
        x = xp.asarray([0, 1], dtype=DTYPES[name])
        assert bool(xp.any(x)) is True
        assert bool(xp.all(x)) is False

    @for_each("name", DTYPES)
    @for_each("shape", [(), (0,), (1,), (2, 3)])
    def test_arrays_are_eager_for_array_api_compat(self, name, shape):
        assert not is_lazy_array(xp.ones(shape, dtype=DTYPES[name]))

    @pytest.mark.parametrize("function", [xp.max, xp.min])
    @pytest.mark.parametrize("position", [0, 1, 4])
    def test_extremes_propagate_nan(self, function, position):
        for name in ("float32", "float64"):
            x = xp.arange(5, dtype=DTYPES[name])
            x[position] = xp.nan
            assert bool(xp.isnan(function(x)))
            assert bool(xp.isnan(function(xp.reshape(x, (5, 1)), axis=0)[0]))


class TestSignatures:
    @pytest.mark.parametrize("module", [xp, xp.linalg, xp.fft], ids=lambda module: module.__name__)
    def test_can_be_read_by_inspect(self, module):
        functions = [
            function
            for name in module.__all__
            if callable(function := getattr(module, name))
            and not isinstance(function, type)
            and name != "eval_shape"  # which hands its arguments on
        ]
        assert len(functions) > 5
        for function in functions:
            kinds = {part.kind for part in inspect.signature(function).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, function

    @for_each(
        "name",
        [
            *("max", "mean", "min", "prod", "std", "sum", "var", "all", "any", "count_nonzero"),
            *("argmax", "argmin", "sort", "argsort", "cumulative_sum", "cumulative_prod", "diff"),
            *("concat", "stack", "flip", "roll", "squeeze", "expand_dims", "repeat", "vecdot"),
            *("take", "take_along_axis"),
        ],
    )
    def test_have_axis_by_name(self, name):
        # scipy.stats.bootstrap(x, xp.mean) looks for it.
        parameters = inspect.signature(getattr(xp, name)).parameters
        assert parameters["axis"].kind is not inspect.Parameter.POSITIONAL_ONLY

    def test_have_the_standards_names(self):
        x = xp.arange(6)
        assert xp.reshape(x, shape=(2, 3)).shape == (2, 3)
        assert xp.broadcast_to(x, shape=(2, 6)).shape == (2, 6)
        assert xp.permute_dims(xp.zeros((2, 3)), axes=(1, 0)).shape == (3, 2)
        assert xp.zeros(shape=3, dtype=None, device=None).shape == (3,)
        assert xp.full(shape=3, fill_value=1).shape == (3,)
        assert xp.clip(x, min=1, max=3).shape == (6,)
        assert xp.sort(x, axis=0, descending=True, stable=False).shape == (6,)
        assert xp.astype(x, xp.int8, copy=True, device=None).dtype is xp.int8
