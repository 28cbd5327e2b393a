"""The tests of the contract in `array_api_nx.testing.contract.test_sorting`."""

from array_api_nx.testing.contract.test_sorting import *  # noqa: F403
