"""The pytest plugin, run as its users run it: by pytest, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "examples" / "testing_kit"

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
FOUND = re.findall(r"^\| `(\w+)`: .* \| `(nx:\w+)`[^|]* \| `(.*)` \|$", PAGE, re.MULTILINE)
"""The page's table: a function with a mistake, the mode that finds it, and what that says."""

Outcomes = dict[str, tuple[str, str]]
"""By the name of a test: "passed", "failed", "error" or "skipped", and the message."""


def run(folder, *arguments, plugin=True):
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest"]
    command += ["-p", "array_api_nx.testing.plugin"] if plugin else []
    command += ["-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={folder}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    # Hypothesis and others would be imported by each of these processes.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    ended = subprocess.run(
        [*command, f"--junitxml={report}", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )
    outcomes = {}
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            ends = [child for child in case if child.tag in ("failure", "error", "skipped")]
            tag = {"failure": "failed"}.get(ends[0].tag, ends[0].tag) if ends else "passed"
            outcomes[case.attrib["name"]] = tag, ends[0].attrib["message"] if ends else ""
    return outcomes, ended


@pytest.fixture
def written(tmp_path):
    def run_text(text, *arguments):
        (tmp_path / "test_it.py").write_text(f"import pytest\n{text}", encoding="utf-8")
        return run(tmp_path, *arguments)

    return run_text


def test_the_example_has_its_mistakes_found(tmp_path):
    modes = ["numpy", *dict.fromkeys(mode for _, mode, _ in FOUND)]
    outcomes, ended = run(tmp_path, f"--xp={','.join(modes)}", str(LIBRARY))
    assert len(FOUND) == 10
    assert len(outcomes) == 10 * len(modes), ended.stdout + ended.stderr
    failed = {name: said for name, (outcome, said) in outcomes.items() if outcome != "passed"}
    assert not [name for name in failed if "[numpy" in name]
    for mistake, mode, message in FOUND:
        found = [
            said
            for name, said in failed.items()
            if mistake in name and re.search(rf"\[{mode}[-\]]", name)
        ]
        assert len(found) == 1, (mistake, mode)
        assert message in found[0]


def test_the_steps_of_the_documentation(tmp_path):
    files = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL)
    files += [
        ("pyproject.toml", text) for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    ]
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(files) == 6
    outcomes, ended = run(tmp_path, f"-c{tmp_path / 'pyproject.toml'}", plugin=False)
    assert {outcome for outcome, _ in outcomes.values()} == {"passed", "skipped"}, ended.stdout
    skipped = {name for name, (outcome, _) in outcomes.items() if outcome == "skipped"}
    assert skipped == {"test_the_mean_is_zero[nx:no_float64-float64]"}
    assert len(outcomes) == 5 + 2 * 5 + 1


def test_a_test_runs_once_per_namespace(written):
    outcomes, ended = written(
        "def test_it(xp, device):\n    assert xp.asarray(1.0, device=device).dtype == xp.float64\n"
        "def test_plain():\n    pass\n",
        "--xp=nx,numpy,nx:strict@2023.12,nx:no_float64,nx:elsewhere",
    )
    assert {name: outcome for name, (outcome, _) in outcomes.items()} == {
        "test_it[nx]": "passed",
        "test_it[numpy]": "passed",
        "test_it[nx:strict@2023.12]": "passed",
        "test_it[nx:no_float64]": "failed",
        "test_it[nx:elsewhere]": "passed",
        "test_plain": "passed",
    }, ended.stdout


def test_the_default_is_this_namespace_and_the_configuration_may_say_otherwise(written, tmp_path):
    text = "def test_it(xp):\n    print(xp.__name__)\n"
    assert list(written(text)[0]) == ["test_it[nx]"]
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\nxp = nx:strict numpy\n", encoding="utf-8")
    assert list(written(text, f"-c{settings}")[0]) == ["test_it[nx:strict]", "test_it[numpy]"]


def test_what_is_not_installed_is_skipped_with_its_reason(written):
    outcomes, _ = written("def test_it(xp):\n    pass\n", "--xp=no_such_library")
    outcome, message = outcomes["test_it[no_such_library]"]
    assert outcome == "skipped"
    assert "no_such_library is not installed; is it on PYTHONPATH?" in message


def test_names_that_mean_nothing_end_the_run(written):
    """Which names these are is tested with `parse`."""
    outcomes, ended = written("def test_it(xp):\n    pass\n", "--xp=nx,nx:lazy+fast")
    assert outcomes == {}
    assert ended.returncode == 4
    assert "--xp: " in ended.stderr


def test_markers(written):
    text = (
        "@pytest.mark.xp_skip('nx:strict*', reason='not the standard')\n"
        "@pytest.mark.xp_xfail('numpy', reason='to come')\n"
        "def test_fails(xp):\n    assert xp.__name__ == 'array_api_nx'\n"
        "@pytest.mark.xp_xfail('nx', reason='thought to fail')\n"
        "def test_passes(xp):\n    pass\n"
    )
    outcomes, _ = written(text, "--xp=nx,nx:strict@2022.12,numpy")
    assert outcomes["test_fails[nx]"][0] == "passed"
    assert outcomes["test_fails[nx:strict@2022.12]"] == ("skipped", "not the standard")
    assert outcomes["test_fails[numpy]"][0] == "skipped"  # an expected failure, for junit
    assert outcomes["test_passes[nx]"][0] == "failed"
    assert outcomes["test_passes[numpy]"][0] == "passed"


@pytest.mark.parametrize("marker", ["xp_skip('nx')", "xp_xfail(reason='why')"])
def test_markers_need_names_and_a_reason(written, marker):
    _, ended = written(f"@pytest.mark.{marker}\ndef test_it(xp):\n    pass\n")
    assert ended.returncode == 4
    assert "reason=" in ended.stderr


def test_dtypes_by_kind(written):
    text = (
        "@pytest.mark.xp_dtypes('real floating', 'bool')\n"
        "def test_it(xp, device, dtype):\n"
        "    assert xp.ones(2, dtype=dtype, device=device).dtype == dtype\n"
        "def test_all(xp, dtype):\n    pass\n"
    )
    outcomes, _ = written(text, "--xp=nx,nx:no_float64")
    assert outcomes["test_it[nx-float64]"][0] == "passed"
    assert outcomes["test_it[nx:no_float64-bool]"][0] == "passed"
    assert outcomes["test_it[nx:no_float64-float64]"][0] == "skipped"
    assert "has no float64" in outcomes["test_it[nx:no_float64-float64]"][1]
    assert len([name for name in outcomes if name.startswith("test_it")]) == 6
    assert len([name for name in outcomes if name.startswith("test_all")]) == 2 * 13
    _, ended = written("@pytest.mark.xp_dtypes('real')\ndef test_it(xp, dtype):\n    pass\n")
    assert "kinds: bool" in ended.stdout + ended.stderr


def test_it_is_loaded_by_nobody_else():
    code = "import array_api_nx, sys; print('array_api_nx.testing' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.stdout.split() == ["False"]
    entry_points = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "pytest11" not in entry_points
