"""The tests of the contract in `array_api_nx.testing.contract.test_movement`."""

from array_api_nx.testing.contract.test_movement import *  # noqa: F403
