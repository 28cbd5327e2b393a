"""Errors of calls whose arguments fit no parameters: the rule, and the call that is meant."""

import traceback

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native, set_advice, with_advice
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each

x = y = xp.ones((2, 3))
NAMES = {"xp": xp, "np": np, "x": x, "y": y, "i": xp.asarray([0, 1])}

CALLS = {
    # Options by position: those of NumPy, where they stand in another order.
    "xp.sum(x, 0)": "the standard makes axis keyword-only: sum(x, axis=0)",
    "xp.sum(x, (0, 1), xp.float32)": "the standard makes axis and dtype keyword-only: "
    "sum(x, axis=(0, 1), dtype=float32)",
    "xp.mean(x, 0, keepdims=True)": "the standard makes axis keyword-only: "
    "mean(x, axis=0, keepdims=True)",
    "xp.all(x, None)": "the standard makes axis keyword-only: all(x, axis=None)",
    "xp.argsort(x, 0, True)": "the standard makes axis and descending keyword-only: "
    "argsort(x, axis=0, descending=True)",
    "xp.linspace(0, 1, 5, False)": "the standard makes endpoint keyword-only: "
    "linspace(0, 1, 5, endpoint=False)",
    "xp.zeros((2, 3), xp.float32)": "the standard makes dtype keyword-only: "
    "zeros((2, 3), dtype=float32)",
    "xp.asarray([1], np.int8)": "the standard makes dtype keyword-only: asarray([1], dtype=int8)",
    "xp.take(x, i, 0)": "the standard makes axis keyword-only: take(x, indices, axis=0)",
    "xp.tensordot(x, y, 1)": "the standard makes axes keyword-only: tensordot(x1, x2, axes=1)",
    "xp.tril(x, -1)": "the standard makes k keyword-only: tril(x, k=-1)",
    "xp.fft.fft(x, 8, 0, 'ortho')": "the standard makes n, axis and norm keyword-only: "
    "fft(x, n=8, axis=0, norm='ortho')",
    "xp.linalg.vector_norm(x, 1)": "the standard makes ord keyword-only: vector_norm(x, ord=1)",
    "xp.linalg.cholesky(x, True)": "the standard makes upper keyword-only: cholesky(x, upper=True)",
    "xp.diag(x, 1)": "k is keyword-only: diag(x, k=1)",
    "xp.softmax(x, 0)": "axis is keyword-only: softmax(x, axis=0)",
    # What belongs into one tuple.
    "xp.concat(x, y)": "the arrays go into one tuple: concat((x1, x2))",
    "xp.stack(x, y, 1)": "the arrays go into one tuple, and the standard makes axis keyword-only: "
    "stack((x1, x2), axis=1)",
    "xp.concat((x, y), 1)": "the standard makes axis keyword-only: concat((x1, x2), axis=1)",
    "xp.zeros(2, 3)": "the sizes go into one tuple: zeros((2, 3))",
    "xp.reshape(x, 3, 2)": "the sizes go into one tuple: reshape(x, (3, 2))",
    "xp.permute_dims(x, 1, 0)": "the axes go into one tuple: permute_dims(x, (1, 0))",
    "xp.squeeze(x, 0, 1)": "the axes go into one tuple: squeeze(x, (0, 1))",
    "xp.tile(x, 2, 3)": "the repetitions go into one tuple: tile(x, (2, 3))",
    # Other functions are meant, or an argument fits no parameter.
    "xp.max(x, y)": "of two arrays, element by element: maximum(x1, x2)",
    "xp.argsort(x, 0, 'stable')": "by keyword it takes descending, stable",
    # Names of other libraries.
    "xp.sum(x, dim=0)": "dim is called axis here: sum(x, axis=0)",
    "xp.sum(x, dim=0, keepdim=True)": "dim is called axis and keepdim is called keepdims here: "
    "sum(x, axis=0, keepdims=True)",
    "xp.std(x, ddof=1)": "ddof is called correction here: std(x, correction=1)",
    "xp.reshape(x, newshape=(6,))": "newshape is called shape here: reshape(x, shape=(6,))",
    "xp.sort(x, kind='stable')": "here it is stable, which is True by default",
    "xp.sum(a=x)": "x is given by position: sum(x, ...)",
    "xp.sum(x=x, axis=0)": "give x by position: sum(x, axis=0)",
    "xp.sum(x, out=y)": "nothing is written into arrays that are given: assign the result, "
    "y[...] = sum(...)",
    "xp.sum(x, where=y)": "select before the call, with where(condition, x, 0) or x[condition]",
    # Methods, which have NumPy's parameters.
    "x.argmax(dim=0)": "dim is called axis here: x.argmax(axis=0)",
    "x.squeeze(dim=0)": "dim is called axis here: x.squeeze(axis=0)",
    # Python's message stays as it is.
    "xp.sum(x, no_such=1)": "",
    "xp.sum()": "",
}
# Without the extension these have Python's message alone: a wrapper would cost more.
BY_THE_EXTENSION_ALONE = {
    "xp.exp(x, y)": "nothing is written into arrays that are given: assign the result, "
    "y[...] = exp(...)",
    "xp.round(x, 2)": "the standard rounds to integers alone: use x.round(decimals)",
    "xp.clip(x, a_min=0)": "a_min is called min here: clip(x, min=0)",
    "x.sum(dim=1)": "dim is called axis here: x.sum(axis=1)",
    "x.std(0, keepdim=True)": "keepdim is called keepdims here: x.std(0, keepdims=True)",
    "x.view(3, 2)": "views have another dtype: for another shape use x.reshape(...)",
}
if native is not None:
    CALLS |= BY_THE_EXTENSION_ALONE


