"""The figures of a cluster, at a size that takes seconds."""

import json
import subprocess
import sys

import numpy as np
import pytest

import array_api_nx as xp
from benchmarks.cluster import PROGRAMS
from benchmarks.worker import ROOT

pytestmark = pytest.mark.slow


def test_programs_compute_what_they_say():
    a = np.random.default_rng(0).standard_normal((500, 4))
    z = (a - a.mean(axis=0)) / a.std(axis=0)
    found = {name: np.asarray(program(xp.asarray(a))) for name, program in PROGRAMS.items()}
    np.testing.assert_allclose(found["standardise"], np.abs(z).max())
    np.testing.assert_allclose(found["pca"], np.linalg.eigvalsh(z.T @ z / 500))
    np.testing.assert_allclose(found["masked sum"], a[a > 2].sum())


def test_each_program_has_its_time_and_its_peak(tmp_path):
    pytest.importorskip("distributed")
    file = tmp_path / "figures.json"
    options = ["--gigabytes", "0.01", "--chunks", "1MiB", "--json", str(file)]
    command = [sys.executable, "-m", "benchmarks.cluster", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    figures = json.loads(file.read_text())
    assert list(figures) == list(PROGRAMS)
    for each in figures.values():
        assert each["seconds"] > 0
        assert each["peak_gib"] > 0.01
