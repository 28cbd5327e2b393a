"""The operations of the library, each stated once: rows, and the rules for dtypes and shapes."""