def python_says(code):
    """The message of a function without advice that has the same parameters."""
    set_advice(lambda function, args, names, error: error)
    try:
        eval(code, NAMES)
    except TypeError as error:
        return str(error)
    finally:
        set_advice(xp._advise)
    raise AssertionError(code)


@for_each("code", CALLS)
def test_the_error_tells_the_rule_and_the_call(code):
    told = CALLS[code]
    with pytest.raises(TypeError) as caught:
        eval(code, NAMES)
    assert type(caught.value) is TypeError
    assert str(caught.value) == python_says(code) + (f"; {told}" if told else "")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@for_each("code", CALLS)
def test_the_call_that_is_told_can_be_made(code):
    """Literally, or with the arrays of the first call for the names in it."""
    call = CALLS[code].rpartition(": ")[2]
    if not call.endswith(")") or "..." in call or " " in call.partition("(")[0]:
        return
    names = {**NAMES, "x1": x, "x2": y, "indices": NAMES["i"], "float32": xp.float32}
    names |= {"int8": xp.int8}
    if "tensordot" in code:
        names["x2"] = xp.ones((3, 2))
    place = code.partition("(")[0].rpartition(".")[0]
    call = call.removeprefix("x.")
    if "squeeze" in code:  # no axis of ours has one element
        names["x"] = xp.ones((1, 1))
    if "cholesky" in code:
        names["x"] = xp.eye(2)
    eval(f"{place}.{call}", names)


def test_errors_of_the_function_itself_stay():
    for call in (lambda: xp.sum(x, axis="a"), lambda: xp.fft.fft(x, axis="a")):
        with pytest.raises(TypeError) as caught:
            call()
        assert "axis" in str(caught.value)
        assert ";" in str(caught.value)  # it has advice of its own
        assert "fft" not in str(caught.value)
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert len(names) > 1


def test_errors_of_calls_that_the_function_makes_stay():
    @with_advice
    def outer(x, /, *, axis: int = 0):
        return inner(x, axis)

    def inner(x):
        return x

    refused(TypeError, r"inner\(\) takes 1 positional argument but 2 were given$", outer, 1)
    refused(TypeError, r"axis keyword-only: outer\(1, axis=2\)$", outer, 1, 2)


def test_a_failing_advice_is_an_error_of_its_own():
    def advise(function, args, names, error):
        raise ZeroDivisionError

    set_advice(advise)
    try:
        refused(ZeroDivisionError, None, xp.sum, x, 0)
    finally:
        set_advice(xp._advise)


@pytest.mark.skipif(native is None, reason="Python raises any object it gets")
def test_advice_must_be_an_exception():
    set_advice(lambda *arguments: 1)
    try:
        refused(TypeError, "advice on a call must be an exception, not 1", xp.sum, x, 0)
    finally:
        set_advice(xp._advise)


def test_advice_is_not_imported_before_such_an_error():
    code = (
        "import sys, array_api_nx as xp; xp.sum(xp.ones(3), axis=0); "
        "print('array_api_nx.frontend.misplaced' in sys.modules)"
    )
    assert python("-c", code).strip() == "False"
