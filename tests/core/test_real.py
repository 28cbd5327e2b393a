"""Symbolic real numbers: the bits of Python's arithmetic on the values."""

import math
import operator
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.core.real import Real, evaluated, largest, real, source
from array_api_nx.core.symbolic import (
    Dim,
    UnboundError,
    UndecidedError,
    bind,
    deciding,
    dynamic,
    eval_dim,
)
from tests.support.refusals import refused

N = dynamic("n", min=2, max=1000)
M = dynamic("m", min=2, max=1000)
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
)  # fmt: skip


def value(x, n, m):
    with bind({N: n, M: m}):
        return evaluated(x)


expressions = st.recursive(
    st.sampled_from([(N, "n"), (M, "m"), (2.5, "2.5"), (3, "3"), (-0.5, "-0.5")]),
    lambda inner: st.tuples(st.sampled_from(OPERATORS), inner, inner),
    max_leaves=8,
)


def build(tree, n, m):
    if callable(tree[0]):
        return tree[0](build(tree[1], n, m), build(tree[2], n, m))
    return {"n": n, "m": m}.get(tree[1], tree[0])


@given(expressions, st.integers(2, 1000), st.integers(2, 1000))
def test_values_are_those_of_plain_numbers(tree, n, m):
    try:
        symbolic = build(tree, N, M)
        expected = build(tree, n, m)
    except ZeroDivisionError:
        return
    found = value(symbolic, n, m)
    assert type(found) is type(expected)
    assert found == expected
    names = {N.vars[0]: "a", M.vars[0]: "b"}
    assert eval(source(symbolic, names), {"a": n, "b": m}) == expected
    copied = pickle.loads(pickle.dumps(symbolic))
    assert copied == symbolic


def test_other_operations():
    for symbolic, expected in [
        (N**0.5, 5**0.5), (2.0**N, 2.0**5), (-(N / 2), -2.5), (abs(N / 2 - 9), 6.5),
        (+(N / 2), 2.5), (1 / (N / 2), 0.4), (1 - N / 2, -1.5), (7.0 % (N / 2), 2.0),
        (9.0 // (N / 2), 3.0), ((N / 2) ** 2, 6.25), (real("float", N), 5.0),
        (real("max", N, N / 2), 5), (N**2 / 2, 12.5),
    ]:  # fmt: skip
        assert isinstance(symbolic, Real)
        assert value(symbolic, 5, 2) == expected
        assert type(value(symbolic, 5, 2)) is type(expected)
    assert N**2 == N * N
    assert N**0 == 1
    assert abs(N) is N
    assert divmod(N, 2) == (N // 2, N % 2)
    assert isinstance(math.ceil(N / 2), Dim)
    for n in (2, 3, 7, 8):
        assert eval_dim(math.ceil(N / 2), {N: n}) == math.ceil(n / 2)
        assert eval_dim(math.floor(N / 2), {N: n}) == math.floor(n / 2)
    with bind({N: 5, M: 2}):
        assert 2**N == 32
        assert float(N / 2) == 2.5
        assert int(N / 2) == 2
        assert round(N / 3, 2) == 1.67
        assert math.ceil(N / 2.5) == 2
        assert math.sqrt(N) == math.sqrt(5)
        assert bool(N / 2)
        assert N / 2 > 2
        assert N / 2 <= M + 0.5
    assert real("+", 1, 2.5) == 3.5
    assert type(N * np.float64(2.0)) is Real


def test_what_is_undecided():
    assert (N < 1.5) is False
    assert (N > 1.5) is True
    for ask in (lambda: N < 5.5, lambda: N / 2 > 3, lambda: bool(N / 2 - 9)):
        refused(UndecidedError, r"cannot decide.*bind n", ask)
    for ask in (lambda: float(N / 2), lambda: int(N / 2), lambda: math.ceil(N / 2.5)):
        refused(UnboundError, r"has no value.*bind", ask)
    for other in (1j, None, "1"):
        refused(TypeError, None, operator.add, N / 2, other)
    assert N / 2 != "n"
    refused(TypeError, "has no constructor", Real)


def test_equality_is_of_structure():
    assert N / 2 == N / 2
    assert hash(N / 2) == hash(N / 2)
    assert N / 2 != N / 2.0
    assert N / 2 != N / 3
    assert N / 2 != M / 2
    assert N / 2 != 2.5
    assert str(1 / (N + 1)).replace(str(N), "n") == "1 / (n + 1)"
    assert str(-(N / 2)).replace(str(N), "n") == "-(n / 2)"
    assert str(real("float", N)).replace(str(N), "n") == "float(n)"


def test_largest():
    assert largest([3, 5, 4]) == 5
    assert largest([N, N + 1, 2]) == N + 1
    both = largest([N, M, N // 2])
    assert value(both, 5, 7) == 7
    assert value(both, 9, 7) == 9


class Recording:
    """A decider that says yes and remembers the questions."""

    def __init__(self):
        self.asked = []

    def decide(self, left, relation, right):
        self.asked.append(f"{left} {relation} {right}")
        return True

    def value(self, expression):
        self.asked.append(str(expression))
        return 7

    def is_nan_test(self):
        return False


def test_deciders():
    decider = Recording()
    with deciding(decider):
        assert N == 5
        assert N == M
        assert N < 50
        assert int(N) == 7
        assert float(N / 2) == 7
        assert N / 2 == 4
        assert bool(N - 5)
        assert len(decider.asked) == 7
        # Bounds, and equal expressions, ask no decider.
        assert N != 1
        assert N + 1 != N
        assert N - M + M == N
        assert N > 1
        # Lookups ask nothing.
        assert {N: 1}.get(M) is None
        assert (3, N) in {(3, N), (4, N)}
        assert len(decider.asked) == 7
        with deciding(None):
            assert N != 5
    assert N != 5
