"""Views as values: equality, immutability, copies, and the tables behind them."""

import copy
import pickle
from itertools import product

import pytest

from array_api_nx.core import view as view_module
from array_api_nx.core.view import View
from tests.support.refusals import refused
from tests.support.threads import together


def test_equal_views_are_one_object():
    first = View((3, 4), (1, 3), 2, ((0, 3), (1, 4)))
    assert View((3, 4), (1, 3), 2, ((0, 3), (1, 4))) is first
    assert View((3, 4)).permute((1, 0)) is View((4, 3), (1, 4))


def test_equality_holds_without_identity(monkeypatch):
    first = View((3, 4), (1, 3), 2)
    monkeypatch.setattr(view_module, "_interned", {})
    second = View((3, 4), (1, 3), 2)
    assert first is not second
    assert first == second
    assert hash(first) == hash(second)
    assert first.reshape((3, 2, 2)) == second.reshape((3, 2, 2))


def test_views_differ_in_each_part():
    views = [
        View((2, 3)),
        View((3, 2)),
        View((2, 3), (1, 2)),
        View((2, 3), offset=1),
        View((2, 3), mask=((0, 1), (0, 3))),
        View((2, 3), is_read_only=True),
        View((2, 3), mask=((0, 1), (0, 3)), is_read_only=True),
    ]
    assert len(set(views)) == len(views)
    assert all((a == b) == (a is b) for a, b in product(views, views))
    assert View((2,)) not in [(2,), None, "View"]


def test_repeats_make_views_read_only():
    repeated = View((2, 3), (0, 1))
    assert repeated.has_repeats
    assert repeated.is_read_only
    assert repeated is View((2, 3), (0, 1), is_read_only=True)
    assert repeated is View((2, 3), (0, 1)).as_read_only()
    assert View((1, 3), (0, 1)).is_read_only is False
    # There is nothing to write.
    assert View((0, 3), (0, 1)).is_read_only is False
    assert View((0, 3), is_read_only=True) is View((0, 3))


def test_reasons_to_be_read_only():
    assert View((2, 3)).read_only_reason is None
    assert "share memory" in str(View((2, 3), (0, 1)).read_only_reason)
    assert "repeated elements" in str(View((2, 3)).as_read_only().read_only_reason)
    assert "padding" in str(View((2, 3), mask=((0, 1), (0, 3))).read_only_reason)


def test_views_cannot_be_changed():
    view = View((2, 3))
    for name in ("shape", "strides", "offset", "mask", "ndim", "size", "other"):
        refused(AttributeError, None, setattr, view, name, 1)
    with pytest.raises(AttributeError):
        del view.shape
    assert view == View((2, 3))


def test_pickle_and_copy_give_the_same_object():
    for view in (
        View((2, 3)),
        View((2, 3), (-3, 0), 5, ((0, 1), (1, 2))),
        View(()),
        View((2, 3), is_read_only=True),
    ):
        assert copy.copy(view) is view
        assert copy.deepcopy([view])[0] is view
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(view, protocol)) is view


def test_repr_names_what_differs_from_the_default():
    assert repr(View((2, 3))) == "View((2, 3), strides=(3, 1))"
    view = View((2,), (-1,), 4, ((0, 1),))
    assert repr(view) == "View((2,), strides=(-1,), offset=4, mask=((0, 1),))"
    assert repr(View((2,)).as_read_only()) == "View((2,), strides=(1,), is_read_only=True)"
    assert repr(View((2,), (0,))) == "View((2,), strides=(0,))"


def test_threads_make_the_same_views():
    def make():
        return [View((n, 3), (1, 997)).permute((1, 0)) for n in range(1, 200)]

    made = together(*[make] * 4)
    assert len(made) == 4
    assert all(made[0][i] == views[i] for views in made for i in range(199))


def _walk(sizes):
    """Many different transforms, some of them repeatedly."""
    results = []
    for n in sizes:
        view = View((n, 4))
        turned = view.permute((1, 0))
        results += [
            View.row_major((n, 4)),
            turned,
            turned.reshape((4 * n,)),
            view.reshape((2, 2 * n)),
            view.expand((2, n, 4)),
            view.slice((n - 1, (3, 4, -1))),
            view.flip((True, False)).shrink(((0, 1), (1, 3))),
            view.pad(((1, 0), (0, 1))),
        ]
    return results


def test_tables_stay_within_their_bounds_and_forgetting_changes_nothing(monkeypatch):
    expected = _walk(range(1, 30))
    monkeypatch.setattr(view_module, "_interned", {})
    monkeypatch.setattr(view_module, "_MAX_VIEWS", 7)
    monkeypatch.setattr(view_module, "_MAX_MEMOS", 5)
    results = []
    for n in range(1, 30):
        results += _walk(range(n, n + 1))
        assert 0 < len(view_module._interned) <= 7
        assert 0 < len(view_module._filled) <= 5
        distinct = {id(memo): memo for memo in view_module._filled}.values()
        assert sum(len(memo) for memo in distinct) <= 5
    assert results == expected
    view = View((60,))
    for n in range(30):
        assert view.slice(((0, n, 1),)) == View((n,))
        assert len(view.sliced) <= 5
    view_module._interned.clear()
    assert _walk(range(1, 30)) == expected


def test_repeated_transforms_are_looked_up(monkeypatch):
    view = View((3, 4))
    first = (view.permute((1, 0)), view.reshape((12,)), view.slice((1, (0, 2, 2))))
    refused = view.permute((1, 0)).reshape((12,))

    def fail(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(view_module, "_make", fail)
    assert view.permute((1, 0)) is first[0]
    assert view.reshape((12,)) is first[1]
    assert view.slice((1, (0, 2, 2))) is first[2]
    assert first[0].reshape((12,)) is refused is None


def test_errors_are_raised_each_time():
    view = View((2, 3))
    for _ in range(3):
        refused(ValueError, "6 elements cannot become 4", view.reshape, (4,))
