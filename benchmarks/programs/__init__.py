"""Programs that are written for NumPy and run unchanged but for their import."""
