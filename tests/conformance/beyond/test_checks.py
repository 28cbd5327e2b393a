"""The chapters on planted mistakes: each is found, and nothing else is."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from array_api_nx_conformance.beyond import aliasing, dlpack, refusals, remainder, special_cases
from array_api_nx_conformance.beyond.findings import FAILS, MISSING, NOTED, PASSES
from array_api_nx_conformance.beyond.subject import Subject

from .conftest import outcomes

FINITE = st.floats(allow_nan=False, allow_infinity=False)


# ---------------------------------------------------------------------- remainder


@given(st.floats(), st.floats())
def test_the_exact_remainder_is_pythons(x, y):
    expected = math.nan if y == 0 or math.isinf(x) else x % y
    assert remainder.same(remainder.python_remainder(x, y, "float64"), expected)


@given(st.floats(width=32), st.floats(width=32))
@example(-1.0, float(np.finfo(np.float32).max))
@example(-(2.0**-149), 1.0)
def test_the_exact_remainder_of_float32_is_rounded_once(x, y):
    with np.errstate(all="ignore"):
        expected = float(np.remainder(np.float32(x), np.float32(y)))
    assert remainder.same(remainder.python_remainder(x, y, "float32"), expected)


@given(st.integers(-128, 127), st.integers(-128, 127).filter(bool))
def test_the_exact_remainder_of_integers(x, y):
    assert remainder.python_remainder(x, y, "int8") == x % y


def test_numpys_remainder_passes():
    findings = remainder.check(Subject("numpy"), 0)
    assert len(findings) == 50
    assert {finding.outcome for finding in findings} == {PASSES}


def test_the_sign_of_a_zero_is_found(faulty):
    def wrong(x, y):
        return np.remainder(x, y) + np.asarray(0, x.dtype)

    findings = remainder.check(faulty(remainder=wrong), 0)
    failed = [finding for finding in findings if finding.outcome == FAILS]
    assert {each.check for each in failed} == {
        "remainder(x1, x2), float32", "remainder(x1, x2), float64",
    }  # fmt: skip
    assert "0.0, not -0.0" in failed[0].message
    assert "Python % operator" in failed[0].rule
    assert failed[0].repro.startswith("xp.remainder(xp.asarray(")


# ---------------------------------------------------------------------- special cases


def test_special_cases_of_numpy():
    findings = special_cases.check(Subject("numpy"))
    assert not outcomes(findings, FAILS) | outcomes(findings, MISSING)
    assert {"hypot", "sqrt", "copysign", "expm1", "acos"} <= outcomes(findings, PASSES)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("hypot", lambda x, y: np.sqrt(x * x + y * y)),
        ("copysign", lambda x, y: np.where(y < 0, -np.abs(x), np.abs(x))),
        ("square", lambda x: np.where(np.isinf(x), np.nan, np.square(x))),
        ("isnan", lambda z: np.isnan(z.real)),
        ("exp", lambda z: np.where(np.isinf(z.real), np.exp(z.real), np.exp(z))),
        ("asin", lambda z: np.arcsin(z) + 0.01j),
    ],
)
def test_a_special_case_that_is_wrong(faulty, name, wrong):
    findings = special_cases.check(faulty(**{name: wrong}))
    assert outcomes(findings, FAILS) == {name}


def test_symmetry_up_to_rounding_is_noted(faulty):
    def uneven(z):
        result = np.acos(z)
        result.real[z.imag > 0] *= 1 + 4 * np.finfo(z.dtype).eps
        return result

    findings = special_cases.check(faulty(acos=uneven))
    assert "acos" in outcomes(findings, NOTED)
    assert not outcomes(findings, FAILS)


# ---------------------------------------------------------------------- copies


def test_numpy_copies_as_it_should():
    findings = aliasing.check(Subject("numpy"))
    assert not outcomes(findings, FAILS) | outcomes(findings, MISSING)
    views = {f.function: f.message for f in findings if f.check == "a view or a copy"}
    assert views["flip"] == "a view"
    assert views["roll"] == "a copy"
    assert views["broadcast_to"].startswith("a view that cannot be written")


def _sort_in_place(x, *, axis=-1):
    x.sort(axis)
    return x.copy()


@pytest.mark.parametrize(
    ("name", "wrong", "check"),
    [
        ("asarray", lambda x, dtype=None, copy=None: np.asarray(x, dtype), "copy=True of an array"),
        ("asarray", lambda x, dtype=None, copy=None: np.array(x, dtype), "copy=False of an array"),
        ("astype", lambda x, d, copy=True: x if x.dtype == d else x.astype(d),
         "no copy=, the same dtype"),
        ("astype", lambda x, d, copy=True: x.astype(d), "copy=False, the same dtype"),
        ("reshape", lambda x, s, copy=None: np.reshape(x, s), "copy=True"),
        ("reshape", lambda x, s, copy=None: np.reshape(x, s).copy(), "copy=None"),
        ("reshape", lambda x, s, copy=None: np.reshape(x, s, copy=None if copy is False else copy),
         "copy=False where no view can do"),
        ("ones_like", lambda x: x, "the result and the input"),
        ("sort", _sort_in_place, "the input keeps its values"),
        ("from_dlpack", lambda x, copy=None: np.from_dlpack(x), "copy=True"),
    ],
)  # fmt: skip
def test_a_copy_that_is_wrong(faulty, name, wrong, check):
    findings = aliasing.check(faulty(**{name: wrong}))
    failed = {(each.function, each.check) for each in findings if each.outcome == FAILS}
    assert (name, check) in failed
    assert {function for function, _ in failed} == {name}


def test_without_writes_nothing_is_said_of_views(monkeypatch):
    subject = Subject("numpy")
    subject.mutable = subject.views = False
    findings = aliasing.check(subject)
    assert not outcomes(findings, FAILS)
    assert {f.outcome for f in findings if f.check == "a view or a copy"} == {"skipped"}


# ---------------------------------------------------------------------- DLPack


@pytest.fixture
def only_numpy(monkeypatch):
    monkeypatch.setattr(dlpack, "installed", lambda: ["numpy", "array_api_strict"])
    # Another process could not import the namespaces of these tests.
    monkeypatch.setattr(dlpack, "_elsewhere", lambda *task: ("fine", ""))


@pytest.mark.usefixtures("only_numpy")
def test_round_trips_of_numpy():
    pytest.importorskip("array_api_strict")
    findings = dlpack.check(Subject("numpy"))
    assert not outcomes(findings, FAILS) | outcomes(findings, MISSING)
    pairs = {finding.check.partition(",")[0] for finding in findings}
    assert {"numpy to array_api_strict", "array_api_strict to numpy", "numpy to numpy"} <= pairs


@pytest.mark.usefixtures("only_numpy")
@pytest.mark.parametrize(
    ("wrong", "aspect", "message"),
    [
        (lambda x, copy=None: np.from_dlpack(x), "copy=True", "row-major: shares memory"),
        (lambda x, copy=None: np.from_dlpack(x, copy=True), "copy=False", "row-major: is a copy"),
        (lambda x, copy=None: np.from_dlpack(x, copy=True if copy is None else copy), "copy=None",
         "is a copy, and copy=False is none"),
        (lambda x, copy=None: np.from_dlpack(x, copy=copy).astype(np.float64), "dtypes",
         "int8 becomes float64"),
        (lambda x, copy=None: np.atleast_1d(np.from_dlpack(x, copy=copy)), "layouts",
         r"shape () becomes (1,)"),
        (lambda x, copy=None: np.ascontiguousarray(np.from_dlpack(x, copy=copy).T).T * 2, "layouts",
         "becomes"),
    ],
)  # fmt: skip
def test_a_round_trip_that_is_wrong(faulty, wrong, aspect, message):
    subject = faulty(from_dlpack=wrong)
    findings = dlpack.check(subject)
    failed = {each.check: each.message for each in findings if each.outcome == FAILS}
    assert message in failed[f"numpy to faulty_numpy, {aspect}"]
    # NumPy's arrays are not to blame, nor is NumPy, which takes these arrays as it should.
    assert all(check.endswith(f"to faulty_numpy, {check.rpartition(', ')[2]}") for check in failed)


@pytest.mark.usefixtures("only_numpy")
def test_a_consumer_that_dies(monkeypatch):
    monkeypatch.setattr(dlpack, "_elsewhere", lambda *task: ("wrong", "the process dies"))
    monkeypatch.setattr(dlpack, "_other_is_to_blame", lambda *task: False)
    findings = dlpack.check(Subject("numpy"))
    assert {f.check for f in findings if f.outcome == FAILS} == {
        f"{pair}, layouts"
        for pair in ("numpy to numpy", "numpy to array_api_strict", "array_api_strict to numpy")
    }


def test_another_process_hands_over_what_this_one_would():
    assert dlpack._elsewhere("numpy", "numpy", "flipped", "layouts") == ("fine", "")
    status, message = dlpack._elsewhere("numpy", "numpy", "no such case", "layouts")
    assert status == "wrong"
    assert "exit status" in message


# ---------------------------------------------------------------------- refusals


def test_refusals_name_exceptions(faulty):
    found = refusals.outcomes(faulty(concat=lambda arrays: arrays))
    assert found["concat of nothing"] != "ValueError"
    assert found["an index out of range"] == "IndexError"
    assert found["reshape to another size"] == "ValueError"
