"""Several answers together: about the same rows, or each about rows of its own."""

from __future__ import annotations

from flou.errors import GuaranteeMismatch, InvalidParameter
from flou.guarantee.measure import G, Guarantee, combined, total

__all__ = ["compose", "parallel"]


def compose(*guarantees: G) -> G:
    """Sequential composition: the parameters add up.

    What is proven is basic adaptive composition: each mechanism may be chosen after seeing all earlier
    answers, as long as it keeps the guarantee that was listed for it. A pure epsilon counts as
    epsilon^2/2-zCDP beside a zCDP guarantee, and as (epsilon, 0) beside an approximate one. Unlike
    ``a + b + c`` this converts each pure guarantee before adding, which is cheaper in zCDP: two answers
    of epsilon cost epsilon^2 there, one of 2 epsilon twice as much.
    """
    return combined(several(guarantees), total)


def parallel(*guarantees: G, fixed_parts: bool = False) -> G:
    """One answer for each of several disjoint parts of the data: the largest of each parameter.

    Every unit must belong to one part with all its rows. Under ``"add-remove"`` one unit more or less then
    changes one part. Under ``"substitute"`` the new values may belong to another part, and two parts
    change; pass ``fixed_parts=True`` if the part of each unit is public and cannot change.
    """
    chosen = several(guarantees)
    result = combined(chosen, max)
    if result.relation == "substitute" and fixed_parts is not True:
        raise GuaranteeMismatch(
            "Parallel composition under relation='substitute' needs parts that are fixed.",
            "A record whose values are replaced may move from one part to another, so two parts change "
            "and the maximum would be too small.",
            "Pass fixed_parts=True if the part of each unit is public and cannot change, or compose "
            "add-remove guarantees in parallel and call .to_substitute() on the result.",
        )
    return result


def several(guarantees: tuple[G, ...]) -> tuple[G, ...]:
    if not guarantees or not all(isinstance(guarantee, Guarantee) for guarantee in guarantees):
        raise InvalidParameter(
            "Composition needs at least one guarantee, and accepts only guarantees.",
            "An empty list has neither a relation nor a unit.",
            "Pass them one by one, for example compose(PureDP(0.1), PureDP(0.2)).",
        )
    return guarantees
