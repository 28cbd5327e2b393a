"""Results against exact values."""
