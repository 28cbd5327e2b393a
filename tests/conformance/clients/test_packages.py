import pytest

from array_api_nx_conformance.clients import packages
from array_api_nx_conformance.clients.packages import CLIENTS, chosen, find, submodule
from array_api_nx_conformance.suite import CannotRunError
from tests.support.refusals import refused

pytestmark = pytest.mark.slow


def names(site, targets):
    return [target.removeprefix(f"{site}/") for target in targets]


def test_installed_clients(installed):
    scipy, sklearn = find(["scipy", "scikit-learn"])
    assert (scipy.version, scipy.root, scipy.folder) == ("9.9", installed, installed / "scipy")
    assert (sklearn.version, sklearn.folder) == ("9.8", installed / "sklearn")


def test_missing_clients(monkeypatch):
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(CannotRunError, match=r"scipy is not installed, array-api-extra is not"):
        find(["scipy", "array-api-extra"])
    with pytest.raises(CannotRunError, match=r"-m pip install 'scikit-learn>=1.9'\nor run others"):
        find(["scikit-learn"])


def test_an_old_client(installed, monkeypatch):
    old = packages.Client("scipy", "scipy", (9, 10), "xp")
    monkeypatch.setitem(CLIENTS, "scipy", old)
    refused(CannotRunError, r"scipy 9.9 is too old; install with\n.*'scipy>=9.10'", find, ["scipy"])


def test_array_api_extra_itself_or_else_in_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    vendored = tmp_path / "sklearn" / "externals" / "array_api_extra"
    vendored.mkdir(parents=True)
    (vendored / "__init__.py").write_text('__version__ = "0.12"\n')
    for folder in vendored.parents[:2]:
        (folder / "__init__.py").touch()
    [extra] = find(["array-api-extra"])
    assert extra.version == "0.12 (in sklearn.externals.array_api_extra)"
    (tmp_path / "array_api_extra").mkdir()
    (tmp_path / "array_api_extra" / "__init__.py").write_text('__version__ = "0.13"\n')
    [extra] = find(["array-api-extra"])
    assert (extra.version, extra.folder) == ("0.13", tmp_path / "array_api_extra")


def test_everything_that_uses_a_namespace(installed):
    targets = chosen(find(["scipy", "scikit-learn"]), [])
    assert names(installed, targets["scipy"]) == [
        "scipy/fft/tests/test_fft.py",
        "scipy/fft/tests/test_lacking.py",
        "scipy/stats/tests/test_stats.py",
    ]
    assert names(installed, targets["scikit-learn"]) == ["sklearn/utils/tests/test_utils.py"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("scipy.stats", "scipy/stats/tests/test_stats.py"),
        ("scipy/stats/", "scipy/stats/tests/test_stats.py"),
        ("scipy/fft/tests/test_fft.py", "scipy/fft/tests/test_fft.py"),
        ("scipy/fft/tests/test_fft.py::test_fft[a]", "scipy/fft/tests/test_fft.py::test_fft[a]"),
    ],
)
def test_a_selection(installed, entry, expected):
    targets = chosen(find(["scipy", "scikit-learn"]), [entry])
    assert {name: names(installed, each) for name, each in targets.items()} == {"scipy": [expected]}


@pytest.mark.parametrize("entry", ["scipy.ftf", "sklearn", "torch", "..", "scipy/../sklearn"])
def test_a_selection_of_nothing(installed, entry):
    with pytest.raises(CannotRunError, match=r"there are no such tests; give submodules of scipy"):
        chosen(find(["scipy"]), ["scipy.fft", entry])


def test_a_selection_of_extra_calls():
    pytest.importorskip("sklearn")
    [extra] = find(["array-api-extra"])
    test = "extra_calls.py::test_agrees[pad]"
    assert chosen([extra], [test]) == {"array-api-extra": [str(extra.root / test)]}
    assert chosen([extra], ["array_api_extra"]) == chosen([extra], [])


@pytest.mark.parametrize(
    ("client", "test", "expected"),
    [
        ("scipy", "scipy/stats/tests/test_stats.py::test_a", "scipy.stats"),
        ("scipy", "scipy/spatial/transform/tests/test_rotation.py::test_a", "scipy.spatial"),
        ("scikit-learn", "sklearn/tests/test_common.py::test_a[x/y]", "sklearn"),
        ("array-api-extra", "extra_calls.py::test_agrees[pad]", "array_api_extra"),
    ],
)
def test_submodules(client, test, expected):
    assert submodule(CLIENTS[client], test) == expected
