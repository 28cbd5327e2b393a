"""Tasks round alike wherever they run, whatever the layout of their chunks."""

import dask
import numpy as np

import array_api_nx as xp
from array_api_nx.backends.dask.expressions import ChunkProgram, Expression, on_host, traced
from array_api_nx.primitives import table as p
from tests.backends.dask.programs import SMALL
from tests.support.tables import for_each

BASE = np.random.default_rng(0).standard_normal((24, 31, 40))

# Chunks as they may be where they were made. Elsewhere they are copies.
LAYOUTS = {
    "column-major": BASE.T,
    "permuted": BASE.transpose(1, 2, 0)[::3, 1:, 2:],
    "sliced": BASE[:, ::2, 1:],
    "reversed": BASE[::-1, :, ::-1],
    "stretched": np.broadcast_to(BASE[:1], BASE.shape),
    "a column": BASE[:, :, :1],
    "a column of columns": BASE.T[:, ::2, :1],
}

REDUCED = {
    "sum": ("reduce", lambda x, axes: (p.SUM, x, axes, True, None)),
    "prod": ("reduce", lambda x, axes: (p.PROD, x, axes, True, None)),
    "var": ("var", lambda x, axes: (x, axes, True, 0)),
    "running sum": ("scan", lambda x, axes: (p.CUMULATIVE_SUM, x, axes[-1], None)),
    "product": ("matmul", lambda x, axes: (x, np.ascontiguousarray(x.mT))),
}


@for_each("layout", LAYOUTS)
def test_layouts_of_chunks_do_not_decide_rounding(layout):
    view = LAYOUTS[layout]
    for dtype in (np.float32, np.float64, np.complex128):
        x = view.astype(dtype, copy=False)
        copy = np.array(x, order="C")
        for name, (method, arguments) in REDUCED.items():
            for axes in ((0,), (2,), (0, 2), (0, 1, 2)):
                found = on_host(method, *arguments(x, axes))
                expected = on_host(method, *arguments(copy, axes))
                np.testing.assert_array_equal(found, expected, err_msg=f"{name} over {axes}")


@for_each("layout", LAYOUTS)
def test_layouts_of_chunks_do_not_decide_rounding_in_programs(layout):
    x = xp.asarray(np.ones(2), device=SMALL)
    value = (x * 2 + 1)._handle.value(SMALL.backend.grid)
    assert type(value) is Expression
    steps, _, last = traced(value, SMALL.backend.grid)
    chunk = LAYOUTS[layout]
    for axes in ((0,), (2,), (0, 1, 2)):
        program = ChunkProgram([*steps, ("reduce", (p.SUM, last, axes, True, None))], 1)
        np.testing.assert_array_equal(program(chunk), program(np.array(chunk, order="C")))


FORMULAS = [
    xp.sum,
    lambda x: xp.sum(x * 2 + 1, axis=0),
    lambda x: xp.var(x, axis=1),
    lambda x: xp.sum(xp.exp(x[x > 0])),
    lambda x: x.T @ x,
]


@for_each("formula", FORMULAS)
def test_settings_of_the_thread_that_asks_do_not_decide_rounding(formula):
    x = xp.random.default_rng(0, device="dask:chunks=64kB").standard_normal((4000, 11))
    with dask.config.set(scheduler="threads"):
        expected = np.asarray(formula(x))
    for settings in ({"fusion_threshold": 0}, {"fusion": "always"}, {"fusion": "off"}):
        with xp.config_context(**settings):  # type: ignore[arg-type]
            np.testing.assert_array_equal(np.asarray(formula(x)), expected)
