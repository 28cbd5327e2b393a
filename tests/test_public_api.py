"""The names, signatures and texts of the public namespace, against the standard's own list."""

import doctest
import inspect
import json
import pkgutil
import pydoc
import re
import types
from importlib import import_module
from pathlib import Path

import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.frontend.annotations import LEFT_OUT
from array_api_nx.frontend.missing import BEYOND
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each

STANDARD = json.loads(
    (Path(__file__).parent / "data" / "array_api_2025_12.json").read_text(encoding="utf-8")
)
SECTIONS = STANDARD["sections"]

NOT_OF_EXTRA = {"lstsq", "norm", "stride_tricks"}  # what modules of `extra` have for others
DTYPES = {
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float32", "float64", "complex64", "complex128"],
}
# Sections whose names are not attributes of the main namespace.
ELSEWHERE = ("array_object", "data_types", "info", "fft", "linalg")
MAIN = {name for section in SECTIONS if section not in ELSEWHERE for name in SECTIONS[section]}
INSPECTION = {"__array_api_version__", "__array_namespace_info__"}
NAMES = MAIN | DTYPES | INSPECTION | {"fft", "linalg"}
CONTROLS = {
    *["Array", "Device", "ShapeSpec", "compile", "config_context", "eval_shape", "evaluate"],
    *["explain", "show_config"],
}
OURS = CONTROLS | {"__version__"}

# Where a function takes more than the standard asks for. Every legal call stays legal.
WIDER = {
    ("main", "diff", "n"): "positional-or-keyword",  # scikit-learn calls diff(x, n)
    ("main", "where", "x1"): "default",  # where(condition) is nonzero(condition)
    ("main", "where", "x2"): "default",
}

# xarray hands ``out=None`` on, which NumPy's functions pass to methods.
FURTHER = {("main", "all"): {"out"}, ("main", "any"): {"out"}}

FUNCTIONS = [
    *[
        ("main", name)
        for section in SECTIONS
        if section not in (*ELSEWHERE, "constants")
        for name in SECTIONS[section]
    ],
    *[("linalg", name) for name in SECTIONS["linalg"]],
    *[("fft", name) for name in SECTIONS["fft"]],
]
INFO = [name for name in SECTIONS["info"] if name != "__array_namespace_info__"]
METHODS = [
    name
    for name, entry in SECTIONS["array_object"].items()
    if entry["kind"] == "method" and name != "__init__"
]
ATTRIBUTES = [
    name for name, entry in SECTIONS["array_object"].items() if entry["kind"] == "attribute"
]
OPERATORS = [
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"],
    *["and", "or", "xor", "lshift", "rshift"],
]


def namespace(place):
    return xp if place == "main" else getattr(xp, place)


def entry(place, name):
    if place != "main":
        return SECTIONS[place][name]
    return next(s[name] for key, s in SECTIONS.items() if key not in ELSEWHERE and name in s)


def parameters_of(function):
    """Kind and default of each parameter but self."""
    words = {
        inspect.Parameter.POSITIONAL_ONLY: "positional-only",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional-or-keyword",
        inspect.Parameter.VAR_POSITIONAL: "var-positional",
        inspect.Parameter.KEYWORD_ONLY: "keyword-only",
    }
    signature = inspect.signature(function)
    return {
        name: (words[p.kind], None if p.default is LEFT_OUT else p.default)
        for name, p in signature.parameters.items()
        if name != "self"
    }


def expected_parameters(listed):
    empty = inspect.Parameter.empty
    return {
        p["name"]: (p["kind"], eval(p["default"]) if "default" in p else empty)
        for p in listed.get("parameters", [])
    }


def test_the_list_is_the_standards():
    assert STANDARD["version"] == xp.__array_api_version__ == "2025.12"
    assert len(MAIN) > 130
    assert len(FUNCTIONS) > 170


def test_all_names_of_the_standard_are_there_and_no_others():
    assert set(xp.__all__) == NAMES | OURS
    assert len(xp.__all__) == len(set(xp.__all__))
    assert set(xp.linalg.__all__) == set(SECTIONS["linalg"])
    assert set(xp.fft.__all__) == set(SECTIONS["fft"])
    for name in xp.__all__:
        assert hasattr(xp, name)


