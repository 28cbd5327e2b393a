"""The checked backend notices every broken promise, on either side."""

from collections.abc import Callable

import numpy as np
import pytest

from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.contract.backend import METHODS, Backend
from array_api_nx.contract.checked import CheckedBackend
from array_api_nx.contract.checked_call import ContractError
from array_api_nx.contract.program import Input, Program, Value
from array_api_nx.contract.ufuncs import ufunc_loop
from array_api_nx.core import dtypes as d
from array_api_nx.core.symbolic import dynamic
from array_api_nx.core.view import View
from array_api_nx.primitives import table as p
from array_api_nx.testing.contract.layouts import case, row_major
from tests.support.tables import for_each
from tests.testing.contract.backends import BACKENDS

INNER = CPUBackend()
CHECKED = CheckedBackend(INNER)


def handle(values, dtype="float64", *, writable=True):
    return case(INNER, row_major, np.asarray(values, dtype), writable=writable).handle


X = handle(np.ones((2, 3)))
VECTOR = handle(np.arange(3))
INTS = handle([0, 1, 2], "int64")
ONE = handle(1, "int64")
SMALL = handle([0, 1, 2], "int8")
BOOLS = handle([True, False, True], "bool")
CUBE = handle(np.ones((2, 3, 3)))
COMPLEX = handle(np.ones((2, 3)), "complex128")
EMPTY = handle(np.ones((2, 0)))
FROZEN = handle(np.ones((2, 3)), writable=False)
COUNTER = handle(np.ones((3, 2)), "uint32")
KEY = handle([1, 2], "uint32")
N = dynamic("n", min=2)
PROGRAM = Program(N.vars, (Input((N,), None, None),), (Value((N,), d.int8),), {}, (), (), ())
GCD = ufunc_loop(np.gcd, (d.int64, d.int64), (d.int64,))
FREXP = ufunc_loop(np.frexp, (d.float64,), (d.float64, d.int32))
WINDOW = ((2,), (1,), (1,), ((0, 0),))

Break = Callable[[Backend], object]

