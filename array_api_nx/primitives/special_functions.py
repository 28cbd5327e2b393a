"""The functions of ``scipy.special`` that `special` has under the same names: a row each.

Compositions, and functions with operands that may be left out, are written out in
special/compositions.py.
"""

from __future__ import annotations

from typing import Final

from .special_distributions import DISTRIBUTIONS
from .special_row import SpecialFunction, of_complex

ROWS: Final = (
    # -------------------------------------------------------------------- elementary
    SpecialFunction("cbrt", "The cube root.", "``x**(1/3)`` with the sign of `x`."),
    SpecialFunction(
        "cosdg",
        "The cosine of an angle in degrees.",
        "``cos(pi * x / 180)``, exact at multiples of 90.",
        {"x": "Degrees."},
    ),
    SpecialFunction(
        "cosm1", "The cosine minus one.", "``cos(x) - 1``, accurate near zero.", {"x": "Radians."}
    ),
    SpecialFunction(
        "cotdg",
        "The cotangent of an angle in degrees.",
        "``1 / tan(pi * x / 180)``; inf at multiples of 180.",
        {"x": "Degrees."},
    ),
    SpecialFunction(
        "exp2", "Powers of two.", "``2**x``.", {"x": "Real exponents."}, engines="torch jax"
    ),
    SpecialFunction("exp10", "Powers of ten.", "``10**x``.", {"x": "Real exponents."}),
    SpecialFunction(
        "exprel",
        "The relative error of one as the exponential.",
        "``(exp(x) - 1) / x``, accurate near zero, and 1 at zero.",
    ),
    SpecialFunction(
        "radian",
        "Angles from degrees, minutes and seconds.",
        "``(d + m/60 + s/3600) * pi / 180``.",
        {"d, m, s": "Degrees, minutes and seconds of arc."},
    ),
    SpecialFunction(
        "sindg",
        "The sine of an angle in degrees.",
        "``sin(pi * x / 180)``, exact at multiples of 90.",
        {"x": "Degrees."},
    ),
    SpecialFunction(
        "tandg",
        "The tangent of an angle in degrees.",
        "``tan(pi * x / 180)``; inf at odd multiples of 90.",
        {"x": "Degrees."},
    ),
    SpecialFunction(
        "xlog1py",
        "A factor times the logarithm of one plus a number.",
        "``x * log1p(y)``, and 0 where `x` is 0 and `y` no NaN.",
        {"x": "Factors.", "y": "What 1 is added to."},
        results="complex",
        engines="torch",
    ),
    SpecialFunction(
        "xlogy",
        "A factor times a logarithm.",
        "``x * log(y)``, and 0 where `x` is 0 and `y` no NaN.",
        {"x": "Factors.", "y": "What the logarithm is taken of."},
        results="complex",
        engines="torch jax",
    ),
    # -------------------------------------------------------------------- integrals
    SpecialFunction(
        "ellipk",
        "The complete elliptic integral of the first kind.",
        "``integral of (1 - m * sin(t)**2)**(-1/2)`` over t from 0 to pi/2; inf at 1, NaN above.",
        {"m": "The parameter, at most 1."},
    ),
    SpecialFunction(
        "ellipkm1",
        "The complete elliptic integral of the first kind around one.",
        "``ellipk(1 - p)``, accurate near ``p == 0``.",
        {"p": "What the parameter lacks to 1; at least 0."},
    ),
    of_complex(
        "erf",
        "The error function.",
        "``2/sqrt(pi) * integral of exp(-t**2)`` over t from 0 to `x`.",
        engines="torch jax",
    ),
    of_complex(
        "erfc",
        "The complementary error function.",
        "``1 - erf(x)``, accurate where that is small.",
        engines="torch jax",
    ),
    of_complex(
        "erfcx",
        "The scaled complementary error function.",
        "``exp(x**2) * erfc(x)``.",
        engines="torch",
    ),
    SpecialFunction(
        "erfinv",
        "The inverse of the error function.",
        "The `x` with ``erf(x) == y``; -inf and inf at -1 and 1, NaN beyond.",
        {"y": "Between -1 and 1."},
        small=True,
        engines="torch jax",
    ),
    of_complex(
        "exp1",
        "The exponential integral E1.",
        "``integral of exp(-x * t) / t`` over t from 1 to inf; inf at zero, NaN for negative real "
        "`x`.",
        small=True,
    ),
    of_complex(
        "expi",
        "The exponential integral Ei.",
        "``integral of exp(t) / t`` over t from -inf to `x`, its principal value; -inf at zero.",
        small=True,
    ),
    SpecialFunction(
        "expn",
        "The generalised exponential integral En.",
        "``integral of exp(-x * t) / t**n`` over t from 1 to inf.",
        {
            "n": "Integers, ``>= 0``; of an integer dtype, or floats that are whole.",
            "x": "``>= 0``.",
        },
        results="arrays",
    ),
    SpecialFunction(
        "spence",
        "Spence's function, the dilogarithm of ``1 - z``.",
        "``integral of log(t) / (1 - t)`` over t from 1 to `z`; NaN for negative real `z`.",
        {"z": "``>= 0`` if real."},
        results="complex",
        small=True,
    ),
    # -------------------------------------------------------------------- gamma functions
    SpecialFunction(
        "betainc",
        "The regularised incomplete beta function.",
        "``integral of t**(a-1) * (1-t)**(b-1)`` over t from 0 to `x`, divided by that to 1.",
        {"a, b": "Positive parameters.", "x": "Between 0 and 1."},
        small=True,
    ),
    SpecialFunction(
        "betaincc",
        "The complement of the regularised incomplete beta function.",
        "``1 - betainc(a, b, x)``, accurate where that is small.",
        {"a, b": "Positive parameters.", "x": "Between 0 and 1."},
        small=True,
    ),
    SpecialFunction(
        "betaincinv",
        "The inverse of the regularised incomplete beta function.",
        "The `x` with ``betainc(a, b, x) == y``.",
        {"a, b": "Positive parameters.", "y": "Between 0 and 1."},
        small=True,
    ),
    SpecialFunction(
        "betaln",
        "The logarithm of the absolute value of the beta function.",
        "``log(abs(gamma(a) * gamma(b) / gamma(a + b)))``.",
        {"a, b": "Real values."},
    ),
    SpecialFunction(
        "binom",
        "Binomial coefficients, also of real numbers.",
        "``gamma(x + 1) / (gamma(y + 1) * gamma(x - y + 1))``.",
        {"x": "Of how many.", "y": "How many."},
        small=True,
    ),
    of_complex(
        "digamma",
        "The digamma function; another name of `psi`.",
        "The derivative of ``log(gamma(x))``.",
    ),
    of_complex(
        "gamma",
        "The gamma function.",
        "``integral of t**(x-1) * exp(-t)`` over t from 0 to inf, and its continuation; NaN at "
        "negative integers, inf of the sign of `x` at zeros.",
    ),
    SpecialFunction(
        "gammainc",
        "The regularised lower incomplete gamma function.",
        "``integral of t**(a-1) * exp(-t)`` over t from 0 to `x`, divided by ``gamma(a)``.",
        {"a": "``>= 0``.", "x": "``>= 0``."},
    ),
    SpecialFunction(
        "gammaincc",
        "The regularised upper incomplete gamma function.",
        "``1 - gammainc(a, x)``, accurate where that is small.",
        {"a": "``>= 0``.", "x": "``>= 0``."},
    ),
    SpecialFunction(
        "gammainccinv",
        "The inverse of the regularised upper incomplete gamma function.",
        "The `x` with ``gammaincc(a, x) == y``.",
        {"a": "Positive.", "y": "Between 0 and 1."},
    ),
    SpecialFunction(
        "gammaincinv",
        "The inverse of the regularised lower incomplete gamma function.",
        "The `x` with ``gammainc(a, x) == y``.",
        {"a": "Positive.", "y": "Between 0 and 1."},
    ),
    SpecialFunction(
        "gammaln",
        "The logarithm of the absolute value of the gamma function.",
        "``log(abs(gamma(x)))``; inf at zero and negative integers.",
    ),
    SpecialFunction(
        "gammasgn",
        "The sign of the gamma function.",
        "1.0 or -1.0, so that ``gamma(x) == gammasgn(x) * exp(gammaln(x))``; NaN at negative "
        "integers.",
    ),
    of_complex(
        "loggamma",
        "The principal branch of the logarithm of the gamma function.",
        "``log(gamma(x))``; for real `x` NaN where `x` is negative, and `gammaln` is not.",
    ),
    SpecialFunction(
        "poch",
        "The rising factorial, Pochhammer's symbol.",
        "``gamma(z + m) / gamma(z)``.",
        {"z, m": "Real values."},
        small=True,
    ),
    of_complex(
        "psi",
        "The digamma function.",
        "The derivative of ``log(gamma(x))``; NaN at negative integers, inf of the opposite sign "
        "at zeros.",
        engines="torch",
    ),
    of_complex(
        "rgamma",
        "The reciprocal of the gamma function.",
        "``1 / gamma(x)``; 0 at zero and negative integers.",
    ),
    SpecialFunction(
        "zetac",
        "The Riemann zeta function minus one.",
        "``zeta(x) - 1``, accurate where `x` is large.",
    ),
    # -------------------------------------------------------------------- bessel
    SpecialFunction(
        "hyp1f1",
        "Kummer's confluent hypergeometric function.",
        "The sum over k of ``poch(a, k) / poch(b, k) * x**k / k!``.",
        {"a, b": "Real parameters.", "x": "Real or complex values."},
        results=(
            "float32 or complex64 if all arrays have single precision, else float64 or complex128"
        ),
        small=True,
    ),
    SpecialFunction(
        "i0",
        "The modified Bessel function of the first kind of order 0.",
        "The sum over k of ``(x**2 / 4)**k / (k!)**2``.",
        engines="torch jax",
    ),
    SpecialFunction(
        "i0e",
        "The scaled modified Bessel function of the first kind of order 0.",
        "``exp(-abs(x)) * i0(x)``.",
        engines="torch jax",
    ),
    SpecialFunction(
        "i1",
        "The modified Bessel function of the first kind of order 1.",
        "``x/2`` times the sum over k of ``(x**2 / 4)**k / (k! * (k + 1)!)``.",
        engines="torch jax",
    ),
    SpecialFunction(
        "i1e",
        "The scaled modified Bessel function of the first kind of order 1.",
        "``exp(-abs(x)) * i1(x)``.",
        engines="torch jax",
    ),
    SpecialFunction(
        "j0",
        "The Bessel function of the first kind of order 0.",
        "The sum over k of ``(-x**2 / 4)**k / (k!)**2``.",
    ),
    SpecialFunction(
        "j1",
        "The Bessel function of the first kind of order 1.",
        "``x/2`` times the sum over k of ``(-x**2 / 4)**k / (k! * (k + 1)!)``.",
    ),
    SpecialFunction(
        "k0",
        "The modified Bessel function of the second kind of order 0.",
        "``integral of cos(x * t) / sqrt(t**2 + 1)`` over t from 0 to inf; inf at zero, NaN below.",
        {"x": "Positive."},
        engines="torch",
    ),
    SpecialFunction(
        "k0e",
        "The scaled modified Bessel function of the second kind of order 0.",
        "``exp(x) * k0(x)``.",
        {"x": "Positive."},
        engines="torch",
    ),
    SpecialFunction(
        "k1",
        "The modified Bessel function of the second kind of order 1.",
        "Minus the derivative of `k0`; inf at zero, NaN below.",
        {"x": "Positive."},
        engines="torch",
    ),
    SpecialFunction(
        "k1e",
        "The scaled modified Bessel function of the second kind of order 1.",
        "``exp(x) * k1(x)``.",
        {"x": "Positive."},
        engines="torch",
    ),
    SpecialFunction(
        "lpmv",
        "The associated Legendre function of the first kind, of integer order and real degree.",
        "``(-1)**m * (1 - x**2)**(m/2)`` times the derivative of order `m` of the Legendre "
        "function of degree `v`.",
        {
            "m": "The order: integers, of any real dtype; NaN for others.",
            "v": "The degree.",
            "x": "Between -1 and 1.",
        },
        small=True,
    ),
    SpecialFunction(
        "y0",
        "The Bessel function of the second kind of order 0.",
        "The second solution of the differential equation of `j0`; -inf at zero, NaN below.",
        {"x": "Positive."},
    ),
    SpecialFunction(
        "y1",
        "The Bessel function of the second kind of order 1.",
        "The second solution of the differential equation of `j1`; -inf at zero, NaN below.",
        {"x": "Positive."},
    ),
    SpecialFunction(
        "yn",
        "The Bessel function of the second kind of integer order.",
        "By recurrence on the order from `y0` and `y1`; -inf at zero, NaN below.",
        {"n": "The order: of an integer dtype, or floats that are whole.", "x": "Positive."},
        results="arrays",
    ),
    *DISTRIBUTIONS,
)