@pytest.mark.parametrize("place", ["main", "linalg", "fft"])
def test_dir_lists_the_public_names_alone(place):
    assert dir(namespace(place)) == sorted(namespace(place).__all__)


def test_star_import_brings_the_public_names():
    names = {}
    exec("from array_api_nx import *", names)
    assert set(names) - {"__builtins__"} == set(xp.__all__)


@pytest.mark.parametrize("name", ["special", "float16", "median", "bincount", "array", "ndarray"])
def test_names_that_clients_probe_are_not_listed(name):
    assert name not in dir(xp)


@pytest.mark.parametrize("name", ["float128", "ndarray", "_private", "__wrapped__"])
def test_unknown_names_raise_attribute_error(name):
    refused(AttributeError, name, getattr, xp, name)


def test_dtypes_beyond_the_standard_are_found_without_being_listed():
    assert xp.float16 is xp.ones(2, dtype="float16").dtype
    with xp.config_context(extras=False):
        refused(AttributeError, "float16", getattr, xp, "float16")


@for_each("name", xp.extra.__all__)
def test_functions_beyond_the_standard_are_found_without_being_listed(name):
    assert getattr(xp, name) is getattr(xp.extra, name)
    assert name not in {*xp.__all__, *dir(xp)}
    with xp.config_context(extras=False):
        assert not hasattr(xp, name)
        assert hasattr(xp.extra, name)


def test_names_beyond_the_standard_are_known_without_an_import():
    assert {*xp.extra.__all__, "cross", "lib", "random", "special"} == BEYOND
    names = [each.name for each in pkgutil.iter_modules(xp.extra.__path__)]
    chapters = [import_module(f"array_api_nx.extra.{name}") for name in names]
    listed = {name for chapter in chapters for name in getattr(chapter, "__all__", ())}
    assert {*xp.extra.__all__} == listed - NOT_OF_EXTRA | {"apply_ufunc", "in_one_pass"}
    code = "import sys, array_api_nx as xp; hasattr(xp, 'unknown'), hasattr(xp, 'random_name')\n"
    code += (
        "print([x for x in ('extra', 'random', 'special') if f'array_api_nx.{x}' in sys.modules])"
    )
    assert python("-c", code).strip() == "[]"


def test_dir_of_extra_lists_its_functions_alone():
    assert dir(xp.extra) == sorted(xp.extra.__all__)
    assert not set(xp.extra.__all__) & set(xp.__all__)


def test_special_functions_are_found_without_being_listed():
    # Who imports the module by its own name, as other tests do, has it as an attribute for good.
    vars(xp).pop("special", None)
    assert xp.special.erf is not None
    assert "special" not in {*xp.__all__, *dir(xp)}
    with xp.config_context(extras=False):
        assert not hasattr(xp, "special")
    assert hasattr(xp, "special")


@for_each("name", xp.special.__all__)
def test_special_functions_take_operands_by_position(name):
    function = getattr(xp.special, name)
    assert function.__name__ == name
    assert function.__doc__
    parameters = [*inspect.signature(function).parameters.values()]
    optional = [p for p in parameters if p.kind is not p.POSITIONAL_ONLY]
    assert [p.name for p in optional] == (["q"] if name == "zeta" else [])


@for_each(("place", "name"), FUNCTIONS)
def test_signatures_are_the_standards(place, name):
    found = parameters_of(getattr(namespace(place), name))
    expected = expected_parameters(entry(place, name))
    for parameter in FURTHER.get((place, name), ()):
        assert found.pop(parameter) == ("keyword-only", None)
    # Only positional parameters have an order.
    assert set(found) == set(expected)
    positional = [p for p, (kind, _) in expected.items() if kind != "keyword-only"]
    assert [p for p in found if p in positional] == positional
    for parameter in found:
        kind, default = found[parameter]
        wider = WIDER.get((place, name, parameter))
        if wider == "default":
            assert default is not inspect.Parameter.empty
            default = inspect.Parameter.empty
        elif wider is not None:
            assert kind == wider
            kind = "keyword-only"
        assert (parameter, kind, default) == (parameter, *expected[parameter])


@pytest.mark.parametrize("name", INFO)
def test_signatures_of_inspection_are_the_standards(name):
    found = parameters_of(getattr(xp.__array_namespace_info__(), name))
    assert found == expected_parameters(SECTIONS["info"][name])


