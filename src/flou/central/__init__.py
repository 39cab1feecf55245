"""Statistics for a trusted curator: any table in, an answer with its error, its cost and its certificate out."""

from flou.central.budget import Budget
from flou.central.count import Count, Histogram
from flou.central.mean import Mean
from flou.central.question import Question
from flou.central.short import count, histogram, mean, sum
from flou.central.table import GroupedTable, Table, open_table
from flou.central.total import Total

__all__ = [
    "Budget",
    "Count",
    "GroupedTable",
    "Histogram",
    "Mean",
    "Question",
    "Table",
    "Total",
    "count",
    "histogram",
    "mean",
    "open_table",
    "sum",
]
