"""What the table says of one function or estimator."""

import os

import numpy as np
import pytest

import array_api_nx as xp

pytest.importorskip("sklearn", minversion="1.9")

from scipy import special, stats
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from array_api_nx_conformance.support.subjects import ESTIMATORS, Subject
from array_api_nx_conformance.support.trial import Trials, agree, arrays_in, first_words

TRIALS = Trials(xp, "test:no_mask_index")


def lost(x):
    return xp.asarray(np.asarray(x))


def to_numpy(x):
    return np.asarray(x)


def refuse(x):
    if isinstance(x, xp.Array):
        raise TypeError("no such arrays\nhere")
    return x


def other(x):
    return x + 1 if isinstance(x, xp.Array) else x


def some(x):
    return x, np.asarray(x)


def average(x, nan_policy="propagate", axis=0):
    """Heeds nan_policy for NumPy's arrays, and for arrays of one axis."""
    if isinstance(x, np.ndarray) or x.ndim == 1:
        return np.nanmean(np.asarray(x), axis=axis)
    return xp.mean(x, axis=axis)


@pytest.mark.parametrize(
    ("target", "call", "expected"),
    [
        (np.negative, "f(x)", {"arrays": "kept", "device": "kept", "mend": ""}),
        (lost, "f(x)", {"arrays": "kept", "device": "on `cpu`", "mend": "default device"}),
        (to_numpy, "f(x)", {"arrays": "become NumPy's", "mend": "results"}),
        (some, "f(x)", {"arrays": "some become NumPy's", "mend": "results"}),
        (float, "f(x[0])", {"arrays": "numbers", "mend": ""}),
        (refuse, "f(x)", {"arrays": "raise `TypeError: no such arrays`", "mend": "arguments"}),
        (other, "f(x)", {"arrays": "kept, other values"}),
        (refuse, None, {"untried": "no example for "}),
        (refuse, "f(x, x)", {"untried": "NumPy's arrays: TypeError: refuse() takes 1 "
                             "positional argument but 2 were given"}),
    ],
)  # fmt: skip
def test_functions(target, call, expected):
    row = TRIALS.row(Subject("made_up", "made_up", target, call))
    assert row is not None
    assert {name: row[name] for name in expected} == expected


def test_what_takes_no_arrays_has_no_row():
    assert TRIALS.row(Subject("scipy.fft", "next_fast_len", lambda n: n, "f(3)")) is None


def test_nan_policy_is_compared_with_numpys():
    subject = Subject("made_up", "average", average, "f(x)", ("x", "nan_policy", "axis"))
    row = TRIALS.row(subject)
    assert row is not None
    assert row["nan_policy"] == "heeded, for tables ignored"
    assert row["mend"] == "arguments for nan_policy"


def test_estimators_that_do_not_take_our_arrays_do_with_dispatch_off():
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("scikit-learn dispatches with SCIPY_ARRAY_API=1 alone")
    row = TRIALS.row(Subject(ESTIMATORS, "KMeans", KMeans, "use(f(random_state=0), X, y)"))
    assert row is not None
    assert row["arrays"].startswith("raise `")
    assert row["mend"] == "dispatch off"
    row = TRIALS.row(Subject(ESTIMATORS, "StandardScaler", StandardScaler, "use(f(), X, y)"))
    assert row is not None
    assert row["arrays"] == "kept"


def test_arrays_are_found_in_tuples_dicts_and_objects():
    x = xp.asarray([1.0])
    result = stats.ttest_ind(xp.asarray([1.0, 2.0, 4.0]), xp.asarray([1.0, 3.0, 4.0]))
    assert len(arrays_in((x, {"a": [x]}, "text", 3.0, None))) == 2
    assert arrays_in(result)


def test_results_agree_but_for_rounding():
    x = np.linspace(0.0, 1.0, 7)
    assert agree((x, 1.0), (xp.asarray(x) * (1 + 1e-12), 1.0))
    assert not agree(x, xp.asarray(x) + 1e-3)
    assert not agree(x, xp.asarray(x)[1:])
    assert agree(np.asarray([np.nan]), xp.asarray([np.nan]))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("plain", "ValueError: plain"),
        ("first\nsecond", "ValueError: first"),
        ("namespaces: [<module 'numpy' from '/somewhere'>]", "ValueError: namespaces:"),
        ("<object object at 0x7f00>", "ValueError: <object object"),
        ("", "ValueError"),
        ("words " * 30, "ValueError: " + " ".join(["words"] * 11) + " ..."),
    ],
)
def test_messages_are_the_same_everywhere(message, expected):
    assert first_words(ValueError(message)) == expected


def test_examples_suit_functions_that_need_them():
    assert TRIALS.row(Subject("scipy.special", "ndtr", special.ndtr, "f(u)"))
