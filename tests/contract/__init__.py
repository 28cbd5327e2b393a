"""The backend contract, primitive by primitive, on every layout and every backend."""
