"""A guarantee in one sentence for the person whose data it is. Percentages are rounded up.

Pure         posterior odds <= exp(epsilon) prior odds, against an observer who knows every other row
Approximate  a test with false alarms f detects at most exp(epsilon) f + delta, and misses at least
             exp(-epsilon) (1 - delta - f): the definition for the accusing answers, and for the others
Numerics     floats, moved by 1e-12 to the safe side before they are rounded to two digits
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from flou.parameters import Relation

__all__ = ["detected", "rounded", "surer"]

SAFE = 1e-12


def surer(epsilon: Fraction, prior: Fraction, relation: Relation, unit: str) -> str:
    """How sure someone can become who was ``prior`` sure."""
    against, favour = float(1 - prior), float(prior) * math.exp(min(float(epsilon), 700.0))
    doubt = against / (against + favour) * (1 - SAFE)
    belief = favour / (against + favour) * (1 + SAFE)
    if relation == "add-remove":
        person = "you" if unit == "row" else f"you (one {unit} with all its rows)"
        claim = f"that {person} are in the data"
    else:
        claim = "of what your record says" if unit == "row" else f"of what your records (one {unit}) say"
    start = f"Someone who was {percentage(prior)} sure {claim} can become"
    if hopeless(against, doubt):
        return f"{start} more than 99.5 % sure: this protects almost nothing."
    return f"{start} at most {at_most(belief, doubt)} sure."


def detected(epsilon: Fraction, delta: Fraction, alarms: Fraction, relation: Relation, unit: str) -> str:
    """How many a test can detect that wrongly accuses a share ``alarms`` of the others."""
    growth = math.exp(min(float(epsilon), 700.0))
    hits = (growth * float(alarms) + float(delta)) * (1 + SAFE)
    misses = max(float(1 - delta - alarms) / growth * (1 - SAFE), 0.0)
    if misses > 1 - hits:
        hits = 1 - misses
    else:
        misses = 1 - hits
    if relation == "add-remove":
        test, innocent, guilty = "Any test", "those who are not in the data", "those who are"
    else:
        test = "Any test of what a record says"
        innocent, guilty = "those whose record says otherwise", "those whose record says so"
    several = "" if unit == "row" else f" (each of them one {unit} with all its rows)"
    start = f"{test} that wrongly accuses {percentage(alarms)} of {innocent}{several}"
    if hopeless(float(1 - alarms), misses):
        return f"{start} may detect more than 99.5 % of {guilty}: this protects almost nothing."
    return f"{start} detects at most {at_most(hits, misses)} of {guilty}."


def hopeless(before: float, after: float) -> bool:
    """Whether near certainty is possible, because of the guarantee and not because of the starting point."""
    return after < 0.005 and before > 20 * after


def at_most(share: float, rest: float) -> str:
    """A share rounded up to two digits of itself or of what is missing to 100 %, so never to 100 %."""
    with localcontext(Context(prec=40)):
        small = Decimal(100 * min(share, rest))
        step = Decimal(1).scaleb(small.adjusted() - 1)
        if share <= rest:
            return f"{small.quantize(step, ROUND_CEILING).normalize():f} %"
        return f"{(100 - small.quantize(step, ROUND_FLOOR)).normalize():f} %"


def percentage(value: Fraction) -> str:
    return f"{float(100 * value):.10g} %"


def rounded(value: Fraction) -> str:
    """A positive number with three digits, rounded up."""
    with localcontext(Context(prec=3, rounding=ROUND_CEILING)):
        return f"{float(Decimal(value.numerator) / Decimal(value.denominator)):.10g}"
