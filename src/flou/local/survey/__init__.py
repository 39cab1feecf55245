"""Surveys: one public file for those who answer, collect and read."""
