"""The backend contract as tests: every primitive, on every layout, against plain oracles.

Each test takes a fixture ``backend``. `array_api_nx.testing.backend_contract` runs them on any
backend.
"""
