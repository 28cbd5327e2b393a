"""Calls with arguments that are wrong, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable

from .subject import Subject, Value


def _calls(subject: Subject) -> dict[str, Callable[[], object]]:
    xp, f = subject.xp, subject.function

    def matrix() -> Value:
        return subject.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float64")

    def ints() -> Value:
        return subject.array([1, 2, 3], "int64")

    return {
        "add of shapes that do not broadcast": lambda: f("add")(matrix(), xp.ones((2, 2))),
        "matmul of shapes that do not match": lambda: f("matmul")(matrix(), matrix()),
        "broadcast_to a smaller shape": lambda: f("broadcast_to")(matrix(), (3,)),
        "reshape to another size": lambda: f("reshape")(matrix(), (4, 2)),
        "reshape with two unknown lengths": lambda: f("reshape")(matrix(), (-1, -1)),
        "concat of shapes that do not match": lambda: f("concat")([matrix(), matrix().T]),
        "concat of nothing": lambda: f("concat")([]),
        "stack of different shapes": lambda: f("stack")([matrix(), matrix().T]),
        "expand_dims beyond the axes": lambda: f("expand_dims")(matrix(), axis=5),
        "squeeze of an axis longer than 1": lambda: f("squeeze")(matrix(), axis=0),
        "permute_dims with an axis twice": lambda: f("permute_dims")(matrix(), (0, 0)),
        "moveaxis beyond the axes": lambda: f("moveaxis")(matrix(), 0, 4),
        "flip along an axis that is not there": lambda: f("flip")(matrix(), axis=3),
        "sum along an axis that is not there": lambda: f("sum")(matrix(), axis=2),
        "sort along an axis that is not there": lambda: f("sort")(matrix(), axis=2),
        "take beyond the axes": lambda: f("take")(matrix(), ints(), axis=4),
        "argmax of an empty array": lambda: f("argmax")(xp.zeros((0,))),
        "max of an empty array": lambda: f("max")(xp.zeros((0,))),
        "an index out of range": lambda: matrix()[5, 0],
        "too many indices": lambda: matrix()[0, 0, 0],
        "a mask of another shape": lambda: matrix()[subject.array([True, False, True], "bool")],
        "truth of several elements": lambda: bool(matrix()),
        "float of several elements": lambda: float(matrix()),
        "int of a float as an index": lambda: ints()[1.5],
        "operator.index of a float": lambda: [1, 2, 3][subject.array(1.0, "float64")],
        "bitwise_and of floats": lambda: f("bitwise_and")(matrix(), matrix()),
        "matrix_transpose of a vector": lambda: f("matrix_transpose")(ints()),
        "linspace of a negative number": lambda: f("linspace")(0.0, 1.0, num=-1),
        "zeros of a negative length": lambda: f("zeros")((-1,)),
        "arange with a step of 0": lambda: f("arange")(0, 5, 0),
        "asarray of a ragged list": lambda: f("asarray")([[1.0, 2.0], [3.0]]),
        "tensordot of axes that do not match": lambda: f("tensordot")(matrix(), matrix(), axes=1),
        "repeat by counts that do not match": lambda: f("repeat")(ints(), ints()[:2]),
        "linalg.inv of a matrix that is not square": lambda: f("linalg.inv")(matrix()),
        "linalg.cross of vectors of two": lambda: f("linalg.cross")(ints()[:2], ints()[:2]),
        "linalg.cholesky of a matrix that is not positive": lambda: f("linalg.cholesky")(
            subject.array([[-1.0, 0.0], [0.0, -1.0]], "float64")
        ),
        "fft of a length of 0": lambda: f("fft.rfft")(matrix(), n=0),
        "a keyword that is not there": lambda: f("sum")(matrix(), nothing=1),
    }


def outcomes(subject: Subject) -> dict[str, str]:
    """For each call, the name of its exception; empty where it gives a result."""
    return {name: _outcome(subject, call) for name, call in _calls(subject).items()}


def _outcome(subject: Subject, call: Callable[[], object]) -> str:
    try:
        subject.numpy(call())  # so that what is lazy is computed
    except Exception as error:
        return type(error).__name__
    return ""
