"""Loading the extensions, or doing without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import array_api_nx

CODE = "import array_api_nx as xp; print(float(xp.sum(xp.ones(4)))); xp.show_config()"


def test_an_install_without_the_extension_says_so_once(tmp_path):
    """By a warning for who asks for warnings, and in show_config; and it computes."""
    package = Path(array_api_nx.__file__).parent
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(package, tmp_path / "array_api_nx", ignore=ignored)
    environment = {k: v for k, v in os.environ.items() if k != "ARRAY_API_NX_EXTENSION"}
    run = subprocess.run(
        [sys.executable, "-W", "default::ImportWarning", "-c", CODE],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.startswith("4.0\n")
    assert run.stderr.count("array_api_nx runs without its C extension") == 1
    for text in (run.stdout, run.stderr):
        assert "install a C compiler" in text
    environment["ARRAY_API_NX_EXTENSION"] = "0"
    run = subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", "-c", CODE],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stderr == ""
