"""The notebooks run, and their outputs are those on the site."""

from pathlib import Path

import pytest

from array_api_nx.native import native
from tests.support.modules import load

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NEEDED = {
    "scipy-on-devices": ["sklearn"],
    "gridded-data": ["xarray", "netCDF4", "zarr", "dask", "matplotlib"],
}


@pytest.fixture(scope="module")
def notebooks():
    for name in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(name, reason="notebooks run with the extra docs")
    return load(ROOT / "docs" / "_site" / "notebooks.py")


@pytest.mark.skipif(native is None, reason="without the extension nothing waits")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_show_what_was_saved(path, notebooks, monkeypatch):
    for name in NEEDED.get(path.stem, []):
        pytest.importorskip(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    saved, found = notebooks.execute(path)
    for before, after in zip(saved.cells, found.cells, strict=True):
        assert notebooks.compared(after) == notebooks.compared(before), before.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_tells_where_they_ran(path):
    text = path.read_text(encoding="utf-8")
    assert '"text/html"' in text  # it was saved with its outputs
    for trace in ("site-packages", "Traceback", "stderr", '"execution_count": 1'):
        assert trace not in text
