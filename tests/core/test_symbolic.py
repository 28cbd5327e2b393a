"""Symbolic dimensions against Python's integers, and the rules of binding."""

import contextlib
import contextvars
import copy
import gc
import math
import operator
import pickle
import re
import threading

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from array_api_nx.core import symbolic
from array_api_nx.core.symbolic import (
    BoundsError,
    Dim,
    SymbolicShape,
    UnboundError,
    UndecidedError,
    Var,
    bind,
    dim_of_var,
    dynamic,
    eval_dim,
    static,
)
from tests.support.refusals import refused
from tests.support.threads import together


def var(name, **bounds):
    return dynamic(name, **bounds).vars[0]


def substitute(values, dim):
    """`dim` with values put in, as comparisons do with those in scope."""
    return symbolic._substitute(dim, {key.vars[0]: value for key, value in values.items()}, {})


@pytest.fixture
def n():
    return dynamic("n", min=1, max=100)


@pytest.fixture
def m():
    return dynamic("m", min=1, max=50)


# Random expressions: the same tree is built from dimensions and from ints.

BOUNDS = ((0, 6), (1, 9), (-4, 5), (2, 7))
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}

DIMS = tuple(dynamic(f"x{i}", min=lo, max=hi) for i, (lo, hi) in enumerate(BOUNDS))


def expressions(operators):
    leaves = st.sampled_from([("x", i) for i in range(len(BOUNDS))]) | st.integers(-5, 5)
    names = st.sampled_from(operators.split())
    return st.recursive(
        leaves, lambda t: st.tuples(st.just("neg"), t) | st.tuples(names, t, t), max_leaves=8
    )


trees = expressions("+ - * // %")
polynomials = expressions("+ - *")
bindings = st.tuples(*(st.integers(lo, hi) for lo, hi in BOUNDS))


def build(tree, x):
    if isinstance(tree, int):
        return tree
    if tree[0] == "x":
        return x[tree[1]]
    if tree[0] == "neg":
        return -build(tree[1], x)
    return OPERATORS[tree[0]](build(tree[1], x), build(tree[2], x))


def build_or_reject(tree, x):
    try:
        return build(tree, x)
    except ZeroDivisionError:
        assume(False)


def bounds_of(dim):
    return dim.bounds if isinstance(dim, Dim) else (dim, dim)


def binding_of(values):
    return dict(zip(DIMS, values, strict=True))


@given(trees, st.lists(bindings, min_size=1, max_size=5))
def test_expressions_agree_with_python_integers(tree, tried):
    try:
        dim = build(tree, DIMS)
    except ZeroDivisionError:
        for values in tried:
            refused(ZeroDivisionError, None, build, tree, values)
        return
    lo, hi = bounds_of(dim)
    for values in tried:
        try:
            expected = build(tree, values)
        except ZeroDivisionError:
            continue
        assert eval_dim(dim, binding_of(values)) == expected
        assert lo <= expected <= hi
        if type(dim) is not int:
            assert isinstance(dim, Dim)
            with bind(binding_of(values)):
                assert int(dim) == expected


@given(trees, bindings, st.integers(0, len(BOUNDS)))
def test_substitution_in_two_steps_is_evaluation(tree, values, first):
    dim = build_or_reject(tree, DIMS)
    expected = build_or_reject(tree, values)
    all_values = list(binding_of(values).items())
    partial = substitute(dict(all_values[:first]), dim)
    lo, hi = bounds_of(partial)
    assert lo <= expected <= hi
    assert substitute(dict(all_values[first:]), partial) == expected


@given(trees, trees, bindings)
def test_decided_comparisons_are_right(left, right, values):
    a, b = build_or_reject(left, DIMS), build_or_reject(right, DIMS)
    i, j = build_or_reject(left, values), build_or_reject(right, values)
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with contextlib.suppress(UndecidedError):
            assert compare(a, b) is compare(i, j)
    with contextlib.suppress(UndecidedError):
        assert bool(a) is bool(i)
    if a == b:
        assert i == j
        assert hash(a) == hash(b)
    with bind(binding_of(values)):
        assert (a < b) is (i < j)
        assert (a >= b) is (i >= j)


