import pytest

from array_api_nx_conformance.clients import extra_calls

pytestmark = pytest.mark.slow

pytest.importorskip("sklearn")


def test_every_public_function_is_called():
    public = set(extra_calls._package().__all__) - {"__version__", "testing"}
    assert {name.partition(" ")[0] for name in extra_calls.CALLS} == public


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("call", ["pad", "default_dtype", "tril_indices", "broadcast_shapes"])
def test_a_call_on_our_namespace(call, monkeypatch):
    monkeypatch.setenv("ARRAY_API_TESTS_MODULE", "array_api_nx")
    extra_calls.test_agrees(call)
