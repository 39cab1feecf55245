"""Rows behind DuckDB: files and relations, by SQL."""
