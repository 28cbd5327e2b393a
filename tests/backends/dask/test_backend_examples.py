"""The example in examples/, run as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "examples" / "larger_than_memory.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_principal_components(workers):
    if workers != "0":
        pytest.importorskip("distributed")
    sizes = "--gigabytes", "0.004", "--chunks", "400kB"
    result = run(str(PROGRAM), *sizes, "--workers", workers)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "an array of shape (5000, 100): 0.004 GB"
    assert lines[-1] == "right"
    assert any([line.startswith("its workers had") for line in lines]) == (workers == "2")


def test_principal_components_of_a_file(tmp_path):
    arguments = "--gigabytes", "0.002", "--chunks", "400kB", "--npy", str(tmp_path / "x.npy")
    printed = []
    for _ in range(2):  # the second time, the file is there
        result = run(str(PROGRAM), *arguments)
        assert result.returncode == 0, result.stderr
        printed.append([line for line in result.stdout.splitlines() if "[" in line])
    assert printed[0] == printed[1]
    assert len(printed[0]) == 3
