"""Settings: defaults, the environment, `config_context`, and what show_config tells."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.config import (
    DEFAULTS,
    VARIABLES,
    Settings,
    config_context,
    count_watching,
    current,
    from_environment,
    hints,
)
from tests.support.programs import default_process
from tests.support.refusals import refused
from tests.support.sizes import THRESHOLD
from tests.support.tables import for_each
from tests.support.threads import in_thread

EVERYWHERE = "ARRAY_API_NX_FUSION"


def test_defaults_without_variables():
    assert from_environment({}) == Settings("auto", THRESHOLD, None)
    names = [EVERYWHERE, f"{EVERYWHERE}_THRESHOLD", "ARRAY_API_NX_NUM_THREADS"]
    assert from_environment(dict.fromkeys(names, "")) == Settings()


def test_defaults_from_variables():
    variables = {
        "ARRAY_API_NX_FUSION": "always",
        "ARRAY_API_NX_FUSION_THRESHOLD": "0",
        "ARRAY_API_NX_NUM_THREADS": "3",
        "OTHER": "7",
    }
    assert from_environment(variables) == Settings("always", 0, 3)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("FUSION", "on", "must be 'auto', 'off' or 'always', not 'on'; 'auto' is the default"),
        ("FUSION", "1", "must be 'auto', 'off' or 'always', not 1; 'auto' is the default"),
        ("FUSION_THRESHOLD", "-1", f"must be an integer of at least 0, not -1; try {THRESHOLD}"),
        (
            "FUSION_THRESHOLD",
            "1e5",
            f"must be an integer of at least 0, not '1e5'; try {THRESHOLD}",
        ),
        ("NUM_THREADS", "0", "must be an integer of at least 1, not 0; try 2"),
        ("NUM_THREADS", "all", "must be an integer of at least 1, not 'all'; try 2"),
        ("NUM_THREADS", "--2", "must be an integer of at least 1, not '--2'; try 2"),
    ],
)
def test_illegal_variables(name, value, rule):
    with pytest.raises(ValueError, match="must be") as caught:
        from_environment({f"ARRAY_API_NX_{name}": value})
    assert str(caught.value) == f"ARRAY_API_NX_{name} {rule}"


@for_each(
    ("name", "meant"),
    [
        ("FUSOIN", "did you mean 'ARRAY_API_NX_FUSION'?"),
        ("fusion", "did you mean 'ARRAY_API_NX_FUSION'?"),
        ("THREADS", "did you mean 'ARRAY_API_NX_NUM_THREADS'?"),
        ("DEFAULT_DEVCE", "did you mean 'ARRAY_API_NX_DEFAULT_DEVICE'?"),
        ("EXTENSIONS", "did you mean 'ARRAY_API_NX_EXTENSION'?"),
    ],
)
def test_misspelt_variables_are_warned_of_with_the_right_name(name, meant):
    with pytest.warns(RuntimeWarning, match="reads no environment variable") as caught:
        assert from_environment({f"ARRAY_API_NX_{name}": "1"}) == Settings()
    assert len(caught) == 1
    assert str(caught[0].message).endswith(meant)


def test_a_misspelt_variable_is_warned_of_once_when_the_package_is_imported():
    found = run("import array_api_nx, array_api_nx.config", ARRAY_API_NX_FUSOIN="off")
    assert found.stderr.count("did you mean 'ARRAY_API_NX_FUSION'?") == 1
    assert run("import array_api_nx", ARRAY_API_NX_FUSION="off").stderr == ""


def test_every_variable_that_something_reads_is_known():
    root = Path(__file__).parents[1]
    folders = ("array_api_nx", "array_api_nx_conformance", "tests", "benchmarks", "examples")
    files = [path for folder in folders for path in (root / folder).rglob("*.py")]
    read = re.compile(r"""environ(?:\.get\(|\[)\s*["'](ARRAY_API_NX_\w+)""")
    found = {name for path in files for name in read.findall(path.read_text())}
    assert {"ARRAY_API_NX_EXTENSION", "ARRAY_API_NX_CHECKED"} <= found
    assert found <= {*VARIABLES}
    # Not only where it is read, but wherever a file names one.
    texts = [path.read_text() for path in files if folders[0] in path.parts]
    named = {name for text in texts for name in re.findall(r"ARRAY_API_NX_[A-Z_]*[A-Z]", text)}
    # These are given to the compiler.
    assert named <= {*VARIABLES, "ARRAY_API_NX_SOURCES", "ARRAY_API_NX_VERSION"}


def run(code, **variables):
    environ = {k: v for k, v in os.environ.items() if not k.startswith(EVERYWHERE)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environ | variables, capture_output=True, text=True
    )


def test_variables_are_read_at_import():
    code = (
        "from array_api_nx.config import current, hints; "
        "print(*current()[:3], hints.threshold, hints.defer_small)"
    )
    found = run(code, ARRAY_API_NX_FUSION="always", ARRAY_API_NX_FUSION_THRESHOLD="12")
    assert found.stdout.split()[:2] + found.stdout.split()[3:] == ["always", "12", "12", "False"]
    found = run("import array_api_nx", ARRAY_API_NX_FUSION="fast")
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1] == (
        "ValueError: ARRAY_API_NX_FUSION must be 'auto', 'off' or 'always', not 'fast'; "
        "'auto' is the default"
    )


def test_modules_that_the_standard_lacks_are_hidden_whoever_imported_them():
    code = (
        "import sys; import array_api_nx as xp; print(hasattr(xp, 'unknown_name')); "
        "print('array_api_nx.special' in sys.modules); "
        "import array_api_nx.special; xp.isclose; "
        "xp.config_context(extras=False).__enter__(); "
        "print(*[hasattr(xp, name) for name in ('special', 'random', 'isclose')])"
    )
    assert run(code).stdout.split() == ["False"] * 5


def test_the_public_one_is_the_same():
    assert xp.config_context is config_context


@for_each(
    ("name", "meant"),
    [("foo", ""), ("fusoin", "fusion"), ("threads", "num_threads"), ("host_acces", "host_access")],
)
def test_an_unknown_setting_lists_those_that_there_are(name, meant):
    with pytest.raises(TypeError, match=f"no setting '{name}'; there are fusion") as caught:
        config_context(**{name: 1})
    text = str(caught.value)
    assert all([f"{field} (" in text for field in Settings._fields])
    assert "fusion ('auto', 'off' or 'always'), " in text
    assert text.endswith(f"; did you mean {meant!r}?" if meant else "(True or False)")


def test_what_is_not_given_stays():
    assert current() == DEFAULTS
    with config_context(fusion="off", num_threads=2):
        assert current() == DEFAULTS._replace(fusion="off", num_threads=2)
        with config_context(fusion_threshold=5, num_threads=1):
            assert current() == Settings("off", 5, 1)
        with config_context():
            assert current() == DEFAULTS._replace(fusion="off", num_threads=2)
    assert current() == DEFAULTS


def test_settings_come_back_after_an_exception():
    with pytest.raises(KeyError, match="'x'"), config_context(fusion="always"):
        raise KeyError("x")
    assert current() == DEFAULTS


def test_one_object_can_be_entered_again():
    context = config_context(fusion_threshold=7)
    for _ in range(2):
        with context, config_context(fusion_threshold=9):
            with context:
                assert current().fusion_threshold == 7
            assert current().fusion_threshold == 9
    assert current() == DEFAULTS


def test_a_decorated_function_and_its_recursion():
    @config_context(num_threads=4)
    def factorial(n):
        """n!"""
        assert current().num_threads == 4
        return n * factorial(n - 1) if n else 1

    assert factorial(4) == 24
    assert factorial.__doc__ == "n!"
    assert current() == DEFAULTS


def test_one_object_in_several_threads_at_a_time():
    both_inside, one_outside = threading.Barrier(2), threading.Barrier(2)
    context = config_context(fusion_threshold=11)

    def first():
        with context:
            both_inside.wait(60)
        one_outside.wait(60)
        return current()

    def second():
        with config_context(fusion="off"), context:
            both_inside.wait(60)
            one_outside.wait(60)
            return current()

    with ThreadPoolExecutor(2) as executor:
        found = [executor.submit(first), executor.submit(second)]
        assert found[0].result() == DEFAULTS
        assert found[1].result() == DEFAULTS._replace(fusion="off", fusion_threshold=11)


@pytest.mark.skipif(
    bool(getattr(sys.flags, "thread_inherit_context", False)),
    reason="threads begin with a copy of their starter's context",
)
def test_a_new_thread_starts_with_the_defaults():
    with config_context(fusion="off", fusion_threshold=1, num_threads=1):
        assert in_thread(current) == DEFAULTS


def test_a_task_has_settings_of_its_own():
    async def inner(threads):
        with config_context(num_threads=threads):
            await asyncio.sleep(0)
            return [current().num_threads]

    async def outer():
        with config_context(num_threads=9):
            found = await asyncio.gather(inner(1), inner(2))
            return [*found, [current().num_threads]]

    assert asyncio.run(outer()) == [[1], [2], [9]]


def test_a_generator_may_be_closed_where_it_was_not_entered():
    def suspended():
        with config_context(fusion="off"):
            yield current()

    generator = suspended()
    # In a context of its own, which this test leaves in the middle of the `with` statement.
    assert copy_context().run(next, generator).fusion == "off"

    def close():
        generator.close()
        return current()

    assert in_thread(close) == DEFAULTS
    with config_context(num_threads=1):
        pass


@pytest.mark.parametrize(
    ("argument", "error", "rule"),
    [
        ({"fusion": "on"}, ValueError, "fusion must be 'auto', 'off' or 'always', not 'on'"),
        ({"fusion": True}, TypeError, "fusion must be 'auto', 'off' or 'always', not True"),
        ({"fusion": np.ones(2)}, TypeError, "fusion must be 'auto', 'off' or 'always'"),
        ({"fusion_threshold": -1}, ValueError, "fusion_threshold must be an integer of at least 0"),
        ({"fusion_threshold": 1.0}, TypeError, "fusion_threshold must be an integer of at least"),
        ({"fusion_threshold": "5"}, TypeError, "fusion_threshold must be an integer of at least"),
        ({"num_threads": 0}, ValueError, "num_threads must be an integer of at least 1, not 0; "),
        ({"extras": "no"}, TypeError, "extras must be True or False, not 'no'; T"),
        (
            {"host_access": "forbid"},
            ValueError,
            "host_access must be 'allow', 'warn' or 'error', not 'forbid'; 'allow' is",
        ),
        ({"host_access": 1}, TypeError, "host_access must be 'allow', 'warn' or 'error', not 1"),
        ({"num_threads": True}, TypeError, "num_threads must be an integer of at least 1, not T"),
    ],
)
def test_illegal_arguments(argument, error, rule):
    with pytest.raises(error) as caught:
        config_context(**argument)
    assert str(caught.value).startswith(rule)
    assert ";" in str(caught.value)


def test_illegal_calls():
    refused(TypeError, "positional", config_context, "off")
    refused(TypeError, "no setting 'threads'; there are", config_context, threads=2)


def test_integers_of_other_types_become_ints():
    with config_context(fusion_threshold=np.int64(3), num_threads=np.uint8(2)):
        assert current()[1:3] == (3, 2)
        assert {type(n) for n in current()[1:3]} == {int}


@pytest.fixture
def process_defaults():
    with default_process():
        yield


def test_the_hint_names_the_default_threshold():
    with config_context(fusion_threshold=DEFAULTS.fusion_threshold + 1):
        assert hints.threshold == DEFAULTS.fusion_threshold


def test_the_hint_of_who_watches():
    assert hints.watched is False
    with config_context(host_access="allow"):
        assert hints.watched is False
    with config_context(host_access="error"):
        assert hints.watched is True
        with config_context(host_access="allow"), config_context(host_access="warn"):
            assert hints.watched is True
        assert hints.watched is True
        count_watching(1)
    assert hints.watched is True
    count_watching(-1)
    assert hints.watched is False


@pytest.mark.usefixtures("process_defaults")
@pytest.mark.parametrize(
    ("arguments", "lowers"),
    [
        ({"fusion_threshold": 0}, True),
        ({"fusion": "always"}, False),
        ({"fusion": "off"}, False),
        ({"num_threads": 1, "default_device": "cpu"}, False),
        ({"extras": False}, False),
        ({"fusion_threshold": Settings().fusion_threshold}, False),
        ({"fusion_threshold": Settings().fusion_threshold + 1}, False),
    ],
)
def test_what_lowers(arguments, lowers):
    assert hints.defer_small is False
    with config_context(**arguments):
        assert hints.defer_small is lowers
        assert in_thread(lambda: hints.defer_small) is lowers
    assert hints.defer_small is False


@pytest.mark.usefixtures("process_defaults")
def test_the_hint_lasts_until_the_last_one_leaves():
    lower = config_context(fusion_threshold=Settings().fusion_threshold - 1)
    with lower:
        with lower, config_context(fusion_threshold=10**9):
            assert hints.defer_small is True
        assert hints.defer_small is True
    assert hints.defer_small is False


@pytest.mark.usefixtures("process_defaults")
def test_many_threads_leave_the_hint_as_it_was():
    lower = config_context(fusion_threshold=0)

    def enter():
        seen = True
        for _ in range(200):
            with lower:
                seen = seen and hints.defer_small
        return seen

    with ThreadPoolExecutor(8) as executor:
        assert all(future.result() for future in [executor.submit(enter) for _ in range(8)])
    assert hints.defer_small is False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_process_can_enter():
    code = """
import os
from array_api_nx.config import config_context, current, hints
with config_context(fusion="always"):
    child = os.fork()
    if not child:
        with config_context(fusion_threshold=0):
            os._exit(0 if current()[:2] == ("always", 0) and hints.defer_small else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert run(code).returncode == 0


def test_show_config_as_a_dict():
    with config_context(fusion="off", fusion_threshold=17, num_threads=1):
        found = xp.show_config("dict")
    assert found is not None
    assert found["settings"] == {
        "fusion": "off",
        "fusion_threshold": 17,
        "num_threads": 1,
        "default_device": "cpu",
        "extras": True,
        "host_access": "allow",
        "operands": "numpy",
        "placement": "follow",
        "transfers": "allow",
        "progress": False,
    }
    assert found["versions"]["array_api_nx"] == xp.__version__
    assert found["versions"]["standard"] == "2025.12"
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["array-api-compat"].count(".") >= 1
    offered = [d.name for d in xp.__array_namespace_info__().devices()]
    assert list(found["devices"])[: len(offered)] == offered


def test_show_config_prints_the_same(capsys):
    assert xp.show_config() is None
    lines = capsys.readouterr().out.splitlines()
    assert "versions:" in lines
    assert f"  numpy: {np.__version__}" in lines
    assert f"  fusion: {current().fusion}" in lines
    assert f"  fusion_threshold: {current().fusion_threshold}" in lines
    xp.show_config(mode="text")
    again = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in again] == [line.partition(":")[0] for line in lines]


def test_show_config_has_two_modes():
    with pytest.raises(ValueError, match="mode must be 'text' or 'dict', not 'json'; 'text' pri"):
        xp.show_config("json")


def test_numbers_that_no_index_can_say_are_as_good_as_the_largest():
    with config_context(fusion_threshold=10**30, num_threads=10**30):
        assert current().fusion_threshold == current().num_threads == sys.maxsize
        x = xp.ones(20_000)
        assert float((x + x)[0]) == 2.0
