"""The tests of the contract in `array_api_nx.testing.contract.test_reductions`."""

from array_api_nx.testing.contract.test_reductions import *  # noqa: F403
