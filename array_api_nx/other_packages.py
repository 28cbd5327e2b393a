"""Functions of other packages that take no arrays but NumPy's: they are given these.

Such a function asks whether an array is NumPy's, in Python or in C, and refuses another one. pandas
takes it for a list of labels, for positions where it is a mask, and for a function where it says
the groups. When one of the packages is imported, before this one or after it, the functions in the
table below are replaced by such that call them with NumPy's arrays over the same memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from inspect import isbuiltin
from types import FunctionType
from typing import Any, Final

import numpy as np

from .frontend.on_import import when_imported

_FUNCTIONS: Final = {
    "catboost": {"CatBoost": "_process_predict_input_data", "Pool": "__init__"},
    "cv2": {"": "*"},
    "cvxpy": {"expressions.leaf.Leaf": "_validate_value"},
    "h5py": {"Dataset": "__getitem__ __setitem__"},
    "lightgbm": {
        "Booster": "predict",
        "Dataset": "__init__ set_group set_init_score set_label set_weight",
    },
    "librosa.util.utils": {"": "valid_audio"},
    "pandas": {
        "": "factorize merge unique",
        "Categorical": "__init__",
        "DataFrame": """__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lt__ __mod__
            __mul__ __ne__ __or__ __pow__ __sub__ __truediv__ __xor__ add clip div divide eq
            floordiv ge groupby gt isin le lt merge mod mul multiply ne pow radd rdiv rfloordiv rmod
            rmul rpow rsub rtruediv set_index sub subtract truediv""",
        "Index": "isin",
        "Series": "groupby isin",
    },
    "polars": {
        "": "lit",
        "DataFrame": "__getitem__ __init__ filter select with_columns",
        "Series": """__add__ __eq__ __floordiv__ __ge__ __getitem__ __gt__ __init__ __le__ __lt__
            __mod__ __mul__ __ne__ __pow__ __sub__ __truediv__ filter""",
    },
    "scipy.signal": {"": "find_peaks"},
    "scipy.signal._signaltools": {"": "choose_conv_method"},
    "scipy.signal._spectral_py": {"": "csd"},
    "shap": {
        "Explainer": "__call__ __init__",
        "KernelExplainer": "__call__ __init__ shap_values",
        "LinearExplainer": "__call__ __init__ shap_values",
        "TreeExplainer": "__call__ __init__ shap_values",
    },
    "skimage.measure": {"": "find_contours marching_cubes moments_hu"},
    "skimage.morphology": {
        "": """area_closing area_opening diameter_closing diameter_opening max_tree
            max_tree_local_maxima skeletonize""",
    },
    "skimage.restoration": {"": "inpaint_biharmonic"},
    "sklearn.linear_model": {"": "lars_path lars_path_gram orthogonal_mp orthogonal_mp_gram"},
    "sklearn.manifold": {"TSNE": "__init__"},
    "sklearn.model_selection": {"ParameterGrid": "__init__", "ParameterSampler": "__init__"},
    "sklearn.utils._param_validation": {"_InstancesOf": "is_satisfied_by"},
    "statsmodels.base.data": {"": "handle_data"},
    "torch": {"": "from_numpy"},
    "xarray": {"DataArray": "interp", "Dataset": "interp"},
}
"""By package: the names in the package itself, and in its classes; ``*`` are all that are in C."""

_MOST_ITEMS: Final = 64
"""The most items of a container among which there may be arrays: others hold labels or numbers."""

_CLASSES: Final = ("array_api_nx.frontend.array.Array", "array_api_nx.numpy.arrays.ndarray")


def _is_array(kind: type) -> bool:
    """Whether a class is that of arrays of a namespace of ours, which may not be imported."""
    return hasattr(kind, "_handle") and f"{kind.__module__}.{kind.__qualname__}" in _CLASSES


def _numpys(x: Any) -> Any:
    """`x` with NumPy's arrays in place of ours, in containers too; itself if there are none."""
    kind = type(x)
    if kind in (dict, list, tuple) and len(x) <= _MOST_ITEMS:
        items = [*x.values()] if kind is dict else x
        given = [_numpys(each) for each in items]
        if all([new is old for new, old in zip(given, items, strict=True)]):
            return x
        return dict(zip(x, given, strict=True)) if kind is dict else kind(given)
    return np.asarray(x) if _is_array(kind) else x


def _with_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls another one with NumPy's arrays for ours."""

    def call(*args: Any, **named: Any) -> Any:
        given = [*args, *named.values()]
        # Some functions ask whether two arguments are one array, and these stay one.
        numpys = {id(x): _numpys(x) for x in given}
        args = tuple([numpys[id(x)] for x in args])
        return function(*args, **{name: numpys[id(x)] for name, x in named.items()})

    if isinstance(function, FunctionType):
        # Warnings of pandas name the first line outside of its files, which is to be the caller's.
        place = function.__code__
        call.__code__ = call.__code__.replace(
            co_filename=place.co_filename, co_firstlineno=place.co_firstlineno
        )
    return wraps(function)(call)


def _take_keys(common: Any) -> None:
    """Have pandas take arrays as keys, and as arguments of `where` and `mask`. It hands each to one
    function; to replace the methods would make ``series[3]`` take twice its time."""
    apply_if_callable = common.apply_if_callable

    def find_key(x: Any, pandas_object: Any, **named: Any) -> Any:
        kind = type(x)
        if kind is str or kind is int:
            return x
        if _is_array(kind):
            return np.asarray(x)
        return apply_if_callable(x, pandas_object, **named)

    common.apply_if_callable = find_key


def _take_arrays(torch: Any) -> None:
    """Have PyTorch's `asarray` take arrays by DLPack. It asks for a buffer, as bytes, and takes
    these for numbers of another dtype."""
    asarray = torch.asarray

    @wraps(asarray)
    def call(obj: Any, **named: Any) -> Any:
        return asarray(torch.from_dlpack(obj) if _is_array(type(obj)) else obj, **named)

    torch.asarray = call


def _give_numpys(package: str) -> None:
    """Replace the functions of a package that is imported."""
    for path, names in _FUNCTIONS[package].items():
        owner: Any = sys.modules[package]
        for name in path.split(".") if path else ():
            owner = getattr(owner, name)
        if names == "*":
            names = " ".join([name for name, each in vars(owner).items() if isbuiltin(each)])
        for name in names.split():
            setattr(owner, name, _with_numpys(getattr(owner, name)))
    if package == "pandas":
        _take_keys(import_module("pandas.core.common"))
    elif package == "torch":
        _take_arrays(sys.modules[package])


def give_numpys() -> None:
    """Replace the functions of all packages of the table, of each when it is imported."""
    for package in _FUNCTIONS:
        when_imported(package, partial(_give_numpys, package))
