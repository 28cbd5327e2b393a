import os
from pathlib import Path

from array_api_nx_conformance import environment as tested


def test_this_repository_goes_before_the_users_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    first, *others = tested.environment(tmp_path, "numpy")["PYTHONPATH"].split(os.pathsep)
    assert (Path(first) / "array_api_nx_conformance" / "plugin.py").is_file()
    assert others == [str(tmp_path / "somewhere")]  # the process runs in another folder


def test_a_module_that_only_the_current_folder_has_is_found_there(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_module.py").touch()
    (tmp_path / "own_package").mkdir()
    (tmp_path / "numpy").mkdir()

    def last(module):
        return tested.environment(tmp_path, module)["PYTHONPATH"].split(os.pathsep)[-1]

    assert last("own_module") == last("own_package.array") == str(tmp_path)
    # A folder that happens to have the name of an installed package does not hide it.
    assert last("numpy") == last("own_other") == last("") != str(tmp_path)


def test_an_installed_package_adds_no_path(tmp_path, monkeypatch):
    monkeypatch.setattr(tested, "PACKAGE", tmp_path / "array_api_nx_conformance")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert tested.environment(tmp_path, "numpy")["PYTHONPATH"] == ""


def test_the_version_is_set_only_where_it_is_chosen(tmp_path):
    assert "ARRAY_API_TESTS_VERSION" not in tested.environment(tmp_path, "numpy")
    assert tested.environment(tmp_path, "numpy", "2023.12")["ARRAY_API_TESTS_VERSION"] == "2023.12"


def test_the_device_and_the_dtypes_that_it_lacks(tmp_path):
    plain = tested.environment(tmp_path, "numpy", device="gpu")
    assert "ARRAY_API_TESTS_SKIP_DTYPES" not in plain
    assert "gpu" not in plain.values()
    name = "array_api_nx.testing.strict_namespaces.v2025_12"
    chosen = tested.environment(tmp_path, name, device="meta", lacking=("int64", "float64"))
    assert chosen["ARRAY_API_NX_DEFAULT_DEVICE"] == "meta"
    assert chosen["ARRAY_API_TESTS_SKIP_DTYPES"] == "int64,float64"
