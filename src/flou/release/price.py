"""What a release cost, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flou.guarantee import Guarantee
from flou.guarantee.words import rounded

__all__ = ["cost_column", "cost_line", "exact_text", "priced"]


def exact_text(value: Fraction) -> str:
    """An exact number as people write it: 0.25, 1/3; rounded up to three digits where it would be longer."""
    if value.denominator == 1:
        return str(value.numerator)
    decimal = f"{float(value):.6g}"
    if Fraction(decimal) == value:
        return decimal
    return f"{value.numerator}/{value.denominator}" if value.denominator < 1000 else rounded(value)


def priced(cost: Guarantee) -> str:
    """The parameters: ``epsilon = 0.5``."""
    pairs = zip(cost.parameters, cost._exact, strict=True)
    return ", ".join(f"{name} = {exact_text(value)}" for name, value in pairs)


def cost_column(costs: Sequence[Guarantee]) -> tuple[str, list[str]]:
    """The head and the cells of a column of costs; where all have one parameter, it is the head."""
    names = {cost.parameters for cost in costs}
    if len(names) == 1 and len(costs[0].parameters) == 1:
        return costs[0].parameters[0], [exact_text(cost._exact[0]) for cost in costs]
    return "cost", [priced(cost) for cost in costs]


def cost_line(cost: Guarantee) -> str:
    """The parameters, whom they protect, and what they mean."""
    unit = "row" if cost.unit == "row" else cost.unit
    return f"{priced(cost)} for each {unit} ({cost.relation}). {cost.in_words()}"
