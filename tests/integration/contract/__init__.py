"""The rules for the five functions of the exchange table, a file for each function or idea."""
