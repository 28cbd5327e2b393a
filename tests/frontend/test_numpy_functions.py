"""NumPy's functions on arrays of this package, and the types of their results."""

import io
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.frontend.numpy_functions import known_functions
from tests.support.refusals import refused
from tests.support.tables import for_each

ROOT = Path(__file__).parents[2]
A = np.asarray([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]])
NAN = np.where(A == 1, np.nan, A)
SQUARE = np.asarray([[4.0, 1.0], [1.0, 3.0]])
COUNTS = np.asarray([1, 0, 3, 1])
V = np.asarray([1.0, 4.0, 2.5, 3.0])


def test_where_scipy_and_scikit_learn_call_them_the_result_is_numpys():
    for module in ("scipy.linalg.made_up", "sklearn.made_up", "program"):
        made = ModuleType(module)
        exec("def call(function, *x): return function(*x)", made.__dict__)
        kind = Array if module == "program" else np.ndarray
        for function in (np.sort, np.linalg.inv, np.concatenate, np.where):
            x = xp.asarray(SQUARE)
            given = {np.concatenate: ([x, x],), np.where: (x > 1, x, x)}.get(function, (x,))
            assert type(made.call(function, *given)) is kind, (module, function)


# Calls with each parameter that is taken. `a` and so on are arrays of either library.
CALLS = """
all(a > 2, axis=1) | all(a, None, None, True) | any(a > 5) | any(a, where=a > 2)
allclose(a, a + 1e-9) | allclose(a, b, rtol=1, atol=2.0, equal_nan=True)
amax(a, 1) | amin(a, axis=0) | max(a, initial=9.0) | min(a, axis=1, keepdims=True)
argmax(a, 1) | argmin(a, axis=0, keepdims=True) | argsort(a) | argsort(a, axis=0, kind="stable")
around(a / 3, 1) | round(a / 3, decimals=2) | array_equal(a, a) | array_equal(n, n, equal_nan=True)
argpartition(v, 0)[:1] | partition(v, 3)[3:] | astype(a, "float32") | astype(a, "int8", copy=True)
angle(v) | angle(v, True) | angle(v * 1j - v)
atleast_1d(v, a) | atleast_2d(v) | atleast_3d(v, a) | bincount(i) | bincount(i, v, 6)
broadcast_to(v, (2, 4)) | can_cast(a, "complex128")
clip(a, 2, 4) | clip(a, a_min=2, a_max=None) | clip(a, None, 3.0) | clip(a, v[:3], 4)
concat([a, b]) | concatenate((a, b), 1) | concatenate([a, b], axis=None) | stack([a, b], axis=-1)
convolve(v, v[:2], mode="same") | corrcoef(a) | cov(a, rowvar=False, ddof=0) | cov(v, v, bias=True)
count_nonzero(a > 2, axis=1) | cumprod(a) | cumsum(a, 1) | cumsum(a, dtype="float32")
diag(v, k=1) | diag(s) | diagonal(a, offset=1) | diff(a) | diff(a, 2, axis=1)
diff(v, prepend=v[:1]) | dot(a, b.T) | dot(v, v) | dot(a, v[:3]) | dot(s, 2.0) | inner(a, b)
outer(v, v) | vdot(v, v)
dstack([a, b]) | hstack([a, b]) | hstack([v, v]) | vstack([v, v]) | vstack((a, b))
einsum("ij,kj->ik", a, b) | einsum("ij->j", a, optimize=True) | tensordot(a, b, axes=([1], [1]))
empty_like(a).shape | ones_like(a) | zeros_like(a, dtype="int8") | full_like(a, 7.5)
expand_dims(a, 1) | flip(a) | flip(a, axis=1) | moveaxis(a, 0, 1) | swapaxes(a, 0, 1) | transpose(a)
gradient(v) | gradient(a, 2.0, axis=1) | interp(a, v[:2], v[2:], left=0.0)
histogram(a, bins=3) | histogram(v, 2, (0, 4), density=True) | histogram(v, weights=v)
histogram2d(v, v, bins=2) | histogramdd(a.T, bins=(2, 2), density=True)
imag(a * 1j) | real(a) | iscomplexobj(a) | isrealobj(a) | isclose(a, b) | isin(a, v, invert=True)
mean(a, 0) | mean(a, axis=1, dtype="float32") | median(a) | median(a, axis=0, keepdims=True)
meshgrid(v, v[:2], indexing="ij") | nan_to_num(n, nan=2.0) | nanargmax(n, axis=1) | nanargmin(n)
nancumprod(n) | nancumsum(n, axis=1) | nanmax(n) | nanmean(n, axis=0) | nanmedian(n) | nanmin(n, 1)
nanpercentile(n, 30, axis=1) | nanprod(n) | nanquantile(n, 0.5) | nanstd(n, ddof=1) | nansum(n, 0)
nanvar(n, axis=1) | ndim(a) | nonzero(a > 2) | pad(a, 1) | pad(v, (1, 2), constant_values=(7, 8))
pad(v, 2, mode="reflect") | percentile(a, [25, 50], axis=1) | percentile(a, 30, method="lower")
prod(a, axis=0) | quantile(a, 0.3) | quantile(a, [0.1, 0.9], axis=1, keepdims=True) | ravel(a)
repeat(a, 2) | repeat(a, 2, axis=0) | reshape(a, (3, 2)) | reshape(a, -1) | roll(a, 1, axis=1)
result_type(a, "float32") | roots(v) | searchsorted(a[0, 1:], 1.5) | searchsorted(i[:1], i, "right")
lexsort((i, i[::-1])) | select([a < 1, a > 2], [a, -a], 0.5)
shape(a) | size(a) | size(a, 1) | sinc(a) | sort(a) | sort(a, axis=None)
sort(a, 0, kind="stable") | squeeze(a[:1], axis=0) | std(a, ddof=1) | sum(a, 1, keepdims=True)
var(a, 0) | sum(a, where=a > 2)
take(v, i) | take(a, [1, 0], axis=1) | take_along_axis(a, a.astype("int64") * 0, axis=1)
tile(v, 2) | trace(s, offset=1) | trapezoid(v, dx=0.5) | trapezoid(a, axis=0)
tril(s) | triu(s, k=1)
where(a > 2, a, 0) | where(a > 2) | where(a > 2, a, b)
fft.fft(v) | fft.fft(v, 6, norm="ortho") | fft.ifft(v) | fft.rfft(a, axis=0) | fft.irfft(v, n=5)
fft.fftn(a) | fft.ifftn(a, axes=(0,)) | fft.rfftn(a) | fft.irfftn(a) | fft.hfft(v) | fft.ihfft(v)
fft.fft2(a) | fft.ifft2(a, norm="ortho") | fft.rfft2(a, axes=(1, 0)) | fft.irfft2(a, (4, 4))
fft.fftshift(v) | fft.ifftshift(a, axes=1)
linalg.cholesky(s) | linalg.det(s) | linalg.inv(s) | linalg.eigvalsh(s) | linalg.matrix_power(s, 3)
linalg.matrix_rank(s) | linalg.norm(a) | linalg.norm(a, 1, axis=0) | linalg.slogdet(s)
linalg.solve(s, s) | linalg.eigh(s)[0] | linalg.svd(a)[1]
"""
# Functions that NumPy has since 2.0 or 2.1 alone.
NEWER = """
cumulative_prod(v) | cumulative_sum(a, axis=1, include_initial=True) | matrix_transpose(a)
permute_dims(a, (1, 0)) | unique_all(i) | unique_counts(i) | unique_inverse(i)
unique_values(i[1:2]) | unstack(a, axis=1) | linalg.cross(a, b) | linalg.diagonal(s)
linalg.matmul(a, b.T)
linalg.matrix_norm(a, ord=1) | linalg.matrix_transpose(a) | linalg.outer(v, v) | linalg.svdvals(a)
linalg.tensordot(s, s, axes=1) | linalg.trace(s) | linalg.vecdot(a, b)
linalg.vector_norm(a, axis=1)
"""


