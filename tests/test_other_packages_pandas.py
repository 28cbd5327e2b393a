"""pandas with arrays where it looks for NumPy's: it gives what it gives for those."""

import inspect
import operator
import pickle

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.processes import python

pandas = pytest.importorskip("pandas", reason="pandas is not installed")

TABLE = numpy.arange(6.0).reshape(3, 2)
SERIES = pandas.Series([3.0, 1.0, 2.0], index=["x", "y", "z"])
FRAME = pandas.DataFrame(TABLE * 2, columns=["a", "b"], index=["x", "y", "z"])
NUMBERED = pandas.DataFrame({"g": [1, 1, 2], "v": [1.0, 2.0, 3.0]}, index=[1, 2, 3])
ROWS = numpy.asarray([False, True, True])
LABELS = numpy.asarray([1, 1, 2])
COLUMNS = numpy.asarray([True, False])


def changed(table, change):
    table = table.copy()
    change(table)
    return table


# Each of these is given arrays of ours, then NumPy's.
OPERATIONS = {
    "rows": lambda give: FRAME[give(ROWS)],
    "rows of a series": lambda give: SERIES[give(ROWS)],
    "loc": lambda give: FRAME.loc[give(ROWS), "a"],
    "loc of both": lambda give: FRAME.loc[give(ROWS), give(COLUMNS)],
    "iloc": lambda give: SERIES.iloc[give(ROWS)],
    "iloc of both": lambda give: FRAME.iloc[give(ROWS), give(COLUMNS)],
    "positions": lambda give: FRAME.iloc[give(numpy.asarray([2, 0]))],
    "labels": lambda give: NUMBERED.loc[give(LABELS)],
    "set rows": lambda give: changed(FRAME, lambda x: operator.setitem(x, give(ROWS), 0.0)),
    "set elements": lambda give: changed(
        FRAME, lambda x: operator.setitem(x, give(TABLE > 2), 0.0)
    ),
    "set by loc": lambda give: changed(
        FRAME, lambda x: operator.setitem(x.loc, (give(ROWS), "a"), give(TABLE[1:, 0]))
    ),
    "set by iloc": lambda give: changed(
        FRAME, lambda x: operator.setitem(x.iloc, give(ROWS), give(TABLE[1:]))
    ),
    "set in a series": lambda give: changed(
        SERIES, lambda x: operator.setitem(x, give(ROWS), give(TABLE[1:, 0]))
    ),
    "groups": lambda give: FRAME.groupby(give(LABELS)).sum(),
    "groups of a series": lambda give: SERIES.groupby(give(LABELS)).sum(),
    "groups of two": lambda give: NUMBERED.groupby(["g", give(LABELS)]).sum(),
    "index": lambda give: FRAME.set_index(give(LABELS)),
    "two indices": lambda give: NUMBERED.set_index(["g", give(LABELS)]),
    "merge": lambda give: NUMBERED.merge(NUMBERED, left_on=give(LABELS), right_on="g"),
    "merged": lambda give: pandas.merge(NUMBERED, NUMBERED, left_on="g", right_on=give(LABELS)),
    "where": lambda give: FRAME.where(give(TABLE > 2), give(TABLE)),
    "mask": lambda give: FRAME.mask(FRAME > 2, give(TABLE)),
    "clip": lambda give: FRAME.clip(give(TABLE), give(TABLE + 1)),
    "isin": lambda give: NUMBERED.isin(give(LABELS)),
    "isin of a series": lambda give: NUMBERED.g.isin(give(LABELS[2:])),
    "isin of an index": lambda give: pandas.Series(NUMBERED.index.isin(give(LABELS))),
    "divide": lambda give: FRAME.div(give(TABLE[:, 0]), axis=0),
    "divide a table": lambda give: FRAME.div(give(TABLE)),
    "one row": lambda give: FRAME * give(TABLE[1:2]),
    "truths": lambda give: (FRAME > 2) & give(TABLE > 2),
    "in place": lambda give: changed(FRAME, lambda x: operator.iadd(x, give(TABLE))),
    "categories": lambda give: pandas.Series(pandas.Categorical(give(LABELS))),
    "unique": lambda give: pandas.Series(pandas.unique(give(LABELS))),
    "factors": lambda give: pandas.Series(pandas.factorize(give(LABELS))[0]),
}
GIVE = {"standard": xp.asarray, "face": face.array}


def assert_same(result, expected):
    assert type(result) is type(expected)
    {
        pandas.DataFrame: pandas.testing.assert_frame_equal,
        pandas.Series: pandas.testing.assert_series_equal,
    }[type(expected)](result, expected)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("namespace", GIVE)
def test_operations(namespace, name):
    operation = OPERATIONS[name]
    assert_same(operation(GIVE[namespace]), operation(lambda x: x))


@pytest.mark.parametrize(
    "name",
    ["add", "eq", "floordiv", "ge", "gt", "le", "lt", "mod", "mul", "ne", "pow", "sub", "truediv"],
)
@pytest.mark.parametrize("namespace", GIVE)
def test_operators(namespace, name):
    function, give = getattr(operator, name), GIVE[namespace]
    for table in (TABLE, TABLE[:1], TABLE[:, :1], TABLE[0]):
        assert_same(function(FRAME, give(table)), function(FRAME, table))
        if namespace == "face":  # an array of the standard's is no operand of unknown classes
            assert_same(function(give(table), FRAME), function(table, FRAME))
    assert_same(function(SERIES, give(TABLE[:, 0])), function(SERIES, TABLE[:, 0]))


def test_masks_that_functions_give():
    mask = face.random.default_rng(0).random(len(FRAME)) < 0.5
    assert_same(FRAME[mask], FRAME[mask.tolist()])
    assert_same(FRAME[~face.isin(FRAME.a, [4.0])], FRAME[FRAME.a != 4.0])
    assert_same(FRAME.loc[face.argmax(FRAME.b.values) == face.arange(3)], FRAME[2:])
    decades = FRAME.groupby(face.arange(3) // 2).mean()
    assert_same(decades, FRAME.groupby([0, 0, 1]).mean())


def test_other_keys_and_long_lists():
    assert_same(FRAME["a"], FRAME.a)
    assert SERIES.iloc[0] == SERIES["x"] == 3.0
    assert_same(SERIES[lambda x: x > 1], SERIES[["x", "z"]])
    labels = [*range(100)]
    assert_same(pandas.Series(labels)[labels], pandas.Series(labels))
    assert pandas.Series(labels).isin(labels).all()


def test_errors_are_those_of_pandas():
    with pytest.raises((IndexError, ValueError), match="2"):
        FRAME[face.asarray([True, False])]
    with pytest.raises(ValueError, match="length"):
        FRAME.groupby(face.arange(2)).sum()


def test_methods_stay_what_they_are():
    assert "by" in inspect.signature(pandas.DataFrame.groupby).parameters
    assert pickle.loads(pickle.dumps(pandas.DataFrame.groupby)) is pandas.DataFrame.groupby
    assert "group" in (pandas.DataFrame.groupby.__doc__ or "").lower()


@pytest.mark.parametrize("modules", ["pandas, array_api_nx", "array_api_nx, pandas"])
def test_either_may_be_imported_first(modules):
    assert python(
        "-c",
        f"import {modules}\n"
        "xp = array_api_nx\n"
        "print(pandas.Series([1, 2, 3])[xp.asarray([True, False, True])].tolist())",
    ).split() == ["[1,", "3]"]
