"""Asks a namespace, in a process of its own, what it is and which standard names it has."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .dtypes import EXTRA, NUMERIC
from .environment import device_variable, environment
from .suite import CannotRunError

IMPORT_SECONDS = 120.0
_FEWEST_NAMES = 0.1  # of the standard's; with fewer, a module is no array namespace
_CREATION = "creation functions"  # the standard's chapter
_PROBE = """
import json, pathlib, pkgutil, sys
name, names, device, chosen, dtypes, extra = json.loads(sys.argv[1])
module = pkgutil.resolve_name(name)
said = {key: str(getattr(module, attribute, "")) for key, attribute in
        [("version", "__version__"), ("api_version", "__array_api_version__")]}

def has(owner, name):
    try:
        return hasattr(owner, name)
    except Exception:
        return True  # it is there, and raises

try:
    array = module.ones((1, 1))
except Exception:
    array = None
try:
    info = module.__array_namespace_info__()
except Exception:
    info = None
owners = {"array": array, "info": info, "": module}
present = []
for kind, each in names:
    owner = owners[kind] if kind in owners else getattr(module, kind, None)
    if has(owner, each):
        present.append([kind, each])
said["present"] = present
said["array"] = array is not None
if device:
    if chosen:
        said["device"] = str(module.ones((1, 1)).device)
    elif not callable(getattr(module, "set_default_device", None)):
        said["device"] = "no hook"
    else:
        try:
            module.set_default_device(device)
            said["device"] = str(module.ones((1, 1)).device)
        except Exception as error:
            said["device"] = f"{type(error).__name__}: {error}"
try:
    there = info.dtypes()
except Exception:
    there = dtypes  # not known
said["extra"] = [each for each in extra if hasattr(module, each)]
said["lacking"] = [each for each in dtypes if hasattr(module, each) and each not in there]
if not said["version"]:
    # Of a namespace inside a library, or of the one that array-api-compat wraps.
    parts = name.removeprefix("array_api_compat.").split(".")
    for count in range(len(parts), 0, -1):
        library = sys.modules.get(".".join(parts[:count]))
        said["version"] = said["version"] or str(getattr(library, "__version__", ""))
pathlib.Path("said").write_text(json.dumps(said))
"""


@dataclass(frozen=True)
class Module:
    """The module under test; a version is empty where the module declares none.

    ``absent`` are the standard's names that it lacks; ``lacking`` the dtypes that it has, and not
    on its default device; ``extra`` those beyond the standard.
    """

    name: str
    version: str
    api_version: str
    absent: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def inspect_module(
    name: str, functions: Iterable[tuple[str, str]] = (), device: str = ""
) -> Module:
    """Import the module in a process of its own, and see what it has.

    Parameters
    ----------
    name : str
        The importable name.
    functions : iterable of (str, str)
        The standard's names and their chapters.
    device : str
        The device that is to be the default one; empty for the module's own choice.

    Raises
    ------
    CannotRunError
        If it does not import, is no array namespace, or cannot be put on that device.
    """
    functions = list(functions)
    names = {_place(function, chapter): function for function, chapter in functions}
    question = [name, list(names), device, bool(device_variable(name)), NUMERIC, EXTRA]
    # In an empty folder, because Python also imports from the current one.
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        try:
            done = subprocess.run(
                [sys.executable, "-c", _PROBE, json.dumps(question)],
                cwd=scratch,
                env=environment(Path(scratch), name, device=device),
                capture_output=True,
                text=True,
                timeout=IMPORT_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise CannotRunError(
                f"the module {name!r} does not import within {IMPORT_SECONDS:g} s"
            ) from error
        file = Path(scratch) / "said"
        if done.returncode or not file.exists():
            last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            raise CannotRunError(
                f"the module {name!r} does not import ({last});"
                " give the importable name of an array namespace, installed or in the current"
                " folder, with --module"
            )
        said = json.loads(file.read_text())
    present = {names[kind, function] for kind, function in said["present"]}
    if len(present) < _FEWEST_NAMES * len(names):
        raise CannotRunError(
            f"the module {name!r} is no array namespace: it has {len(present)} of the"
            f" standard's {len(names)} names; give the name of the namespace itself, such as"
            " array_api_compat.torch, with --module"
        )
    creation = {function for function, chapter in functions if chapter == _CREATION}
    if creation and not creation & present:
        # `math` has the names of many functions.
        raise CannotRunError(
            f"the module {name!r} is no array namespace: it has none of the standard's functions"
            " that create arrays, such as asarray; give the name of the namespace itself, such as"
            " array_api_compat.torch, with --module"
        )
    if device and not _is_on(said["device"], device):
        _refuse_device(name, device, said["device"])
    # Without an array nothing is known about methods: the tests have to show it.
    unknown = set() if said["array"] else {names[k] for k in names if k[0] == "array"}
    absent = tuple(f for f in names.values() if f not in present and f not in unknown)
    return Module(
        name,
        said["version"],
        said["api_version"],
        absent,
        tuple(said["lacking"]),
        tuple(said["extra"]),
    )


def _place(function: str, chapter: str) -> tuple[str, str]:
    """Where to look for a name, and under which name."""
    owner, _, name = function.rpartition(".")
    return ("array" if chapter == "array object" else owner), name


def _is_on(device: str, wanted: str) -> bool:
    return device == wanted or device.startswith(f"{wanted}:")


def _refuse_device(name: str, device: str, said: str) -> None:
    if said == "no hook":
        raise CannotRunError(
            f"the suite creates arrays on the default device, and {name} has no"
            " set_default_device() to change that; leave --device out, and choose the device"
            " by the library's own environment variables (JAX_PLATFORMS, CUDA_VISIBLE_DEVICES)"
        )
    raise CannotRunError(
        f"{name}.set_default_device({device!r}) did not put new arrays there ({said});"
        " name a device that this machine has"
    )
