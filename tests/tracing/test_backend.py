"""The tracing backend has a rule for every method of the contract."""

from array_api_nx.contract.backend import METHODS, Backend
from array_api_nx.tracing.backend import TracingBackend

INHERITED = {
    "shrink", "reshape",  # of movement that is traced
    "explain", "axis_order", "may_overlap", "prepare",
    "prepare_compiled", "worth_deferring",  # of arrays with elements
    "native", "from_native", "available_dtypes",
    "sizes",  # all sizes are known
}  # fmt: skip


def test_every_method_is_traced():
    """A default composed of others would record another program than eager code runs."""
    inherited = {
        name for name in METHODS if getattr(TracingBackend, name) is getattr(Backend, name)
    }
    assert inherited == INHERITED
