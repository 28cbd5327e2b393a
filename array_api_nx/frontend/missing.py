"""What to write for the names of NumPy, PyTorch and JAX that the namespace lacks.

It is asked when a name was not found. Modules import this then, never before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from ..core.lacking_dtypes import NEAREST
from ..core.spelling import swapped

__all__ = ["FFT", "LINALG", "MAIN", "RANDOM", "missing"]

# Reasons that many names have in common. Each ends in what to do.
_FILES: Final = (
    "reading and writing files is NumPy's: convert what it loads with asarray(...), and what it is "
    "to save with np.asarray(x)"
)
_TEXT: Final = "arrays hold numbers and booleans, not text or objects: keep those in lists or NumPy"
_DATES: Final = "arrays hold no dates: keep those in NumPy, and convert differences to numbers"
_ITERATORS: Final = "loops over elements are slow: compute with whole arrays, or loop over a list"
_LAYOUT: Final = "how elements lie in memory is not for the caller to say: leave it out"
_SETTINGS: Final = "NumPy's own settings hold here, too: use NumPy's function"
_OWN: Final = "it is about NumPy itself: use NumPy's"
_POLYNOMIALS: Final = (
    "polynomials are NumPy's: give it np.asarray(x), and convert the result with asarray(...)"
)
_CONVERTED: Final = (
    "there is no such function here: convert NumPy's result, as in asarray(np.{}(...)); "
    "docs/from-numpy.md has a table of NumPy's names"
)
_UFUNC: Final = "use np.{}, which takes arrays and gives them"
_KINDS: Final = 'kinds of dtypes are words: ask with isdtype(x.dtype, "{}")'
_NARROW: Final = "the standard has no such dtype: use xp.{}"
_DRAWN: Final = "make a generator, rng = xp.random.default_rng(seed), and use {}"
_BITS: Final = "all numbers come from one kind of generator: use xp.random.default_rng(seed)"
_STATE: Final = "a generator is copied and pickled with its state: use xp.random.default_rng(seed)"
_GRADIENTS: Final = (
    "there is no differentiation here: gradients are PyTorch's and JAX's, and a tensor that "
    "requires one keeps it (docs/from-others.md)"
)
_NETWORKS: Final = "layers, losses and optimisers are PyTorch's and JAX's"
_ENGINE: Final = (
    'an engine is a device here, as in xp.asarray(x, device="torch:cuda:0"); docs/devices.md tells '
    "which there are"
)
_TRACED: Final = (
    "Python's own if, for and while do, also in xp.compile (docs/compile.md tells what is recorded)"
)
_WINDOW: Final = "use scipy.signal.windows.{}(..., xp=xp)"

MAIN: Final[dict[str, str]] = {
    # Other names for the standard's functions.
    "absolute": "use xp.abs",
    "amax": "use xp.max",
    "amin": "use xp.min",
    "arccos": "use xp.acos",
    "arccosh": "use xp.acosh",
    "arcsin": "use xp.asin",
    "arcsinh": "use xp.asinh",
    "arctan": "use xp.atan",
    "arctan2": "use xp.atan2",
    "arctanh": "use xp.atanh",
    "around": "use xp.round",
    "array": "use xp.asarray",
    "asanyarray": "use xp.asarray",
    "asarray_chkfinite": "use xp.asarray, and test xp.all(xp.isfinite(x))",
    "bitwise_not": "use xp.bitwise_invert",
    "broadcast": "use xp.broadcast_arrays or xp.broadcast_shapes",
    "common_type": "use xp.result_type",
    "conjugate": "use xp.conj",
    "digitize": "use xp.searchsorted",
    "fabs": "use xp.abs",
    "fix": "use xp.trunc",
    "identity": "use xp.eye",
    "in1d": "use xp.isin",
    "invert": "use xp.bitwise_invert",
    "issubdtype": "use xp.isdtype",
    "left_shift": "use xp.bitwise_left_shift",
    "mod": "use xp.remainder",
    "ndarray": "use xp.Array",
    "outer": "use xp.linalg.outer",
    "power": "use xp.pow",
    "promote_types": "use xp.result_type",
    "require": "use xp.asarray",
    "right_shift": "use xp.bitwise_right_shift",
    "rint": "use xp.round",
    "rollaxis": "use xp.moveaxis",
    "swapaxes": "use xp.permute_dims, or xp.matrix_transpose for the last two axes",
    "trace": "use xp.linalg.trace",
    "trapz": "use xp.trapezoid",
    "true_divide": "use xp.divide",
    "unique": "use xp.unique_values, or xp.unique_counts, xp.unique_inverse, xp.unique_all",
    # Attributes of arrays, and Python's own.
    "False_": "use False",
    "True_": "use True",
    "array2string": "use repr(x)",
    "array_repr": "use repr(x)",
    "array_str": "use str(x)",
    "base_repr": "it is about Python's ints: use NumPy's",
    "binary_repr": "use format(number, 'b')",
    "copy": "use xp.asarray(x, copy=True)",
    "index_exp": "write the slices themselves, or make them with slice(start, stop, step)",
    "isscalar": "use isinstance(x, bool | int | float | complex)",
    "iterable": "use x.ndim > 0",
    "ndim": "use x.ndim",
    "s_": "write the slices themselves, or make them with slice(start, stop, step)",
    "shape": "use x.shape",
    "size": "use x.size",
    # In a few calls.
    "angle": "use xp.atan2(xp.imag(x), xp.real(x))",
    "append": "use xp.concat",
    "apply_along_axis": "use functions with axis=, or xp.stack([f(row) for row in x])",
    "apply_over_axes": "name the axes in one call, as in xp.sum(x, axis=(0, 1))",
    "argwhere": "use xp.stack(xp.nonzero(x), axis=1)",
    "array_equiv": "use xp.all(x1 == x2)",
    "array_split": "take slices, as in x[:n] and x[n:]",
    "ascontiguousarray": _LAYOUT,
    "asfortranarray": _LAYOUT,
    "asmatrix": "use arrays with two dimensions, and the operator @",
    "average": "use xp.mean(x), or xp.sum(x * weights) / xp.sum(weights)",
    "block": "use xp.concat of rows, each made by xp.concat",
    "bmat": "use xp.concat of rows, each made by xp.concat",
    "c_": "use xp.stack(columns, axis=1)",
    "choose": "use xp.where, or xp.take_along_axis of a stack of the choices",
    "column_stack": "use xp.stack(columns, axis=1)",
    "compress": "use x[condition]",
    "copyto": "assign: x[...] = values",
    "correlate": "use scipy.signal.correlate",
    "deg2rad": "use x * (xp.pi / 180)",
    "degrees": "use x * (180 / xp.pi)",
    "delete": "use x[kept], with a mask or indices of what is kept",
    "diag_indices": "use i = xp.arange(n), and x[i, i]",
    "diag_indices_from": "use i = xp.arange(x.shape[0]), and x[i, i]",
    "diagflat": "use xp.diag(xp.reshape(x, (-1,)))",
    "divmod": "use xp.floor_divide and xp.remainder",
    "dot": "use the operator @, or xp.matmul, xp.vecdot, xp.tensordot",
    "dsplit": "take slices, as in x[:, :, :n] and x[:, :, n:]",
    "dstack": "use xp.concat(arrays, axis=2), or xp.stack(arrays, axis=2) for matrices",
    "dtype": "dtypes are attributes, as in xp.float64; np.dtype(x.dtype) is NumPy's",
    "ediff1d": "use xp.diff(xp.reshape(x, (-1,)))",
    "einsum_path": "use opt_einsum.contract_path",
    "emath": "convert first, as in xp.sqrt(xp.astype(x, xp.complex128))",
    "euler_gamma": "use 0.5772156649015329",
    "exp2": "use xp.pow(2.0, x)",
    "extract": "use x[condition]",
    "fill_diagonal": "use i = xp.arange(n), and assign: x[i, i] = value",
    "flatnonzero": "use xp.nonzero(xp.reshape(x, (-1,)))[0]",
    "fliplr": "use xp.flip(x, axis=1)",
    "flipud": "use xp.flip(x, axis=0)",
    "float_power": "use xp.pow(xp.astype(x1, xp.float64), x2)",
    "fmax": "use xp.where(xp.isnan(x1), x2, xp.where(xp.isnan(x2), x1, xp.maximum(x1, x2)))",
    "fmin": "use xp.where(xp.isnan(x1), x2, xp.where(xp.isnan(x2), x1, xp.minimum(x1, x2)))",
    "fmod": "use xp.sign(x1) * xp.remainder(xp.abs(x1), xp.abs(x2))",
    "fromfunction": 'call the function with xp.meshgrid(xp.arange(n), ..., indexing="ij")',
    "fromiter": "use xp.asarray(list(iterable))",
    "frompyfunc": "write the function for whole arrays, with xp.where for its cases",
    "geomspace": "use xp.logspace(math.log10(start), math.log10(stop), num)",
    "histogram_bin_edges": _CONVERTED.format("histogram_bin_edges"),
    "hsplit": "take slices, as in x[:, :n] and x[:, n:]",
    "hstack": "use xp.concat(arrays, axis=1), or axis=0 for one dimension",
    "i0": "use xp.special.i0",
    "indices": 'use xp.meshgrid(xp.arange(n), xp.arange(m), indexing="ij")',
    "inner": "use xp.vecdot for vectors, or xp.tensordot(x1, x2, axes=((-1,), (-1,)))",
    "insert": "use xp.concat((x[:i], values, x[i:]))",
    "intersect1d": "use xp.unique_values(x1[xp.isin(x1, x2)])",
    "iscomplex": "use xp.imag(x) != 0",
    "iscomplexobj": 'use xp.isdtype(x.dtype, "complex floating")',
    "isfortran": _LAYOUT,
    "isneginf": "use x == -xp.inf",
    "isposinf": "use x == xp.inf",
    "isreal": "use xp.imag(x) == 0",
    "isrealobj": 'use not xp.isdtype(x.dtype, "complex floating")',
    "ix_": "use indices that broadcast, as in x[i[:, None], j]",
    "kron": "use array_api_extra.kron",
    "ldexp": "use x1 * xp.pow(2.0, x2)",
    "lexsort": "use xp.argsort by one key after the other, the most important one last",
    "ma": "use xp.where with a mask, or x[mask]",
    "mask_indices": "use xp.nonzero(mask)",
    "matrix": "use arrays with two dimensions, and the operator @",
    "matvec": "use (x1 @ x2[..., None])[..., 0]",
    "may_share_memory": "use np.may_share_memory(np.asarray(x), np.asarray(y))",
    "mgrid": 'use xp.meshgrid(..., indexing="ij")',
    "modf": "use whole = xp.trunc(x), and x - whole",
    "nanpercentile": "use xp.nanquantile(x, q / 100)",
    "ogrid": 'use xp.meshgrid(..., indexing="ij")',
    "percentile": "use xp.quantile(x, q / 100)",
    "piecewise": "use xp.where, once for each case",
    "place": "assign: x[mask] = values",
    "ptp": "use xp.max(x) - xp.min(x)",
    "put": "assign: x[indices] = values",
    "putmask": "assign: x[mask] = values",
    "r_": "use xp.concat",
    "rad2deg": "use x * (180 / xp.pi)",
    "radians": "use x * (xp.pi / 180)",
    "ravel_multi_index": "compute i * x.shape[1] + j",
    "real_if_close": "use xp.real(x) where xp.all(xp.imag(x) == 0)",
    "resize": "use xp.reshape, or a slice of xp.tile",
    "rot90": "use xp.flip(xp.matrix_transpose(x), axis=0)",
    "row_stack": "use xp.concat(arrays, axis=0), or xp.stack for vectors",
    "select": "use xp.where, once for each case",
    "setdiff1d": "use xp.unique_values(x1[xp.isin(x1, x2, invert=True)])",
    "setxor1d": "use xp.concat of x1[xp.isin(x1, x2, invert=True)] and the reverse",
    "shares_memory": "use np.shares_memory(np.asarray(x), np.asarray(y))",
    "sort_complex": _CONVERTED.format("sort_complex"),
    "split": "take slices, as in x[:n] and x[n:]",
    "tri": "use xp.tril(xp.ones((n, m)))",
    "tril_indices": "use xp.nonzero(xp.tril(xp.ones((n, m))))",
    "tril_indices_from": "use xp.nonzero(xp.tril(xp.ones(x.shape)))",
    "trim_zeros": "take a slice between the first and the last of xp.nonzero(x)[0]",
    "triu_indices": "use xp.nonzero(xp.triu(xp.ones((n, m))))",
    "triu_indices_from": "use xp.nonzero(xp.triu(xp.ones(x.shape)))",
    "union1d": "use xp.unique_values(xp.concat((x1, x2)))",
    "unravel_index": "use xp.floor_divide and xp.remainder with the sizes of the axes",
    "unwrap": _CONVERTED.format("unwrap"),
    "vander": "use x[:, None] ** xp.arange(n - 1, -1, -1)",
    "vdot": "use xp.vecdot(xp.reshape(x1, (-1,)), xp.reshape(x2, (-1,)))",
    "vecmat": "use (xp.conj(x1)[..., None, :] @ x2)[..., 0, :]",
    "vectorize": "use xp.apply_ufunc(numba.vectorize(function), ...), or write it for whole arrays",
    "vsplit": "take slices, as in x[:n] and x[n:]",
    "vstack": "use xp.concat(arrays, axis=0), or xp.stack for vectors",
    **{name: _WINDOW.format(name) for name in ("bartlett", "blackman", "hamming", "kaiser")},
    "hanning": _WINDOW.format("hann"),
    **{name: _CONVERTED.format(name) for name in ("packbits", "unpackbits")},
    **{
        name: _UFUNC.format(name)
        for name in (
            *("bitwise_count", "cbrt", "frexp", "gcd", "heaviside", "lcm", "logaddexp2"),
            "spacing",
        )
    },
    # Dtypes.
    "bool_": "use xp.bool",
    "byte": "use xp.int8",
    "cdouble": "use xp.complex128",
    "csingle": "use xp.complex64",
    "double": "use xp.float64",
    "int_": "use xp.int64",
    "intc": "use xp.int32",
    "intp": "use xp.int64",
    "long": "use xp.int64",
    "longlong": "use xp.int64",
    "short": "use xp.int16",
    "single": "use xp.float32",
    "ubyte": "use xp.uint8",
    "uint": "use xp.uint64",
    "uintc": "use xp.uint32",
    "uintp": "use xp.uint64",
    "ulong": "use xp.uint64",
    "ulonglong": "use xp.uint64",
    "ushort": "use xp.uint16",
    **{name: _NARROW.format(nearest) for name, nearest in NEAREST.items()},
    "complexfloating": _KINDS.format("complex floating"),
    "floating": _KINDS.format("real floating"),
    "inexact": 'kinds of dtypes are words: ask with isdtype(x.dtype, ("real floating", ...))',
    "integer": _KINDS.format("integral"),
    "number": _KINDS.format("numeric"),
    "signedinteger": _KINDS.format("signed integer"),
    "unsignedinteger": _KINDS.format("unsigned integer"),
    "generic": "elements are arrays without axes: ask with isinstance(x, xp.Array)",
    # PyTorch's names for functions of the standard.
    "bmm": "use the operator @, or xp.matmul",
    "bucketize": "use xp.searchsorted",
    "cat": "use xp.concat",
    "clamp": "use xp.clip",
    "clamp_max": "use xp.minimum",
    "clamp_min": "use xp.maximum",
    "div": "use xp.divide",
    "eq": "use xp.equal",
    "ge": "use xp.greater_equal",
    "ger": "use xp.linalg.outer",
    "gt": "use xp.greater",
    "inverse": "use xp.linalg.inv",
    "le": "use xp.less_equal",
    "lt": "use xp.less",
    "mm": "use the operator @, or xp.matmul",
    "movedim": "use xp.moveaxis",
    "mul": "use xp.multiply",
    "mv": "use the operator @, or xp.matmul",
    "ne": "use xp.not_equal",
    "neg": "use xp.negative",
    "permute": "use xp.permute_dims",
    "pinverse": "use xp.linalg.pinv",
    "range": "use xp.arange, whose end is not included",
    "sgn": "use xp.sign",
    "sub": "use xp.subtract",
    "take_along_dim": "use xp.take_along_axis",
    "tensor": "use xp.asarray",
    "unbind": "use xp.unstack",
    **{
        name: f"use xp.linalg.{name}"
        for name in (
            *("cholesky", "det", "eig", "eigh", "inv", "lstsq", "matrix_power", "matrix_rank"),
            *("norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals"),
        )
    },
    # In a few calls.
    "addmm": "use x1 + x2 @ x3",
    "as_tensor": "use xp.asarray, which shares memory where it can",
    "avg_pool1d": "use xp.extra.mean_pool",
    "chunk": "take slices, as in x[:n] and x[n:]",
    "clone": "use xp.asarray(x, copy=True)",
    "cummax": "use xp.cumulative_max",
    "cummin": "use xp.cumulative_min",
    "flatten": "use xp.reshape(x, (-1,))",
    "frac": "use x - xp.trunc(x)",
    "from_numpy": "use xp.asarray, which shares memory where it can",
    "gather": "use xp.take_along_axis",
    "index_select": "use xp.take(x, indices, axis=axis)",
    "is_complex": 'use xp.isdtype(x.dtype, "complex floating")',
    "is_floating_point": 'use xp.isdtype(x.dtype, "real floating")',
    "is_tensor": "use isinstance(x, xp.Array)",
    "lerp": "use x1 + weight * (x2 - x1)",
    "log_softmax": "use x - xp.logsumexp(x, axis=axis, keepdims=True)",
    "logdet": "use xp.linalg.slogdet(x).logabsdet",
    "masked_fill": "use xp.where(mask, value, x)",
    "masked_select": "use x[mask]",
    "numel": "use x.size",
    "relu": "use xp.maximum(x, 0)",
    "repeat_interleave": "use xp.repeat",
    "rsqrt": "use 1 / xp.sqrt(x)",
    "scatter": "use xp.put_along_axis, or assign: x[indices] = values",
    "sigmoid": "use xp.special.expit",
    "silu": "use x * xp.special.expit(x)",
    "softplus": "use xp.logaddexp(x, 0)",
    "std_mean": "use xp.std and xp.mean",
    "swapdims": "use xp.permute_dims, or xp.matrix_transpose for the last two axes",
    "t": "use x.T",
    "to_dlpack": "arrays are taken by from_dlpack as they are",
    "topk": "use xp.top_k",
    "unsqueeze": "use xp.expand_dims",
    "var_mean": "use xp.var and xp.mean",
    "view_as_complex": "use x.view(xp.complex128)[..., 0]",
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), "use xp.extra.conv"),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "max_pool3d"), "use xp.extra.max_pool"),
    "digamma": "use xp.special.psi",
    "lgamma": "use xp.special.gammaln",
    **{name: f"use xp.special.{name}" for name in ("erf", "erfc", "erfinv", "logit", "xlogy")},
    **{
        name: _DRAWN.format(f"rng.{method}")
        for name, method in (
            *(("rand", "random(shape)"), ("rand_like", "random(x.shape)")),
            *(("randn", "standard_normal(shape)"), ("randn_like", "standard_normal(x.shape)")),
            *(("randint", "integers(low, high, shape)"), ("randperm", "permutation(n)")),
            *(("bernoulli", "random(shape) < p"), ("multinomial", "choice(n, size, p=p)")),
            *(("normal", "normal(mean, std, shape)"), ("poisson", "poisson(rates)")),
        )
    },
    **dict.fromkeys(("manual_seed", "seed"), "use xp.random.default_rng(seed), a generator"),
    # What PyTorch and JAX have beyond arrays.
    "ShapeDtypeStruct": "use xp.ShapeSpec",
    "Tensor": "use xp.Array",
    "block_until_ready": "use xp.evaluate(x)",
    "device_get": "use np.asarray(x)",
    "device_put": 'use xp.asarray(x, device="...")',
    "disable_jit": "call the function that xp.compile was given",
    "enable_x64": "all dtypes are always there: leave it out",
    "jit": "use xp.compile",
    "make_jaxpr": "use xp.explain of what a compiled function returns",
    "numpy": "this namespace takes its place: use xp itself",
    "set_default_device": "use xp.config_context(default_device=...)",
    "set_default_dtype": "give dtype= where an array is made: the default is float64",
    "set_num_threads": "use xp.config_context(num_threads=...)",
    "get_num_threads": "use xp.show_config()",
    "is_grad_enabled": _GRADIENTS,
    **dict.fromkeys(("devices", "local_devices"), "use xp.__array_namespace_info__().devices()"),
    **dict.fromkeys(("pmap", "vmap"), "write the function for arrays with one axis more in front"),
    **dict.fromkeys(
        (
            *("autograd", "enable_grad", "grad", "hessian", "inference_mode", "jacfwd", "jacobian"),
            *("jacrev", "jvp", "no_grad", "stop_gradient", "value_and_grad", "vjp"),
        ),
        _GRADIENTS,
    ),
    **dict.fromkeys(("nn", "optim"), _NETWORKS),
    **dict.fromkeys(("cpu", "cuda", "cudnn", "mps", "xpu", "to_device"), _ENGINE),
    **dict.fromkeys(("cond", "fori_loop", "lax", "scan", "while_loop"), _TRACED),
    "cfloat": "use xp.complex64",
    "float": "use xp.float32 for PyTorch's, xp.float64 for Python's",
    "int": "use xp.int32 for PyTorch's, xp.int64 for Python's",
    # What is left to NumPy.
    **dict.fromkeys(
        (
            *("DataSource", "frombuffer", "fromfile", "fromregex", "fromstring", "genfromtxt"),
            *("load", "loadtxt", "memmap", "save", "savetxt", "savez", "savez_compressed"),
        ),
        _FILES,
    ),
    **dict.fromkeys(
        (
            *("bytes_", "char", "character", "chararray", "flexible", "object_", "rec"),
            *("recarray", "record", "str_", "strings", "void"),
            *("format_float_positional", "format_float_scientific"),
        ),
        _TEXT,
    ),
    **dict.fromkeys(
        (
            *("busday_count", "busday_offset", "busdaycalendar", "datetime64"),
            *("datetime_as_string", "datetime_data", "is_busday", "isnat", "timedelta64"),
        ),
        _DATES,
    ),
    **dict.fromkeys(("flatiter", "ndenumerate", "ndindex", "nditer", "nested_iters"), _ITERATORS),
    **dict.fromkeys(
        (
            *("errstate", "getbufsize", "geterr", "geterrcall", "get_printoptions"),
            *("printoptions", "set_printoptions", "setbufsize", "seterr", "seterrcall"),
        ),
        _SETTINGS,
    ),
    **dict.fromkeys(
        (
            *("poly", "poly1d", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul"),
            *("polynomial", "polysub", "polyval"),
        ),
        _POLYNOMIALS,
    ),
    **dict.fromkeys(
        (
            *("ScalarType", "ctypeslib", "dtypes", "exceptions", "f2py", "get_include", "info"),
            *("little_endian", "min_scalar_type", "mintypecode", "sctypeDict"),
            *("show_runtime", "test", "typecodes", "typename", "typing", "ufunc"),
        ),
        _OWN,
    ),
}
"""Names of NumPy, PyTorch and JAX that the namespace lacks, each with what to do; no name that it
has. One that means different things in two of them has NumPy's meaning."""

