"""Every public name has a page in the reference, with an example that is right."""

import doctest
import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.modules import load

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docs" / "reference" / "examples").glob("*.txt"))


pages = load(ROOT / "docs" / "_site" / "pages.py")
PUBLIC = [(module, name) for module in pages.NAMESPACES for name in import_module(module).__all__]


def functions():
    for module, name in PUBLIC:
        value = getattr(import_module(module), name)
        if callable(value) and type(value) is not type(xp.float64):
            yield module, name


def test_every_public_name_is_documented():
    assert len(PUBLIC) > 350
    documented = pages.documented()
    assert [
        f"{module}.{name}" for module, name in PUBLIC if f"{module}.{name}" not in documented
    ] == []


def test_the_pages_are_written(tmp_path):
    (tmp_path / "gone.rst").write_text("of an earlier version\n")
    pages.write(tmp_path)
    written = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.glob("*.rst")}
    assert "gone.rst" not in written
    for module, name in functions():
        text = written[f"{module}.{name}.rst"]
        assert f":: {module}.{name}\n" in text
    index = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    for group in pages.groups():
        assert f"\ngenerated/{group.file}\n" in index
        assert all(
            f".. py:data:: {n}\n" in written[f"{group.file}.rst"]
            or f"<{group.module}.{n}>" in written[f"{group.file}.rst"]
            for n in group.names
        )
    assert "array_api.linalg.inv.html" in written["array_api_nx.linalg.inv.rst"]
    assert "array_api.sum.html" in written["array_api_nx.sum.rst"]
    assert "scipy.special.erf.html" in written["array_api_nx.special.erf.rst"]


def test_every_function_has_an_example():
    lacking = [
        f"{module}.{name}"
        for module, name in functions()
        if ">>> " not in (inspect.getdoc(getattr(import_module(module), name)) or "")
        and name not in pages.examples(module)
    ]
    assert lacking == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_examples_give_what_they_say(file):
    if file.stem == "special" and find_spec("scipy") is None:
        pytest.skip("needs SciPy")
    module = "array_api_nx" if file.stem == "main" else f"array_api_nx.{file.stem}"
    found = pages.examples(module)
    assert set(found) <= {name for where, name in PUBLIC if where == module}
    runner = doctest.DocTestRunner(verbose=False)
    for name, text in found.items():
        if native is None and name in ("Evaluation", "Evaluations"):
            continue  # nothing is deferred
        example = doctest.DocTestParser().get_doctest(text, {"xp": xp}, name, str(file), 0)
        assert example.examples
        runner.run(example)
    assert runner.summarize().failed == 0