def rows(text):
    return [call.strip() for line in text.strip().splitlines() for call in line.split(" | ")]


def result_of(call, convert):
    names = {"a": A, "b": A[::-1] * 2, "n": NAN, "s": SQUARE, "i": COUNTS, "v": V}
    return eval(f"np.{call}", {"np": np, **{name: convert(x) for name, x in names.items()}})


def check(call, result, expected):
    if isinstance(expected, tuple | list):
        assert isinstance(result, tuple | list)
        assert len(result) == len(expected)
        assert getattr(result, "_fields", None) == getattr(expected, "_fields", None)
        for x, y in zip(result, expected, strict=True):
            check(call, x, y)
    elif isinstance(expected, np.ndarray | np.generic):
        assert type(result) is Array
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-10, atol=1e-12)
    elif isinstance(result, Array):
        assert int(result) == expected  # a Python number, as of count_nonzero
    else:
        assert result == expected


def has(call):
    place = np
    for part in call.partition("(")[0].split("."):
        place = getattr(place, part, None)
    return place is not None


@for_each("call", [*rows(CALLS), *filter(has, rows(NEWER))])
def test_functions_that_we_have_give_our_arrays(call):
    check(call, result_of(call, xp.asarray), result_of(call, np.asarray))


def test_every_function_of_the_table_was_called():
    called = {call.partition("(")[0] for call in [*rows(CALLS), *rows(NEWER)]}
    assert {name for name, _ in known_functions().values()} - called == set()


