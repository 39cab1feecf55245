"""Counts, histograms, densities, private keys and most common values."""
