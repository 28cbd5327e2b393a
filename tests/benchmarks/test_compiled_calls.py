"""The benchmark of every function, compiled: `benchmarks/compiled_calls.py`."""

from types import FunctionType

import pytest

import array_api_nx as xp
from benchmarks.compiled_calls import STATEMENTS, connect
from tests.benchmarks.test_benchmarks import figures_of

NOT_TIMED = {
    *("__array_namespace_info__", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),
    *("broadcast_shapes", "compile", "eval_shape", "evaluate", "explain", "show_config"),
    *("from_dlpack", "nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
"""Functions that compute no array, or one whose shape its elements decide."""


def test_every_function_is_there():
    for module, prefix in ((xp, "xp"), (xp.linalg, "xp.linalg"), (xp.fft, "xp.fft")):
        functions = [
            name
            for name in module.__all__
            if type(getattr(module, name)) is FunctionType
            or type(getattr(module, name)).__name__ == "Function"
        ]
        missing = [
            name
            for name in {*functions} - NOT_TIMED
            if not any([each.startswith(f"{prefix}.{name}(") for each in STATEMENTS])
        ]
        assert not missing


@pytest.mark.parametrize("name", ["nx", "nx.compile"])
def test_statements_run(name):
    service = connect(name)
    for statement in STATEMENTS:
        assert service.prepare(statement).timer.timeit(1) > 0


def test_the_command(tmp_path, capsys):
    figures = figures_of("every", tmp_path, "--case", "xp.concat")
    assert set(figures["ratios"]) == {"xp.concat([a, b])"}
    assert "xp.concat([a, b])" in capsys.readouterr().out
