"""NumPy's tests on a namespace with NumPy's names: other imports, and tests expected to fail."""

import ast
from dataclasses import replace
from textwrap import dedent

import pytest

from array_api_nx_conformance.clients import numpy_plugin
from array_api_nx_conformance.clients.packages import CLIENTS, find
from array_api_nx_conformance.suite import CannotRunError

IMPORTS = """
    import numpy as np
    import numpy.linalg
    import os
    from numpy._core.tests._natype import pd_NA
    from numpy.testing import assert_equal
    from . import other
"""
RENAMED = """
    import other.numpy as np
    import other.numpy.linalg as _
    import other.numpy as numpy
    import os
    from numpy._core.tests._natype import pd_NA
    from other.numpy.testing import assert_equal
    from . import other
"""


def test_imports_name_the_namespace_but_for_tests():
    tree = numpy_plugin._Imports("other.numpy").visit(ast.parse(dedent(IMPORTS)))
    assert ast.unparse(tree) == dedent(RENAMED).strip()


def test_the_loader_reads_tests_alone(tmp_path):
    tests = tmp_path / "numpy" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_own.py").write_text("import numpy as np\nname = np.__name__\n")
    (tests / "helper.py").touch()
    finder = numpy_plugin._Finder("math", tmp_path / "numpy")
    spec = finder.find_spec("tests.test_own", [str(tests)])
    assert spec is not None
    assert spec.origin == str(tests / "test_own.py")
    names = {}
    exec(spec.loader.get_code("tests.test_own"), names)  # type: ignore[union-attr]
    assert names["name"] == "math"
    assert finder.find_spec("tests.helper", [str(tests)]) is None
    assert finder.find_spec("tests.test_other", [str(tests)]) is None


def test_every_group_has_a_reason_and_tests_of_its_own():
    seen = set()
    for group in numpy_plugin.groups():
        assert len(group.reason.split()) > 4, group.name
        assert group.tests, group.name
        assert not seen & group.tests, group.name
        seen |= group.tests


def test_a_group_marks_its_tests():
    group = numpy_plugin.Group("name", "Why.", frozenset(["a.py::f[1]", "a.py::g"]), False, True)
    found = [group.has(f"a.py::{test}") for test in ("f[1]", "f[2]", "f", "g", "g[1]", "h")]
    assert found == [True, False, False, True, True, False]
    assert group.mark.kwargs == {"reason": "group name: Why.", "strict": True}
    assert replace(group, may_pass=True).mark.kwargs["strict"] is False
    assert replace(group, runs=False).mark.name == "skip"


def test_the_tests_of_the_groups_are_there():
    if not _has_tests():
        pytest.skip("this NumPy has no tests")
    [installed] = find(["numpy"])
    for group in numpy_plugin.groups():
        for test in group.tests:
            file, *_, function = test.partition("[")[0].split("::")
            text = (installed.folder / file).read_text(encoding="utf-8")
            assert f"def {function}(" in text, test


def _has_tests():
    try:
        [installed] = find(["numpy"])
    except CannotRunError:  # an older NumPy
        return False
    return (installed.folder / "_core" / "tests").is_dir()


def test_numpys_files_are_there_and_not_run_by_default():
    client = CLIENTS["numpy"]
    assert not client.by_default
    if not _has_tests():
        pytest.skip("this NumPy has no tests")
    [installed] = find(["numpy"])
    assert [file for file in client.files if not (installed.folder / file).is_file()] == []
