"""Einstein summation against NumPy's."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.extra import products
from tests.extra.everywhere import DTYPES, agree, everywhere, ours, random, refuses
from tests.support.implementations import LAYOUTS, random_array
from tests.support.programs import numpy_of, settings
from tests.support.sizes import THRESHOLD
from tests.support.tables import for_each

SIZES = dict(zip("abcdefghij", (2, 3, 4, 5, 4, 3, 2, 6, 5, 4), strict=True))

PATTERNS = [
    *["a->a", "ab->ba", "ab->", "aab->ab", "aa->a", "aaa->a", "aa", "abab->ab", "abc->cb", "ba"],
    *["a,->a", ",ab,->ab", ",,->", "a,ab,abc->abc", "ea,fb,abcd,gc,hd->efgh"],
    *["ab,ab,c->", "ab,ab,cd,cd->ac", "ab,cd,ef->acdf", "ab,bcd,cd->abd", "eb,cb,fb->cef"],
    *["dd,fb,be,cdb->cef", "bca,cdb,dbf,afc->", "dcc,fce,ea,dbf->ab", "fff,fae,bef,def->abd"],
    *["ab,ab", "ab,ba", "abc,cba", "ab,cb", "ba,bc", "abcd,ab", "abcd,cdef->feba", "aab,bcc->ac"],
    *["abc,abd->abcd", "abc,abc->ab", "abc,abd->acbd", "ab,ac->a", "abc,acd->dba", "ab,a->b"],
    *["a,b->ba", "a,a->", "bbd,bda,fc,db->acf", "abhe,hidj,jgba,hiab,gab", "ab , bc -> ca"],
]


def arrays(pattern, dtype, seed=1):
    rng = np.random.default_rng(seed)
    terms = pattern.replace(" ", "").partition("->")[0].split(",")
    return [random(rng, tuple([SIZES[label] for label in term]), dtype) for term in terms]


@pytest.mark.parametrize("optimize", [True, False, "greedy", "optimal"])
@for_each("pattern", PATTERNS)
def test_patterns(pattern, optimize):
    for dtype in ("float64", "complex64", "int8", "bool"):
        if dtype != "float64" and pattern.count(",") > 3:
            continue
        values = arrays(pattern, dtype)
        # Small integers wrap alike in every order; NumPy's faster ways round booleans up.
        expected = np.einsum(pattern, *values, optimize=dtype == "float64")
        agree(xp.extra.einsum(pattern, *map(ours, values), optimize=optimize), expected, dtype)


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("dtype", DTYPES)
def test_layouts(dtype, mode):
    rng = np.random.default_rng(2)
    for pattern in ("abc,bcd->ad", "abc,abd->cd", "aab,bc->ca", "abc,bca->ab", "abc->cab"):
        for layout in LAYOUTS:
            terms = pattern.partition("->")[0].split(",")
            with settings(mode):
                xs = []
                for term in terms:
                    x = random_array(rng, dtype, tuple([SIZES[label] for label in term]), layout)
                    if "float" in dtype or "complex" in dtype:
                        x = xp.astype(xp.isfinite(x) & (xp.abs(x) < 9), x.dtype) - (x != x)
                    xs.append(x)
                found = xp.extra.einsum(pattern, *xs)
            agree(found, np.einsum(pattern, *map(numpy_of, xs)), (pattern, layout))


@pytest.mark.parametrize(
    ("pattern", "shapes"),
    [
        ("...ab,...bc->...ac", [(2, 1, 3, 4), (5, 4, 2)]),
        ("...ab,...bc", [(3, 4), (2, 4, 2)]),
        ("a...,a...->...a", [(3, 2), (3,)]),
        ("...,...", [(2, 3), (3,)]),
        ("...a->...", [(2, 3)]),
        ("...->...", [()]),
        ("a...b->b...a", [(2, 3, 4)]),
        ("aa...->...a", [(2, 2, 3)]),
        ("ab,ab->ab", [(1, 3), (2, 1)]),
        ("ab,bc->ac", [(2, 1), (4, 3)]),
        ("ab,bc->ac", [(2, 0), (0, 3)]),
        ("ab,bc->abc", [(0, 3), (3, 2)]),
        ("ab,ab->a", [(3, 0), (3, 0)]),
        ("a,a,a->", [(1,), (3,), (1,)]),
        ("aB,Ba->", [(2, 3), (3, 2)]),
    ],
)
def test_ellipses_and_sizes_of_one_and_none(pattern, shapes):
    rng = np.random.default_rng(3)
    values = [random(rng, shape, "float64") for shape in shapes]
    agree(xp.extra.einsum(pattern, *map(ours, values)), np.einsum(pattern, *values), pattern)


def test_interleaved_labels():
    rng = np.random.default_rng(4)
    a, b = random(rng, (2, 3, 4), "float64"), random(rng, (4, 3), "float64")
    x, y = ours(a), ours(b)
    agree(xp.extra.einsum(x, [0, 1, 2], y, [2, 3]), np.einsum(a, [0, 1, 2], b, [2, 3]))
    agree(xp.extra.einsum(x, [9, 1, 2], y, [2, 1]), np.einsum(a, [9, 1, 2], b, [2, 1]))
    agree(
        xp.extra.einsum(x, [..., 2], y, [2, 3], [3, ...]),
        np.einsum(a, [..., 2], b, [2, 3], [3, ...]),
    )
    agree(xp.extra.einsum(x, (0, 1, 2), ()), np.einsum(a, (0, 1, 2), ()))


def test_results_are_views_where_they_can_be():
    x = xp.reshape(xp.arange(9), (3, 3))
    for pattern in ("ab->ba", "ab", "aa->a"):
        result = xp.extra.einsum(pattern, x)
        assert result is not x
        result[...] = 0
        assert int(x[1, 1]) == 0
        x[...] = 5
    xp.extra.einsum("ab,->ab", x, xp.asarray(1))[0, 0] = 3
    xp.extra.einsum("ab->a", x)[0] = 3
    assert np.asarray(x).tolist() == [[5] * 3] * 3


def test_dtypes_promote_and_scalars_do_not():
    x, y = xp.ones((2,), dtype=xp.float32), xp.ones((2,), dtype=xp.int16)
    assert xp.extra.einsum("a,->a", x, 2.0).dtype is xp.float32
    assert xp.extra.einsum("a,a", x, y).dtype is xp.float32
    assert xp.extra.einsum("a,a", y, y > 0).dtype is xp.int16


PATHS = [
    ["einsum_path", (0, 1), (0, 1, 2)],
    [(1, 2), (0, 1), (0, 1)],
    ((0, 1),),
    [(0,), (0, 1, 2, 3)],
    ("greedy", 1000),
]


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_paths(path):
    pattern = "ab,bc,cd,de->ea"
    values = arrays(pattern, "float64")
    agree(xp.extra.einsum(pattern, *map(ours, values), optimize=path), np.einsum(pattern, *values))


def test_the_cheapest_path_of_two_is_taken():
    # What opt_einsum finds for so many operands takes seventeen times as many products.
    pattern = "acdf,jbje,gihb,hfac,gfac,gifabc,hfac->de"
    sizes = dict(zip("abcdefghij", (8, 12, 16, 20, 16, 12, 8, 24, 20, 16), strict=True))
    terms = [tuple(term) for term in pattern.removesuffix("->de").split(",")]
    labels = [*map(frozenset, terms)]
    kept = frozenset("de")
    path = products._path(terms, ("d", "e"), sizes, True)
    assert products._cost(path, labels, kept, sizes) < 10**8


@pytest.mark.parametrize(
    ("path", "cost"),
    [
        ([(0, 1), (0, 1)], 2 * 3 * 5 + 2 * 5 * 7),
        ([(0, 2), (0, 1)], 2 * (2 * 3 * 5 * 7)),
        ([(0, 1, 2)], 2 * 3 * 5 * 7),
    ],
)
def test_costs_of_paths(path, cost):
    terms = [frozenset("ab"), frozenset("bc"), frozenset("cd")]
    sizes = {"a": 2, "b": 3, "c": 5, "d": 7}
    assert products._cost(path, terms, frozenset("ad"), sizes) == cost


def test_paths_without_opt_einsum(monkeypatch):
    monkeypatch.setattr(products, "find_spec", lambda name: None)
    monkeypatch.setattr(products, "_plans", {})
    for pattern in ("ea,fb,abcd,gc,hd->efgh", "ab,ab,cd,cd->ac", "a,b,c->abc"):
        values = arrays(pattern, "float64")
        found = xp.extra.einsum(pattern, *map(ours, values))
        agree(found, np.einsum(pattern, *values, optimize=True), pattern)
    with pytest.raises(ValueError, match="no order 'best'; give 'auto'"):
        xp.extra.einsum("a,a,a", *[xp.ones(2)] * 3, optimize="best")


def test_small_results_come_first():
    terms = [frozenset("ab"), frozenset("bc"), frozenset("cd")]
    extents = {"a": 100, "b": 100, "c": 100, "d": 2}
    assert products._greedy(terms, frozenset("ad"), extents) == [(1, 2), (0, 1)]


test_einsum_refuses = refuses(
    [
        (lambda x: xp.extra.einsum("ab,bc", x), ValueError, "2 terms for 1 operands"),
        (lambda x: xp.extra.einsum("abc", x), ValueError, "its term has 3 labels"),
        (lambda x: xp.extra.einsum("abc...", x), ValueError, "its term has 3 labels"),
        (lambda x: xp.extra.einsum("a.b", x), ValueError, "cannot be read at 'a.b'"),
        (lambda x: xp.extra.einsum("......", x), ValueError, "once a term"),
        (lambda x: xp.extra.einsum("ab->c", x), ValueError, "label 'c', which must come once"),
        (lambda x: xp.extra.einsum("ab->aa", x), ValueError, "label 'a', which must come once"),
        (lambda x: xp.extra.einsum("...->", x), ValueError, "the result's term has none"),
        (lambda x: xp.extra.einsum("ab,bc", x, x), ValueError, "sizes 3 and 2, the latter in"),
        (lambda x: xp.extra.einsum("aa", x), ValueError, "label 'a' have sizes 2 and 3"),
        (lambda x: xp.extra.einsum("aa", x[:, :1]), ValueError, "sizes 2 and 1"),
        (lambda x: xp.extra.einsum("ab"), ValueError, "at least one operand"),
        (lambda x: xp.extra.einsum("ab", np.ones((2, 3))), TypeError, "asarray"),
        (lambda x: xp.extra.einsum(",", 1.0, 2.0), TypeError, "at least one argument"),
        (lambda x: xp.extra.einsum(x, x), ValueError, "followed by a sequence of ints"),
        (lambda x: xp.extra.einsum(x, [0, "a"]), ValueError, "not 'a'"),
        (lambda x: xp.extra.einsum(x, [0, -1]), ValueError, "not -1"),
        (
            lambda x: xp.extra.einsum("ab,ab", x, x, optimize=[(0, 2)]),
            ValueError,
            r"step \(0, 2\) while there are 2 operands",
        ),
        (lambda x: xp.extra.einsum("ab,ab,ab", x, x, x, optimize="?"), ValueError, "no order"),
    ],
    lambda: xp.ones((2, 3)),
    operands="strict",
)


CALLS = {
    "product": (lambda x, y: xp.extra.einsum("ab,bc->ca", x, y), (3, 4), (4, 2)),
    "stacks": (lambda x, y: xp.extra.einsum("abc,acd->dab", x, y), (3, 4, 2), (3, 2, 4)),
    "vectors": (lambda x, y: xp.extra.einsum("ab,ab->a", x, y), (3, 4), (3, 4)),
    "several": (lambda x, y: xp.extra.einsum("ab,bc,cd->ad", x, y, x), (3, 4), (4, 3)),
    "diagonal": (lambda x, y: xp.extra.einsum("aa,a->a", x, y), (3, 3), (3,)),
    "elements": (lambda x, y: xp.extra.einsum("a,b->ba", x, y), (3,), (4,)),
    "broadcast": (lambda x, y: xp.extra.einsum("...a,a", x, y), (2, 3, 4), (4,)),
}

test_in_traces, test_on_devices = everywhere(CALLS)


def test_symbolic_sizes():
    spec = xp.eval_shape(
        lambda x, y, z: xp.extra.einsum("ab,bc,cd->ad", x, y, z),
        xp.ShapeSpec(("n", 3), xp.float64),
        xp.ShapeSpec((3, "m"), xp.float64),
        xp.ShapeSpec(("m", 5), xp.float64),
    )
    assert spec.at(n=7, m=2) == xp.ShapeSpec((7, 5), xp.float64)


@pytest.mark.parametrize("threshold", [THRESHOLD, 0])
def test_opt_einsum_finds_what_it_calls(threshold):
    opt_einsum = pytest.importorskip("opt_einsum", reason="opt_einsum is not installed")
    values = arrays("ab,bc,cd->da", "float64")
    with xp.config_context(fusion_threshold=threshold):
        found = opt_einsum.contract("ab,bc,cd->da", *map(ours, values))
        assert type(found) is xp.Array
        agree(found, np.einsum("ab,bc,cd->da", *values))
