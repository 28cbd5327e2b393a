"""The environment of the processes in which a namespace is imported and tested."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# What a library needs to be found and to run, and nothing that steers pytest, Hypothesis or the
# suite, or tells Hypothesis that this is a CI machine.
KEPT_VARIABLES = {
    "HOME", "LANG", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SYSTEMROOT", "TMPDIR", "TZ", "USER",
    "VIRTUAL_ENV",
}  # fmt: skip
KEPT_PREFIXES = (
    "ARRAY_API_NX_", "BLIS_", "CUDA_", "DASK_", "JAX_", "LC_", "MKL_", "OMP_", "OPENBLAS_",
    "TORCH_", "XLA_",
)  # fmt: skip
# What chooses the default device of packages whose namespaces have no set_default_device().
_DEVICE_VARIABLES = {"array_api_nx": "ARRAY_API_NX_DEFAULT_DEVICE"}
SKIPPED_DTYPES = "ARRAY_API_TESTS_SKIP_DTYPES"


def device_variable(module: str) -> str:
    """The variable that chooses the default device of a namespace; empty if there is none."""
    return _DEVICE_VARIABLES.get(module.partition(".")[0], "")


def environment(
    scratch: Path, module: str, version: str = "", device: str = "", lacking: Iterable[str] = ()
) -> dict[str, str]:
    """The variables for a process that tests `module`.

    Parameters
    ----------
    scratch : Path
        A folder for what Hypothesis stores.
    module : str
        The namespace's importable name.
    version : str
        The version of the standard; empty for the one that the namespace declares.
    device : str
        The device that is to be the default one, where a variable chooses it.
    lacking : iterable of str
        Dtypes that no test is to use.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }
    # Absolute, because the process runs in another folder.
    given = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep)
             if each]  # fmt: skip
    path = [*_checkout(), *given, *current_folder(module)]
    chosen = {"ARRAY_API_TESTS_VERSION": version} if version else {}
    if device and (variable := device_variable(module)):
        chosen[variable] = device
    if skipped := ",".join(lacking):
        chosen[SKIPPED_DTYPES] = skipped
    return kept | chosen | {
        "ARRAY_API_TESTS_MODULE": module,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch / "hypothesis"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # so that a seed repeats a run
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUTF8": "1",
    }  # fmt: skip


def current_folder(module: str) -> list[str]:
    """The current folder, where the module lies there and Python would find it nowhere else.

    Only then, because whatever else lies there could hide installed packages, too.
    """
    here = Path.cwd()
    name = module.partition(".")[0]
    if not (name.isidentifier() and ((here / f"{name}.py").is_file() or (here / name).is_dir())):
        return []
    elsewhere = [folder for folder in sys.path if Path(folder).resolve() != here]
    return [] if PathFinder.find_spec(name, elsewhere) else [str(here)]


def _checkout() -> list[str]:
    """The repository, where this package is used from a checkout; an installed one is found."""
    root = PACKAGE.parent
    return [str(root)] if (root / "pyproject.toml").is_file() else []
