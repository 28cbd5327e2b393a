"""The tests of the contract in `array_api_nx.testing.contract.test_memory`."""

from array_api_nx.testing.contract.test_memory import *  # noqa: F403
