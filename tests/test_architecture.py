"""The rooms of the package: imports go down only, importing it stays light, and tests mirror it.

A room is a folder, or a module that is a layer by itself. A module may import its own room and
those below it, wherever the import stands: at the top, in a function, or for type checkers alone.
"""

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import array_api_nx
from tests.support.processes import python
from tests.support.tables import for_each

NAME = "array_api_nx"
ROOT = Path(array_api_nx.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# From the top. What lies in none of them is a public face, or, in backends/, nothing but a name.
FACE = "public faces"
ROOMS = (
    FACE,
    "frontend",
    "device",
    "backends/limited",
    "backends/engines",
    "backends/dask",
    "backends/cpu",
    "backends/cpu/storage",
    "backends/cpu/pass_reports",
    "backends/cpu/policy",
    "backends/cpu/engine",
    "backends/cpu/ufunc_table",
    "backends",
    "tracing",
    "contract",
    "primitives",
    "explain",
    "config",
    "core",
    "native",
    "version",
)
# What the lower rooms import from outside: nothing but what ENGINES says; the others NumPy, when
# they are loaded. Engines other than NumPy load on first use.
STANDARD_LIBRARY_ALONE = ("explain", "core", "config", "native", "version")
# The contract tests, which pytest loads and nothing else does.
TESTING = "testing/contract/"
# The modules of engines, which load on first use, and what they load; those for einops, Numba
# and PyTorch's functions load after these.
ENGINES = {
    # Dtypes are NumPy's objects.
    "core/dtypes.py": {"numpy"},
    "einops_backend.py": {"einops"},
    "explain/pictures.py": {"graphviz"},
    "numpy/numba_support.py": {"numba", "llvmlite", "numpy"},
    "numpy/torch_support.py": {"torch"},
    "testing/assertions.py": {"array_api_compat", "numpy"},
    "testing/plugin.py": {"pytest"},
    "backends/dask": {"dask"},
    "backends/engines/cupy.py": {"cupy", "cupyx", "array_api_compat", "numpy"},
    "backends/engines/jax.py": {"jax"},
    "backends/engines/jax_kernels.py": {"jax"},
    "backends/engines/jax_special.py": {"jax"},
    "backends/engines/torch.py": {"torch", "array_api_compat"},
    "backends/engines/torch_compiled.py": {"torch"},
    "backends/engines/torch_inductor.py": {"torch"},
    "backends/engines/torch_kernels.py": {"torch"},
    "backends/engines/torch_special.py": {"torch"},
    "backends/engines/torch_symbolic.py": {"torch"},
}

MAX_LINES = 800

# Tests that are of no room: of the package as users meet it, from one end to the other.
WHOLE = {
    "architecture", "bad_input", "bool_bytes", "examples", "installs", "packaging", "public_api",
    "readme", "typing", "views_and_copies", "warnings",
}  # fmt: skip
OTHER_TESTS = {"benchmarks", "clients", "conformance", "data", "docs", "support"}


def path_of(path):
    return path.relative_to(ROOT).as_posix()


def dotted(path):
    parts = (NAME, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


DOTTED = {dotted(path) for path in MODULES}


def room(module):
    """The room of a module of the package, by its dotted name."""
    if module == f"{NAME}._native":  # the extension that the C of that folder is compiled to
        return "native"
    place = "/".join(module.split(".")[1:])
    found = [each for each in ROOMS if place == each or place.startswith(f"{each}/")]
    return max(found, key=len, default=FACE)


@cache
def imports(path):
    """The absolute name of each module that a file imports, and whether on loading."""
    return list(_imports(path))


def _imports(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    on_first_use = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node, name in _named(path, tree):
        yield name, id(node) not in on_first_use


def _named(path, tree):
    """The statements that import, each with the absolute names of what they import."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, node.module] if node.module else base)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield node, submodule if submodule in DOTTED else source


def test_the_rooms_are_there():
    assert {room(name) for name in DOTTED} == set(ROOMS)
    assert room(NAME) == room(f"{NAME}.linalg") == room(f"{NAME}.testing.contract.layouts") == FACE
    assert room(f"{NAME}.core.view") == "core"
    assert room(f"{NAME}.config") == "config"
    assert room(f"{NAME}.frontend.configuration") == "frontend"
    assert room(f"{NAME}.device") == "device"
    assert room(f"{NAME}._native") == room(f"{NAME}.native") == "native"
    assert room(f"{NAME}.backends") == "backends"
    assert room(f"{NAME}.backends.cpu.backend") == "backends/cpu"
    assert room(f"{NAME}.backends.cpu.storage") == "backends/cpu/storage"
    assert room(f"{NAME}.backends.cpu.engine.loops") == "backends/cpu/engine"


def test_the_reader_of_imports_sees_every_form(tmp_path, monkeypatch):
    source = """
import numpy as np, os.path
from . import view
from .. import config as c
from ..core.view import View
from .. import __version__
from math import prod
def later():
    import torch
    return lambda: None
"""
    path = tmp_path / "core" / "other.py"
    path.parent.mkdir()
    path.write_text(source)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert list(imports(path)) == [
        ("numpy", True),
        ("os.path", True),
        (f"{NAME}.core.view", True),
        (f"{NAME}.config", True),
        (f"{NAME}.core.view", True),
        (NAME, True),
        ("math", True),
        ("torch", False),
    ]


@for_each("path", MODULES)
def test_imports_go_down_only(path):
    own = room(dotted(path))
    alone = own in STANDARD_LIBRARY_ALONE
    for name, loading in imports(path):
        top = name.split(".")[0]
        if top == NAME:
            assert ROOMS.index(room(name)) >= ROOMS.index(own), f"{path_of(path)} imports {name}"
        elif top not in sys.stdlib_module_names and (loading or alone):
            engine = ENGINES.get(path_of(path)) or ENGINES.get(path_of(path.parent), set())
            allowed = engine if alone else {"numpy"} | engine
            if path_of(path).startswith(TESTING):
                allowed = {"numpy", "pytest", "hypothesis"}
            assert top in allowed, f"{path_of(path)} imports {name}"


def for_types_alone(path):
    """What a file imports for type checkers, and for nobody else."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen, unseen = set(), set()
    guarded = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    for node, name in _named(path, tree):
        (unseen if id(node) in guarded else seen).add(name)
    return unseen - seen


def circles(*, of_types=False):
    """Groups of modules that lead to each other by imports; by those `of_types`, too."""
    below = {
        dotted(path): ({name for name, _ in imports(path)} & DOTTED)
        - (set() if of_types else for_types_alone(path))
        for path in MODULES
    }
    reached = {}
    for start in below:
        found = set()
        rest = [start]
        while rest:
            new = below[rest.pop()] - found
            found |= new
            rest += new
        reached[start] = found
    groups = {
        frozenset([other for other in reached[name] if name in reached[other]]) for name in reached
    }
    return [{name.removeprefix(f"{NAME}.").replace(".", "/") for name in x} for x in groups if x]


def test_no_modules_need_each_other_in_a_circle():
    assert circles() == []
    assert circles(of_types=True) == []


@for_each("path", MODULES)
def test_modules_can_be_read_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_no_folder_holds_most_of_it():
    sources = [path for path in ROOT.rglob("*") if path.suffix in (".py", ".c", ".h")]
    lines = Counter()
    for path in sources:
        lines[path.parent] += len(path.read_text(encoding="utf-8").splitlines())
    assert max(lines.values()) < 0.4 * lines.total()


# ---------------------------------------------------------------------- names in C

# Types of basetsd.h and functions of io.h and unistd.h, which Python.h includes on some platforms.
PLATFORM_TYPES = re.compile(
    r"\bU?(?:INT|LONG)(?:8|16|32|64|_PTR)\b|\bS?SIZE_T\b|\bDWORD(?:32|64)\b"
)
# A function that is defined at the margin of a file by one of these names.
PLATFORM_FUNCTIONS = re.compile(
    r"^[A-Za-z_][\w \*]*[ \*]"
    r"(access|chmod|chsize|close|creat|dup2?|eof|filelength|fork|getpid|isatty|link|locking|lseek"
    r"|mktemp|nice|open|pause|pipe|read|remove|rename|setmode|sleep|sopen|sync|tell|truncate"
    r"|umask|unlink|write)\(",
    re.MULTILINE,
)


@for_each("path", sorted(ROOT.rglob("*.[ch]")))
def test_names_in_c_are_not_those_of_platform_headers(path):
    code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert set(PLATFORM_TYPES.findall(code)) == set()
    assert PLATFORM_FUNCTIONS.findall(code) == []


# ---------------------------------------------------------------------- tests


def mirrored():
    return sorted(
        path
        for path in TESTS.rglob("*.py")
        if path.relative_to(TESTS).parts[0] not in OTHER_TESTS and "__pycache__" not in path.parts
    )


@for_each("path", mirrored())
def test_tests_mirror_the_package(path):
    """A test lies where its subject does, and its name begins with the subject's."""
    folder = ROOT / path.parent.relative_to(TESTS)
    assert folder.is_dir(), f"there is no {folder}"
    if not path.name.startswith("test_"):
        return
    name = path.stem.removeprefix("test_")
    # The sources in C lie in folders of one, and their tests in one folder.
    sources = [] if folder == ROOT else folder.rglob("*.c")
    files = (*folder.glob("*.py"), *sources)
    subjects = {each.stem.removeprefix("test_") for each in files}
    # What a package offers by itself.
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    subjects |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if folder == ROOT:
        subjects |= WHOLE
    assert any([name == each or name.startswith(f"{each}_") for each in subjects]), (
        f"{path} begins with no module of {folder}"
    )


# ---------------------------------------------------------------------- loading


def loaded_by(statement):
    """Names of the top-level modules, the standard library's apart, that a statement loads."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(names - set(sys.stdlib_module_names)))"
    )
    return set(python("-W", "error", "-c", code).split())


def test_importing_the_package_loads_numpy_alone():
    assert loaded_by(f"import {NAME}") == {NAME, "numpy"}


def test_the_lowest_rooms_alone_load_numpy_at_most():
    stub = (
        f"import types; package = types.ModuleType({NAME!r}); package.__path__ = [{str(ROOT)!r}]\n"
        f"sys.modules[{NAME!r}] = package\n"
    )
    # Not native, because the extension loads NumPy.
    rooms = set(STANDARD_LIBRARY_ALONE) - {"native"}
    lowest = [name for name in sorted(DOTTED) if room(name) in rooms]
    lowest.append(f"{NAME}.primitives.table")
    assert len(lowest) > 5
    assert loaded_by(stub + "\n".join(f"import {name}" for name in lowest)) == {NAME, "numpy"}