LINALG: Final[dict[str, str]] = {
    "cond": "use s = xp.linalg.svdvals(x), and xp.max(s) / xp.min(s)",
    "multi_dot": "use the operator @, the smallest products in brackets",
    "tensorinv": "use xp.linalg.inv of a matrix made by xp.reshape",
    "tensorsolve": "use xp.linalg.solve with a matrix made by xp.reshape",
    "test": _OWN,
}
"""The same for `linalg`."""

FFT: Final[dict[str, str]] = {
    "fft2": "use xp.fft.fftn(x, axes=(-2, -1))",
    "ifft2": "use xp.fft.ifftn(x, axes=(-2, -1))",
    "irfft2": "use xp.fft.irfftn(x, axes=(-2, -1))",
    "rfft2": "use xp.fft.rfftn(x, axes=(-2, -1))",
    "test": _OWN,
}
"""The same for `fft`."""

RANDOM: Final[dict[str, str]] = {
    **{
        name: _DRAWN.format(f"rng.{name}(...)")
        for name in (
            *(
                "beta",
                "binomial",
                "bytes",
                "choice",
                "exponential",
                "multivariate_normal",
                "normal",
            ),
            *("permutation", "poisson", "random", "shuffle", "standard_gamma", "standard_normal"),
            "uniform",
        )
    },
    "chisquare": _DRAWN.format("2 * rng.standard_gamma(df / 2, size)"),
    "gamma": _DRAWN.format("scale * rng.standard_gamma(shape, size)"),
    "lognormal": _DRAWN.format("xp.exp(rng.normal(mean, sigma, size))"),
    "rand": _DRAWN.format("rng.random(shape)"),
    "randint": _DRAWN.format("rng.integers(low, high, size)"),
    "randn": _DRAWN.format("rng.standard_normal(shape)"),
    "random_integers": _DRAWN.format("rng.integers(low, high, size, endpoint=True)"),
    "standard_exponential": _DRAWN.format("rng.exponential(size=shape)"),
    **dict.fromkeys(("random_sample", "ranf", "sample"), _DRAWN.format("rng.random(shape)")),
    **dict.fromkeys(("RandomState", "seed"), "use xp.random.default_rng(seed)"),
    **dict.fromkeys(
        ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence"), _BITS
    ),
    # JAX's names.
    **dict.fromkeys(("PRNGKey", "key"), "use xp.random.default_rng(seed), a generator"),
    **dict.fromkeys(
        ("fold_in", "split"),
        "generators are given, not keys: use rng.spawn(n) for n that are independent of each other",
    ),
    "bernoulli": _DRAWN.format("rng.random(shape) < p"),
    "categorical": _DRAWN.format("rng.choice(n, size, p=p)"),
    "truncated_normal": "draw with rng.normal(...), and choose with xp.where",
    **dict.fromkeys(("get_bit_generator", "get_state", "set_bit_generator", "set_state"), _STATE),
    **dict.fromkeys(("bit_generator", "mtrand", "test"), _OWN),
    **{
        name: _CONVERTED.format(f"random.default_rng(seed).{name}")
        for name in (
            *("dirichlet", "f", "geometric", "gumbel", "hypergeometric", "laplace", "logistic"),
            *("logseries", "multinomial", "negative_binomial", "noncentral_chisquare"),
            *("noncentral_f", "pareto", "power", "rayleigh", "standard_cauchy", "standard_t"),
            *("triangular", "vonmises", "wald", "weibull", "zipf"),
        )
    },
}
"""The same for `random`, whose functions are methods of its generators."""


def missing(
    module: str, name: str, instead: dict[str, str], beyond: Iterable[str] = ()
) -> AttributeError:
    """The error for a name that a public module lacks: with the alternative, if there is one.

    Python appends its guess, ``Did you mean: ...``, for errors that tell the name and the object.
    Here that is what happens to unknown names alone: an alternative is better than a guess, and so
    is the name of which two letters changed places. `beyond` are names that the module has, but
    does not list.
    """
    text = f"module {module!r} has no attribute {name!r}"
    owner = sys.modules[module]
    if name in instead:
        return AttributeError(f"{text}; {instead[name]}", obj=owner)
    known = {*vars(owner), *beyond}
    for word in swapped(name):
        if word in known:
            return AttributeError(f"{text}; did you mean {word!r}?", obj=owner)
    return AttributeError(text)
