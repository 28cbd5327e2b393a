"""NumPy's tests on a namespace with NumPy's names: other imports, and groups that are skipped."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from array_api_nx_conformance.clients import numpy_plugin
from array_api_nx_conformance.clients.packages import CLIENTS, find

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


def test_imports_name_the_namespace_but_for_tests() -> None:
    tree = numpy_plugin._Imports("other.numpy").visit(ast.parse(dedent(IMPORTS)))
    assert ast.unparse(tree) == dedent(RENAMED).strip()


def test_the_loader_reads_tests_alone(tmp_path: Path) -> None:
    tests = tmp_path / "numpy" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_own.py").write_text("import numpy as np\nname = np.__name__\n")
    (tests / "helper.py").touch()
    finder = numpy_plugin._Finder("math", tmp_path / "numpy")
    spec = finder.find_spec("tests.test_own", [str(tests)])
    assert spec is not None
    assert spec.origin == str(tests / "test_own.py")
    names: dict[str, object] = {}
    exec(spec.loader.get_code("tests.test_own"), names)  # type: ignore[union-attr]
    assert names["name"] == "math"
    assert finder.find_spec("tests.helper", [str(tests)]) is None
    assert finder.find_spec("tests.test_other", [str(tests)]) is None


def test_every_group_has_a_reason_and_tests() -> None:
    for name, reason, pattern in numpy_plugin.groups():
        assert len(reason.split()) > 4, name
        assert pattern.pattern, name


def test_numpys_files_are_there_and_not_run_by_default() -> None:
    client = CLIENTS["numpy"]
    assert not client.by_default
    try:
        [installed] = find(["numpy"])
    except Exception as error:  # an older NumPy
        pytest.skip(str(error))
    if not (installed.folder / "_core" / "tests").is_dir():
        pytest.skip("this NumPy has no tests")
    assert [file for file in client.files if not (installed.folder / file).is_file()] == []
