"""Rows of `special_functions`: distributions, and what statistics needs."""

from __future__ import annotations

from typing import Final

from .special_row import SpecialFunction, of_complex

_FREEDOM: Final = {"dfn, dfd": "Degrees of freedom of numerator and denominator, positive."}
_TRIALS: Final = {
    "k": "Numbers of successes, rounded down.",
    "n": "Numbers of trials, of an integer dtype: of floats SciPy warns, and rounds them down.",
}
_FAILURES: Final = {
    "k, n": "Numbers of failures and of successes: of an integer dtype, or floats that are whole."
}

DISTRIBUTIONS: Final = (
    # -------------------------------------------------------------------- continuous distributions
    SpecialFunction(
        "chdtr",
        "The chi-square distribution function: the probability of at most `x`.",
        "``gammainc(v / 2, x / 2)``.",
        {"v": "Degrees of freedom.", "x": "``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "chdtrc",
        "The probability of more than `x` in the chi-square distribution.",
        "``gammaincc(v / 2, x / 2)``.",
        {"v": "Degrees of freedom.", "x": "``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "chdtri",
        "The inverse of `chdtrc` as a function of `x`.",
        "The `x` with ``chdtrc(v, x) == p``.",
        {"v": "Degrees of freedom.", "p": "Probabilities."},
        small=True,
    ),
    SpecialFunction(
        "fdtr",
        "The F distribution function: the probability of at most `x`.",
        "``betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))``.",
        {**_FREEDOM, "x": "``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "fdtrc",
        "The probability of more than `x` in the F distribution.",
        "``betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))``.",
        {**_FREEDOM, "x": "``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "fdtri",
        "The inverse of `fdtr` as a function of `x`.",
        "The `x` with ``fdtr(dfn, dfd, x) == p``.",
        {**_FREEDOM, "p": "Probabilities."},
        small=True,
    ),
    SpecialFunction(
        "gdtr",
        "The gamma distribution function: the probability of at most `x`.",
        "``gammainc(b, a * x)``.",
        {"a": "The rate, which is the inverse of the scale.", "b": "The shape.", "x": "``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "gdtrc",
        "The probability of more than `x` in the gamma distribution.",
        "``gammaincc(b, a * x)``.",
        {"a": "The rate, which is the inverse of the scale.", "b": "The shape.", "x": "``>= 0``."},
        small=True,
    ),
    of_complex(
        "log_ndtr",
        "The logarithm of the normal distribution function.",
        "``log(ndtr(x))``, accurate in both tails.",
        engines="torch",
    ),
    of_complex(
        "ndtr",
        "The normal distribution function: the probability of at most `x`.",
        "``(1 + erf(x / sqrt(2))) / 2``, accurate in both tails.",
        engines="torch jax",
    ),
    SpecialFunction(
        "ndtri",
        "The inverse of the normal distribution function.",
        "The `x` with ``ndtr(x) == y``; -inf and inf at 0 and 1, NaN beyond.",
        {"y": "Between 0 and 1."},
        small=True,
        engines="torch jax",
    ),
    SpecialFunction(
        "stdtr",
        "Student's t distribution function: the probability of at most `t`.",
        "``betainc(df / 2, 1 / 2, df / (df + t**2)) / 2`` for negative `t`, 1 minus that for "
        "others.",
        {"df": "Degrees of freedom, positive.", "t": "Real values."},
        small=True,
    ),
    SpecialFunction(
        "stdtrit",
        "The inverse of `stdtr` as a function of `t`.",
        "The `t` with ``stdtr(df, t) == p``.",
        {"df": "Degrees of freedom, positive.", "p": "Probabilities."},
        small=True,
    ),
    # -------------------------------------------------------------------- discrete distributions
    SpecialFunction(
        "bdtr",
        "The binomial distribution function: the probability of at most `k` successes.",
        "``betainc(n - floor(k), floor(k) + 1, 1 - p)``.",
        {**_TRIALS, "p": "Probabilities of a success."},
        small=True,
    ),
    SpecialFunction(
        "bdtrc",
        "The probability of more than `k` successes in the binomial distribution.",
        "``betainc(floor(k) + 1, n - floor(k), p)``.",
        {**_TRIALS, "p": "Probabilities of a success."},
        small=True,
    ),
    SpecialFunction(
        "bdtri",
        "The inverse of `bdtr` as a function of `p`.",
        "The `p` with ``bdtr(k, n, p) == y``.",
        {**_TRIALS, "y": "Probabilities."},
        small=True,
    ),
    SpecialFunction(
        "nbdtr",
        "The negative binomial distribution function: at most `k` failures before success `n`.",
        "``betainc(n, k + 1, p)``.",
        {**_FAILURES, "p": "Probabilities of a success."},
        results="arrays",
    ),
    SpecialFunction(
        "nbdtrc",
        "The probability of more than `k` failures before success `n`.",
        "``betainc(k + 1, n, 1 - p)``.",
        {**_FAILURES, "p": "Probabilities of a success."},
        results="arrays",
    ),
    SpecialFunction(
        "nbdtri",
        "The inverse of `nbdtr` as a function of `p`.",
        "The `p` with ``nbdtr(k, n, p) == y``.",
        {**_FAILURES, "y": "Probabilities."},
        results="arrays",
    ),
    SpecialFunction(
        "pdtr",
        "The Poisson distribution function: the probability of at most `k` events.",
        "``gammaincc(floor(k) + 1, m)``.",
        {"k": "Numbers of events, rounded down.", "m": "The mean, ``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "pdtrc",
        "The probability of more than `k` events in the Poisson distribution.",
        "``gammainc(floor(k) + 1, m)``.",
        {"k": "Numbers of events, rounded down.", "m": "The mean, ``>= 0``."},
        small=True,
    ),
    SpecialFunction(
        "pdtri",
        "The inverse of `pdtr` as a function of `m`.",
        "The `m` with ``pdtr(k, m) == y``.",
        {
            "k": "Numbers of events: of an integer dtype, or floats that are whole.",
            "y": "Probabilities.",
        },
        results="arrays",
    ),
    # -------------------------------------------------------------------- statistics
    SpecialFunction(
        "boxcox",
        "The Box-Cox transformation.",
        "``(x**lmbda - 1) / lmbda``, and ``log(x)`` where `lmbda` is 0; NaN for negative `x`.",
        {"x": "``>= 0``.", "lmbda": "The power."},
        small=True,
    ),
    SpecialFunction(
        "boxcox1p",
        "The Box-Cox transformation of one plus a number.",
        "``((1 + x)**lmbda - 1) / lmbda``, and ``log1p(x)`` where `lmbda` is 0; NaN for `x` below "
        "-1.",
        {"x": "``>= -1``.", "lmbda": "The power."},
        small=True,
    ),
    SpecialFunction(
        "entr",
        "The summands of the entropy.",
        "``-x * log(x)``, 0 at zero, and -inf for negative `x`.",
        small=True,
        engines="torch jax",
    ),
    SpecialFunction(
        "expit",
        "The logistic function.",
        "``1 / (1 + exp(-x))``.",
        engines="torch jax",
    ),
    SpecialFunction(
        "huber",
        "Huber's loss function.",
        "``r**2 / 2`` where ``abs(r) <= delta``, else ``delta * (abs(r) - delta/2)``; inf for "
        "negative `delta`.",
        {"delta": "Where the loss becomes linear.", "r": "Residuals."},
        small=True,
    ),
    SpecialFunction(
        "inv_boxcox",
        "The inverse of the Box-Cox transformation.",
        "``(y * lmbda + 1)**(1 / lmbda)``, and ``exp(y)`` where `lmbda` is 0.",
        {"y": "Real values.", "lmbda": "The power."},
        small=True,
    ),
    SpecialFunction(
        "inv_boxcox1p",
        "The inverse of `boxcox1p`.",
        "``(y * lmbda + 1)**(1 / lmbda) - 1``, and ``exp(y) - 1`` where `lmbda` is 0.",
        {"y": "Real values.", "lmbda": "The power."},
        small=True,
    ),
    SpecialFunction(
        "kl_div",
        "The summands of the Kullback-Leibler divergence, convex in both.",
        "``x * log(x / y) - x + y`` for positive operands, `y` where `x` is 0 and `y` is not "
        "negative, else inf.",
        {"x, y": "Real values."},
        small=True,
    ),
    SpecialFunction(
        "logit",
        "The inverse of the logistic function.",
        "``log(x / (1 - x))``; -inf and inf at 0 and 1, NaN beyond.",
        {"x": "Between 0 and 1."},
        engines="torch jax",
    ),
    SpecialFunction(
        "pseudo_huber",
        "The smooth approximation of Huber's loss function.",
        "``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``; inf for negative `delta`.",
        {"delta": "Where the loss becomes linear.", "r": "Residuals."},
        small=True,
    ),
    SpecialFunction(
        "rel_entr",
        "The summands of the relative entropy.",
        "``x * log(x / y)`` for positive operands, 0 where `x` is 0 and `y` is not negative, else "
        "inf.",
        {"x, y": "Real values."},
        small=True,
    ),
)
