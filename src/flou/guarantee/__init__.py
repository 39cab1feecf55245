"""Privacy loss as values that add up, convert and refuse to be mixed up.

Two tables are neighbours when they differ in one unit. ``unit`` names whose privacy it is: one row, or
one ``"employee_id"`` with all its rows. ``relation`` says how they differ: ``"add-remove"``, the unit is
there or not; ``"substitute"``, the unit is there in both, with other values. Let P and Q be the laws of
the answer on any two neighbours, in either order. The answer is

    PureDP(epsilon)            if P(S) <= exp(epsilon) Q(S)           for every set S of answers
    ApproxDP(epsilon, delta)   if P(S) <= exp(epsilon) Q(S) + delta   for every set S of answers
    ZCDP(rho)                  if D_alpha(P || Q) <= rho alpha        for every order alpha > 1,

where D_alpha is the Rényi divergence, ln(E_Q[(P/Q)^alpha]) / (alpha - 1).

    a + b, compose(a, b)         both answers, about the same rows
    parallel(a, b)               one answer for each of two disjoint parts of the rows
    a.times(k)                   the same answer, for neighbours that differ in k units
    a.to_substitute()            the same answer, for the other relation
    a.to_unit(unit, max_rows=k)  the same answer, for people with up to k rows
    a.to_approx(delta=...)       the same answer, in another measure
    a.covers(b)                  whatever keeps b keeps a: the check of a budget

Post-processing leaves a guarantee as it is: what is computed from the answer alone costs nothing, so
there is no method for it. All parameters are exact fractions; where a formula leaves the fractions, the
result is rounded to the safe side. Proofs: docs/explanation/proofs/guarantee.md.
"""

from flou.guarantee.approx import ApproxDP
from flou.guarantee.composition import compose, parallel
from flou.guarantee.dictionary import guarantee_from_dict
from flou.guarantee.measure import Guarantee
from flou.guarantee.pure import PureDP
from flou.guarantee.zcdp import ZCDP

__all__ = ["ZCDP", "ApproxDP", "Guarantee", "PureDP", "compose", "guarantee_from_dict", "parallel"]
