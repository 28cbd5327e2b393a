"""The table of signatures says what the standard's own stubs say, for every version."""

import ast
import os
from inspect import Parameter
from pathlib import Path

import pytest

from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.functions import signature_of
from array_api_nx.testing.strict_namespaces.signatures import CONSTANTS, DTYPES, METHODS, functions
from array_api_nx.testing.strict_namespaces.versions import VERSIONS, lacks
from array_api_nx_conformance.draft import ADDITIONS
from array_api_nx_conformance.suite import CHECKOUT_VARIABLE, SPEC, Pins, cache_folder, locate


def stubs(version):
    """The folder of the standard's stubs of a version."""
    named = os.environ.get(CHECKOUT_VARIABLE)
    checkout, _ = locate(Path(named) if named else None, cache_folder(), Pins())
    name = "_draft" if version == VERSIONS[-1] else f"_{version.replace('.', '_')}"
    folder = checkout / SPEC / "src" / "array_api_stubs" / name
    if not folder.is_dir():
        pytest.skip(f"needs a checkout of the official suite, with the standard in it: {folder}")
    return folder


def said(arguments):
    """Name, kind and default of each parameter."""
    by_position = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(by_position) - len(arguments.defaults)) + arguments.defaults
    kinds = ["POSITIONAL_ONLY"] * len(arguments.posonlyargs)
    kinds += ["POSITIONAL_OR_KEYWORD"] * len(arguments.args)
    rows = [*zip(by_position, kinds, defaults, strict=True)]
    if arguments.vararg:
        rows.append((arguments.vararg, "VAR_POSITIONAL", None))
    rows += [
        (a, "KEYWORD_ONLY", default)
        for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [
        (a.arg, kind, Parameter.empty if default is None else ast.literal_eval(default))
        for a, kind, default in rows
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_functions_and_parameters_are_those_of_the_stubs(version):
    expected = {}
    skipped = {"array_object", "constants", "data_types", "info", "__init__", "_types"}
    for file in stubs(version).glob("*.py"):
        if file.stem in skipped:
            continue
        prefix = f"{file.stem}." if file.stem in ("linalg", "fft") else ""
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                expected[prefix + node.name] = said(node.args)
    if version == VERSIONS[-1]:
        # What came to the draft after the commit that the stubs are of.
        for each in ADDITIONS:
            if each.signature is not None and not each.proposed:
                given = each.signature.parameters.values()
                expected[each.name] = [(p.name, p.kind.name, p.default) for p in given]
    found = {
        name: [
            (p.name, p.kind.name, p.default)
            for p in signature_of(function, version).parameters.values()
        ]
        for name, function in functions().items()
        if name != "__array_namespace_info__" and not lacks(version, name)
    }
    assert found.keys() == expected.keys()
    # A misprint of the first two versions: `dtype` was to be positional-only, as later on.
    if version < "2024.12":
        for each in (found, expected):
            each["astype"] = [(name, "", default) for name, _, default in each["astype"]]
    assert found == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_methods_are_those_of_the_stubs(version):
    tree = ast.parse((stubs(version) / "array_object.py").read_text(encoding="utf-8"))
    (array,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    named = {node.name for node in array.body if isinstance(node, ast.FunctionDef)}
    named -= {"__init__"}
    if version == VERSIONS[-1]:
        named -= {"__dlpack_c_exchange_api__"}  # optional
    # The stubs leave the in-place and reflected operators to the text.
    in_text = {name for name in METHODS if name[:3] in ("__i", "__r") and name not in named}
    assert METHODS - in_text == named
    assert len(in_text) == 26


@pytest.mark.parametrize("version", VERSIONS)
def test_a_namespace_lists_the_names_of_its_version(version):
    xp = strict(version)
    expected = {*CONSTANTS, *DTYPES, "linalg", "fft", "__array_api_version__"}
    expected |= {n for n in functions() if "." not in n and not lacks(version, n)}
    assert set(dir(xp)) == set(xp.__all__) == expected
    for name in expected:
        assert hasattr(xp, name)
    for extension in ("linalg", "fft"):
        names = {
            n.partition(".")[2]
            for n in functions()
            if n.startswith(extension) and not lacks(version, n)
        }
        assert set(dir(getattr(xp, extension))) == names
