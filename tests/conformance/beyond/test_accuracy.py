import math

import numpy as np
import pytest

from array_api_nx_conformance.beyond.findings import FAILS, MISSING, NOTED
from array_api_nx_conformance.beyond.subject import Subject

from .conftest import outcomes

mpmath = pytest.importorskip("mpmath")

from array_api_nx_conformance.beyond.accuracy import elementwise, matrices, sums  # noqa: E402
from array_api_nx_conformance.beyond.accuracy.exact import exact_table  # noqa: E402
from array_api_nx_conformance.beyond.accuracy.formats import DOUBLE  # noqa: E402
from array_api_nx_conformance.beyond.accuracy.references import exact_value, references  # noqa: E402

SOME = ["add", "divide", "remainder", "sqrt", "exp", "sin", "atan2", "floor", "nextafter", "abs"]


def test_numpy_passes():
    findings, rows = elementwise.check(Subject("numpy"), 20, 0, SOME)
    assert outcomes(findings, "passes") == set(SOME)
    assert not outcomes(findings, FAILS)
    assert {row["function"] for row in rows} == set(SOME)
    arithmetic = [row for row in rows if row["function"] == "add" and "float" in row["dtype"]]
    assert [row["bound"] for row in arithmetic] == [0.5, 0.5]
    assert all(0 < row["most"] <= 0.5 for row in arithmetic)
    assert all(row["usual"] <= row["most"] for row in rows)


def _one_ulp_off(function):
    return lambda *xs: np.nextafter(function(*xs), np.asarray(np.inf, xs[0].dtype))


def _in_single(function):
    return lambda x: function(x.astype(np.float32)).astype(x.dtype)


def test_arithmetic_has_to_be_rounded_to_nearest(faulty):
    wrong = lambda x, y: np.add(x, y) if x.dtype.kind == "c" else _one_ulp_off(np.add)(x, y)  # noqa: E731
    findings, _ = elementwise.check(faulty(add=wrong), 20, 0, ["add", "subtract"])
    assert outcomes(findings, FAILS) == {"add"}
    failed = next(finding for finding in findings if finding.outcome == FAILS)
    assert "ULP at" in failed.message
    assert failed.repro.startswith("xp.add(xp.asarray([")
    assert failed.repro.count("] * 64, dtype=xp.float32)") == 2


def test_approximations_may_be_off_by_some_ulps_and_not_by_half_of_the_bits(faulty):
    def off(x):
        return np.sin(x) if x.dtype.kind == "c" else np.where(x == 0, x, _one_ulp_off(np.sin)(x))

    def single(x):
        return np.exp(x) if x.dtype != np.float64 else _in_single(np.exp)(x)

    findings, rows = elementwise.check(faulty(sin=off, exp=single), 20, 0, ["sin", "exp"])
    failed = {(f.function, f.check) for f in findings if f.outcome == FAILS}
    assert failed == {("exp", "float64")}
    assert next(r["most"] for r in rows if r["function"] == "sin" and r["dtype"] == "float64") > 0.5


def test_rounding_functions_have_no_tolerance(faulty):
    findings, _ = elementwise.check(faulty(floor=_one_ulp_off(np.floor)), 20, 0, ["floor"])
    assert outcomes(findings, FAILS) == {"floor"}


def test_complex_numbers_of_unusual_magnitude_are_only_noted(faulty):
    def naive(x):
        with np.errstate(all="ignore"):  # overflows, where both components are great
            real, imag = x.real.astype(x.real.dtype), x.imag
            return np.abs(x) if x.dtype.kind != "c" else np.sqrt(real * real + imag * imag)

    findings, _ = elementwise.check(faulty(abs=naive), 60, 0, ["abs"])
    assert {finding.check: finding.outcome for finding in findings} == {
        "float32": "passes",
        "float64": "passes",
        "complex64": NOTED,
        "complex128": NOTED,
    }


def test_a_function_that_is_missing_or_raises(faulty):
    def broken(x):
        raise RuntimeError("out of order")

    findings, rows = elementwise.check(faulty(sin=broken, cos=None), 20, 0, ["sin", "cos"])
    assert outcomes(findings, FAILS) == {"sin"}
    assert outcomes(findings, MISSING) == {"cos"}
    assert rows == []
    assert "RuntimeError: out of order" in next(f.message for f in findings if f.function == "sin")


def test_exact_values_are_found_where_digits_cancel():
    tiny = mpmath.mpc(6e-267, -2e-166)
    value = exact_value(mpmath.asin, (tiny,), DOUBLE)
    assert float(value.imag) == -2e-166  # at 50 digits mpmath has 0 here
    assert float(value.real) == 6e-267
    log = exact_value(lambda x, y: x + mpmath.log1p(y), (mpmath.mpf(-(2.0**-70)), 2.0**-70), DOUBLE)
    assert float(log) == -(2.0**-141)


def test_tables_are_kept(tmp_path):
    reference = next(each for each in references() if each.name == "cosh")
    first = exact_table(reference, "complex64", 10, 0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert exact_table(reference, "complex64", 10, 0, tmp_path) == first
    assert all(math.isfinite(abs(arguments[0])) for arguments, _ in first)


def test_sums(faulty):
    def coarse(x):
        return np.sum(x.astype(np.float16).astype(x.dtype)) if x.dtype.kind == "f" else np.sum(x)

    def textbook(x):
        return np.mean(x * x) - np.mean(x) ** 2

    def nothing(x):
        return np.zeros_like(x)

    found = sums.check(
        faulty(sum=coarse, var=textbook, cumulative_prod=nothing), 0,
        ["sum", "mean", "var", "cumulative_sum", "cumulative_prod"],
    )  # fmt: skip
    assert outcomes(found, FAILS) == {"sum", "cumulative_prod"}
    assert outcomes(found, NOTED) == {"var"}
    assert {"mean", "cumulative_sum"} <= outcomes(found, "passes")


def test_linear_algebra(faulty):
    def off(x):
        return np.linalg.inv(x) * np.asarray(1.001, x.dtype)

    def upper(x):
        return np.linalg.cholesky(x).conj().T

    subject = faulty(linalg_inv=off, linalg_cholesky=upper, linalg_qr=None)
    select = ["linalg.inv", "cholesky", "linalg.qr", "linalg.det", "matmul"]
    found = matrices.check(subject, 0, select)
    assert outcomes(found, FAILS) == {"linalg.inv", "linalg.cholesky"}
    assert outcomes(found, MISSING) == {"linalg.qr"}
    assert outcomes(found, "passes") == {"linalg.det", "matmul"}


@pytest.mark.parametrize("module", [sums, matrices])
def test_numpys_sums_and_matrices_pass(module):
    select = ["sum", "std", "linalg.eigh", "linalg.svdvals", "linalg.cross", "fft.fft", "fft.rfft"]
    found = module.check(Subject("numpy"), 0, select)
    assert outcomes(found, "passes")
    assert not outcomes(found, FAILS) | outcomes(found, NOTED) | outcomes(found, MISSING)
