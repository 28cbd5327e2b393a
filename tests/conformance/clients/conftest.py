"""Clients of our own in the shape of SciPy and scikit-learn, and a namespace that neither knows."""

import os
from pathlib import Path

import pytest

from array_api_nx_conformance.clients.command import run
from array_api_nx_conformance.options import parser

REPOSITORY = Path(__file__).resolve().parents[3]
NAMESPACE = "fake_space"
FILES = {
    f"{NAMESPACE}.py": """
import sys
__version__ = "3.2"

class Array:
    def __array_namespace__(self, api_version=None):
        return sys.modules[__name__]

class Info:
    def devices(self):
        return ("cpu", "other")

    def default_device(self):
        return "cpu"

def __array_namespace_info__():
    return Info()

def empty(shape, device=None):
    assert device in (None, "cpu")
    return Array()

zeros = ones = empty
""",
    "scipy-9.9.dist-info/METADATA": "Name: scipy\nVersion: 9.9\n",
    "scipy/__init__.py": "",
    "scipy/conftest.py": """
import pytest

known = "numpy"
xp_known_backends = {known}

def pytest_configure(config):
    config.addinivalue_line("markers", "array_api_backends: uses a namespace")
    config.addinivalue_line("markers", "np_only: for one backend")

@pytest.fixture(params=[pytest.param(None, id=known, marks=pytest.mark.array_api_backends)])
def xp(request):
    if request.node.get_closest_marker("np_only"):
        for name in xp_known_backends - {known}:
            if request.param.__name__ == name:
                pytest.skip("np_only")
    yield request.param.empty(0).__array_namespace__()

@pytest.fixture
def devices(xp):
    return xp.__array_namespace_info__().devices() + [None]
""",
    "scipy/stats/__init__.py": """
def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2
""",
    "scipy/stats/tests/__init__.py": "",
    "scipy/stats/tests/test_stats.py": """
import os
import pytest
from scipy.stats import half

def test_other():
    assert False

def test_name(xp):
    assert xp.__name__ == "fake_space"

def test_devices(devices):
    assert devices == ["cpu", "other", None]

@pytest.mark.np_only
def test_skipped(xp):
    assert False

@pytest.mark.xfail(reason="known")
def test_marked(xp):
    assert False

@pytest.mark.parametrize("number", [2, 3, 5])
def test_half(xp, number):
    half(number)

def test_dies(xp):
    os._exit(3)

def test_environment(xp):
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "PYTEST_ADDOPTS" not in os.environ
""",
    "scipy/fft/__init__.py": "",
    "scipy/fft/tests/__init__.py": "",
    "scipy/fft/tests/test_fft.py": """
def test_fft(xp):
    pass
""",
    "scipy/fft/tests/test_lacking.py": """
import pytest
pytest.importorskip("no_such_package")

def test_fft(xp):
    pass
""",
    "scipy/fft/tests/test_numpy_alone.py": "raise ImportError('not to be read')\n",
    "scikit_learn-9.8.dist-info/METADATA": "Name: scikit-learn\nVersion: 9.8\n",
    "sklearn/__init__.py": "",
    "sklearn/utils/__init__.py": "",
    "sklearn/utils/_array_api.py": """
from collections import namedtuple
NamespaceAndDevice = namedtuple("NamespaceAndDevice", ["xp", "device"])

def yield_namespaces(include_numpy_namespaces=True):
    yield "numpy"

def yield_namespace_device_dtype_combinations(include_numpy_namespaces=True):
    yield "numpy", None, None

def yield_mixed_namespace_input_permutations():
    yield NamespaceAndDevice("torch", "cuda"), NamespaceAndDevice("numpy", None), "torch to numpy"
""",
    "sklearn/utils/tests/__init__.py": "",
    "sklearn/utils/tests/test_utils.py": """
from functools import partial
import pytest
from sklearn.utils import _array_api as lists

def check(name, namespace="numpy"):
    assert name == "Estimator"

@pytest.mark.parametrize("namespace", list(lists.yield_namespaces()))
def test_namespaces(namespace):
    assert namespace == "fake_space"

@pytest.mark.parametrize(
    "namespace, device, dtype", list(lists.yield_namespace_device_dtype_combinations())
)
def test_combinations(namespace, device, dtype):
    assert (device, dtype) in [(None, None), ("cpu", "float64"), ("cpu", "float32")]

@pytest.mark.parametrize("one, other, name", list(lists.yield_mixed_namespace_input_permutations()))
def test_mixed(one, other, name):
    assert "fake_space" in (one.xp, other.xp)
    assert other.xp != "array_api_strict"

@pytest.mark.parametrize(
    "check", [partial(partial(check, "Estimator"), namespace=n) for n in ("fake_space", "numpy")]
)
def test_checks(check):
    check()

@pytest.mark.parametrize("namespace", ["numpy", "array_api_strict"])
def test_of_others(namespace):
    assert False

def test_of_none():
    assert False
""",
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `site`; its packages go before all others, here and in subprocesses."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    return site


def contents(folder: Path) -> dict[str, bytes]:
    """The files in a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def clients(*arguments: str | os.PathLike[str]) -> int:
    """Run the sub-command; its exit status."""
    return run(parser().parse_args(["clients", *map(str, arguments)]))
