"""What notebooks show of arrays."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.sizes import DEFERRED

from ..support.pages import page
from ..support.programs import default_process, needs_extension


def shown(x):
    bundle = x._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    return page(bundle["text/html"])


@pytest.mark.parametrize(
    "x",
    [
        xp.asarray(3.5),
        xp.asarray([[1, 2], [3, 4]], dtype=xp.int8),
        xp.asarray([], dtype=xp.bool),
        xp.zeros((0, 3)),
        xp.arange(2000),
        xp.asarray(np.array([1 + 2j, complex("nan")])),
    ],
    ids=repr,
)
def test_the_page_says_what_the_text_says(x):
    assert x._repr_mimebundle_()["text/plain"] == repr(x)
    text = shown(x).text
    assert f"Array · shape {x.shape} · dtype {x.dtype} · device {x.device} · " in text
    assert text.endswith(f" B{x}") or text.endswith(f" kB{x}")
    assert page(x._repr_html_()).text == text


def test_the_print_options_hold():
    x = xp.asarray([0.123456789, 2.0])
    with np.printoptions(precision=2):
        assert "[0.12 2.  ]" in shown(x).text


def test_what_notebooks_ask_for_is_taken():
    # IPython calls it so.
    assert xp.ones(2)._repr_mimebundle_(include=None, exclude=None)["text/plain"]


@needs_extension
def test_a_pending_array_shows_its_elements_and_what_that_took():
    with default_process():
        x = xp.linspace(0.0, 1.0, DEFERRED)
        y = xp.sqrt(2 * x + 1)
        found = shown(y)
    assert "computed for this display: 3 operations in 1 pass over memory" in found.text
    assert found.tags.count("details") == 1
    assert str(y) in found.text
    # Now it is computed.
    assert "details" not in shown(y).tags


def test_without_elements_there_are_shape_and_dtype():
    seen = []

    def function(x):
        seen.append(x._repr_mimebundle_())
        return x

    xp.eval_shape(function, xp.ShapeSpec(("n", 3), xp.float32))
    (bundle,) = seen
    assert bundle["text/plain"].endswith("dtype=float32, being traced)")
    assert "dtype float32 · device cpu · being traced" in page(bundle["text/html"]).text


def test_other_devices_do_not_read_elements_unseen():
    # A display is reported as a print, which is not counted as an access by the host.
    with xp.config_context(host_access="error"):
        assert "[1. 1.]" in shown(xp.ones(2)).text


class TestDask:
    @pytest.fixture
    def ones(self):
        pytest.importorskip("dask")
        return lambda *shape, chunks="80kB": xp.ones(shape, device=xp.Device("dask", chunks=chunks))

    def test_a_display_computes_nothing(self, ones):
        x = ones(200, 100) * 2
        bundle = x._repr_mimebundle_()
        assert bundle["text/plain"] == (
            f"Array(shape=(200, 100), dtype=float64, device={str(x.device)!r}, pending)"
        )
        found = page(bundle["text/html"])
        assert xp.explain(x).pending
        assert xp.explain(x).summary in found.text
        assert "bytes160 kB" in found.text

    def test_chunks_are_drawn_as_dask_does(self, ones):
        import dask.array as da

        x = ones(200, 100)
        drawn = da.empty(x.shape, dtype="u1", chunks=xp.explain(x).chunks).to_svg(size=140)
        assert drawn in x._repr_html_()

    @pytest.mark.parametrize("shape", [(), (0, 3)])
    def test_there_may_be_nothing_to_draw(self, ones, shape):
        assert "bytes" in shown(ones(*shape) + 1).text

    def test_small_arrays_that_are_computed_show_their_elements(self, ones):
        x = ones(3) * 2
        xp.evaluate(x)
        assert "[2. 2. 2.]" in shown(x).text
        assert x._repr_mimebundle_()["text/plain"] == repr(x)

    def test_large_ones_do_not(self, ones):
        x = ones(200, 100) * 2
        xp.evaluate(x)
        assert x._repr_mimebundle_()["text/plain"].endswith("computed)")
