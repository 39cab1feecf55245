"""Quantiles and distribution functions, from coarse counts and one finer look."""