BROKEN = [
    ("shape", lambda b: b.shape(np.ones(3)), "a handle of this backend"),
    ("sizes", lambda b: b.sizes(np.ones(3)), "a handle of this backend"),
    ("dtype", lambda b: b.dtype(1.0), "a handle of this backend"),
    ("read_only_reason", lambda b: b.read_only_reason(None), "a handle of this backend"),
    ("to_host", lambda b: b.to_host([1.0]), "a handle of this backend"),
    ("item", lambda b: b.item(3), "a handle of this backend"),
    ("native", lambda b: b.native(3), "a handle of this backend"),
    ("evaluate", lambda b: b.evaluate(X, 3), "a handle of this backend"),
    ("explain", lambda b: b.explain(3), "a handle of this backend"),
    ("has_elements", lambda b: b.has_elements(3), "a handle of this backend"),
    ("axis_order", lambda b: b.axis_order(3), "a handle of this backend"),
    ("may_overlap", lambda b: b.may_overlap(X, 3), "a handle of this backend"),
    ("prepare", lambda b: b.prepare(PROGRAM, ()), "a size for each variable"),
    ("prepare", lambda b: b.prepare(PROGRAM, (1,)), "sizes within bounds"),
    ("prepare_compiled", lambda b: b.prepare_compiled(PROGRAM, ()), "a size for each variable"),
    ("empty", lambda b: b.empty([2], d.int8), "a tuple of non-negative ints"),
    ("empty", lambda b: b.empty((-1,), d.int8), "a tuple of non-negative ints"),
    ("empty", lambda b: b.empty((np.int64(2),), d.int8), "a tuple of non-negative ints"),
    ("full", lambda b: b.full((2,), d.int8, 128), "a Python scalar that int8 represents"),
    ("full", lambda b: b.full((2,), d.int8, 1.0), "a Python scalar that int8 represents"),
    ("full", lambda b: b.full((2,), d.bool, 1), "a Python scalar that bool represents"),
    ("full", lambda b: b.full((2,), d.float32, 1j), "a Python scalar that float32 represents"),
    ("full", lambda b: b.full((2,), d.float64, np.float64(1)), "a Python scalar that float64"),
    ("from_host", lambda b: b.from_host([1], copy=True), "a NumPy array"),
    ("from_host", lambda b: b.from_host(np.ones(2, "g"), copy=True), "a counterpart"),
    ("from_host", lambda b: b.from_host(np.ones(2, ">f8"), copy=True), "native byte order"),
    (
        "from_host",
        lambda b: b.from_host(np.ones(17, "i1")[1:].view("f8"), copy=False),
        "aligned elements",
    ),
    (
        "from_host",
        lambda b: b.from_host(np.zeros(3, [("a", "c16"), ("b", "f8")])["a"], copy=False),
        "strides of whole elements",
    ),
    ("arange", lambda b: b.arange(0, 3, 0, d.int8), "a step that is not zero"),
    ("arange", lambda b: b.arange(0, 300, 1, d.int8), "a Python scalar that int8 represents"),
    ("arange", lambda b: b.arange(0, 3, 1, d.bool), "a dtype that arange takes"),
    ("linspace", lambda b: b.linspace(0, 1, -1, d.float32, endpoint=True), "non-negative ints"),
    ("linspace", lambda b: b.linspace(0, 1, 3, d.int8, endpoint=True), "a dtype that linspace"),
    ("linspace", lambda b: b.linspace(0, 1, 3, d.float32, endpoint=1), "flags are bools"),
    ("eye", lambda b: b.eye(-1, 2, 0, d.int8), "a tuple of non-negative ints"),
    ("unary", lambda b: b.unary(p.ADD, X), "a primitive of family unary"),
    ("unary", lambda b: b.unary(p.SIN, INTS), "a dtype that sin takes, not int64"),
    ("unary", lambda b: b.unary(p.SIN, 1.0), "a handle of this backend"),
    ("binary", lambda b: b.binary(p.SIN, X, X), "a primitive of family binary"),
    ("binary", lambda b: b.binary(p.ADD, 1, 2), "at least one operand is a handle"),
    ("binary", lambda b: b.binary(p.ADD, INTS, SMALL), "handles of one dtype"),
    ("binary", lambda b: b.binary(p.ADD, SMALL, 200), "a Python scalar that int8 represents"),
    ("binary", lambda b: b.binary(p.ADD, SMALL, 0.5), "a Python scalar that int8 represents"),
    ("binary", lambda b: b.binary(p.DIVIDE, INTS, INTS), "a dtype that divide takes"),
    ("binary", lambda b: b.binary(p.ADD, X, X, FROZEN), "the target may be written"),
    ("binary", lambda b: b.binary(p.ADD, X, X, COMPLEX), "the result's dtype"),
    ("binary", lambda b: b.binary(p.ADD, VECTOR, 1, X), "the result's shape"),
    ("where", lambda b: b.where(INTS, INTS, 1), "a boolean condition"),
    ("where", lambda b: b.where(BOOLS, 1, 2), "at least one operand is a handle"),
    ("apply", lambda b: b.apply(FREXP, X), "one output, or the number of that which is wanted"),
    ("apply", lambda b: b.apply(GCD, INTS), "as many operands as the ufunc takes"),
    ("apply", lambda b: b.apply(GCD, INTS, SMALL), "handles of the loop's dtypes"),
    ("apply", lambda b: b.apply(GCD, INTS, 0.5), "a Python scalar that int64 represents"),
    ("apply", lambda b: b.apply(GCD, 1, 2), "at least one operand is a handle"),
    ("apply_multiple", lambda b: b.apply_multiple(FREXP.only(0), X), "all outputs are wanted"),
    ("clip", lambda b: b.clip(X, None, None), "at least one limit"),
    ("clip", lambda b: b.clip(COMPLEX, 0, 1), "a dtype that clip takes"),
    ("clip", lambda b: b.clip(VECTOR, X, None), "limits broadcast to `x`"),
    ("clip", lambda b: b.clip(SMALL, -200, 0), "a Python scalar that int8 represents"),
    ("reduce", lambda b: b.reduce(p.ARGMAX, X, (0,), False), "a primitive of family reduce"),
    ("reduce", lambda b: b.reduce(p.SUM, X, (-1,), False), "axes are ints in range"),
    ("reduce", lambda b: b.reduce(p.SUM, X, 0, False), "axes are ints in range"),
    ("reduce", lambda b: b.reduce(p.SUM, X, (0, 0), False), "axes are distinct"),
    ("reduce", lambda b: b.reduce(p.SUM, X, (0,), None), "flags are bools"),
    ("reduce", lambda b: b.reduce(p.SUM, BOOLS, (0,), False), "a dtype that sum takes, not bool"),
    ("reduce", lambda b: b.reduce(p.MAX, X, (0,), False, d.int8), "for sum and prod only"),
    ("reduce", lambda b: b.reduce(p.MAX, EMPTY, (1,), False), "no empty axis"),
    ("arg_reduce", lambda b: b.arg_reduce(p.MAX, X, 0, False), "of family arg_reduce"),
    ("arg_reduce", lambda b: b.arg_reduce(p.ARGMAX, EMPTY, 1, False), "no empty axis"),
    ("scan", lambda b: b.scan(p.SUM, X, 0), "a primitive of family scan"),
    ("scan", lambda b: b.scan(p.CUMULATIVE_SUM, X, 2), "axes are ints in range"),
    ("scan", lambda b: b.scan(p.CUMULATIVE_MAX, X, 0, d.int8), "sums and products only"),
    ("var", lambda b: b.var(INTS, (0,), False, 0), "a dtype that var takes"),
    ("var", lambda b: b.var(X, (0,), False, None), "a correction that is a real number"),
    ("sort", lambda b: b.sort(X, -1, descending=False, stable=True), "axes are ints in range"),
    ("sort", lambda b: b.sort(COMPLEX, 0, descending=False, stable=True), "a dtype that sort"),
    ("argsort", lambda b: b.argsort(X, 0, descending=0, stable=True), "flags are bools"),
    ("partition", lambda b: b.partition(X, (1, 0), 0), "positions in `kth` that ascend"),
    ("partition", lambda b: b.partition(X, (), 0), "positions in `kth` that ascend"),
    ("partition", lambda b: b.partition(COMPLEX, (0,), 0), "a dtype that partition takes"),
    ("argpartition", lambda b: b.argpartition(X, (9,), 0), "positions in `kth` that ascend"),
    ("argpartition", lambda b: b.argpartition(X, (-1,), 0), "non-negative ints"),
    ("searchsorted", lambda b: b.searchsorted(X, X, right=False), "a 1-D `x`"),
    ("searchsorted", lambda b: b.searchsorted(INTS, SMALL, right=False), "handles of one dtype"),
    ("expand", lambda b: b.expand(X, (3, 3)), "broadcasts to `shape`"),
    ("expand", lambda b: b.expand(X, (3,)), "broadcasts to `shape`"),
    ("try_reshape", lambda b: b.try_reshape(X, (-1,)), "a tuple of non-negative ints"),
    ("reshape", lambda b: b.reshape(X, (5,)), "sizes with the same product"),
    ("permute", lambda b: b.permute(X, (0,)), "a permutation of all axes"),
    ("permute", lambda b: b.permute(X, (1, 1)), "axes are distinct"),
    ("slice", lambda b: b.slice(X, (0,)), "names every axis"),
    ("slice", lambda b: b.slice(X, (0, -1)), "names every axis and lies within the shape"),
    ("slice", lambda b: b.slice(X, (0, (0, 4, 1))), "names every axis and lies within the shape"),
    ("slice", lambda b: b.slice(X, (0, slice(None))), "a tuple of ints, triples and None"),
    ("shrink", lambda b: b.shrink(X, ((0, 3), (0, 3))), "0 <= start <= end <= size"),
    ("flip", lambda b: b.flip(X, (True,)), "a mark for every axis"),
    ("strided", lambda b: b.strided(3, View((2,))), "a handle of this backend"),
    ("strided", lambda b: b.strided(X, View((N,))), "an unmasked view of concrete sizes"),
    ("strided", lambda b: b.strided(X, View((2, 3), (3, 1), 1)), "a view inside the block"),
    (
        "assign_strided",
        lambda b: b.assign_strided(X, View((2,), (0,)), 1.0),
        "a view without repeated elements",
    ),
    ("assign_strided", lambda b: b.assign_strided(FROZEN, View((2,)), 1.0), "may be written"),
    ("assign_strided", lambda b: b.assign_strided(X, View((7,)), 1.0), "a view inside the block"),
    ("pad", lambda b: b.pad(X, ((0, -1), (0, 0)), 0), "non-negative (before, after)"),
    ("pad", lambda b: b.pad(SMALL, ((1, 1),), 0.5), "a Python scalar that int8 represents"),
    ("cat", lambda b: b.cat([], 0), "at least one array"),
    ("cat", lambda b: b.cat([X, COMPLEX], 0), "handles of one dtype"),
    ("cat", lambda b: b.cat([X, X], 2), "axes are ints in range"),
    ("roll", lambda b: b.roll(X, ()), "one shift per axis"),
    ("repeat", lambda b: b.repeat(X, -1, 0), "repeats are not negative"),
    ("repeat", lambda b: b.repeat(X, SMALL, 1), "int64 repeats"),
    ("repeat", lambda b: b.repeat(X, INTS, 0), "repeats per element"),
    ("repeat", lambda b: b.repeat(X, handle([1, -1], "int64"), 0), "repeats are not negative"),
    ("triangle", lambda b: b.triangle(VECTOR, 0, upper=True), "at least two axes"),
    ("cast", lambda b: b.cast(X, "int8"), "a dtype that cast takes"),
    ("bitcast", lambda b: b.bitcast(BOOLS, d.int8), "both dtypes are numeric"),
    ("bitcast", lambda b: b.bitcast(handle([1], "int8"), d.int16), "a whole number of new"),
    ("contiguous", lambda b: b.contiguous(2.0), "a handle of this backend"),
    ("copy", lambda b: b.copy(2.0), "a handle of this backend"),
    ("assign", lambda b: b.assign(FROZEN, 0.0), "the target may be written"),
    ("assign", lambda b: b.assign(X, INTS), "handles of one dtype"),
    ("assign", lambda b: b.assign(X, CUBE), "the shape of `value` broadcasts"),
    ("assign", lambda b: b.assign(X, 1j), "a Python scalar that float64 represents"),
    ("index_get", lambda b: b.index_get(X, (0, None)), "at least one key that is a handle"),
    ("index_get", lambda b: b.index_get(X, (INTS, None, None)), "no more keys than axes"),
    ("index_get", lambda b: b.index_get(X, (SMALL, None)), "int64 or boolean keys"),
    ("index_get", lambda b: b.index_get(X, (-1, INTS)), "int keys are not negative"),
    ("index_get", lambda b: b.index_get(X, (BOOLS, None)), "a mask has the shape of its axes"),
    ("index_set", lambda b: b.index_set(FROZEN, (None, INTS), 0.0), "may be written"),
    ("index_set", lambda b: b.index_set(X, (None, INTS), INTS), "handles of one dtype"),
    ("take", lambda b: b.take(X, SMALL, 1), "int64 indices"),
    ("gather", lambda b: b.gather(X, INTS, 0), "the shape of the array but for `axis`"),
    ("scatter", lambda b: b.scatter(VECTOR, INTS, SMALL, 0, add=True), "handles of one dtype"),
    (
        "scatter",
        lambda b: b.scatter(VECTOR, handle([0, -1], "int64"), handle([1, 1]), 0, add=True),
        "indices from 0 to size - 1",
    ),
    ("scatter", lambda b: b.scatter(VECTOR, INTS, handle([1]), 0, add=True), "an update for every"),
    ("nonzero", lambda b: b.nonzero(handle(1.0)), "at least one axis"),
    ("bincount", lambda b: b.bincount(BOOLS, None, 1, extend=True), "a dtype that bincount takes"),
    ("bincount", lambda b: b.bincount(COUNTER, None, 1, extend=True), "a 1-D `x`"),
    ("bincount", lambda b: b.bincount(INTS, X, 1, extend=True), "weights of the shape of `x`"),
    ("bincount", lambda b: b.bincount(INTS, BOOLS, 1, extend=True), "numeric weights"),
    ("bincount", lambda b: b.bincount(INTS, None, -1, extend=True), "non-negative ints"),
    ("bincount", lambda b: b.bincount(INTS, None, 1, extend=None), "flags are bools"),
    ("unique", lambda b: b.unique(1.0), "a handle of this backend"),
    ("isin", lambda b: b.isin(1.0, 1.0, invert=False), "a handle of this backend"),
    ("unique_counts", lambda b: b.unique_counts(1.0), "a handle of this backend"),
    ("unique_inverse", lambda b: b.unique_inverse(1.0), "a handle of this backend"),
    ("unique_values", lambda b: b.unique_values(1.0), "a handle of this backend"),
    ("threefry", lambda b: b.threefry(INTS, INTS), "a dtype that threefry takes"),
    ("threefry", lambda b: b.threefry(COUNTER, COUNTER), "a key of shape (2,)"),
    ("threefry", lambda b: b.threefry(KEY, handle([1], "uint32")), "counters of shape"),
    ("draw", lambda b: b.draw("bits", (1, 2), 0, 0, 3, d.int64), "a dtype that the kind"),
    ("draw", lambda b: b.draw("bits", (1, 2**32), 0, 0, 3, d.uint32), "words of 32 bits"),
    ("draw", lambda b: b.draw("bits", (1, 2), -1, 0, 3, d.uint32), "counters of at least 0"),
    ("draw", lambda b: b.draw("bits", (1, 2), 2**63, 0, 3, d.uint32), "counters below"),
    ("draw", lambda b: b.draw("integers", (1, 2), 0, 0, 3, d.int64), "a span within"),
    ("draw", lambda b: b.draw("normal", (1, 2), 0, 0, 3, d.float64, 1), "for integers alone"),
    ("draw", lambda b: b.draw("gamma", (1, 2), 0, 0, 3, d.float64), "as many parameters"),
    (
        "draw",
        lambda b: b.draw("gamma", (1, 2), 0, 0, 3, d.float64, 0, 0, (handle(1.0),)),
        "a parameter for each",
    ),
    (
        "draw",
        lambda b: b.draw("gamma", (1, 2), 0, 0, 3, d.float64, 0, 0, (INTS,)),
        "parameters of float64",
    ),
    ("draw_from", lambda b: b.draw_from("bits", 1, ONE, 0, 3, d.uint32), "a handle of this"),
    ("draw_from", lambda b: b.draw_from("bits", INTS, ONE, 0, 3, d.uint32), "of shape ()"),
    ("draw_from", lambda b: b.draw_from("bits", ONE, handle(1.0), 0, 3, d.uint32), "of int64"),
    ("draw_from", lambda b: b.draw_from("bits", ONE, ONE, 0, 3, d.int64), "a dtype that the kind"),
    ("draw_from", lambda b: b.draw_from("bits", ONE, ONE, -1, 3, d.uint32), "counters of at"),
    ("unfold", lambda b: b.unfold(BOOLS, *WINDOW), "a dtype that unfold takes"),
    ("unfold", lambda b: b.unfold(handle(1.0), *WINDOW), "an axis for every size"),
    ("unfold", lambda b: b.unfold(VECTOR, (2,), (1, 1), (1,), ((0, 0),)), "of one length"),
    ("unfold", lambda b: b.unfold(VECTOR, (2,), (0,), (1,), ((0, 0),)), "are positive"),
    ("unfold", lambda b: b.unfold(VECTOR, (2,), (1,), (1,), ((-1, 0),)), "is not negative"),
    ("unfold", lambda b: b.unfold(VECTOR, (9,), (1,), (1,), ((0, 0),)), "at least one window"),
    ("fold", lambda b: b.fold(X, (9,), *WINDOW), "the shape that `unfold` gives"),
    ("matmul", lambda b: b.matmul(X, X), "the contracted sizes agree"),
    ("matmul", lambda b: b.matmul(X, handle(1.0)), "at least one axis each"),
    ("vecdot", lambda b: b.vecdot(X, handle([1, 2])), "last axes of the same size"),
    ("convolve", lambda b: b.convolve(X, X, "full"), "one axis each"),
    ("convolve", lambda b: b.convolve(handle([1]), handle([1, 2]), "full"), "no shorter than"),
    ("convolve", lambda b: b.convolve(handle([1]), handle([1]), "some"), "a legal mode"),
    ("fft", lambda b: b.fft(INTS, (0,), "backward"), "a dtype that fft takes"),
    ("ifft", lambda b: b.ifft(COMPLEX, (), "backward"), "at least one axis"),
    ("rfft", lambda b: b.rfft(EMPTY, (1,), "backward"), "no empty axis"),
    ("rfft", lambda b: b.rfft(X, (1,), "both"), "a legal norm"),
    ("irfft", lambda b: b.irfft(COMPLEX, (1,), 9, "backward"), "the half of a spectrum"),
    ("cholesky", lambda b: b.cholesky(X, upper=False), "a square matrix"),
    ("cholesky", lambda b: b.cholesky(CUBE, upper=1), "flags are bools"),
    ("qr", lambda b: b.qr(VECTOR, complete=False), "at least two axes"),
    ("svd", lambda b: b.svd(CUBE, full_matrices=None), "flags are bools"),
    ("svdvals", lambda b: b.svdvals(VECTOR), "at least two axes"),
    ("eig", lambda b: b.eig(X), "a square matrix"),
    ("eigvals", lambda b: b.eigvals(X), "a square matrix"),
    ("eigh", lambda b: b.eigh(X), "a square matrix"),
    ("eigvalsh", lambda b: b.eigvalsh(X), "a square matrix"),
    ("solve", lambda b: b.solve(CUBE, X), "as many equations on both sides"),
    ("solve", lambda b: b.solve(CUBE, VECTOR), "at least two axes"),
    ("inv", lambda b: b.inv(X), "a square matrix"),
    ("slogdet", lambda b: b.slogdet(X), "a square matrix"),
    ("det", lambda b: b.det(X), "a square matrix"),
]


