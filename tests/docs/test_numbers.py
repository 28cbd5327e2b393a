"""Numbers, defaults and lists of names in the documentation are those of the code.

A sentence of `SENTENCES` stands in its page with the value of a constant in place of the braces.
Powers of two from 4096 on, which most limits are, may stand in prose in no other way.
"""

import re
import tomllib
from ast import literal_eval
from importlib import import_module
from pathlib import Path

import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import fourier, long_transforms, policy
from array_api_nx.backends.cpu.engine import sliced_calls
from array_api_nx.backends.limited.devices import PROPERTIES
from array_api_nx.config import Settings
from array_api_nx.contract import distributions
from array_api_nx.contract.backend import METHODS, Backend
from array_api_nx.testing.strict_namespaces import VERSIONS
from array_api_nx_conformance.beyond.command import CHAPTERS
from tests.support.sizes import AT_ONCE, THRESHOLD

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KIB = 2**10
compiled = import_module("array_api_nx.compile")  # a function has the name, too


def stacked(size, duration):
    """How many products that take so many nanoseconds are divided, to two digits."""
    least = sliced_calls.SLICES_MIN * (sliced_calls._MATMUL_SLICE_NS // duration)
    return int(float(f"{least:.1e}"))


SMALL_PRODUCT = stacked(4, 1 + 4**3 // sliced_calls._NATIVE_MULTIPLICATIONS_PER_NS)
LARGE_PRODUCT = stacked(
    32, sliced_calls._PRODUCT_NS + 32**3 // sliced_calls._MULTIPLICATIONS_PER_NS
)

SENTENCES = {
    "README.md": [
        ("Single operations on more than {:,} elements run on several cores", AT_ONCE),
        ("with Python {} or later", PROJECT["requires-python"].removeprefix(">=")),
        ("**`xp.special`**: {} functions of `scipy.special`", len(xp.special.__all__)),
        ("version {}", xp.__array_api_version__),
    ],
    "docs/start.md": [
        ("with Python {} or later", PROJECT["requires-python"].removeprefix(">=")),
        ("This needs NumPy {} or later", PROJECT["dependencies"][0].removeprefix("numpy>=")),
    ],
    "docs/index.md": [("version {}", xp.__array_api_version__)],
    "docs/behaviour.md": [
        ("those on more than {} elements, may run later than they are called", THRESHOLD),
        (
            "of more than {} elements, or `var` of more than {}, and what is made of them",
            *(AT_ONCE, AT_ONCE // 2),
        ),
        ("compute half of the result where it has {} elements or more", fourier._HALVED_MIN),
        ("a result of {} elements or more are cut in rows and columns", long_transforms.LONG_MIN),
    ],
    "docs/compile.md": [
        ("At most {} programs are kept for one kind", compiled._MAX_PROGRAMS),
        ("values), and {} kinds", compiled._MAX_KINDS),
        ("with a value of {:,} elements or more, have a function of their own", 2**15),
    ],
    "docs/fusion.md": [
        ("Operations element by element on more than {} elements wait in", THRESHOLD),
        ("Those of more than {} elements along some of the axes wait themselves", AT_ONCE),
        ("of a whole array do where it has more than {} elements", policy.LARGE),
        ("axes of more than {} elements, blocks of {} KiB are added in pairs", AT_ONCE, 2),
        ("Up to {} elements an operation costs less than to put it off", THRESHOLD),
        ("Above {} elements it is computed with the same loops", AT_ONCE),
        ("| `sort` | the lines, with the extension | {} elements", AT_ONCE),
        (
            "the lines along other axes than the one sorted | {} elements",
            sliced_calls.ARGSORT_MIN,
        ),
        ("a single row of more than {} elements several threads do so", AT_ONCE),
        ("of several axes one after the other | {} elements", sliced_calls.FFT_MIN),
        ("of a matrix of its elements | {} elements of the result", long_transforms.LONG_MIN),
        ("row-major or column-major, with the extension | {} elements", AT_ONCE // 2),
        (
            "row-major ones of 16 to {} | the stack | {} matrices of 4 x 4, {} of 32 x 32 |",
            *(sliced_calls._MATRIX_MAX, SMALL_PRODUCT, LARGE_PRODUCT),
        ),
        ("above {} elements `sum` and `mean`, above {} `var`", AT_ONCE, AT_ONCE // 2),
        ("It gains nothing up to {} elements, nor where", THRESHOLD),
        ("Operands of up to {} elements are copied into the expression", THRESHOLD),
        ("Results of more than {} KiB, new arrays", 2**16 // KIB),
        ("| {} | operations on arrays with more elements wait, if they can |", THRESHOLD),
        ('| `default_device` | `ARRAY_API_NX_DEFAULT_DEVICE` | `"{}"` |', "cpu"),
    ],
    "docs/random.md": [
        ("integers up to 2**{} |", distributions.MOST_TRIALS.bit_length() - 1),
    ],
    "docs/special.md": [("{} names, with SciPy's operands", len(xp.special.__all__))],
    "docs/checks.md": [("{:,} ULP in single", 2**12), ("tries namespaces in {} chapters", "six")],
    "docs/how-to/write-a-backend.md": [
        ("{} methods that it must have", len(Backend.__abstractmethods__)),
        ("and {} that are composed", len(METHODS) - len(Backend.__abstractmethods__)),
    ],
}
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "upstream" not in page.parts
    and page.name != "tuning.md"  # measurements, of arrays of any size
]


def prose(page):
    """The text of a page without its code blocks, in one line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return " ".join(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).split())


def sentences(page):
    return [text.format(*values) for text, *values in SENTENCES.get(page, [])]


@pytest.mark.parametrize("page", SENTENCES)
def test_numbers_are_those_of_the_code(page):
    text = prose(page)
    assert [sentence for sentence in sentences(page) if sentence not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_limit_is_unchecked(page):
    text = prose(page)
    for sentence in sentences(page):
        text = text.replace(sentence, "")
    numbers = [int(re.sub("[,_]", "", n)) for n in re.findall(r"(?<![\w.*-])\d[\d,_]{3,}\b", text)]
    assert [n for n in numbers if n >= 4096 and n & (n - 1) == 0] == []


def rows(page, head):
    """The cells of the table whose head begins so, row by row."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count(f"\n{head}") == 1, (page, head)
    table = text.partition(f"\n{head}")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in table[2:]]


def names(cell):
    return [name for code in re.findall(r"`([^`]+)`", cell) for name in code.split()]


def test_every_setting_has_a_row_with_its_default():
    found = {}
    for name, variable, default, _ in rows("docs/fusion.md", "| setting |"):
        if name:
            assert variable == f"`ARRAY_API_NX_{name.strip('`').upper()}`"
            found[name.strip("`")] = default.strip("`")
    assert found.pop("num_threads") == "all that the process may use"
    assert Settings().num_threads is None
    assert {name: literal_eval(default) for name, default in found.items()} == {
        name: value for name, value in Settings()._asdict().items() if name != "num_threads"
    }


def test_every_extra_that_a_page_installs_is_there():
    extras = PROJECT["optional-dependencies"]
    described = [name for row in rows("docs/start.md", "| extra |") for name in names(row[0])]
    assert {name.rstrip(",") for name in described} <= set(extras)
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for listed in re.findall(r"(?:\.|\.whl)\[([a-z,]+)\]'", text):
            assert set(listed.split(",")) <= set(extras), page


def test_special_functions_are_listed_by_chapter():
    listed = [
        name
        for _, functions in rows("docs/special.md", "| chapter |")
        for name in names(functions.replace(",", ""))
    ]
    assert sorted(listed) == sorted(xp.special.__all__)


def test_the_devices_for_tests_are_listed():
    listed = [names(row[0])[0] for row in rows("docs/devices.md", "| property |")]
    assert sorted(listed) == sorted(PROPERTIES)


def test_strict_versions_and_chapters_are_listed():
    text = prose("docs/strict.md").partition("## Versions")[2]
    listed = re.findall(r'`"([\d.]+)"`', text.partition(" and `")[0])
    assert [*listed, text.partition("which is to become ")[2][:7]] == list(VERSIONS)
    chapters = [names(row[0])[0] for row in rows("docs/checks.md", "| chapter |")]
    assert tuple(chapters) == CHAPTERS
