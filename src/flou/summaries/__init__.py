"""Summaries: small vectors of exact integers that any engine can compute and that add up."""

from flou.summaries.condition import column
from flou.summaries.moments import MomentGrid, Moments
from flou.summaries.request import Code, Counts, Sums
from flou.summaries.rows import Rows
from flou.summaries.source import rows_of

__all__ = ["Code", "Counts", "MomentGrid", "Moments", "Rows", "Sums", "column", "rows_of"]