@given(trees, trees, trees)
def test_ring_laws_hold_structurally(left, middle, right):
    a, b, c = (build_or_reject(tree, DIMS) for tree in (left, middle, right))
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - b == a + -b
    assert (a - b) + b == a
    assert type(a - a) is int
    assert a - a == 0
    assert type(a * 0) is int
    assert a * 0 == 0


@given(trees, trees)
def test_division_laws_hold_structurally(left, right):
    a, b = build_or_reject(left, DIMS), build_or_reject(right, DIMS)
    try:
        quotient, rest = a // b, a % b
    except ZeroDivisionError:
        assume(False)
    assert quotient * b + rest == a
    assert (a * b) // b == a
    assert (a * b) % b == 0
    assert -a // -b == quotient


@given(polynomials, st.integers(1, 6), st.integers(1, 6), st.integers(-9, 9))
def test_division_by_a_constant_is_canonical(tree, c, d, k):
    a = build(tree, DIMS)
    assert (a + k * c) // c == a // c + k
    assert (a * d) // (c * d) == a // c
    assert (a % c) % c == a % c
    lo, hi = bounds_of(a % c)
    assert 0 <= lo <= hi < c


@given(trees, bindings)
def test_text_is_the_expression(tree, values):
    dim = build_or_reject(tree, DIMS)
    expected = build_or_reject(tree, values)
    names = {str(d): v for d, v in zip(DIMS, values, strict=True)}
    assert eval(str(dim), names) == expected


@given(trees)
def test_pickle_and_copy_restore_the_expression(tree):
    dim = build_or_reject(tree, DIMS)
    assert pickle.loads(pickle.dumps(dim)) == dim
    assert copy.copy(dim) == dim
    assert copy.deepcopy([dim]) == [dim]


def test_variables_of_one_name_are_distinct():
    v, w = var("x", min=0, max=10), var("x", min=0, max=10)
    assert v != w
    assert v.id != w.id
    assert (v.name, v.min, v.max) == ("x", 0, 10)
    assert SymbolicShape([dim_of_var(v)]) != SymbolicShape([dim_of_var(w)])
    assert SymbolicShape([dim_of_var(v)]) == SymbolicShape([dim_of_var(v)])
    assert dynamic("x", min=0, max=10) != dim_of_var(v)


def test_variable_defaults_and_errors():
    assert var("x").min == 0
    assert var("x").max > 10**18
    refused(ValueError, r"'rows' has min 3 above max 2", var, "rows", min=3, max=2)


def test_immutable(n):
    (v,) = n.vars
    with pytest.raises(AttributeError, match="Var is immutable: cannot set 'max'"):
        v.max = 3
    with pytest.raises(AttributeError, match="Dim is immutable: cannot delete '_terms'"):
        del n._terms
    refused(TypeError, "use dynamic", Dim)


def test_ids_are_unique_across_threads():
    made = together(*[lambda: [var("x") for _ in range(200)]] * 4)
    assert len({v.id for vs in made for v in vs}) == 800


