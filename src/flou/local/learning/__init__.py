"""Classifiers that learn from reports, and how much accuracy privacy costs."""
