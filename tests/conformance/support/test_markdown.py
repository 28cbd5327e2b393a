"""The page of the table, and whether another page says the same."""

import pytest

pytest.importorskip("sklearn", minversion="1.9")

from array_api_nx_conformance.support.markdown import differences, render
from array_api_nx_conformance.support.subjects import Subject

VERSIONS = {"name": "array_api_nx", "scipy": "1.0", "sklearn": "2.0"}
KEPT = {"arrays": "kept", "device": "kept", "mend": ""}
LOST = {"arrays": "kept", "device": "on `cpu`", "mend": "default device"}
RAISED = {"arrays": "raise `TypeError: no | here`", "device": "raise `TypeError: no | here`"}


def page(rows, speeds=()):
    found = [(Subject("scipy.fft", name, print, "f(x)"), row) for name, row in rows.items()]
    return render(found, VERSIONS, "torch:cpu", list(speeds), 200_000)


def test_functions_of_which_the_same_is_said_share_a_row():
    text = page({"fft": KEPT, "dct": LOST, "ifft": KEPT, "new": {"untried": "no example for z"}})
    assert "| kept |  |  |  | `fft`, `ifft` |" in text
    assert "| kept | on `cpu` |  | default device | `dct` |" in text
    assert "- `scipy.fft.new`: no example for z" in text
    assert "SciPy 1.0, scikit-learn 2.0." in text
    assert "\n3 kept.\n" in text


def test_speeds_are_shown_and_not_compared():
    rows = {"fft": KEPT, "ifft": KEPT, "dct": LOST}
    text = page(rows, [1.234, None, 0.00012])
    assert "`fft` 1.2, `ifft`" in text
    assert "`dct` 0.00012 |" in text
    assert differences(text, page(rows)) == []
    assert differences(page(rows), page(rows, [3.0, 150.0, 2e-5])) == []


def test_everything_else_is_compared():
    rows = {"fft": KEPT, "dct": LOST}
    assert differences(page(rows), page({"fft": KEPT, "dct": KEPT}))
    changed = differences(page(rows), page({"fft": KEPT, "dct": LOST, "new": RAISED}))
    assert any(["`new`" in line and line.startswith("+") for line in changed])
    other = render([], VERSIONS | {"scipy": "1.1"}, "torch:cpu", [], 200_000)
    assert any(["SciPy 1.1" in line for line in differences(page(rows), other)])


def test_pipes_in_messages_do_not_end_cells():
    assert "no \\| here" in page({"new": RAISED})
