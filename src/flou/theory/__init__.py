"""Bounds and calibrations: formulas only, no data and no randomness."""
