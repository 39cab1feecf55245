"""Classifiers that learn from reports, and what is lost."""
