"""The tests of the contract in `array_api_nx.testing.contract.test_ufuncs`."""

from array_api_nx.testing.contract.test_ufuncs import *  # noqa: F403