@for_each("name", METHODS)
def test_signatures_of_methods_are_the_standards(name):
    assert parameters_of(getattr(Array, name)) == expected_parameters(
        SECTIONS["array_object"][name]
    )


def test_the_array_object_is_whole():
    x = xp.ones((2, 2))
    for name in ATTRIBUTES:
        assert hasattr(x, name)
        assert inspect.getdoc(getattr(Array, name))
    for operator in OPERATORS:
        for prefix in ("", "r", "i"):
            assert callable(getattr(Array, f"__{prefix}{operator}__"))


@for_each(("place", "name"), FUNCTIONS)
def test_functions_are_annotated(place, name):
    signature = inspect.signature(getattr(namespace(place), name))
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty


@for_each(("place", "name"), FUNCTIONS)
def test_docstrings_name_the_parameters_and_the_chapter(place, name):
    function = getattr(namespace(place), name)
    text = inspect.getdoc(function)
    assert text
    summary, _, rest = text.partition("\n")
    assert summary.endswith(".")
    assert text.splitlines()[-1].startswith("Standard: ")
    documented = {
        word.strip("*")
        for line in re.findall(r"^(\*?[\w, *]+) :", rest, re.MULTILINE)
        for word in re.split(r",\s*", line)
    } | set(re.findall(r"^\*(\w+)", rest, re.MULTILINE))
    assert set(inspect.signature(function).parameters) <= documented


@for_each(("place", "name"), FUNCTIONS)
def test_functions_know_their_names(place, name):
    function = getattr(namespace(place), name)
    assert inspect.isfunction(inspect.unwrap(function))
    assert function.__name__ == name
    assert function.__module__.startswith("array_api_nx.")


@pytest.mark.parametrize("thing", ["array_api_nx.sum", "array_api_nx.Array", "array_api_nx.linalg"])
def test_help_works(thing):
    text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    assert thing.rpartition(".")[2] in text
    assert len(text) > 300


def test_help_of_the_namespace_lists_its_functions():
    text = pydoc.render_doc(xp, renderer=pydoc.plaintext)
    for name in ("asarray", "matmul", "unique_values", "Array"):
        assert name in text


def test_constants():
    assert (xp.e, xp.pi) == pytest.approx((2.718281828459045, 3.141592653589793), rel=0)
    assert xp.inf == float("inf")
    assert xp.nan != xp.nan
    assert xp.newaxis is None
    assert {type(x) for x in (xp.e, xp.pi, xp.inf, xp.nan)} == {float}


def test_versions():
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", xp.__version__)
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12", None):
        assert xp.ones(1).__array_namespace__(api_version=version) is xp


def test_the_namespace_is_one_hashable_module():
    arrays = [xp.ones(2), xp.asarray(True), xp.zeros((0, 3), dtype=xp.complex64), xp.ones((2, 2)).T]
    found = {x.__array_namespace__() for x in arrays}
    assert found == {xp}
    assert isinstance(xp, types.ModuleType)
    assert xp.__name__ == "array_api_nx"


def test_what_functions_return_has_standard_types():
    unique = xp.unique_all(xp.asarray([1, 1]))
    assert unique._fields == ("values", "indices", "inverse_indices", "counts")
    assert xp.linalg.qr(xp.eye(2))._fields == ("Q", "R")
    assert xp.linalg.svd(xp.eye(2))._fields == ("U", "S", "Vh")
    assert xp.linalg.eigh(xp.eye(2))._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.slogdet(xp.eye(2))._fields == ("sign", "logabsdet")
    assert type(xp.__array_namespace_info__().devices()) is tuple


def modules_with_examples():
    found = []
    for info in pkgutil.walk_packages(xp.__path__, "array_api_nx."):
        path = Path(xp.__file__).parent / Path(*info.name.split(".")[1:])
        source = path / "__init__.py" if info.ispkg else path.with_suffix(".py")
        if source.exists() and ">>> " in source.read_text(encoding="utf-8"):
            found.append(info.name)
    return found


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_give_what_they_say(name):
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


def test_functions_beyond_the_standard_have_examples():
    names = {*modules_with_examples()}
    assert {
        "array_api_nx.extra.windows",
        "array_api_nx.extra.nans",
        "array_api_nx.compile",
    } <= names
    assert len(names) > 20
