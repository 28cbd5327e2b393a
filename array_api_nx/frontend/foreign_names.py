"""The names of NumPy, PyTorch and JAX that are missing here, and what to write instead.

`missing.py` reads it. In each table the key lists names, and the value is the text of the message.
Where that has ``{}``, it stands for the name, or for what follows ``=`` after the name. A name that
means different things in two libraries has NumPy's meaning.
"""

from __future__ import annotations

from typing import Final

from ..core.lacking_dtypes import NEAREST

_LAYOUT: Final = "how elements lie in memory is not for the caller to say: leave it out"
_OWN: Final = "it is about NumPy itself: use NumPy's"
_CONVERTED: Final = (
    "there is no such function here: convert NumPy's result, as in asarray(np.{}(...)); "
    "docs/from-numpy.md has a table of NumPy's names"
)
_LACKING: Final = " ".join([f"{name}={nearest}" for name, nearest in NEAREST.items()])
_DRAWN: Final = "make a generator, rng = xp.random.default_rng(seed), and use "

TABLES: Final[dict[str, dict[str, str]]] = {
    "array_api_nx": {
        (
            "absolute=abs amax=max amin=min arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh "
            "arctan=atan arctan2=atan2 arctanh=atanh around=round array=asarray "
            "asanyarray=asarray bitwise_not=bitwise_invert common_type=result_type conjugate=conj "
            "digitize=searchsorted fabs=abs fix=trunc identity=eye in1d=isin "
            "invert=bitwise_invert issubdtype=isdtype left_shift=bitwise_left_shift mod=remainder "
            "ndarray=Array power=pow promote_types=result_type require=asarray "
            "right_shift=bitwise_right_shift rint=round rollaxis=moveaxis trapz=trapezoid "
            "true_divide=divide append=concat r_=concat bool_=bool byte=int8 cdouble=complex128 "
            "csingle=complex64 double=float64 int_=int64 intc=int32 intp=int64 long=int64 "
            "longlong=int64 short=int16 half=float16 single=float32 ubyte=uint8 uint=uint64 "
            "uintc=uint32 "
            "uintp=uint64 ulong=uint64 ulonglong=uint64 ushort=uint16 bucketize=searchsorted "
            "cat=concat clamp=clip clamp_max=minimum clamp_min=maximum div=divide eq=equal "
            "ge=greater_equal gt=greater le=less_equal lt=less movedim=moveaxis mul=multiply "
            "ne=not_equal neg=negative permute=permute_dims sgn=sign sub=subtract "
            "take_along_dim=take_along_axis tensor=asarray unbind=unstack "
            "avg_pool1d=extra.mean_pool cummax=cumulative_max cummin=cumulative_min "
            "gather=take_along_axis repeat_interleave=repeat topk=top_k unsqueeze=expand_dims "
            "conv1d=extra.conv conv2d=extra.conv conv3d=extra.conv max_pool1d=extra.max_pool "
            "max_pool2d=extra.max_pool max_pool3d=extra.max_pool ShapeDtypeStruct=ShapeSpec "
            "Tensor=Array jit=compile cfloat=complex64"
        ): "use xp.{}",
        (
            "outer trace ger=outer inverse=inv pinverse=pinv cholesky det eig eigh inv lstsq "
            "matrix_power matrix_rank norm pinv qr slogdet solve svd svdvals"
        ): "use xp.linalg.{}",
        "swapaxes swapdims": "use xp.permute_dims, or xp.matrix_transpose for the last two axes",
        "array2string array_repr": "use repr(x)",
        "copy clone": "use xp.asarray(x, copy=True)",
        "index_exp s_": "write the slices themselves, or make them with slice(start, stop, step)",
        "ndim shape size numel=size t=T": "use x.{}",
        "array_split split vsplit chunk": "take slices, as in x[:n] and x[n:]",
        "ascontiguousarray asfortranarray isfortran": _LAYOUT,
        "asmatrix matrix": "use arrays with two dimensions, and the operator @",
        "block bmat": "use xp.concat of rows, each made by xp.concat",
        "c_ column_stack": "use xp.stack(columns, axis=1)",
        "compress extract": "use x[condition]",
        "deg2rad radians": "use x * (xp.pi / 180)",
        "degrees rad2deg": "use x * (180 / xp.pi)",
        "histogram_bin_edges sort_complex unwrap packbits unpackbits": _CONVERTED,
        "sigmoid=expit digamma=psi lgamma=gammaln": "use xp.special.{}",
        "iscomplexobj is_complex": 'use xp.isdtype(x.dtype, "complex floating")',
        "mgrid ogrid": 'use xp.meshgrid(..., indexing="ij")',
        "piecewise select": "use xp.where, once for each case",
        "place putmask": "assign: x[mask] = values",
        "row_stack vstack": "use xp.concat(arrays, axis=0), or xp.stack for vectors",
        "bartlett blackman hamming kaiser hanning=hann": "use scipy.signal.windows.{}(..., xp=xp)",
        "bitwise_count cbrt frexp gcd heaviside lcm logaddexp2 spacing": (
            "use np.{}, which takes arrays and gives them"
        ),
        _LACKING: "the standard has no such dtype: use xp.{}",
        "complexfloating": (
            'kinds of dtypes are words: ask with isdtype(x.dtype, "complex floating")'
        ),
        "floating": 'kinds of dtypes are words: ask with isdtype(x.dtype, "real floating")',
        "integer": 'kinds of dtypes are words: ask with isdtype(x.dtype, "integral")',
        "number": 'kinds of dtypes are words: ask with isdtype(x.dtype, "numeric")',
        "signedinteger": 'kinds of dtypes are words: ask with isdtype(x.dtype, "signed integer")',
        "unsignedinteger": (
            'kinds of dtypes are words: ask with isdtype(x.dtype, "unsigned integer")'
        ),
        "bmm mm mv": "use the operator @, or xp.matmul",
        "as_tensor from_numpy": "use xp.asarray, which shares memory where it can",
        "rand": _DRAWN + "rng.random(shape)",
        "rand_like": _DRAWN + "rng.random(x.shape)",
        "randn": _DRAWN + "rng.standard_normal(shape)",
        "randn_like": _DRAWN + "rng.standard_normal(x.shape)",
        "randint": _DRAWN + "rng.integers(low, high, shape)",
        "randperm": _DRAWN + "rng.permutation(n)",
        "bernoulli": _DRAWN + "rng.random(shape) < p",
        "multinomial": _DRAWN + "rng.choice(n, size, p=p)",
        "normal": _DRAWN + "rng.normal(mean, std, shape)",
        "poisson": _DRAWN + "rng.poisson(rates)",
        "manual_seed seed": "use xp.random.default_rng(seed), a generator",
        (
            "is_grad_enabled autograd enable_grad grad hessian inference_mode jacfwd jacobian "
            "jacrev jvp no_grad stop_gradient value_and_grad vjp"
        ): (
            "there is no differentiation here: gradients are PyTorch's and JAX's, and a tensor "
            "that requires one keeps it (docs/from-others.md)"
        ),
        "devices local_devices": "use xp.__array_namespace_info__().devices()",
        "pmap vmap": "write the function for arrays with one axis more in front",
        "nn optim": "layers, losses and optimisers are PyTorch's and JAX's",
        "cpu cuda cudnn mps xpu to_device": (
            'an engine is a device here, as in xp.asarray(x, device="torch:cuda:0"); '
            "docs/devices.md tells which there are"
        ),
        "cond fori_loop lax scan while_loop": (
            "Python's own if, for and while do, also in xp.compile (docs/compile.md tells what is "
            "recorded)"
        ),
        (
            "DataSource frombuffer fromfile fromregex fromstring genfromtxt load loadtxt memmap "
            "save savetxt savez savez_compressed"
        ): (
            "reading and writing files is NumPy's: convert what it loads with asarray(...), and "
            "what it is to save with np.asarray(x)"
        ),
        (
            "bytes_ char character chararray flexible object_ rec recarray record str_ strings "
            "void format_float_positional format_float_scientific"
        ): "arrays hold numbers and booleans, not text or objects: keep those in lists or NumPy",
        (
            "busday_count busday_offset busdaycalendar datetime64 datetime_as_string "
            "datetime_data is_busday isnat timedelta64"
        ): "arrays hold no dates: keep those in NumPy, and convert differences to numbers",
        "flatiter ndenumerate ndindex nditer nested_iters": (
            "loops over elements are slow: compute with whole arrays, or loop over a list"
        ),
        (
            "errstate getbufsize geterr geterrcall get_printoptions printoptions set_printoptions "
            "setbufsize seterr seterrcall"
        ): "NumPy's own settings hold here, too: use NumPy's function",
        (
            "poly poly1d polyadd polyder polydiv polyfit polyint polymul polynomial polysub polyval"
        ): (
            "polynomials are NumPy's: give it np.asarray(x), and convert the result with "
            "asarray(...)"
        ),
        (
            "ScalarType ctypeslib dtypes exceptions f2py get_include info little_endian "
            "min_scalar_type mintypecode sctypeDict show_runtime test typecodes typename typing "
            "ufunc"
        ): _OWN,
        "asarray_chkfinite": "use xp.asarray, and test xp.all(xp.isfinite(x))",
        "broadcast": "use xp.broadcast_arrays or xp.broadcast_shapes",
        "unique": "use xp.unique_values, or xp.unique_counts, xp.unique_inverse, xp.unique_all",
        "False_": "use False",
        "True_": "use True",
        "array_str": "use str(x)",
        "base_repr": "it is about Python's ints: use NumPy's",
        "binary_repr": "use format(number, 'b')",
        "isscalar": "use isinstance(x, bool | int | float | complex)",
        "iterable": "use x.ndim > 0",
        "angle": "use xp.atan2(xp.imag(x), xp.real(x))",
        "apply_along_axis": "use functions with axis=, or xp.stack([f(row) for row in x])",
        "apply_over_axes": "name the axes in one call, as in xp.sum(x, axis=(0, 1))",
        "argwhere": "use xp.stack(xp.nonzero(x), axis=1)",
        "array_equiv": "use xp.all(x1 == x2)",
        "average": "use xp.mean(x), or xp.sum(x * weights) / xp.sum(weights)",
        "choose": "use xp.where, or xp.take_along_axis of a stack of the choices",
        "copyto": "assign: x[...] = values",
        "correlate": "use scipy.signal.correlate",
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
        "hsplit": "take slices, as in x[:, :n] and x[:, n:]",
        "hstack": "use xp.concat(arrays, axis=1), or axis=0 for one dimension",
        "indices": 'use xp.meshgrid(xp.arange(n), xp.arange(m), indexing="ij")',
        "inner": "use xp.vecdot for vectors, or xp.tensordot(x1, x2, axes=((-1,), (-1,)))",
        "insert": "use xp.concat((x[:i], values, x[i:]))",
        "intersect1d": "use xp.unique_values(x1[xp.isin(x1, x2)])",
        "iscomplex": "use xp.imag(x) != 0",
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
        "matvec": "use (x1 @ x2[..., None])[..., 0]",
        "may_share_memory": "use np.may_share_memory(np.asarray(x), np.asarray(y))",
        "modf": "use whole = xp.trunc(x), and x - whole",
        "nanpercentile": "use xp.nanquantile(x, q / 100)",
        "percentile": "use xp.quantile(x, q / 100)",
        "ptp": "use xp.max(x) - xp.min(x)",
        "put": "assign: x[indices] = values",
        "ravel_multi_index": "compute i * x.shape[1] + j",
        "real_if_close": "use xp.real(x) where xp.all(xp.imag(x) == 0)",
        "resize": "use xp.reshape, or a slice of xp.tile",
        "rot90": "use xp.flip(xp.matrix_transpose(x), axis=0)",
        "setdiff1d": "use xp.unique_values(x1[xp.isin(x1, x2, invert=True)])",
        "setxor1d": "use xp.concat of x1[xp.isin(x1, x2, invert=True)] and the reverse",
        "shares_memory": "use np.shares_memory(np.asarray(x), np.asarray(y))",
        "tri": "use xp.tril(xp.ones((n, m)))",
        "tril_indices": "use xp.nonzero(xp.tril(xp.ones((n, m))))",
        "tril_indices_from": "use xp.nonzero(xp.tril(xp.ones(x.shape)))",
        "trim_zeros": "take a slice between the first and the last of xp.nonzero(x)[0]",
        "triu_indices": "use xp.nonzero(xp.triu(xp.ones((n, m))))",
        "triu_indices_from": "use xp.nonzero(xp.triu(xp.ones(x.shape)))",
        "union1d": "use xp.unique_values(xp.concat((x1, x2)))",
        "unravel_index": "use xp.floor_divide and xp.remainder with the sizes of the axes",
        "vander": "use x[:, None] ** xp.arange(n - 1, -1, -1)",
        "vdot": "use xp.vecdot(xp.reshape(x1, (-1,)), xp.reshape(x2, (-1,)))",
        "vecmat": "use (xp.conj(x1)[..., None, :] @ x2)[..., 0, :]",
        "vectorize": (
            "use xp.apply_ufunc(numba.vectorize(function), ...), or write it for whole arrays"
        ),
        "inexact": 'kinds of dtypes are words: ask with isdtype(x.dtype, ("real floating", ...))',
        "generic": "elements are arrays without axes: ask with isinstance(x, xp.Array)",
        "range": "use xp.arange, whose end is not included",
        "addmm": "use x1 + x2 @ x3",
        "flatten": "use xp.reshape(x, (-1,))",
        "frac": "use x - xp.trunc(x)",
        "index_select": "use xp.take(x, indices, axis=axis)",
        "is_floating_point": 'use xp.isdtype(x.dtype, "real floating")',
        "is_tensor": "use isinstance(x, xp.Array)",
        "lerp": "use x1 + weight * (x2 - x1)",
        "log_softmax": "use x - xp.logsumexp(x, axis=axis, keepdims=True)",
        "logdet": "use xp.linalg.slogdet(x).logabsdet",
        "masked_fill": "use xp.where(mask, value, x)",
        "masked_select": "use x[mask]",
        "relu": "use xp.maximum(x, 0)",
        "rsqrt": "use 1 / xp.sqrt(x)",
        "scatter": "use xp.put_along_axis, or assign: x[indices] = values",
        "silu": "use x * xp.special.expit(x)",
        "softplus": "use xp.logaddexp(x, 0)",
        "std_mean": "use xp.std and xp.mean",
        "to_dlpack": "arrays are taken by from_dlpack as they are",
        "var_mean": "use xp.var and xp.mean",
        "view_as_complex": "use x.view(xp.complex128)[..., 0]",
        "block_until_ready": "use xp.evaluate(x)",
        "device_get": "use np.asarray(x)",
        "device_put": 'use xp.asarray(x, device="...")',
        "disable_jit": "call the function that xp.compile was given",
        "enable_x64": "all dtypes are always there: leave it out",
        "make_jaxpr": "use xp.explain of what a compiled function returns",
        "set_default_device": "use xp.config_context(default_device=...)",
        "set_default_dtype": "give dtype= where an array is made: the default is float64",
        "set_num_threads": "use xp.config_context(num_threads=...)",
        "get_num_threads": "use xp.show_config()",
        "float": "use xp.float32 for PyTorch's, xp.float64 for Python's",
        "int": "use xp.int32 for PyTorch's, xp.int64 for Python's",
    },
    "array_api_nx.linalg": {
        "cond": "use s = xp.linalg.svdvals(x), and xp.max(s) / xp.min(s)",
        "multi_dot": "use the operator @, the smallest products in brackets",
        "tensorinv": "use xp.linalg.inv of a matrix made by xp.reshape",
        "tensorsolve": "use xp.linalg.solve with a matrix made by xp.reshape",
        "test": _OWN,
    },
    "array_api_nx.fft": {
        "fft2": "use xp.fft.fftn(x, axes=(-2, -1))",
        "ifft2": "use xp.fft.ifftn(x, axes=(-2, -1))",
        "irfft2": "use xp.fft.irfftn(x, axes=(-2, -1))",
        "rfft2": "use xp.fft.rfftn(x, axes=(-2, -1))",
        "test": _OWN,
    },
    "array_api_nx.random": {
        (
            "beta binomial bytes choice exponential multivariate_normal normal permutation "
            "poisson random shuffle standard_gamma standard_normal uniform"
        ): _DRAWN + "rng.{}(...)",
        "rand": _DRAWN + "rng.random(shape)",
        "randint": _DRAWN + "rng.integers(low, high, size)",
        "randn": _DRAWN + "rng.standard_normal(shape)",
        "random_integers": _DRAWN + "rng.integers(low, high, size, endpoint=True)",
        "standard_exponential": _DRAWN + "rng.exponential(size=shape)",
        "random_sample": _DRAWN + "rng.random(shape)",
        "ranf": _DRAWN + "rng.random(shape)",
        "sample": _DRAWN + "rng.random(shape)",
        "bernoulli": _DRAWN + "rng.random(shape) < p",
        "categorical": _DRAWN + "rng.choice(n, size, p=p)",
        "RandomState seed": "use xp.random.default_rng(seed)",
        "BitGenerator MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence": (
            "all numbers come from one kind of generator: use xp.random.default_rng(seed)"
        ),
        "PRNGKey key": "use xp.random.default_rng(seed), a generator",
        "fold_in split": (
            "generators are given, not keys: use rng.spawn(n) for n that are independent of each "
            "other"
        ),
        "get_bit_generator get_state set_bit_generator set_state": (
            "a generator is copied and pickled with its state: use xp.random.default_rng(seed)"
        ),
        "bit_generator mtrand test": _OWN,
        (
            "dirichlet f geometric gumbel hypergeometric laplace logistic logseries multinomial "
            "negative_binomial noncentral_chisquare noncentral_f pareto power rayleigh "
            "standard_cauchy standard_t triangular vonmises wald weibull zipf"
        ): _CONVERTED.format("random.default_rng(seed).{}"),
        "chisquare": _DRAWN + "2 * rng.standard_gamma(df / 2, size)",
        "gamma": _DRAWN + "scale * rng.standard_gamma(shape, size)",
        "lognormal": _DRAWN + "xp.exp(rng.normal(mean, sigma, size))",
        "truncated_normal": "draw with rng.normal(...), and choose with xp.where",
    },
    "Array": {
        (
            "argpartition clip repeat take clamp=clip gather=take_along_axis abs exp flip log "
            "median pow quantile roll softmax sqrt square tile"
        ): "use xp.{}(x, ...)",
        (
            "byteswap=byteswap() ctypes data flags newbyteorder=byteswap() setflags=setflags(...) "
            "strides tofile=tofile(file) tostring=tobytes() is_contiguous=flags.c_contiguous"
        ): "use np.asarray(x).{}",
        "bmm matmul mm": "use the operator @, or xp.matmul",
        (
            "devices=device dim=ndim element_size=itemsize is_cuda=device numel=size "
            "sharding=device t=T"
        ): "use x.{}",
        "backward detach grad requires_grad": (
            "arrays have no gradients: a tensor has, before xp.asarray(tensor)"
        ),
        "add_ copy_ fill_ mul_ zero_": "assign: x[...] = value",
        "bool double=float64 float=float32 int=int32 long=int64": "use xp.astype(x, xp.{})",
        "base": "use np.shares_memory(np.asarray(x), np.asarray(y))",
        "choose": "use xp.where, or xp.take_along_axis of a stack of the choices",
        "compress": "use x[condition]",
        "conjugate": "use xp.conj(x)",
        "cumprod": "use xp.cumulative_prod(x)",
        "cumsum": "use xp.cumulative_sum(x)",
        "diagonal": "use xp.linalg.diagonal(x)",
        "dot": "use the operator @, or xp.matmul, xp.vecdot, xp.tensordot",
        "dump": "use pickle.dump(x, file)",
        "dumps": "use pickle.dumps(x)",
        "flat": "use xp.reshape(x, (-1,))",
        "getfield": "use x.view(dtype), and a slice",
        "itemset": "assign: x[index] = value",
        "nonzero": "use xp.nonzero(x)",
        "partition": "use xp.partition(x, ...), which gives a new array",
        "ptp": "use xp.max(x) - xp.min(x)",
        "put": "assign: x[indices] = values",
        "resize": "use xp.reshape, or a slice of xp.tile",
        "setfield": "assign to x.view(dtype)[...]",
        "sort": "use xp.sort(x), which gives a new array",
        "swapaxes": "use xp.permute_dims, or x.mT for the last two axes",
        "trace": "use xp.linalg.trace(x)",
        "at": "assign: x[index] = value, on every device",
        "block_until_ready": "use xp.evaluate(x)",
        "clone": "use x.copy()",
        "contiguous": _LAYOUT,
        "cpu": 'use x.to_device("cpu")',
        "cuda": 'use x.to_device("torch:cuda:0")',
        "expand": "use xp.broadcast_to(x, shape)",
        "index_select": "use xp.take(x, indices, axis=axis)",
        "is_floating_point": 'use xp.isdtype(x.dtype, "real floating")',
        "masked_fill": "use xp.where(mask, value, x), or assign: x[mask] = value",
        "numpy": "use np.asarray(x)",
        "permute": "use xp.permute_dims(x, axes)",
        "to": "use x.to_device(device), or xp.astype(x, dtype)",
        "topk": "use xp.top_k(x, k)",
        "type": "use x.dtype, or xp.astype(x, dtype)",
        "unbind": "use xp.unstack(x)",
        "unsqueeze": "use xp.expand_dims(x, axis)",
    },
}
"""Per public module, and for the attributes of `Array`: names, and what to write instead."""

