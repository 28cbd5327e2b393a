"""The tests of the contract in `array_api_nx.testing.contract.test_linear_algebra`."""

from array_api_nx.testing.contract.test_linear_algebra import *  # noqa: F403
