"""The tests of the contract in `array_api_nx.testing.contract.test_elementwise`."""

from array_api_nx.testing.contract.test_elementwise import *  # noqa: F403
