"""The contract between the frontend and the backends."""
