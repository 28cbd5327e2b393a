"""The clients: where they are installed, and which of their tests use a namespace."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from ..suite import CannotRunError
from .consumers import PACKAGES, Consumer

_HERE = Path(__file__).resolve().parent
CONSUMERS = "consumers"  # the name of the client that is several packages
NUMPY = "numpy"  # of the one whose tests are of namespaces with NumPy's names
# The package itself, or else the copy that scikit-learn brings along.
EXTRA_PACKAGES = ("array_api_extra", "sklearn.externals.array_api_extra")


@dataclass(frozen=True)
class Client:
    """A package whose tests can be run on a namespace.

    Attributes
    ----------
    name : str
        The distribution, as pip knows it.
    package : str
        The importable package; also the first part of the names of its submodules.
    minimum : tuple of int
        The first version whose tests can be run.
    uses : str
        A regular expression which the files match that have tests of any namespace; empty where
        `calls` is not.
    calls : str
        The file with calls of the package, in this folder, where it ships no tests.
    arguments : tuple of str
        For pytest.
    files : tuple of str
        The files that are run, relative to the package, where `uses` does not tell them.
    by_default : bool
        Whether it is run if no client is named: not those whose namespaces have other names.
    """

    name: str
    package: str
    minimum: tuple[int, int]
    uses: str = ""
    calls: str = ""
    arguments: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    by_default: bool = True

    @property
    def requirement(self) -> str:
        """What pip has to install."""
        return f"{self.name}>={'.'.join(map(str, self.minimum))}"


# NumPy's tests of arrays and functions, not of strings, records, dates, files and its C library.
_NUMPYS_TESTS = {
    "_core": """
        api array_coercion arrayprint casting_floatingpoint_errors dlpack einsum errstate
        function_base getlimits indexerrors indexing item_selection mem_overlap multiarray
        nep50_promotions numeric numerictypes print scalar_methods scalarmath shape_base ufunc umath
        umath_complex
    """,
    "lib": """
        arraypad arraysetops function_base histograms index_tricks nanfunctions polynomial
        shape_base stride_tricks twodim_base type_check ufunclike
    """,
    "linalg": "linalg",
    "fft": "helper pocketfft",
}

CLIENTS = {
    client.name: client
    for client in (
        Client(
            "scipy",
            "scipy",
            (1, 17),
            r"\bxp\b",
            arguments=("-m", "array_api_backends", "-p", f"{__package__}.scipy_plugin"),
        ),
        Client(
            "scikit-learn",
            "sklearn",
            (1, 9),
            r"yield_namespace|yield_mixed_namespace|parametrize_with_checks",
            arguments=("-p", f"{__package__}.sklearn_plugin"),
        ),
        Client("array-api-extra", "array_api_extra", (0, 11), calls="extra_calls.py"),
        Client(
            NUMPY,
            "numpy",
            (2, 4),
            arguments=("-p", f"{__package__}.numpy_plugin"),
            files=tuple(
                f"{folder}/tests/test_{name}.py"
                for folder, names in _NUMPYS_TESTS.items()
                for name in names.split()
            ),
            by_default=False,
        ),
        # Several packages, each of which may be absent.
        Client(CONSUMERS, CONSUMERS, (0, 0), calls="consumer_calls.py"),
    )
}


@dataclass(frozen=True)
class Installed:
    """A client on this machine.

    Attributes
    ----------
    client : Client
        The client.
    version : str
        Its version.
    root : Path
        The folder to which the ids of its tests are relative.
    folder : Path
        The folder of its package.
    """

    client: Client
    version: str
    root: Path
    folder: Path


def find(names: Iterable[str]) -> list[Installed]:
    """The clients of these names.

    Raises
    ------
    CannotRunError
        If one is not installed, or too old.
    """
    found: list[Installed] = []
    lacking: list[str] = []
    problems: list[str] = []
    for client in map(CLIENTS.__getitem__, names):
        installed = _find(client)
        if installed is None:
            problems.append(f"{client.name} is not installed")
        elif _numbers(installed.version) < client.minimum:
            problems.append(f"{client.name} {installed.version} is too old")
        else:
            found.append(installed)
            continue
        lacking.append(client.requirement)
    if lacking:
        install = shlex.join([sys.executable, "-m", "pip", "install", *lacking])
        raise CannotRunError(
            f"{', '.join(problems)}; install with\n    {install}\nor run others with --client NAME"
        )
    return found


def _find(client: Client) -> Installed | None:
    if client.package == CONSUMERS:
        return _find_consumers(client)
    if client.calls:
        return _find_extra(client)
    folder = _folder(client.package)
    if folder is None:
        return None
    version = importlib.metadata.version(client.name)
    return Installed(client, version, folder.parent, folder)


def _find_extra(client: Client) -> Installed | None:
    for package in EXTRA_PACKAGES:
        if folder := _folder(package):
            text = (folder / "__init__.py").read_text(encoding="utf-8")
            version = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
            name = "" if package == client.package else f" (in {package})"
            return Installed(client, f"{version[1] if version else '0'}{name}", _HERE, folder)
    return None


def _find_consumers(client: Client) -> Installed:
    versions = [consumer_version(consumer) for consumer in PACKAGES.values()]
    installed = len(versions) - versions.count("")
    version = f"({installed} of {len(versions)} installed)"
    return Installed(client, version, _HERE, _HERE / "consumers")


def consumer_version(consumer: Consumer) -> str:
    """The version of a consumer; empty if it is not installed."""
    try:
        return importlib.metadata.version(consumer.name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def consumer_of(test: str) -> Consumer | None:
    """Whose call a test is; None for the tests of other clients."""
    return PACKAGES.get(test.partition("[")[2].partition(": ")[0])


def folder_of(installed: Installed, test: str) -> Path:
    """The folder of the package that a test is about."""
    consumer = consumer_of(test) if installed.client.package == CONSUMERS else None
    folder = _folder(consumer.package) if consumer is not None else None
    return folder or installed.folder


def _folder(package: str) -> Path | None:
    """The folder of a package, without importing it."""
    top, *rest = package.split(".")
    spec = PathFinder.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    folders = [Path(entry, *rest) for entry in spec.submodule_search_locations]
    return next((each for each in folders if (each / "__init__.py").is_file()), None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def submodule(client: Client, test: str) -> str:
    """The public submodule that a test belongs to; of `consumers`, the package."""
    if client.package == CONSUMERS and (consumer := consumer_of(test)) is not None:
        return f"{consumer.name} {consumer_version(consumer)}".rstrip()
    parts = test.partition("::")[0].split("/")[:-1]
    if "tests" in parts:
        parts = parts[: parts.index("tests")]
    return ".".join(parts[:2]) or client.package


def chosen(clients: Iterable[Installed], select: Iterable[str]) -> dict[str, list[str]]:
    """What pytest has to run of each client; clients of which nothing is selected are left out.

    Parameters
    ----------
    clients : iterable of Installed
        The clients.
    select : iterable of str
        Submodules (scipy.stats), or ids of tests as in a report; everything if empty.

    Raises
    ------
    CannotRunError
        If an entry fits no client.
    """
    clients, entries = list(clients), list(select)
    targets: dict[str, list[str]] = {each.client.name: [] for each in clients}
    for entry in entries or [each.client.package for each in clients]:
        fitting = [(each.client.name, _targets(each, entry)) for each in clients]
        if not any(found for _, found in fitting):
            examples = ", ".join(each.client.package for each in clients)
            raise CannotRunError(
                f"--select {entry}: there are no such tests; give submodules of {examples}, such as"
                " scipy.stats, or ids of tests as in a report"
            )
        for name, found in fitting:
            targets[name] += found
    return {name: found for name, found in targets.items() if found}


def _targets(installed: Installed, entry: str) -> list[str]:
    path, separator, test = entry.partition("::")
    if calls := installed.client.calls:
        fits = path in (installed.client.package, calls)
        return [f"{_HERE / calls}{separator}{test}"] if fits else []
    relative = path if path.endswith(".py") else path.replace(".", "/")
    target = installed.root / relative
    if installed.folder not in [target, *target.parents]:
        return []
    if target.is_file():
        return [f"{target}{separator}{test}"]
    if installed.client.files:
        files = [installed.folder / file for file in installed.client.files]
        return [str(file) for file in files if file.is_file() and target in file.parents]
    return [
        str(file)
        for file in sorted(target.rglob("test_*.py"))
        if re.search(installed.client.uses, file.read_text(encoding="utf-8"))
    ]
