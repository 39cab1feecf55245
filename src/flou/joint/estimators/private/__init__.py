"""Differentially private statistics between organisations: sums that are never opened without noise."""
