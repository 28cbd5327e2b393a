"""The tests of the contract in `array_api_nx.testing.contract.test_matrices`."""

from array_api_nx.testing.contract.test_matrices import *  # noqa: F403