PARAMETERS: Final[dict[str, str]] = {
    "a": "x",
    "a_max": "max",
    "a_min": "min",
    "arr": "x",
    "axes": "axis",
    "axis": "axes",
    "ddof": "correction",
    "decreasing": "descending",
    "dim": "axis axes",
    "dims": "axes axis",
    "diagonal": "k offset",
    "input": "x",
    "keepdim": "keepdims",
    "kind": "stable",
    "newshape": "shape",
    "reps": "repetitions",
    "right": "side",
    "shifts": "shift",
    "size": "shape",
    "tensors": "arrays",
}
"""Other libraries' names of parameters, and ours: if there are several, the function has one."""

WITHOUT: Final[dict[str, str]] = {
    "out": "nothing is written into arrays that are given: assign the result, y[...] = {}(...)",
    "where": "select before the call, with where(condition, x, 0) or x[condition]",
    "order": _LAYOUT,
    "like": "arrays are always of this namespace: leave it out",
    "subok": "arrays are always of this namespace: leave it out",
    "casting": "convert with astype(...) before the call",
    "initial": "combine the result with the initial value after the call",
    "requires_grad": "gradients are PyTorch's: ask for them before asarray(...)",
}
"""Parameters of other libraries that have no counterpart here, and what to do instead."""
