"""Statistics for a trusted curator: any table in, an answer with its error, its cost and its certificate out."""

from flou.central import short_calls
from flou.central.budget import Budget
from flou.central.counts.count import Count
from flou.central.counts.density import Density
from flou.central.counts.histogram import Histogram
from flou.central.counts.keys import Keys
from flou.central.counts.outer_bounds import OuterBounds
from flou.central.counts.selection import MajorityAnswer, Mode, TopK
from flou.central.grouped import GroupedTable
from flou.central.matrices.covariance import Correlation, Covariance
from flou.central.matrices.regression import Regression
from flou.central.moments.mean import Mean
from flou.central.moments.total import Total
from flou.central.moments.variance import StandardDeviation, Variance
from flou.central.price import Price
from flou.central.quantiles.calls import deciles, quartiles
from flou.central.quantiles.ecdf import Ecdf
from flou.central.quantiles.quantiles import Quantiles, Range
from flou.central.question import Question
from flou.central.short_calls import *  # noqa: F403
from flou.central.table import Table, open_table

__all__ = [
    "Budget",
    "Correlation",
    "Count",
    "Covariance",
    "Density",
    "Ecdf",
    "GroupedTable",
    "Histogram",
    "Keys",
    "MajorityAnswer",
    "Mean",
    "Mode",
    "OuterBounds",
    "Price",
    "Quantiles",
    "Question",
    "Range",
    "Regression",
    "StandardDeviation",
    "Table",
    "TopK",
    "Total",
    "Variance",
    "deciles",
    "open_table",
    "quartiles",
]
__all__ += short_calls.__all__
