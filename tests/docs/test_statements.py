"""The documentation's sentences and tables about behaviour, checked by programs.

They are in statements.txt, whose head says how they are written.
"""

import importlib
import math
import operator
import pickle
import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from array_api_nx.tracing.recorder import TraceError
from tests.docs.test_numbers import PAGES, ROOT, prose, rows

DEVICES = ["cpu", "torch:cpu", "jax:cpu", "dask"]
PROGRAM = re.compile(r"((?:cpu: |extension: |needs \w+: )*)(?:(\w+Error): )?(.*)")


class Part(NamedTuple):
    """The statements about a page, or about the rows of a table, with the programs of each."""

    page: str
    table: str
    statements: dict[str, list[str]]


def parts():
    text = Path(__file__).with_name("statements.txt").read_text(encoding="utf-8")
    for section in text.split("\n[")[1:]:
        head, *lines = section.splitlines()
        page, _, table = head.partition("]")
        statements = {}
        for line in filter(None, lines):
            if line.startswith("    "):
                list(statements.values())[-1].append(line.strip())
            else:
                assert line not in statements
                statements[line] = []
        yield Part(page, table.strip(), statements)


PARTS = list(parts())


def set_item(x, key, value):
    x[key] = value
    return x


def shows(x, y):
    """Whether a write to `x` shows in `y`."""
    x[0] = 99.0
    return float(y[0]) == 99.0


def total(threads):
    with xp.config_context(num_threads=threads):
        return np.asarray(xp.sum(xp.linspace(0.1, 1.0, 1_000_001)).to_device("cpu")).tobytes()


def under(settings, function):
    with xp.config_context(**settings):
        return function()


def programs(function, *calls):
    """How many programs these calls of a compiled function need."""
    compiled = xp.compile(function)
    for arguments in calls:
        compiled(*arguments)
    return compiled.cache_info().programs


def softmax(x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def pending_before_and_after_a_write():
    x = xp.ones(1_000_000)
    y = x + 1
    before = xp.explain(y).pending
    x[0] = 5.0
    return before, xp.explain(y).pending


def saved_and_read(save, read, x, file="x.npy"):
    """The list that one function reads from the file that another wrote."""
    with TemporaryDirectory() as folder:
        save(f"{folder}/{file}", x)
        return read(f"{folder}/{file}").tolist()


def by_netcdf4(netcdf4, x):
    """What netCDF4 reads of an array that it wrote, as a list."""
    with netcdf4.Dataset("x.nc", "w", diskless=True) as dataset:
        axes = [dataset.createDimension(f"axis{k}", n).name for k, n in enumerate(x.shape)]
        variable = dataset.createVariable("x", x.dtype, axes)
        variable[:] = x
        return variable[:].tolist()


def drawn(matplotlib, draw):
    """Whether Matplotlib draws the artists that a function adds to axes."""
    figure = importlib.import_module("matplotlib.figure").Figure()
    draw(figure.add_subplot())
    return figure.canvas.get_width_height() > (0, 0) and figure.draw_without_rendering() is None


def names(statement):
    """What programs use; all arrays are new."""
    memory, read_only = np.ones(3), np.ones(3)
    read_only.flags.writeable = False
    return {
        **{"xp": xp, "np": np, "math": math, "operator": operator, "pickle": pickle},
        **{"set": set_item, "shows": shows, "total": total, "under": under},
        **{"programs": programs, "softmax": softmax, "TraceError": TraceError},
        **{"by_netcdf4": by_netcdf4, "drawn": drawn, "saved_and_read": saved_and_read},
        "importlib": importlib,
        "without_extras": lambda name: under({"extras": False}, lambda: getattr(xp, name)),
        "one_of": lambda limits: xp.ones(1, device=f"test:{limits}"),
        "pending_before_and_after_a_write": pending_before_and_after_a_write,
        "a": lambda x: np.array(x.to_device("cpu")),
        "strict": lambda **options: xp.testing.strict("2025.12", **options),
        "s": xp.testing.strict("2025.12"),
        "words": statement.partition("`")[2].partition("`")[0].split(),
        "rng": xp.random.default_rng(0),
        "i": xp.asarray([0, 1, 2]),
        "f": xp.asarray([0.0, 1.0, 2.0]),
        "m": xp.asarray([True, False, True]),
        "z": xp.asarray([0j, 1 + 1j, 2 + 2j]),
        "y": xp.reshape(xp.arange(12.0), (3, 4)),
        "one": xp.ones(1, device="test:1"),
        "memory": memory,
        "read_only": read_only,
    }


def wrong(statement, program, device):
    """The fault of a program; empty if the statement holds."""
    match = PROGRAM.fullmatch(program)
    assert match
    conditions, error, code = match.groups()
    needed = re.findall(r"needs (\w+): ", conditions)
    if (
        ("cpu: " in conditions and device != "cpu")
        or ("extension: " in conditions and native is None)
        or not all(map(find_spec, needed))
    ):
        return ""
    known = names(statement) | {name: importlib.import_module(name) for name in needed}
    try:
        value = eval(code, known)
    except Exception as raised:
        kinds = [kind.__name__ for kind in type(raised).__mro__]
        return "" if error in kinds else f"{kinds[0]}: {raised}"
    if error:
        return f"{value!r}, not {error}"
    return "" if value is True else repr(value)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.page} {part.table}")
def test_statements_hold(part, device):
    if not find_spec(device.partition(":")[0].replace("cpu", "numpy")):
        pytest.skip(f"{device} is not installed")
    with xp.config_context(default_device=device):
        found = {
            (statement, program): wrong(statement, program, device)
            for statement, programs in part.statements.items()
            for program in programs
        }
    assert {of: what for of, what in found.items() if what} == {}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.page} {part.table}")
def test_statements_are_those_of_the_page(part):
    assert all(part.statements.values())
    if part.table:
        assert [row[0] for row in rows(part.page, part.table)] == list(part.statements)
    else:
        text = prose(part.page)
        assert [statement for statement in part.statements if statement not in text] == []


def test_tables_of_behaviour_are_checked():
    assert len(PARTS) > 10
    assert sum([len(part.statements) for part in PARTS]) > 120


MISSING = {
    *[
        *["arccos", "arcsin", "cat", "hstack", "jit", "lib.stride_tricks"],
        *["percentile", "random.rand"],
    ],
    "bfloat16",  # without ml_dtypes
    "special.f",  # any of its functions
}
"""Names that pages write down as such that are not there."""


def is_there(name):
    found = xp
    for part in name.split("."):
        if not isinstance(found, ModuleType):
            break  # an attribute of an object
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except ImportError:
                return False
    return True


@pytest.mark.parametrize("page", PAGES)
def test_names_of_the_package_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"(?<![\w.])(?:xp|array_api_nx)((?:\.[A-Za-z_]\w*)+)", text)
    assert [n for n in set(found) if n[1:] not in MISSING and not is_there(n[1:])] == []
