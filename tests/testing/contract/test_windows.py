"""The tests of the contract in `array_api_nx.testing.contract.test_windows`."""

from array_api_nx.testing.contract.test_windows import *  # noqa: F403
