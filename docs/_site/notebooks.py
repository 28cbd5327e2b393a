"""Execute the notebooks of the site: ``python docs/_site/notebooks.py`` saves what they print.

What a cell shows is the same wherever it runs, unless it has the tag "varies". A cell with the tag
"needs-torch", say, is left as it is where there is no PyTorch.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

__all__ = ["FOLDER", "execute"]

FOLDER = Path(__file__).parent.parent / "notebooks"


def _tags(cell: Any) -> list[str]:
    return cell.metadata.get("tags", [])


def _is_left_out(cell: Any) -> bool:
    needed = [tag.removeprefix("needs-") for tag in _tags(cell) if tag.startswith("needs-")]
    return any(find_spec(name) is None for name in needed)


class _Client(NotebookClient):
    """Leaves out cells whose libraries are missing."""

    async def async_execute_cell(self, cell: Any, cell_index: int, **keywords: Any) -> Any:
        if _is_left_out(cell):
            return cell
        return await super().async_execute_cell(cell, cell_index, **keywords)


def execute(path: Path) -> tuple[Any, Any]:
    """Run a notebook.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple of notebooks
        As it was saved, and as it is after the run. Cells have no numbers and no times.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises an exception.
    """
    saved: Any = nbformat.read(path, as_version=4)
    found: Any = nbformat.read(path, as_version=4)
    settings = {name: os.environ.pop(name) for name in [*os.environ] if "ARRAY_API" in name}
    try:
        with TemporaryDirectory() as folder:
            resources = {"metadata": {"path": folder}}
            # A slow cell prints in several parts, and their number varies.
            options = {"timeout": 300, "record_timing": False, "coalesce_streams": True}
            _Client(found, resources=resources, **options).execute()
    finally:
        os.environ.update(settings)
    for cell in found.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
    found.metadata = saved.metadata
    return saved, found


def compared(cell: Any) -> list[Any]:
    """What a cell printed and returned, as text, if that does not vary."""
    if cell.cell_type != "code" or "varies" in _tags(cell):
        return []
    return [
        output.text if output.output_type == "stream" else output.data["text/plain"]
        for output in cell.outputs
    ]


if __name__ == "__main__":
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(execute(notebook)[1], notebook)
