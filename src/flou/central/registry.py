"""Every statistic that can be asked for, each with a sentence about it and the way it is asked for in words.

A new statistic is a file of its own and an entry here.
"""

from __future__ import annotations

from typing import Any

from flou.central.counts.count import Count
from flou.central.counts.density import Density
from flou.central.counts.histogram import Histogram
from flou.central.counts.keys import Keys
from flou.central.counts.outer_bounds import OuterBounds
from flou.central.counts.selection import MajorityAnswer, Mode, TopK
from flou.central.matrices.covariance import Correlation, Covariance
from flou.central.matrices.regression import Regression
from flou.central.moments.mean import Mean
from flou.central.moments.total import Total
from flou.central.moments.variance import StandardDeviation, Variance
from flou.central.quantiles import calls
from flou.central.quantiles.ecdf import Ecdf
from flou.central.statistic import Asks, OfGroups, OfTable, Phrase, Statistic

__all__ = ["STATISTICS", "GroupStatistics", "TableStatistics"]

TOP = 3  # values, by default

# How the short call of a statistic states what values can be
ROWS = ()
NUMBERS = ("bounds", "domain")
QUANTITIES = ("bounds", "granularity", "domain")
ANYTHING = ("bounds", "categories", "domain")


class GroupStatistics(Asks):
    """What can be asked of a whole table, and of every group of it."""

    count = OfGroups(Count.asked, "How many rows there are.", Phrase(column=False), values=ROWS)
    sum = OfGroups(Total.asked, "The sum of a column.", values=NUMBERS)
    mean = OfGroups(Mean.asked, "The mean of a column.", values=NUMBERS)
    variance = OfGroups(Variance.asked, "The variance of a column, with divisor n - 1.", values=NUMBERS)
    std = OfGroups(StandardDeviation.asked, "The standard deviation of a column, with divisor n - 1.", values=NUMBERS)
    histogram = OfGroups(
        Histogram.asked,
        "How many rows fall into each bin of an interval (20 without ``bins``), or have each category.",
        Phrase(number="bins"),
        values=ANYTHING,
    )
    quantile = OfGroups(
        calls.quantile,
        "The value below which a share p of the rows lies.",
        Phrase(shares=1, arguments=lambda shares: {"p": shares[0]}),
        values=QUANTITIES,
    )
    quantiles = OfGroups(
        calls.quantiles,
        'Several quantiles at once: ``table.quantiles("salary", flou.deciles, epsilon=1)``.\n\n'
        "One number instead of a list is one quantile, as ``quantile`` answers it.",
        Phrase(number="parts", shares=2, arguments=lambda given: {"probabilities": calls.shares_of(given)}),
        values=QUANTITIES,
    )
    median = OfGroups(calls.MEDIAN, "The value in the middle.", values=QUANTITIES)
    quartiles = OfGroups(
        calls.QUARTILES, "The values below which a quarter, a half and three quarters of the rows lie."
    )
    deciles = OfGroups(calls.DECILES, "The nine values below which a tenth, two tenths, ... of the rows lie.")
    boxplot = OfGroups(
        calls.BOXPLOT,
        "The five numbers of a box plot: the quartiles, and the 5 % and 95 % quantiles as whiskers.",
        values=QUANTITIES,
    )
    iqr = OfGroups(
        calls.IQR,
        "The interquartile range: how far apart the first and the third quartile are.",
        values=QUANTITIES,
    )
    ecdf = OfGroups(
        Ecdf.asked,
        "The distribution function: the share of rows up to a value, shown at some points, and ``at`` any other.",
        Phrase(number="points"),
        values=QUANTITIES,
    )


class TableStatistics(GroupStatistics):
    """What can be asked of a whole table."""

    mode = OfTable(
        Mode.asked, "The most common value of a column, or its fullest bin.", Phrase(number="bins"), values=ANYTHING
    )
    top_k = OfTable(
        TopK.asked,
        "The k most common values of a column, the most common first.",
        Phrase(word="top", number="values", arguments=lambda k: {"k": TOP if k is None else k}),
        values=ANYTHING,
    )
    majority = OfTable(MajorityAnswer.asked, "Whether more rows of a Boolean column say yes than no.", values=ROWS)
    density = OfTable(
        Density.asked,
        "The density of a column at equally spaced points, as a series of cosines (``terms`` of them).",
        values=NUMBERS,
    )
    covariance = OfTable(Covariance.asked, "The covariance matrix of several columns, row by row.", Phrase(others="C"))
    correlation = OfTable(
        Correlation.asked, "The correlation matrix of several columns, row by row.", Phrase(others="C")
    )
    regression = OfTable(
        Regression.asked, "The coefficients of a linear regression with an intercept.", Phrase(others="on C")
    )
    bounds = OfTable(
        OuterBounds.asked, "Powers of two beyond which few values of a column lie, when no bounds are known."
    )
    keys = OfTable(
        Keys.asked,
        "The values of a column that enough rows share, with their counts: for categories that are not public.\n\n"
        "With ``min_rows``, keys of fewer rows are left out before any noise, for the price of a threshold that is\n"
        "higher by ``min_rows - 1``: far fewer keys leave the engine. The column need not be declared, and here delta\n"
        "is the probability of revealing a key held by one person.",
    )


STATISTICS: dict[str, Statistic[Any]] = {
    found.word: found
    for kind in (GroupStatistics, TableStatistics)
    for found in vars(kind).values()
    if isinstance(found, Statistic)
}
