"""What is told of computations that wait: one model of it, as text and as pictures."""
