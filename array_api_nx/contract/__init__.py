"""What the frontend and the backends agree on: primitives, and who owes whom what."""
