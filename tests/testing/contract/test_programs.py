"""The tests of the contract in `array_api_nx.testing.contract.test_programs`."""

from array_api_nx.testing.contract.test_programs import *  # noqa: F403
