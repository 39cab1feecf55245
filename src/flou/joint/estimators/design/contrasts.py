"""Which categories of which factors become columns, so that no column is a combination of others by construction.

Rule    a category with levels a, b, c stands for three columns; without the first one where the columns of earlier
        terms (the intercept among them) already span what it would add
Source  the rule of R and patsy, in the form that formulaic gives it: a term spans the set of its products with each
        category either reduced or left out; what earlier terms span is taken away; and what remains is put together
        again by (anything):(reduced) + (anything) = (anything):(full)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

__all__ = ["Scoped", "scoped_terms"]

Part: TypeAlias = tuple[str, bool]  # a factor's text, and whether its first category is left out
Scoped: TypeAlias = tuple[Part, ...]


def scoped_terms(terms: Iterable[Sequence[str]], is_category: Callable[[str], bool]) -> list[list[Scoped]]:
    """For each term the products that stand for it."""
    spanned: set[frozenset[Part]] = set()
    result = []
    for term in terms:
        choices: list[tuple[Part | None, ...]] = [
            ((name, True), None) if is_category(name) else ((name, False),) for name in term
        ]
        products = [tuple(part for part in parts if part is not None) for parts in itertools.product(*choices)]
        fresh = [parts for parts in products if frozenset(parts) not in spanned]
        spanned.update(map(frozenset, fresh))
        result.append(_simplified(fresh))
    return result


def _simplified(products: Iterable[Scoped]) -> list[Scoped]:
    """The fewest products that span the same."""
    terms: list[Scoped] = []
    for parts in sorted(products, key=len):
        for known in terms:
            more = set(parts) - set(known)
            if len(parts) != len(known) + 1 or len(more) != 1:
                continue
            name, reduced = next(iter(more))
            if reduced:
                full: Scoped = tuple((name, False) if part == (name, True) else part for part in parts)
                terms = _simplified([term for term in terms if term != known] + [full])
                break
        else:
            terms.append(parts)
    return terms
