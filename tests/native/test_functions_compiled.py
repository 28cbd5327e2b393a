"""The comparison of C with Python in support/implementations.py can fail, and what it compares."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.device import CPU
from array_api_nx.native import native
from tests.support import implementations
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = implementations.needs_native


def _write(x):
    if implementations.is_python_answering():
        x[0] = 5.0
    return x


def _warn(text, category=RuntimeWarning):
    if implementations.is_python_answering():
        warnings.warn(text, category, stacklevel=2)
        return 1
    warnings.warn("text", RuntimeWarning, stacklevel=2)
    return 1


def _fail(error):
    raise error if implementations.is_python_answering() else ValueError("text")


def _either(in_c, in_python):
    return in_python() if implementations.is_python_answering() else in_c()


def _read_only(x):
    memory = np.array(x)
    memory.flags.writeable = False
    return xp.asarray(memory, copy=False)


DIFFERENT = {
    "result: dtype": lambda x: _either(lambda: x + 1, lambda: xp.astype(x + 1, xp.float32)),
    "result: shape": lambda x: _either(lambda: x + 1, lambda: (x + 1)[None]),
    "result: strides": lambda x: _either(lambda: x[::2], lambda: x[:3]),
    "result: bits": lambda x: _either(lambda: x * 0.0, lambda: x * -0.0),
    "result: writeable": lambda x: _either(lambda: x + 0, lambda: _read_only(x)),
    "result: device": lambda x: _either(lambda: x, lambda: 1),
    "result: type": lambda x: _either(lambda: 1, lambda: True),
    "result: repr": lambda x: _either(lambda: 0.0, lambda: -0.0),
    "result: object": lambda x: _either(lambda: None, lambda: "x"),
    "result: length": lambda x: _either(lambda: (1,), lambda: (1, 1)),
    "result: item 0, bits": lambda x: _either(lambda: (x,), lambda: (x + 1,)),
    "is argument": lambda x: _either(lambda: x, lambda: x[...]),
    "shares memory": lambda x: _either(lambda: x[...], lambda: x + 0),
    "exception": lambda x: _fail(TypeError("text")),
    "exception, text": lambda x: _fail(ValueError("another")),
    "warnings": lambda x: _warn("another"),
    "warnings, category": lambda x: _warn("text", UserWarning),
    "arguments afterwards": lambda x: _write(x) * 0,
}


def _warn_on_another_line(x):
    if implementations.is_python_answering():
        return _warn("text")
    return _warn("text")


@for_each("field", DIFFERENT)
def test_a_difference_is_found(field):
    x = xp.asarray([3.0, 4.0, 5.0, 6.0, 7.0])
    with pytest.raises(
        AssertionError, match=f"\n{field.partition(', text')[0].split(', cat')[0]}:"
    ):
        implementations.assert_alike(DIFFERENT[field], [x])


def test_another_line_of_a_warning_is_found():
    with pytest.raises(AssertionError, match="\nwarnings: "):
        implementations.assert_alike(_warn_on_another_line, [1])


def test_python_answers_and_then_c_again():
    x = xp.asarray([1.0, 2.0])
    assert implementations.is_answered_in_c(lambda: x + x)
    with implementations.python_answers():
        assert implementations.is_python_answering()
        assert not implementations.is_answered_in_c(lambda: x + x)
        with implementations.python_answers():
            pass
        assert not implementations.is_answered_in_c(lambda: x + x)
    assert not implementations.is_python_answering()
    assert implementations.is_answered_in_c(lambda: x + x)
    with pytest.raises(ZeroDivisionError), implementations.python_answers():
        raise ZeroDivisionError
    assert implementations.is_answered_in_c(lambda: x + x)


def test_copies_have_the_same_relations_and_are_apart_from_the_originals():
    """For 300 random lists of arguments: equal elements, layout, flags; shared memory and identity
    among the copies as among the originals."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        x, y = implementations.random_operands(rng)
        arguments = [x, y, x, (y, [x])]
        copies = implementations.duplicate(arguments)
        assert implementations.describe(copies) == implementations.describe(arguments)
        assert copies[0] is copies[2] is copies[3][1][0]
        assert copies[1] is copies[3][0]
        assert copies[0] is not x
        assert not np.shares_memory(np.asarray(copies[0]), np.asarray(x))
        if type(y) is xp.Array:
            assert (copies[0] is copies[1]) == (x is y)
            shared = np.shares_memory(np.asarray(x), np.asarray(y))
            assert np.shares_memory(np.asarray(copies[0]), np.asarray(copies[1])) == shared


def test_arguments_are_of_all_kinds():
    """A thousand of them have every dtype, layout flag and origin that the generator promises."""
    seen = set()
    for seed in range(1000):
        x = implementations.random_array(np.random.default_rng(seed))
        seen.add("shared" if getattr(x._handle.storage, "shared", True) else "own")
        host = np.asarray(x)  # which shares the memory
        seen.update([x.dtype, f"{x.ndim} axes", "row" if host.flags.c_contiguous else "no row"])
        seen.add("column" if host.flags.f_contiguous else "no column")
        seen.add("writeable" if host.flags.writeable else "read-only")
        seen.update([f"stride {np.sign(s)}" for s in host.strides])
        seen.add("empty" if not x.size else "filled")
        again = implementations.random_array(np.random.default_rng(seed))
        assert implementations.describe(again) == implementations.describe(x)
    wanted = {
        *implementations.DTYPES,
        *[f"{n} axes" for n in range(6)],
        "row",
        "no row",
        "column",
        "own",
    }
    wanted |= {"no column", "writeable", "read-only", "stride -1", "stride 0", "stride 1", "shared"}
    wanted |= {"empty", "filled"}
    assert wanted <= seen


def test_c_declines_while_the_backend_is_another(monkeypatch):
    """So that backends that check what they are told are told everything."""
    x = xp.asarray([1.0])
    monkeypatch.setattr(CPU.counterpart, "backend", object())
    refused(AttributeError, None, lambda: x + x)
    monkeypatch.undo()
    native.set_cpu(CPU.counterpart, CPU, CPU.backend)
    assert float(x + x) == 2.0
