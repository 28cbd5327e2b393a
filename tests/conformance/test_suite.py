import shutil
import subprocess

import pytest

from array_api_nx_conformance import suite as tested
from array_api_nx_conformance.suite import CannotRunError, Pins

from .conftest import git


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(tested.CHECKOUT_VARIABLE, raising=False)


def test_the_pins_are_those_of_the_official_suite():
    pins = Pins()
    assert pins.suite == "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
    assert pins.spec == "5f847a3858875c682ae901aa22b0413bf24be9da"


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert tested.cache_folder() == tmp_path / ".cache" / "array_api_nx"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert tested.cache_folder() == tmp_path / "x" / "array_api_nx"


def test_the_option_goes_before_the_variable_and_the_cache(monkeypatch, tmp_path):
    cached = tmp_path / "array-api-tests-55fcc60179ef"
    assert tested.locate(None, tmp_path, Pins()) == (cached, True)
    monkeypatch.setenv(tested.CHECKOUT_VARIABLE, str(tmp_path / "variable"))
    assert tested.locate(None, tmp_path, Pins()) == (tmp_path / "variable", False)
    assert tested.locate(tmp_path / "option", tmp_path, Pins()) == (tmp_path / "option", False)


def test_a_clean_checkout(suite, tmp_path):
    found = tested.find(suite.path, tmp_path, suite.pins)
    assert found == tested.Checkout(suite.path, suite.pins.suite, suite.pins.spec)


def test_verification_does_not_write_to_the_checkout(own_suite):
    index = own_suite.path / ".git" / "index"
    # An index that is older than the files makes git refresh it, unless it is told not to.
    for file in own_suite.path.glob("*.*"):
        file.touch()
    before = index.read_bytes()
    tested.verify(own_suite.path, own_suite.pins)
    assert index.read_bytes() == before


def test_a_hook_of_another_repository_does_not_disturb(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert tested.verify(suite.path, suite.pins).problems == ()


def test_missing_checkout_says_how_to_get_it(suite, tmp_path):
    missing = tmp_path / "not there"
    with pytest.raises(CannotRunError) as caught:
        tested.find(missing, tmp_path, suite.pins)
    message = str(caught.value)
    assert f"no checkout of the test suite at {missing}" in message
    assert f"git init --quiet '{missing}'" in message
    assert f"--depth 1 {suite.pins.suite_url} {suite.pins.suite}" in message
    assert f"--depth 1 {suite.pins.spec_url} {suite.pins.spec}" in message


def test_the_commands_that_it_prints_work(suite, tmp_path):
    path = tmp_path / "checkout"
    lines = tested.how_to(path, suite.pins).splitlines()
    script = "\n".join(line for line in lines if line.startswith("    "))
    subprocess.run(["sh", "-e", "-c", script], check=True)
    assert tested.verify(path, suite.pins).problems == ()


@pytest.mark.parametrize("name", ["skips.txt", "array_api_tests/test_good.py"])
def test_a_modified_checkout_is_refused(own_suite, name):
    (own_suite.path / name).write_text("array_api_tests/test_good.py\n")
    with pytest.raises(CannotRunError, match=rf"is modified: {name} ") as caught:
        tested.verify(own_suite.path, own_suite.pins)
    assert "--any-commit" in str(caught.value)
    found = tested.verify(own_suite.path, own_suite.pins, any_commit=True)
    assert len(found.problems) == 1


def test_a_modified_submodule_is_refused(own_suite):
    (own_suite.path / "array-api" / "README.md").write_text("changed\n")
    with pytest.raises(CannotRunError, match=r"array-api is modified: README.md"):
        tested.verify(own_suite.path, own_suite.pins)


@pytest.mark.parametrize(("folder", "pin"), [(".", "suite"), ("array-api", "spec")])
def test_another_commit_is_refused(own_suite, folder, pin):
    git(own_suite.path / folder, "commit", "--quiet", "--allow-empty", "--message", "more")
    pinned = getattr(own_suite.pins, pin)
    with pytest.raises(CannotRunError, match=f"not at the pinned {pinned}"):
        tested.verify(own_suite.path, own_suite.pins)
    found = tested.verify(own_suite.path, own_suite.pins, any_commit=True)
    assert len(found.problems) == 1


def test_a_missing_submodule(own_suite):
    shutil.rmtree(own_suite.path / "array-api")
    (own_suite.path / "array-api").mkdir()
    with pytest.raises(CannotRunError, match="lacks its submodule array-api"):
        tested.verify(own_suite.path, own_suite.pins, any_commit=True)


def test_a_folder_that_is_no_checkout(own_suite):
    # A folder inside a repository is not that repository.
    inside = own_suite.path / "array_api_tests"
    with pytest.raises(CannotRunError, match="is not a git checkout of the test suite"):
        tested.verify(inside, own_suite.pins, any_commit=True)


def test_git_is_missing(suite, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRunError, match=r"cannot verify the test suite: .*'git'"):
        tested.verify(suite.path, suite.pins)


def test_it_clones_into_the_cache(suite, tmp_path):
    cache = tmp_path / "a" / "cache"
    found = tested.find_or_clone(None, cache, suite.pins)
    assert found.path == cache / f"array-api-tests-{suite.pins.suite[:12]}"
    assert found.problems == ()
    assert list(cache.iterdir()) == [found.path]  # nothing temporary is left


def test_it_does_not_clone_to_a_place_that_the_user_named(suite, tmp_path):
    with pytest.raises(CannotRunError, match="no checkout"):
        tested.find_or_clone(tmp_path / "typo", tmp_path, suite.pins)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_clone_leaves_nothing_behind(tmp_path):
    pins = Pins(suite_url=str(tmp_path / "nowhere"))
    cache = tmp_path / "cache"
    with pytest.raises(CannotRunError, match=r"cannot fetch the test suite \((.|\n)*git init"):
        tested.find_or_clone(None, cache, pins)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(CannotRunError, match=r"cannot write to the cache: .*use --cache DIR"):
        tested.find_or_clone(None, file / "cache", Pins())
