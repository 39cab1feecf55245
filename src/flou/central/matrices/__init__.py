"""Covariances, correlations and regressions: noise on one Gram matrix."""
