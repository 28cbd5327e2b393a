"""The tests of the contract in `array_api_nx.testing.contract.test_values`."""

from array_api_nx.testing.contract.test_values import *  # noqa: F403
