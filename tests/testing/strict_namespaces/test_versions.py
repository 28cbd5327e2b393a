"""What came with which version is there from that version on, and refused before."""

import pytest

from array_api_nx.testing import strict
from array_api_nx.testing.strict_namespaces.versions import (
    ADDED,
    VERSIONS,
    WIDENED,
    added_in,
    widened_in,
)
from tests.support.refusals import refused
from tests.support.tables import for_each

BEFORE = dict(zip(VERSIONS[1:], VERSIONS, strict=False))


def test_of_what_is_not_listed_the_first_version_has_it():
    assert added_in("add") == VERSIONS[0]
    assert added_in("clip") == "2023.12"
    assert widened_in("add.x1", "scalar") == "2024.12"
    assert widened_in("add.x1", "array[numeric]") == VERSIONS[0]


@for_each(
    ("version", "name"),
    [(v, n) for v, names in ADDED.items() for n in names if n.count(".") == 0],
)
def test_functions_come_with_their_version(version, name):
    assert hasattr(strict(version), name)
    earlier = strict(BEFORE[version])
    with pytest.raises(
        AttributeError, match=f"{name} came with version {version}" if name[0] != "_" else name
    ):
        getattr(earlier, name)


def calls(xp, place):
    """A call that a version began to take."""
    floats, ints = xp.asarray([1.0, 2.0]), xp.asarray([1, 2])
    booleans = xp.asarray([True, False])
    name, _, _ = place.partition(".")
    match place:
        case "mean.x" | "real.x" | "conj.x":
            number = 1j if name == "mean" else 1.0
            return getattr(xp, name)(xp.asarray([number]))
        case "result_type":
            return xp.result_type(floats, 1.0)
        case "indexing":
            return floats[ints[::-1] - ints[::-1]]
        case "operators":
            return floats + 1j
        case "searchsorted.x2":
            return xp.searchsorted(floats, 1.0)
        case "expand_dims.axis":
            return xp.expand_dims(floats, axis=(0, 1))
        case "permute_dims.axes":
            return xp.permute_dims(xp.ones((2, 3)), (-1, 0))
        case "where.x1":
            return xp.where(booleans, 1.0, floats)
        case "where.x2":
            return xp.where(booleans, floats, 1.0)
    if name.startswith("logical"):
        x, scalar = booleans, True
    elif name.startswith("bitwise"):
        x, scalar = ints, 1
    else:
        x, scalar = floats, 1.0
    return getattr(xp, name)(*([scalar, x] if place.endswith("x1") else [x, scalar]))


@for_each(("version", "place"), [(v, place) for v, places in WIDENED.items() for place in places])
def test_arguments_come_with_their_version(version, place):
    xp = strict(version)
    if hasattr(xp, place.partition(".")[0]) or place in ("indexing", "operators"):
        calls(xp, place)
    earlier = strict(BEFORE[version])
    if place not in ("indexing", "operators") and not hasattr(earlier, place.partition(".")[0]):
        return  # The function itself is new.
    refused((TypeError, ValueError, IndexError), None, calls, earlier, place)


@pytest.mark.parametrize(("version", "place"), [
    ("2023.12", "astype.device"), ("2023.12", "from_dlpack.copy"), ("2024.12", "fft.fftfreq.dtype"),
])  # fmt: skip
def test_parameters_come_with_their_version(version, place):
    def call(xp):
        match place:
            case "astype.device":
                x = xp.asarray([1.0])
                return xp.astype(x, xp.float32, device=x.device)
            case "from_dlpack.copy":
                return xp.from_dlpack(xp.asarray([1.0]), copy=True)
        return xp.fft.fftfreq(4, dtype=xp.float32)

    assert call(strict(version)).shape
    refused(TypeError, "came with a later version", call, strict(BEFORE[version]))


def test_sums_of_floats_had_the_default_dtype_in_the_first_version():
    for version in VERSIONS:
        xp = strict(version)
        x = xp.ones((2, 2), dtype=xp.float32)
        expected = xp.float64 if version == "2022.12" else xp.float32
        assert xp.sum(x).dtype == xp.prod(x).dtype == xp.linalg.trace(x).dtype == expected
        assert xp.sum(x, dtype=xp.float32).dtype == xp.float32


def test_sequences_of_arrays_are_lists_before_2025_12():
    for version in VERSIONS:
        xp = strict(version)
        x = xp.asarray([1.0, 2.0])
        kind = list if version < "2025.12" else tuple
        assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x)) is kind
        assert all(type(each) is type(x) for each in xp.meshgrid(x, x))


def test_axes_of_vectors_were_those_after_broadcasting_in_the_first_version():
    xp, later = strict("2022.12"), strict("2023.12")
    assert xp.vecdot(xp.ones((2, 3, 4)), xp.ones((3, 1)), axis=1).shape == (2, 4)
    with pytest.raises(ValueError, match="counted from the last"):
        later.vecdot(later.ones((2, 3, 4)), later.ones((3, 1)), axis=1)
