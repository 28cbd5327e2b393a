"""Random NumPy programs, each statement run with NumPy and with the face.

The two must agree in what each statement gives: its type, dtype, shape and layout, the class of its
exception; and in the end in all elements, in who shares memory with whom, and in the warnings.
Where the elements of a sum depend on the order of its terms, they agree to rounding.
"""

import copy
import pickle
import random
import re
import warnings

import numpy
import pytest

import array_api_nx
import array_api_nx.numpy as face
from tests.support.programs import different_bits
from tests.support.sizes import THRESHOLD

DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 float64 int64 complex64
complex128
""".split()  # noqa: SIM905
OPERATORS = "+ - * / // % ** & | ^ << >> < <= == != > >=".split()  # noqa: SIM905
UFUNCS = """
add subtract multiply divide floor_divide remainder maximum minimum fmax logical_and logical_or
arctan2 hypot copysign power less equal greater_equal bitwise_xor left_shift float_power
""".split()  # noqa: SIM905
UNARY = """
negative absolute square sqrt exp sin floor ceil trunc rint sign isnan isfinite logical_not
conjugate reciprocal log1p signbit positive tanh invert exp2 log
""".split()  # noqa: SIM905
REDUCTIONS = """
sum prod max min mean any all argmax argmin std var count_nonzero ptp median
""".split()  # noqa: SIM905
EXACT = "max min any all argmax argmin count_nonzero ptp".split()  # noqa: SIM905


def forms(text):
    """Statements with places for names: `n` is a new one, `a`, `b` and `c` are arrays that can be
    broadcast together, `s` is a scalar, `d` a dtype, `x` an axis, `shape` that of `a`, `turned` the
    same backwards, `z` the key of its first element. Two spaces divide them."""
    return re.split(r"\s\s+|\n", text.strip())


NEW = forms("""
(({range} * 7 % 17 + {low}) / {number}).astype('{d}').reshape({place})
({range}.reshape({place}) * 5 % 13 + {low}).astype('{d}')
np.linspace({low}, 4, {size}).reshape({place})  np.zeros({place}, dtype='{d}')
np.ones({place}, '{d}')  np.full({place}, {s})
np.arange({low}, {low} + {size}, dtype='{d}').reshape({place}) if {size} > 3 else np.ones({place})
np.random.default_rng({number}).integers(-9, 9, {place})  np.array({s})
np.random.RandomState({number}).uniform(-2, 2, {place})  np.array([1, 2.5, -3, True] * {number})
np.array([[1, 2], [3, 4]], dtype='{d}', order='C')
np.array([[1, 2], [3, 4]], dtype='{d}', order='F')
np.meshgrid(np.arange({place}[0]), np.linspace(0, 1, 3))[1]  np.mgrid[0:{place}[0], 0:3][0]
np.ogrid[0:{place}[0], 0:3][1]  np.fromfunction(lambda i, j: i - 2 * j, ({place}[0], 3))
np.eye({place}[0], dtype='{d}')  np.array([[1, 2], [3, 4]], '{d}')  np.identity({place}[0])
""")
EXPRESSIONS = forms("""
{a} * 2 + {b} - {c} / 4  ({a} > {b}) & ({c} != 1)  np.sqrt(abs({a} - {b}))
np.where({a} > 1, {b}, {c})  -{a} * {b} + 1  {a}[::-1] + {b}  {a}.T * 2 - {a}.T
abs({a}) + {b} * {b}  ({a} + {s}) * ({b} - {s})
""")
VIEWS = forms("""
{a}.T  {a}.reshape(-1)  {a}.ravel()  np.swapaxes({a}, 0, -1)  {a}[None]  {a}[..., ::-1]
np.atleast_2d({a})  np.expand_dims({a}, -1)  {a}.squeeze()  np.broadcast_to({a}, (2, *{shape}))
{a}.real  {a}.imag  np.moveaxis({a}, 0, -1)  {a}.view()  {a}.reshape({turned})
np.reshape({a}, {turned}, order='F')  {a}.flatten()  {a}.diagonal()  np.flip({a})  np.rot90({a})
np.transpose({a})  {a}.view('i' + str({a}.itemsize))
np.lib.stride_tricks.sliding_window_view({a}, 2, axis=0)  {a}.ravel('F')  {a}.copy('F')
np.ravel({a})  np.squeeze({a})  np.asfortranarray({a})  {a}.swapaxes(0, -1)  {a}.mT  {a}[1:]
{a}[..., 0:1]  {a}.T[::-1]
""")
CONVERSIONS = forms("""
{a}.copy()  np.array({a})  np.asarray({a})  np.ascontiguousarray({a})  {a}.astype('{d}')
{a}.astype('{d}', copy=False)  copy.copy({a})  copy.deepcopy({a})  np.array({a}, copy=None)
np.asarray({a}, dtype='{d}')  np.array({a}, dtype='{d}', order='F')  np.copy({a})  +{a}
np.zeros_like({a})  np.ones_like({a}, dtype='{d}')  np.full_like({a}, 3)  np.array([{a}, {a}])
np.array({a}.tolist())  np.asarray({a}.tolist(), dtype=float)  np.array([*{a}])
np.asanyarray({a})  np.array({a}, ndmin=3)  np.frombuffer({a}.tobytes(), dtype='u1')
np.require({a}, requirements='C')  pickle.loads(pickle.dumps({a}))
""")
CALLS = forms("""
np.concatenate([{a}, {b}])  np.stack([{a}, {a}], axis=-1)  np.hstack([{a}, {b}])
np.vstack([{a}, {b}])  np.where({a}, {b}, {s})  np.clip({a}, 1, {s})  np.tile({a}, 2)
np.repeat({a}, 2)  np.roll({a}, 1)  np.pad({a}, 1)  np.sort({a})  np.unique({a})
np.take({a}, [0, -1])  np.argsort({a}, kind='stable')
np.searchsorted(np.sort({a}, axis=None), {b})  np.select([{a} > 2, {a} < 1], [{a}, {b}])
np.triu({a})  np.append({a}, {s})  np.delete({a}, 0)  np.insert({a}, 0, {s})  np.nonzero({a})
np.argwhere({a})  np.isin({a}, [1, 2])  np.minimum({a}, {b})  np.maximum.reduce([{a}, {b}])
np.round({a}, 1)  {a}.clip(0, 2)  {a}.round()  np.concatenate([{a}, {b}], axis=None)
np.column_stack([{a}, {b}])  np.array_equal({a}, {b})  np.allclose({a}, {b})  np.c_[{a}, {b}]
np.r_[{a}, {s}]  np.nan_to_num({a})  np.ravel_multi_index(([0], [0]), (2, 3))
np.isclose({a}, {b})  np.broadcast_arrays({a}, {b})  np.array_split({a}, 3)
np.extract({a} > 1, {a})  np.split({a}, [1])  np.divmod({a}, {s})  np.modf({a})
np.interp({s}, [0, 1], [2, 3])  np.fmin({a}, {s})  np.einsum('i...->...i', {a})  np.bincount({a})
np.apply_along_axis(lambda x: x[:1], 0, {a})  np.count_nonzero({a} > {s})
np.result_type({a}, {s})  np.result_type({a}, {b})  np.shape({a})  np.flatnonzero({a})
np.partition({a}, 0)[:1]  np.diff({a})  np.diff({a}, axis=0, prepend=0)  np.lexsort([{a}, {b}])
np.unique({a}, return_inverse=True)  np.digitize({a}, [0, 1, 2])  np.frexp({a})
np.intersect1d({a}, {b})  np.ediff1d({a})  np.tril({a}, -1)
""")
# Sums of these are rounded in another order.
SUMS = forms("""
np.cumsum({a}, axis={x})  {a}.cumsum()  np.cumsum({a}, dtype='float32')  {a} @ {b}
np.dot({a}, {b})  {a}.T @ {a}  np.inner({a}, {a})  np.outer({a}, {b})  np.matmul({a}, {b})
{a}.dot({b})  np.einsum('ij,kj->ik', {a}, {a})  np.vdot({a}, {a})
np.tensordot({a}, {a}, len({shape}))  sum({a})  [r.sum() for r in {a}]  real.sum({a})
np.add.reduce({a}, axis={x})  np.add.accumulate({a}, axis={x})  np.add.reduceat({a}, [0, 1])
""")
ROUNDED = forms("""
np.cumprod({a}, axis={x})  np.trace({a})  np.multiply.reduce({a}, axis={x})  np.average({a})
np.multiply.accumulate({a}, axis={x})  np.gradient({a})  np.cov({a})  np.linalg.norm({a})
""")
METHODS = forms("""
np.maximum.reduce({a}, axis={x})  np.logical_or.reduce({a}, axis={x})
np.bitwise_and.reduce({a}, axis={x})  np.minimum.accumulate({a}, axis={x})
np.maximum.accumulate({a}, axis={x})  np.minimum.reduceat({a}, [0, 1])
np.maximum.outer({a}[..., 0], {a}[0])  np.logical_or.reduceat({a}, [0, 1])
""")
WITH_REAL = forms("""
real.asarray({a})  np.asarray(real.asarray({a}))  real.array({a})  real.add({a}, {a})
real.asarray({a}) * {a}  {a} - real.asarray({a})  real.ones({shape})  real.sqrt({a})
real.concatenate([{a}, real.asarray({a})])  {a}.__array__()
real.ones({shape}, 'float16') + {a}  real.where({a}, {a}, {s})
""")
ELEMENTS = forms("""
{a}.item()  {a}[{z}]  {a}[{z}] * {s}  {s} + {a}[{z}]  float({a}[{z}])  {a}.tolist()
[x for x in {a}]  len({a})  {a}[{z}, ...]  max({a})  {a}.flat[0]  bool({a}.any())
{a}.max() - {a}.min()  {s} in {a}  [*{a}.flat][:3]  2 if {a}[{z}] > 1 else 'no'  int({a}[{z}])
range(4)[{a}[{z}]]  f'{{{a}[{z}]}}'  bool({a})  float({a})  next(iter({a}))  {a}[{z}].dtype
{a}.flags.writeable  {a}.nbytes  list(enumerate({a}))[-1]  {a}[()]  np.abs({a}[{z}])  np.sqrt({s})
np.add({s}, {s})  np.float64({a}[{z}])  np.sum({s})  np.maximum({s}, {a}[{z}])  str({a}[:3])
repr({a}[:3])  [i for i, x in np.ndenumerate({a})][-1:]  {a}.strides and {a}.ndim
""")
UPDATES = forms("""
{a}.fill({s})  {a}.sort()  {a}.put([0], {s})  np.copyto({a}, {b})
np.copyto({a}, {s}, where={a} > 1)  np.place({a}, {a} > 1, [{s}])  np.putmask({a}, {a} > 1, {s})
np.fill_diagonal({a}, {s})  {a}[{z}] = {s}  for row in {a}: row += 1  {a}.setflags(write=False)
{a}.real = {s}  {a}.imag = {s}  {a}.flat = {s}  {a}.flat[1:] = {s}  {a}[...] = {b}
{a}[...] = {a}[::-1]  np.random.default_rng(3).shuffle({a})  {a}[{z}] += 1
np.clip({a}, 0, 2, out={a})  np.put_along_axis({a}, np.zeros((*{shape}[:-1], 1), int), {s}, -1)
np.ndarray.fill({a}, {s})  {a}[0], {a}[-1] = {a}[-1], {a}[0]  {a}.T[...] = {s}  {a}[::-1][0] = {s}
{a}[:1], {a}[-1:] = {a}[-1:].copy(), {a}[:1].copy()  {a}.ravel()[:1] = {s}
{a}.reshape(-1)[::2] -= 1  real.add({a}, 1, out={a})  real.asarray({a})[...] = {s}
np.maximum.at({a}, [0, 0, 1], {s})  np.add({a}, 1, out={b}, where={a} > 1, casting='unsafe')
{a}[1:] = {a}[:-1]  {a}[:-1] += {a}[1:]
""")


def kinds_of(caught):
    """The categories and the beginnings of warnings, without the names of functions."""
    return {(each.category, str(each.message).split(" encountered in")[0]) for each in caught}


class Program:
    """A random program under way: its text, and its variables in both namespaces."""

    def __init__(self, seed, most):
        self.defers = array_api_nx.config.current().fusion_threshold < 10
        self.waits = most > 100 or self.defers
        self.random = random.Random(seed)
        rows, columns = [self.random.choice([0, 1, 2, 3, 5]) for _ in range(2)]
        if most > 100:
            rows, columns = self.random.randint(40, 70), self.random.randint(30, most // 60)
        self.shapes = [(rows,), (columns,), (rows, columns), (rows, columns), (columns, rows)]
        self.shapes += [(1, columns), (rows, 1), (2, rows, columns)]
        self.text = []
        common = {"real": numpy, "copy": copy, "pickle": pickle}
        self.expected = {"np": numpy, **common}
        self.actual = {"np": face, **common}
        self.arrays = []
        self.rounded = set()
        self.views = {}
        self.warned = [set(), set()]
        self.count = 0

    # ------------------------------------------------------------------ running

    def run(self, statement, rounds=False):
        """Run a statement both ways, and compare all that needs no elements."""
        self.text.append(statement)
        found = []
        for names, warned in zip((self.expected, self.actual), self.warned, strict=True):
            with warnings.catch_warnings(record=True, action="always") as caught:
                try:
                    exec(statement, names)
                except Exception as error:
                    found.append(type(error))
                    names["_error"] = error
                else:
                    found.append(None)
            warned |= kinds_of(caught) if found[-1] is None else set()
        if found[0] is ValueError and re.search(
            "read-only|WRITEABLE|with a sequence", str(self.expected["_error"])
        ):
            # Several errors may come first; NumPy forbids to write no elements, too.
            is_empty = not all([self.expected[name].size for name in self.arrays])
            found[1] = ValueError if found[1] or is_empty else None
        assert found[0] is found[1], (
            f"{found[1]} ({self.actual.get('_error')!r}) instead of {found[0]} "
            f"({self.expected.get('_error')!r})"
        )
        again = ""
        touched = {name for name in self.arrays if re.search(rf"\b{name}\b", statement)}
        match = re.match(r"(?:with .*: )?(v\d+) = ", statement)
        target = match[1] if match else ""
        if target and found[0] is None:
            new = self.expected[target]
            self.compare_kinds(self.actual[target], new)
            if isinstance(new, numpy.ndarray):
                is_view = any([numpy.may_share_memory(new, self.expected[n]) for n in self.arrays])
                if is_view or "'F'" in statement or "fortran" in statement:
                    self.views[target] = {name for name in touched if is_view}
                elif self.defers and not new.flags.c_contiguous:
                    # Python lays deferred results out row by row.
                    again = f"{target} = np.ascontiguousarray({target})"
                self.arrays.append(target)
            elif isinstance(new, (tuple, list)):
                self.compare_items(self.actual[target], new)
            touched.add(target)
        if rounds or touched & self.rounded:
            self.spread(touched)
        if again:
            self.arrays.remove(target)
            self.run(again)
        if not target:
            for name in self.arrays:
                self.compare_kinds(self.actual[name], self.expected[name])

    def spread(self, touched):
        """Arrays whose elements came to be rounded in another order, and those that share them."""
        self.rounded |= touched
        for name in self.arrays:
            if any(
                numpy.may_share_memory(self.expected[name], self.expected[each])
                for each in touched
                if isinstance(self.expected.get(each), numpy.ndarray)
            ):
                self.rounded.add(name)

    def compare_items(self, actual, expected):
        assert len(actual) == len(expected)
        for a, b in zip(actual, expected, strict=True):
            self.compare_kinds(a, b)

    def compare_kinds(self, actual, expected):
        if not isinstance(expected, numpy.ndarray):
            assert type(actual) is type(expected), f"{type(actual)} instead of {type(expected)}"
            return
        assert isinstance(actual, face.ndarray), f"{type(actual)} instead of an array"
        for name in ("dtype", "shape"):
            a, b = getattr(actual, name), getattr(expected, name)
            assert a == b, f"{name} {a} instead of {b}"

    def finish(self):
        """Compare all elements."""
        with warnings.catch_warnings(record=True, action="always") as caught:
            arrays = {name: numpy.asarray(self.actual[name]) for name in self.arrays}
        self.warned[1] |= kinds_of(caught)
        values = {n for n in self.expected if n[0] == "v" and n not in self.arrays}
        for name in sorted(values - self.rounded):
            assert repr(self.actual[name]) == repr(self.expected[name]), (
                f"{name}: {self.actual[name]!r} instead of {self.expected[name]!r}"
            )
        for name, array in arrays.items():
            expected = self.expected[name]
            if name not in self.rounded:
                wrong = different_bits(array, expected)
                assert wrong is None, f"{name}: {wrong}"
            if (
                array.size > 0
                and 1 not in array.shape
                and all(
                    [
                        each in arrays and arrays[each].strides == self.expected[each].strides
                        for each in self.views.get(name, {""})
                    ]
                )
            ):
                assert array.strides == expected.strides, (
                    f"{name}: strides {array.strides} instead of {expected.strides}"
                )
        for first in arrays:
            for second in arrays:
                one = numpy.shares_memory(self.expected[first], self.expected[second])
                two = numpy.shares_memory(arrays[first], arrays[second])
                assert one == two, f"{first} and {second} share memory: {two} instead of {one}"
        # Results that no statement read are not computed, and warn of nothing.
        if not self.rounded and not self.waits:
            assert self.warned[0] == self.warned[1], f"{self.warned[1]} not {self.warned[0]}"
        elif not self.rounded:
            assert self.warned[1] <= self.warned[0], f"{self.warned[1]} not in {self.warned[0]}"

    # ------------------------------------------------------------------ parts of statements

    def new(self):
        self.count += 1
        return f"v{self.count}"

    def array(self):
        while not self.arrays:
            self.create()
        return self.random.choice(self.arrays)

    def like(self, name):
        """An operand whose shape goes with that of an array, mostly."""
        if self.random.random() < 0.03:
            return self.array()
        shape, found = self.expected[name].shape, []
        for other in self.arrays:
            try:
                numpy.broadcast_shapes(shape, self.expected[other].shape)
            except ValueError:
                continue
            found.append(other)
        return self.random.choice(found)

    def scalar(self):
        choose = self.random.choice
        return choose(
            [
                lambda: choose(["2", "3", "0", "-1", "7", "True", "1.5", "0.25", "2j"]),
                lambda: f"np.{choose(DTYPES).replace('bool', 'bool_')}({choose('0123')})",
                lambda: choose(["np.pi", "np.float64(0.5)", "np.int8(-3)", "np.float32(2.5)"]),
            ]
        )()

    def filled(self, form):
        """A form with names in its places."""
        a = self.array()
        shape = self.expected[a].shape
        names = {"n": self.new(), "a": a, "b": self.like(a), "c": self.like(a), "x": self.axis(a)}
        names |= {"s": self.scalar(), "d": self.random.choice(DTYPES)}
        self.used = (a, names["b"])
        zeros = ", ".join(["0"] * len(shape)) or "()"
        return form.format(**names, z=zeros, shape=shape, turned=shape[::-1])

    def one_of(self, table, rounds=False):
        """Run a form, whose value gets a name if it is an expression."""
        form = self.random.choice(table)
        filled = self.filled(form if table is UPDATES else "{n} = " + form)
        if "outer" in form and self.expected[self.used[0]].size > 3000:
            return
        self.run(filled, rounds or (table is SUMS and not self.exact_sum(*self.used)))

    def operand(self, name):
        return self.like(name) if self.random.random() < 0.6 else self.scalar()

    def axis(self, name):
        ndim = self.expected[name].ndim
        if ndim and self.random.random() < 0.65:
            return str(self.random.randrange(-ndim, ndim))
        return self.random.choice(["None", "0", "-1", "(0,)"])

    def part(self, size):
        """A slice, mostly."""
        r = self.random
        if r.random() < 0.2:
            return str(r.randrange(-size, size)) if size else "0"
        ends = ["", "", "1", "-1", str(size // 2), str(size)]
        return f"{r.choice(ends)}:{r.choice(ends)}{r.choice(['', '', ':2', ':-1', ':-2'])}"

    def key(self, name):
        shape, r = self.expected[name].shape, self.random
        kind = r.random()
        if kind < 0.5 or not shape:
            parts = [self.part(n) for n in shape[: r.randint(0, len(shape))]]
            if r.random() < 0.25:
                parts.insert(r.randint(0, len(parts)), r.choice(["None", "..."]))
            return ", ".join(parts) or "..."
        n = shape[0]
        if kind < 0.65:
            return f"{name} {r.choice(['>', '!=', '<='])} {r.choice('0123')}"
        picked = str([r.randrange(-n, n) for _ in range(r.randint(1, 3))] if n else [])
        if kind < 0.75:
            return r.choice([picked, f"np.array({picked}, int)", f"np.array({picked}, np.int32)"])
        if kind < 0.85 and len(shape) > 1:
            m = shape[1]
            other = [r.randrange(-m, m) for _ in range(r.randint(1, 3))] if m else []
            return r.choice([f"np.ix_({picked}, {other})", f":, {other}", f"{picked}, 0"])
        if kind < 0.93:
            return f"np.arange({n}) % 2 == {r.choice('01')}"
        return f"{picked}, ..." if r.random() < 0.5 else f"np.nonzero({name})"

    def exact_sum(self, *names):
        """Whether sums of products of these are exact in every order."""
        bound = 1.0
        for name in names:
            x = self.expected[name]
            if name in self.rounded:
                return False
            if x.dtype.kind in "biu":
                continue
            with numpy.errstate(all="ignore"):
                eighths = numpy.stack([x.real, x.imag]) * 8
                if not (numpy.isfinite(eighths).all() and (eighths == numpy.round(eighths)).all()):
                    return False
                bound *= 1 + 2 * float(abs(eighths).max(initial=0))
            if not x.all():
                return False  # the sign of a sum of zeros depends on its first term
        size = max(self.expected[name].size for name in names) + 1
        return bound * size < 2**22

    # ------------------------------------------------------------------ statements

    def create(self):
        place = self.random.choice(self.shapes)
        form = self.random.choice(NEW)
        names = {"size": int(numpy.prod(place)), "place": place, "s": self.scalar()}
        names |= {"low": self.random.choice([0, -3, 2]), "number": self.random.randint(1, 4)}
        names |= {"range": f"np.arange({names['size']})", "d": self.random.choice(DTYPES)}
        self.run(f"{self.new()} = {form.format(**names)}")

    def binary(self):
        a = self.array()
        operands = [a, self.operand(a)]
        self.random.shuffle(operands)
        expression = f" {self.random.choice(OPERATORS)} ".join(operands)
        mode = self.random.choice(["raise", "ignore", "warn", "", "", "", ""])
        prefix = f"with np.errstate(all='{mode}'): " if mode else ""
        self.run(f"{prefix}{self.new()} = {expression}")

    def update(self):
        a = self.array()
        if self.random.random() < 0.7:
            self.run(f"{a} {self.random.choice(OPERATORS[:12])}= {self.operand(a)}")
        else:
            self.run(f"{a}[{self.key(a)}] {self.random.choice('+-*')}= {self.scalar()}")

    def ufunc(self):
        r, a = self.random, self.array()
        if r.random() < 0.5:
            call = f"np.{r.choice(UNARY)}({a}"
        else:
            call = f"np.{r.choice(UFUNCS)}({a}, {self.operand(a)}"
        if r.random() < 0.25:
            call += f", out={r.choice([self.like(a), a])}"
            if r.random() < 0.5:
                call += f", where={self.like(a)} > 1"
        if r.random() < 0.1:
            call += f", dtype='{r.choice(DTYPES)}'"
        if r.random() < 0.1:
            call += f", casting='{r.choice(['unsafe', 'safe', 'same_kind'])}'"
        self.run(f"{self.new()} = {call})")

    def read(self):
        a = self.array()
        self.run(f"{self.new()} = {a}[{self.key(a)}]")

    def write(self):
        a = self.array()
        self.run(f"{a}[{self.key(a)}] = {self.operand(a)}")

    def reduce(self):
        r, a = self.random, self.array()
        f, options, dtype = r.choice(REDUCTIONS), "", ""
        if r.random() < 0.6:
            options = f", axis={self.axis(a)}"
            if f != "median" and r.random() < 0.3:
                options += ", keepdims=True"
        if f in ("sum", "prod", "mean") and r.random() < 0.15:
            options += (dtype := f", dtype='{r.choice(DTYPES)}'")
        if f in ("sum", "any", "max") and r.random() < 0.15:
            options += f", where={a} > 1" + (", initial=0" if f != "any" else "")
        method = r.random() < 0.4 and f not in ("ptp", "median", "count_nonzero")
        call = f"{a}.{f}({options[2:]})" if method else f"np.{f}({a}{options})"
        kind = self.expected[a].dtype.kind
        exact = f in EXACT or (not dtype and f in ("sum", "prod") and kind in "biu")
        exact |= f == "sum" and not dtype and self.exact_sum(a)
        exact |= f == "mean" and not dtype and kind != "c" and self.exact_sum(a)
        self.run(f"{self.new()} = {call}", not exact)

    def delete(self):
        if len(self.arrays) > 3:
            gone = self.arrays.pop(self.random.randrange(len(self.arrays) - 1))
            self.run(f"del {gone}")

    def statement(self):
        tables = [EXPRESSIONS, EXPRESSIONS, VIEWS, VIEWS, CONVERSIONS, CALLS, CALLS, SUMS, METHODS]
        tables += [WITH_REAL, ELEMENTS, ELEMENTS, UPDATES, UPDATES, UPDATES]
        kinds = [self.create, self.delete, *[self.binary, self.ufunc, self.read, self.write] * 2]
        kinds += [self.update, self.reduce, self.reduce]
        chosen = self.random.choice([*kinds, *tables, ROUNDED])
        if isinstance(chosen, list):
            self.one_of(chosen, chosen is ROUNDED)
        else:
            chosen()
        if len(self.arrays) > 9:
            self.delete()


def try_program(seed, most, length):
    """Run one program; an AssertionError has its text."""
    program = Program(seed, most)
    try:
        program.create()
        program.create()
        for _ in range(program.random.randint(3, length)):
            program.statement()
        program.finish()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n" + "\n".join(program.text)) from None


@pytest.mark.parametrize("most", [10, 3600, 36_000])
@pytest.mark.parametrize("threshold", [THRESHOLD, 0])
def test_random_programs(most, threshold):
    with array_api_nx.config_context(fusion_threshold=threshold):
        for seed in range(60):
            try_program(seed, most, 20)