@for_each(("method", "call", "words"), BROKEN)
def test_the_frontend_must_keep_its_guarantees(method, call, words):
    with pytest.raises(ContractError) as caught:
        call(CHECKED)
    message = str(caught.value)
    assert words in message
    assert "the frontend must guarantee: " in message
    assert "; called with " in message


def test_every_method_is_checked():
    for name in METHODS:
        assert getattr(CheckedBackend, name) is not getattr(Backend, name)
    # Nothing is guaranteed for these.
    free = {"available_dtypes", "dlpack_device", "runtime_info", "from_native", "release_memory"}
    free |= {"worth_deferring"}
    assert {method for method, _, _ in BROKEN} == {*METHODS} - free


def test_a_broken_promise_says_which_of_whom_and_the_arguments():
    with pytest.raises(AssertionError) as caught:
        CHECKED.cat([X, EMPTY, INTS], 0)
    assert str(caught.value) == (
        "cat: the frontend must guarantee: handles of one dtype; called with "
        "arrays=[<float64 handle of shape (2, 3)>, <float64 handle of shape (2, 0)>, "
        "<int64 handle of shape (3,)>], axis=0"
    )


class Faulty(CPUBackend):
    """Breaks one promise per method."""

    def unary(self, op, x):
        return {
            p.ABS: lambda: self.slice(x, (None, *[(0, n, 1) for n in self.shape(x)])),
            p.SIN: lambda: self.cast(x, d.float32),
            p.POSITIVE: lambda: x,
            p.COS: lambda: self.array(x),
            p.NEGATIVE: lambda: super(Faulty, self).unary(op, x),
        }[op]()

    def binary(self, op, x1, x2, out=None):
        return super().binary(op, self.slice(x1, (0, (0, 3, 1))), 1.0)

    def cat(self, arrays, axis):
        return arrays[0]

    def copy(self, x):
        return self.permute(super().copy(self.permute(x, (1, 0))), (1, 0))

    def item(self, x):
        return self.array(x).reshape(-1)[0]

    def nonzero(self, x):
        return super().nonzero(x)[:1]