OTHERS = """
sort(a, axis=0, order=None) | concatenate([a, b], out=None, dtype="float32")
cumsum(a, out=np.zeros(6)) | clip(a, 0, 1, out=np.zeros((2, 3))) | pad(a, 1, mode="mean")
average(a, axis=0) | split(a, 3, axis=1) | unique(i) | argwhere(a > 2) | select([a > 2], [a])
linalg.svd(a, compute_uv=False) | linalg.eig(s) | linalg.cond(s) | linalg.pinv(s)
polyfit(v, v, 1) | kron(s, s)
append(a, 1.0) | delete(v, 1) | insert(v, 1, 9.0) | apply_along_axis(np.sum, 0, a) | ptp(v)
concatenate([a, [[1, 2, 3]]]) | where(a > 2, a, [1, 2, 3]) | zeros_like(a, shape=(2,))
percentile(a, 30, weights=a * 0 + 1, method="inverted_cdf")
reshape(a, -1, order="F") | array_equiv(a, a) | may_share_memory(a, a) | shares_memory(v, i)
array2string(v) | block([[s, s], [s, s]]) | flatnonzero(i) | nan_to_num(np.float64(1.0)) | vander(v)
"""


@for_each("call", rows(OTHERS))
def test_other_calls_give_what_numpy_gives(call):
    if "weights=" in call and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return
    result, expected = result_of(call, xp.asarray), result_of(call, np.asarray)
    for x, y in zip(
        result if isinstance(result, list | tuple) else [result],
        expected if isinstance(expected, list | tuple) else [expected],
        strict=True,
    ):
        if isinstance(x, Array):
            check(call, x, y)
        else:
            assert type(x) is type(y)
            np.testing.assert_array_equal(x, y)


def test_what_is_written_and_stored():
    x, a = xp.asarray(A, copy=True), np.zeros((2, 3))
    np.copyto(a, x)
    np.testing.assert_array_equal(a, A)
    np.copyto(x, 2 * A)
    np.testing.assert_array_equal(np.asarray(x), 2 * A)
    np.fill_diagonal(x, 0)
    assert float(x[0, 0]) == float(x[1, 1]) == 0.0
    np.put(x, [1], 8.0)
    assert float(x[0, 1]) == 8.0
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), np.asarray(x))
    assert np.array_repr(x) == repr(np.asarray(x))
    assert type(np.asarray(x)) is np.ndarray


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
@for_each(
    "call",
    [
        *["concatenate([a, b])", "where(a > 2, a, 0)", "sort(a)", "clip(a, 2, 4)"],
        *["dot(a, b.T)", "stack([a, b])", "cumsum(a, axis=1)", "median(a, axis=0)"],
        *["fft.fft(v)", "linalg.inv(s)", "pad(a, 1)", "shape(a)", "result_type(a, 'float32')"],
    ],
)
def test_on_the_device_of_the_arrays(call, device):
    pytest.importorskip(device.partition(":")[0])
    result = result_of(call, lambda x: xp.asarray(x, device=device))
    expected = result_of(call, np.asarray)
    if isinstance(expected, np.ndarray):
        assert result.device.name == device
        result = np.asarray(result.to_device("cpu"))
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    else:
        assert result == expected


def test_other_classes_that_answer_are_asked():
    class Other:
        def __array_function__(self, function, types, args, named):
            return "the other one"

    assert np.concatenate([xp.asarray(V), Other()]) == "the other one"
    masked = np.ma.masked_array(V, V > 2)
    assert type(np.concatenate([xp.asarray(V), masked])) is not Array


def test_errors_are_told():
    x = xp.asarray(A)
    refused(ValueError, r"dimensions|sizes|shape", np.concatenate, [x, x[:, :2]])
    refused(IndexError, None, np.sort, x, axis=5)


def test_the_page_lists_what_the_tables_have():
    text = (ROOT / "docs" / "numpy-functions.md").read_text(encoding="utf-8")
    listed = text.partition("#ufuncs)):\n\n```text\n")[2].partition("```")[0].split()
    names = [name for name, _ in known_functions().values()]
    assert [name for name in listed if has(f"{name}(")] == sorted(names)
