"""The contract tests in one call, and in one command, as third parties run them."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import array_api_nx
from array_api_nx.testing import backend_contract
from tests.support.refusals import refused
from tests.testing.contract.backends import BACKENDS, missing

pytestmark = pytest.mark.slow

FEW = "--ignore-glob=/*/test_[!m]*"
"""Leaves out most files, since to collect them all takes seconds; the path has to be absolute."""

WRONG = f"""
import sys
from array_api_nx.primitives import table as p
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.testing import backend_contract

class Wrong(CPUBackend):
    def item(self, x):
        return super().item(x) or 1

select = ["-k", "test_item or test_dlpack_device", {FEW!r}]
sys.exit(backend_contract(Wrong(), ["-q", "--tb=no", *select]))
"""


def run(*arguments, folder):
    # In a folder of its own, as another project's.
    environ = os.environ | {"PYTHONPATH": str(Path(array_api_nx.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, text=True
    )


def test_one_command_runs_them_on_a_device(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    done = run("-m", "array_api_nx.testing", "cpu", "-q", "-k", "test_item", FEW, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "14 passed" in done.stdout


def test_a_wrong_backend_fails(tmp_path):
    done = run("-c", WRONG, folder=tmp_path)
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "test_item[int8]" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "usage: python -m array_api_nx.testing DEVICE"),
        (["--help"], "usage: python -m array_api_nx.testing DEVICE"),
        (["-k", "cpu"], "usage: python -m array_api_nx.testing DEVICE"),
        (["nowhere"], "no device 'nowhere'; known devices: 'cpu'"),
    ],
)
def test_a_command_without_a_device_says_how(arguments, said, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["__main__.py", *arguments])
    with pytest.raises(SystemExit, match=f"^{re.escape(said)}"):  # a text is exit status 1
        runpy.run_module("array_api_nx.testing", run_name="__main__", alter_sys=True)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("array_api_nx.testing.find_spec", lambda name: None)
    refused(ImportError, "install with pip install pytest hypothesis", backend_contract, None)
    monkeypatch.setattr(sys, "argv", ["__main__.py", "cpu"])
    with pytest.raises(SystemExit, match=r"^the contract tests need"):
        runpy.run_module("array_api_nx.testing", run_name="__main__", alter_sys=True)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_that_is_not_here_is_skipped_in_one_line(name):
    """Instead of a thousand: no contract test is collected for it."""
    reason = missing(name)
    if reason is not None:
        pytest.skip(f"no contract test runs on {name}: {reason}")
    BACKENDS[name]().evaluate()
