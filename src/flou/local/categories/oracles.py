"""The choice of an oracle: the one with the least variance for this number of categories and this epsilon.

The variances of all k shares add up to (p (1 - p) + (k - 1) q (1 - q)) / (n (p - q)^2), whatever the shares are, so
oracles can be compared without knowing anything about the answers. Among equal oracles the one with the shortest
report is chosen. The best is subset selection or, where omega = 1 is best, GRR, which is the same with a shorter
report. A report of subset selection has k bits; if this exceeds ``report_bits``, the next best oracle is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

from flou.errors import InvalidParameter
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle, categories_of
from flou.local.categories.grr import GRR
from flou.local.categories.hadamard import Hadamard
from flou.local.categories.olh import OLH
from flou.local.categories.subset_selection import SubsetSelection
from flou.local.categories.unary_encoding import OUE, SUE
from flou.local.categories.warner import Warner
from flou.parameters import Number, choice, integer

__all__ = ["OracleComparison", "compare", "frequencies"]

METHODS: dict[str, type[FrequencyOracle]] = {
    "warner": Warner,
    "grr": GRR,
    "olh": OLH,
    "hadamard": Hadamard,
    "subset": SubsetSelection,
    "oue": OUE,
    "sue": SUE,
}
REPORT_BITS = 8 * 1024
EQUAL = 1 + 1e-9  # variances closer than this are equal up to rounding


@dataclass(frozen=True)
class OracleComparison:
    """One oracle among others: n times its variance, on average over the categories, and the length of a report."""

    method: str
    oracle: FrequencyOracle
    variance: float
    report_bits: int


def compare(categories: Answers, *, epsilon: Number, unit: str = "person") -> tuple[OracleComparison, ...]:
    """All oracles that support this number of categories, the one with the least variance first."""
    domain = categories_of(categories)
    found = []
    for method, kind in METHODS.items():
        if method == "warner" and domain.size != 2:
            continue
        try:
            oracle = kind(domain, epsilon=epsilon, unit=unit)
        except InvalidParameter:
            if method == "grr":  # which takes any number of categories: epsilon or unit is wrong
                raise
            continue
        found.append(OracleComparison(method, oracle, oracle.variance(1 / oracle.k), oracle.report_bits))
    return tuple(_ranked(found))


def frequencies(
    categories: Answers, *, epsilon: Number, method: str = "auto", report_bits: int = REPORT_BITS, unit: str = "person"
) -> FrequencyOracle:
    """The oracle of this name, or the one with the least variance among those with short enough reports."""
    choice("method", method, ("auto", *METHODS))
    if method != "auto":
        oracle = METHODS[method](categories_of(categories), epsilon=epsilon, unit=unit)
        oracle.reason = f"{method}, as asked"
        return oracle
    integer("report_bits", report_bits, 32, 2**20)
    short = [one for one in compare(categories, epsilon=epsilon, unit=unit) if one.report_bits <= report_bits]
    best, *rest = short
    others = ", ".join(f"{one.method} {one.variance:.4g}" for one in rest)
    best.oracle.reason = f"{best.method}: n times the variance of a share is {best.variance:.4g} on average ({others})"
    return best.oracle


def _ranked(found: list[OracleComparison]) -> list[OracleComparison]:
    """The least variance first; among equal variances, the shortest report."""
    least = min(one.variance for one in found) * EQUAL
    return sorted(found, key=lambda one: (max(one.variance, least), one.report_bits))
