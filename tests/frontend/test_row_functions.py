"""Functions that are made of rows look as if they had been written out, and the stubs list them."""

import ast
import inspect
import pickle
import traceback
from importlib import import_module
from pathlib import Path

import pytest

from array_api_nx.frontend import elementwise
from array_api_nx.frontend.row_functions import presented
from tests.support.refusals import refused
from tests.support.tables import for_each

MODULES = ["array_api_nx.frontend.elementwise", "array_api_nx.special"]


def stub(module):
    file = import_module(module).__file__
    assert file is not None
    return ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))


def signatures(tree):
    """The signatures of a stub's functions, with the names of types resolved."""
    names = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }

    class Resolve(ast.NodeTransformer):
        def visit_Name(self, node):
            return names.get(node.id) or node

    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        node.name: f"({ast.unparse(Resolve().visit(node.args))}) -> {ast.unparse(node.returns)}"
        for node in functions
        if node.returns is not None
    }


@for_each("module", MODULES)
def test_the_stub_has_every_function_with_its_signature(module):
    found = import_module(module)
    listed = signatures(stub(module))
    names = [name for name in found.__all__ if getattr(found, name).__module__ == module]
    assert sorted(listed) == sorted(names)
    for name, signature in listed.items():
        ours = str(inspect.signature(getattr(found, name))).replace("'", "")
        assert ours == signature


@for_each("module", MODULES)
def test_the_stub_lists_all_names(module):
    (names,) = [
        ast.literal_eval(node.value)
        for node in stub(module).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert sorted(names) == sorted(import_module(module).__all__)


@for_each("module", MODULES)
def test_functions_are_found_by_their_names(module):
    found = import_module(module)
    for name in found.__all__:
        function = getattr(found, name)
        assert function.__name__ == function.__qualname__ == name
        assert pickle.loads(pickle.dumps(function)) is function


def test_errors_name_the_function_and_its_parameters():
    def function(a, b, /):
        return a + b

    made = presented(function, "somewhere", "total", "A sum.", {"left": "int", "right": "int"})
    assert (made.__module__, made.__doc__) == ("somewhere", "A sum.")
    refused(TypeError, r"total\(\) missing 1 required .* argument: 'right'", made, 1)
    with pytest.raises(TypeError) as caught:
        made(1, "")
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "total"
    refused(TypeError, r"hypot\(\) missing 1 required .* argument: 'x2'", elementwise.hypot, 1.0)
