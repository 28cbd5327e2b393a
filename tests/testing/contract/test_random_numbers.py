"""The tests of the contract in `array_api_nx.testing.contract.test_random_numbers`."""

from array_api_nx.testing.contract.test_random_numbers import *  # noqa: F403
