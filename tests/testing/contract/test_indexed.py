"""The tests of the contract in `array_api_nx.testing.contract.test_indexed`."""

from array_api_nx.testing.contract.test_indexed import *  # noqa: F403
