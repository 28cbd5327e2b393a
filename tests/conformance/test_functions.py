import pytest

from array_api_nx_conformance.functions import function_of, is_about_behaviour, is_special_case

NAMES = {
    "__add__", "__array_namespace_info__", "__dlpack__", "__getitem__", "__int__", "__invert__",
    "__mod__", "add", "e", "fft.fft", "fft.fftshift", "info.devices", "isin", "linalg.cross",
    "linalg.matmul", "matmul", "remainder", "result_type", "searchsorted", "take",
    "take_along_axis", "unique_all", "zeros", "zeros_like",
}  # fmt: skip


@pytest.mark.parametrize(
    ("test", "function"),
    [
        ("test_has_names.py::test_has_names[linalg-matmul]", "linalg.matmul"),
        ("test_has_names.py::test_has_names[linear_algebra-matmul]", "matmul"),
        ("test_has_names.py::test_has_names[array_method-__add__]", "__add__"),
        ("test_signatures.py::test_func_signature[add]", "add"),
        ("test_signatures.py::test_extension_func_signature[fft.fft]", "fft.fft"),
        ("test_signatures.py::test_info_func_signature[devices]", "info.devices"),
        ("test_special_cases.py::test_binary[add(x1_i is NaN) -> NaN]", "add"),
        ("test_special_cases.py::test_iop[__iadd__(x1_i is NaN) -> NaN]", "__add__"),
        ("test_operators.py::test_remainder[__imod__(x, s)]", "__mod__"),
        ("test_operators.py::test_bitwise_invert[__invert__]", "__invert__"),
        ("test_operators.py::test_binary_with_scalars_real[add]", "add"),
        ("test_array_object.py::test_scalar_casting[__int__(uint8)]", "__int__"),
        ("test_array_object.py::test_getitem_arrays_and_ints_1[None]", "__getitem__"),
        ("test_constants.py::test_irrational_numbers[e-2.718281828459045]", "e"),
        ("test_linalg.py::test_linalg_matmul", "linalg.matmul"),
        ("test_linalg.py::test_matmul", "matmul"),
        ("test_linalg.py::test_cross", "linalg.cross"),
        ("test_fft.py::test_fft", "fft.fft"),
        ("test_fft.py::test_shift_func[fftshift]", "fft.fftshift"),
        ("test_dlpack.py::test_dunder_dlpack", "__dlpack__"),
        ("test_data_type_functions.py::TestResultType::test_shuffled", "result_type"),
        ("test_set_functions.py::TestIsin::test_isin_scalars", "isin"),
        ("test_searching_functions.py::test_searchsorted_with_scalars", "searchsorted"),
        ("test_indexing_functions.py::test_take_along_axis", "take_along_axis"),
        ("test_creation_functions.py::test_zeros_like", "zeros_like"),
        ("test_other.py::test_something_else", "something_else"),
        ("test_unimportable.py", "test_unimportable.py"),
    ],
)
def test_function_of(test, function):
    assert function_of(f"array_api_tests/{test}", NAMES) == function


def test_tests_of_the_draft_are_told_apart_in_the_same_way():
    names = ("top_k", "__dlpack_c_exchange_api__")
    assert function_of("draft_tests/test_has_names.py::test_has_names[searching-top_k]", names) == (
        "top_k"
    )
    assert function_of("draft_tests/test_x.py::test_top_k_defaults", names) == "top_k"
    assert not is_about_behaviour("draft_tests/test_signatures.py::test_func_signature[top_k]")
    assert is_about_behaviour("draft_tests/test_x.py::test_top_k_defaults")


def test_kinds_of_tests():
    assert is_about_behaviour("array_api_tests/test_fft.py::test_fft")
    assert is_about_behaviour("array_api_tests/test_special_cases.py::test_unary[a]")
    assert not is_about_behaviour("array_api_tests/test_signatures.py::test_func_signature[a]")
    assert not is_about_behaviour("array_api_tests/test_has_names.py::test_has_names[a-b]")
    assert is_special_case("array_api_tests/test_special_cases.py::test_unary[a]")
    assert not is_special_case("array_api_tests/test_fft.py::test_fft")
