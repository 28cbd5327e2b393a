"""Reports of pending computations: one model, as text and as pictures."""
