"""The tests of the contract in `array_api_nx.testing.contract.test_primitives`."""

from array_api_nx.testing.contract.test_primitives import *  # noqa: F403
