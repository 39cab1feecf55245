"""Rows behind lazy engines, by narwhals expressions."""