FAULTS = [
    (lambda b: b.unary(p.ABS, X), "return shape (2, 3), not (1, 2, 3)"),
    (lambda b: b.unary(p.SIN, X), "return float64, not float32"),
    (lambda b: b.unary(p.POSITIVE, X), "return memory of its own"),
    (lambda b: b.unary(p.COS, X), "return a handle"),
    (lambda b: b.binary(p.ADD, X, 1.0, X), "return `out`"),
    (lambda b: b.binary(p.ADD, X, EMPTY), "raise ValueError if shapes do not broadcast"),
    (lambda b: b.cat([X, EMPTY], 0), "raise ValueError if shapes differ"),
    (lambda b: b.cat([X, CUBE], 0), "raise ValueError if shapes differ"),
    (lambda b: b.copy(X), "return row-major memory"),
    (lambda b: b.item(handle([1.0])), "return a Python float"),
    (lambda b: b.item(X), "raise ValueError unless there is one element"),
    (lambda b: b.nonzero(X), "return a tuple, one per axis"),
]


@pytest.mark.parametrize(("call", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_the_backend_must_do_its_duties(call, words):
    with pytest.raises(ContractError) as caught:
        call(CheckedBackend(Faulty()))
    assert f"the backend must: {words}" in str(caught.value)


def test_what_is_right_passes_unchanged():
    result = CheckedBackend(Faulty()).unary(p.NEGATIVE, X)
    np.testing.assert_array_equal(INNER.to_host(result), -np.ones((2, 3)))
    assert CHECKED.contiguous(X) is X
    assert CHECKED.binary(p.ADD, X, 0.0, X) is X


def test_the_backends_under_test_are_what_they_are_called():
    assert type(BACKENDS["cpu"]()) is CPUBackend
    assert type(BACKENDS["checked"]()) is CheckedBackend
    minimal = type(BACKENDS["minimal"]())
    composed = {"linspace", "eye", "clip", "var", "fold", "unfold", "threefry"}
    assert all(getattr(minimal, name) is getattr(Backend, name) for name in composed)