def test_a_quotient_is_the_same_in_every_thread(n):
    start = threading.Barrier(4)

    def divide():
        start.wait()
        return [n // k for k in range(2, 40)]

    first, *others = together(*[divide] * 4)
    assert all(other == first for other in others)


def test_constants_are_ints(n):
    assert static(3) == 3
    assert type(static(3)) is int
    for d in (n - n, 0 * n, n // n, n % n, n % 1, (n + 1) - n, (6 * n) // (2 * n), n // (n + 1)):
        assert type(d) is int
    assert (n == 5) is False
    assert (n != 5) is True
    refused(TypeError, r"a dimension is an integer or a Dim, got 1\.5", static, 1.5)


def test_exact_and_decided_division(n, m):
    assert (6 * n) // 2 == 3 * n
    assert (n * n - 1) // (n + 1) == n - 1
    assert (n * m + 3 * m) // m == n + 3
    assert (n * m + 3) // m == n + 3 // m
    assert n // 101 == 0
    assert n % 101 == n
    assert (n + 1) // n == 1 + 1 // n
    assert (5 * n + 7) // 2 == 2 * n + 3 + (n + 1) // 2
    assert -n // 2 == n // 2 - n
    assert n // 2 // 3 == n // 6
    assert (n // 2 + m) // 3 == (n + 2 * m) // 6
    assert (2 * n) // (4 * m) == n // (2 * m)
    assert (7 * n) // (-2) == (-7 * n) // 2


def test_division_by_zero(n):
    zero, k = dynamic("zero", min=0, max=0), dynamic("k", min=0, max=3)
    for divide in (lambda: n // 0, lambda: n % 0, lambda: n // (n - n)):
        refused(ZeroDivisionError, r"cannot divide n by 0", divide)
    refused(ZeroDivisionError, r"bounds are \[0, 0\]", lambda: n // zero)
    refused(ZeroDivisionError, r"\(k=0\) is 0 in \(n=4\)//\(k=0\)", eval_dim, n // k, {n: 4, k: 0})
    assert eval_dim(n // k, {n: 4, k: 3}) == 1


@pytest.mark.parametrize("op", list(OPERATORS.values()))
def test_other_operands_are_refused(op, n):
    for other in (1j, None, object()):
        refused(TypeError, None, op, n, other)
        refused(TypeError, None, op, other, n)
    refused(TypeError, None, operator.lt, n, "1")
    assert n != 1.5


def test_a_shared_quotient_costs_once(n):
    d = n
    for _ in range(60):
        d = (d // 2 + 7) // 3 * 2 + d // 2
        (d,) = (d // 2 + n,)
    expected = 17
    for _ in range(60):
        expected = (expected // 2 + 7) // 3 * 2 + expected // 2
        expected = expected // 2 + 17
    assert eval_dim(d, {n: 17}) == expected
    assert substitute({n: 17}, d) == expected


def test_bounds(n, m):
    s = dynamic("s", min=-3, max=5)
    assert n.bounds == (1, 100)
    assert (2 * n + 1).bounds == (3, 201)
    assert (n - m).bounds == (-49, 99)
    assert (-n).bounds == (-100, -1)
    assert (s * s).bounds == (0, 25)
    assert (s * s * s).bounds == (-27, 125)
    assert (n // 2).bounds == (0, 50)
    assert (n % 3).bounds == (0, 2)
    assert (n % m).bounds == (0, 49)
    assert (n - n // 2).bounds == (1, 50)
    assert (n // s).bounds == (-100, 100)
    assert (n * m - n + 1).bounds == (1, 4901)


def test_comparisons_that_bounds_decide(n, m):
    assert n > 0
    assert n >= 1
    assert n <= 100
    assert n < 101
    assert not n < 1
    assert not n > 100
    assert not n <= 0
    assert not n >= 101
    assert n < n + 1
    assert n <= n
    assert n * m >= n
    assert n // 2 < n
    assert (n + 1) // 2 <= n
    assert n // m * m <= n
    assert max(n, 0) is n
    assert min(n, n + 2) is n
    assert bool(n)
    assert bool(-n)
    assert not dynamic("zero", min=0, max=0)


def test_undecided_comparisons_say_what_to_do(n, m):
    for question, text in (
        (lambda: n < m, f"cannot decide {n} < {m}: {n - m} lies in [-49, 99]"),
        (lambda: n <= 5, f"cannot decide {n} <= 5: {n - 5} lies in [-4, 95]"),
        (lambda: n > m, f"cannot decide {n} > {m}: {m - n} lies in [-99, 49]"),
        (lambda: n >= 2, f"cannot decide {n} >= 2: {2 - n} lies in [-98, 1]"),
        (lambda: bool(n - 1), f"cannot decide {n - 1} != 0: {n - 1} lies in [0, 99]"),
    ):
        with pytest.raises(UndecidedError, match=re.escape(text)) as caught:
            question()
        assert f"bind the variables ({n} in [1, 100]" in str(caught.value)
        assert "tighter bounds" in str(caught.value)
        assert isinstance(caught.value, ValueError)


def test_bindings_decide_what_bounds_leave_open(n, m):
    with bind({n: 60}):
        assert n > m
        assert not n < m
        assert n - 1
        assert min(n, m) is m
        with pytest.raises(UndecidedError, match=rf"{m} in \[1, 50\]") as caught:
            operator.lt(n - 30, m)
        assert f"({str(n).removesuffix('=60')} in" not in str(caught.value)
    with bind({n: 1}):
        assert not n - 1
        assert n != 1


def test_bind_nests_and_is_undone(n, m):
    assert eval_dim(n) is None
    with bind({n: 32}):
        assert eval_dim(n + 1) == 33
        assert eval_dim(n + m) is None
        with bind({m.vars[0]: 2, n: 5}):
            assert eval_dim(n + m) == 7
        assert eval_dim(n) == 32
        assert eval_dim(m) is None
    assert eval_dim(n) is None


def test_bind_is_undone_by_an_exception(n):
    with pytest.raises(RuntimeError), bind({n: 3}):
        raise RuntimeError
    assert eval_dim(n) is None


def test_explicit_bindings_come_before_those_in_scope(n, m):
    with bind({n: 32, m: 1}):
        assert eval_dim(n + m, {n: 2}) == 3
        assert eval_dim(n + m) == 33


def test_a_value_outside_the_bounds_binds_nothing(n, m):
    message = re.escape(f"cannot bind {n} to 200: its bounds are [1, 100]")
    for attempt in (
        lambda: bind({m: 3, n: 200}),
        lambda: eval_dim(n, {n: 200}),
    ):
        refused(BoundsError, message, attempt)
    assert eval_dim(m) is None
    refused(BoundsError, re.escape(f"{n} to 0: its bounds are [1, 100]"), bind, {n: 0})
    for edge in (1, 100):
        with bind({n: edge}):
            assert int(n) == edge


def test_bind_takes_variables_and_integers_only(n):
    refused(TypeError, re.escape(f"cannot bind {n + 1}: only a variable"), bind, {n + 1: 2})
    refused(TypeError, "cannot bind n: only a variable", bind, {"n": 2})
    refused(TypeError, re.escape(f"cannot bind {n} to 2.0: give an integer"), bind, {n: 2.0})


def test_unbound_value(n, m):
    refused(UnboundError, re.escape(f"{n * m} has no value: {n}, {m} not bound"), int, n * m)
    with bind({n: 2}), pytest.raises(UnboundError, match=re.escape(f": {m} not bound")):
        operator.index(n * m)
    with bind({n: 2, m: 3}):
        assert list(range(n * m)) == list(range(6))
        assert [10, 20, 30][n] == 30
    assert issubclass(UnboundError, ValueError)
    assert issubclass(BoundsError, ValueError)


def test_threads_bind_independently(n):
    here = threading.Barrier(3)

    def worker(value):
        with bind({n: value}):
            here.wait()
            outer = eval_dim(n)
            with bind({n: value + 50}):
                here.wait()
                inner = eval_dim(n)
            here.wait()
            return [outer, inner, eval_dim(n)]

    results = together(*(lambda v=v: worker(v) for v in (1, 2, 3)))
    assert results == [[v, v + 50, v] for v in (1, 2, 3)]
    assert eval_dim(n) is None


def test_a_copied_context_carries_bindings_to_a_thread(n):
    with bind({n: 8}):
        context = contextvars.copy_context()
    assert together(lambda: context.run(eval_dim, n)) == [8]
    assert eval_dim(n) is None


def test_static_shapes():
    shape = SymbolicShape([2, 3, 4])
    assert (len(shape), shape.vars) == (3, ())
    assert shape == (2, 3, 4)
    assert SymbolicShape() == ()
    refused(TypeError, r"a dimension is an integer or a Dim, got 'a'", SymbolicShape, ["a"])


def test_symbolic_shapes(n, m):
    shape = SymbolicShape((m, 2 * n + 1, 3, n * m))
    assert shape.vars == (*m.vars, *n.vars)
    assert math.prod(shape) == 3 * m * n * m * (2 * n + 1)
    assert [eval_dim(size, {n: 4}) for size in shape] == [None, 9, 3, None]
    with bind({n: 4, m: 2}):
        assert eval_dim(math.prod(shape)) == 2 * 9 * 3 * 8
    assert hash(shape) == hash(SymbolicShape((m, 1 + n * 2, 3, m * n)))
    assert shape == SymbolicShape((m, 1 + n * 2, 3, m * n))


def test_text(n, m):
    a, b = n.vars[0].name, m.vars[0].name
    assert str(n.vars[0]) == a
    assert str(SymbolicShape((n, 2 * n + 1))) == f"[{a}, 2*{a} + 1]"
    assert repr(SymbolicShape((n,))) == f"SymbolicShape([{a}])"
    assert str(SymbolicShape()) == "[]"
    assert str((n, 3)) == f"({a}, 3)"
    assert str(1 - n * m - 3 * n * n) == f"-3*{a}**2 - {a}*{b} + 1"
    assert str((n + 3) // m) == f"({a} + 3)//{b}"
    assert str(n - n // 2) == f"{a} - ({a}//2)"
    assert str((n + 3) // 2) == f"({a} + 1)//2 + 1"
    assert repr(n.vars[0]) == f"Var({a} in [1, 100])"
    with bind({n: 32}):
        assert str(SymbolicShape((n, m))) == f"[{a}=32, {b}]"
        assert str(2 * n + m) == f"2*({a}=32) + {b}"
        assert str(n // m) == f"({a}=32)//{b}"


def test_text_of_a_nameless_variable():
    v = var("")
    assert str(dim_of_var(v) + 1) == "? + 1"
    with bind({v: 3}):
        assert str(SymbolicShape((dim_of_var(v),))) == "[?=3]"


def test_a_living_variable_is_restored_as_itself(n, m):
    (v,) = n.vars
    assert pickle.loads(pickle.dumps(v)) is v
    assert copy.copy(v) is v
    assert copy.deepcopy(v) is v
    shape = SymbolicShape((n // m, n, 3))
    restored = pickle.loads(pickle.dumps(shape))
    assert type(restored) is SymbolicShape
    assert restored == shape
    assert copy.deepcopy(shape) == shape


def test_a_variable_restored_elsewhere_stays_one():
    def pickled():
        # Made in one order, used in the other: restored variables have other ids.
        k, n = dynamic("k", min=1, max=9), dynamic("n", min=2, max=50)
        d = (n * k) // (n + k) + n % (k + 1)
        return [pickle.dumps(x) for x in ((n, d), k, d.vars)], n.vars[0].id

    data, old_id = pickled()
    gc.collect()
    (n, d), k, variables = (pickle.loads(x) for x in data)
    (v,) = n.vars
    assert v.id > old_id
    assert (v.name, v.min, v.max) == ("n", 2, 50)
    assert set(variables) == {v, *k.vars}
    assert all(isinstance(w, Var) for w in variables)
    assert pickle.loads(data[0]) == (n, d)
    for i, j in ((2, 1), (50, 9), (13, 4)):
        assert eval_dim(d, {n: i, k: j}) == (i * j) // (i + j) + i % (j + 1)
