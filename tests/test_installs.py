"""The package in the ways in which programs start Python and keep packages."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import array_api_nx

pytestmark = pytest.mark.slow

PACKAGE = Path(array_api_nx.__file__).parent

COMPUTE = "float(xp.sum(2 * xp.ones(1_000_000)))"

POOL = f"""
import multiprocessing
import sys
import array_api_nx as xp

def compute(i):
    return i * {COMPUTE}

if __name__ == "__main__":
    {COMPUTE}  # by several threads, which a fork leaves behind
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(compute, range(3)))
    print({COMPUTE})
"""

INTERPRETERS = f"""
import array_api_nx as xp
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
{COMPUTE}
for _ in range(2):
    try:
        found = interpreters.run_string(interpreters.create(), '''
import warnings
warnings.simplefilter("ignore", UserWarning)  # NumPy's, that it does not support this
import array_api_nx as xp
assert {COMPUTE} == 2e6
''')
    except interpreters.RunFailedError as error:
        print("told", error)
    else:
        print("told" if found else "computed", getattr(found, "formatted", ""))
print({COMPUTE})
"""


def run(*arguments, path=PACKAGE.parent, **environment):
    """The lines that Python prints, which must end well."""
    found = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=path if path.is_dir() else path.parent,
        env={**os.environ, "PYTHONPATH": str(path), **environment},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_without_assertions_and_docstrings():
    # PYTHONOPTIMIZE=2 drops both.
    code = f"import array_api_nx as xp, array_api_nx.special; print({COMPUTE}, xp.sum.__doc__)"
    assert run("-c", code, PYTHONOPTIMIZE="2") == ["2000000.0 None"]


def test_from_an_archive(tmp_path):
    """Python cannot load an extension from there, and the package does without."""
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in PACKAGE.rglob("*"):
            if path.suffix in {".py", ".pyi", ".txt", ".typed", ".so"} and path.is_file():
                file.write(path, path.relative_to(PACKAGE.parent))
    code = (
        f"import array_api_nx as xp, array_api_nx.native as n; print({COMPUTE}, n.native); "
        "print(n.__file__)"
    )
    computed, place = run("-c", code, path=archive)
    assert computed == "2000000.0 None"
    assert place.startswith(str(archive))


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_in_a_pool_of_processes(method, tmp_path):
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{sys.platform} has no {method}")
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    assert run(script, method) == ["[0.0, 2000000.0, 4000000.0]", "2000000.0"]


def test_in_other_interpreters_of_a_process():
    """It computes or there is an error, NumPy's from 2.3 on; and the first interpreter goes on."""
    *others, first = run("-c", INTERPRETERS)
    assert first == "2000000.0"
    assert len(others) == 2
    for line in others:
        assert line.startswith("computed") or "ImportError" in line
