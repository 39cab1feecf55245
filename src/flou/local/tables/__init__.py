"""Whole tables, randomised row by row."""
