"""Rows in memory, through NumPy."""
