"""The example in examples/, run as a user runs it."""

from pathlib import Path

import pytest

from tests.support.processes import python

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parents[3] / "examples" / "larger_than_memory.py"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_principal_components(workers):
    if workers != "0":
        pytest.importorskip("distributed")
    sizes = "--gigabytes", "0.004", "--chunks", "400kB"
    lines = python(str(PROGRAM), *sizes, "--workers", workers).splitlines()
    assert lines[0] == "an array of shape (5000, 100): 0.004 GB"
    assert lines[-1] == "right"
    assert any([line.startswith("its workers had") for line in lines]) == (workers == "2")


def test_principal_components_of_a_file(tmp_path):
    arguments = "--gigabytes", "0.002", "--chunks", "400kB", "--npy", str(tmp_path / "x.npy")
    printed = []
    for _ in range(2):  # the second time, the file is there
        lines = python(str(PROGRAM), *arguments).splitlines()
        printed.append([line for line in lines if "[" in line])
    assert printed[0] == printed[1]
    assert len(printed[0]) == 3
