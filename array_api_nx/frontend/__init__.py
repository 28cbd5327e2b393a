"""The frontend: validates, promotes and broadcasts; one module per chapter of the standard."""
