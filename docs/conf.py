"""Configuration of the documentation site: ``python -m sphinx -W docs build/site``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger

sys.path.insert(0, str(Path(__file__).parent / "_site"))

import pages
import plots

import array_api_nx

_logger = getLogger(__name__)

project = "array_api_nx"
author = "the array_api_nx developers"
version = release = array_api_nx.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_design",
]
exclude_patterns = ["_build", "upstream", "reference/examples"]
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = "array_api_nx"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
# Pages without pages below them need no list of these.
html_sidebars = {
    page: []
    for page in (
        *("architecture", "changelog", "contributing", "development"),
        *("performance", "start", "tuning"),
    )
}
html_show_sourcelink = False
copyright = author  # what the theme prints after the sign

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Notebooks are shown with the outputs that they were saved with.
nb_execution_mode = "off"

autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Without a network, or behind one that reaches package indexes alone, the build must not warn: so
# names of other projects are links only where the environment asks for it.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "array_api": ("https://data-apis.org/array-api/2025.12", None),
    }
    if os.environ.get("DOCS_INTERSPHINX") == "1"
    else {}
)


def _complete(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Take the line on the standard out of a docstring, as its page has a link; add examples."""
    module, _, short = name.rpartition(".")
    while lines and not lines[-1]:
        lines.pop()
    if lines and lines[-1].startswith("Standard: "):
        lines.pop()
    if module in pages.NAMESPACES and "Examples" not in lines:
        example = pages.examples(module).get(short)
        if example:
            lines += ["", "Examples", "--------", *example.splitlines()]
    lines.append("")


def _check_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that a search for the name does not find."""
    found = {name for name, *_ in env.domains["py"].get_objects()}
    for name in sorted(pages.documented() - found):
        _logger.warning("%s is not in the index that the search goes by", name)


def setup(app: Sphinx) -> None:
    folder = Path(__file__).parent
    pages.write(folder / "reference" / "generated")
    plots.draw(folder.parent / "benchmarks" / "results", folder / "_generated")
    app.connect("env-check-consistency", _check_names)
    # Before numpydoc, which makes reStructuredText of the docstring.
    app.connect("autodoc-process-docstring", _complete, priority=400)
