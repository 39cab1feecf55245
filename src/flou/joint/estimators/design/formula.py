"""Formulas such as ``wage ~ age + C(region):log(tenure)``: which products of which expressions are regressors.

The syntax is that of R, patsy and formulaic; formulaic reads it. It would also evaluate any Python between
parentheses, so nothing here asks it to: it returns terms, whose expressions are checked (see ``expression.py``).
Before that the size of the answer is bounded, because ``(a + b + c) ** 99`` is short to write and endless to expand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from flou.errors import InvalidParameter, MissingExtra
from flou.joint.estimators.design.expression import LONGEST, Expression, refused
from flou.parameters import shown

__all__ = ["Factor", "Formula"]

MOST_TERMS = 2000
MOST_FACTORS = 8  # of a term; the ways to code their categories double with each
ALLOWED = {"~", "+", "-", "*", "/", ":", "**", "^"}


@dataclass(frozen=True)
class Factor:
    """One expression of a term; a category when written C(column)."""

    text: str
    expression: Expression
    category: bool  # written as C(column)


@dataclass(frozen=True)
class Formula:
    """A response, and terms that are products of factors; the empty product is the intercept."""

    text: str
    response: Factor
    terms: tuple[tuple[Factor, ...], ...]

    @classmethod
    def of(cls, text: Any) -> Formula:
        """Read a formula with one response."""
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            raise InvalidParameter(
                f"formula must be a text of at most {LONGEST} characters, got {shown(text)}.",
                "It says which column is explained by which others.",
                "Pass for example 'wage ~ age + C(region)'.",
            )
        left, right = _parsed(text)
        if len(left) != 1 or len(left[0].factors) != 1 or left[0].factors[0].eval_method.value == "literal":
            raise InvalidParameter(
                f"formula must have one response on the left of ~, got {shown(text)}.",
                "It says which column is explained by which others.",
                "Write for example 'wage ~ age + C(region)'.",
            )
        response = _factor(left[0].factors[0])
        terms = tuple(_term(term) for term in right)
        return cls(text, response, terms)


def _term(term: Any) -> tuple[Factor, ...]:
    literal = [factor for factor in term.factors if factor.eval_method.value == "literal"]
    if any(factor.expr != "1" for factor in literal):
        raise refused(f"The term {shown(str(term))} multiplies a regressor by a number.")
    factors = tuple(_factor(factor) for factor in term.factors if factor not in literal)
    if len(factors) > MOST_FACTORS:
        raise refused(f"The term {shown(str(term))} is a product of more than {MOST_FACTORS} factors.")
    return factors


def _factor(factor: Any) -> Factor:
    text = str(factor.expr)
    if factor.eval_method.value == "lookup":
        return Factor(text, Expression.column(text), category=False)
    category = re.fullmatch(r"C\(\s*(?:`([^`]+)`|([^\W\d]\w*))\s*\)", text)
    if category:
        return Factor(text, Expression.column(category[1] or category[2]), category=True)
    return Factor(text, Expression.of(text), category=False)


def _parsed(text: str) -> tuple[list[Any], list[Any]]:
    """The terms on both sides, in formulaic's order."""
    try:
        from formulaic import Formula as Read  # type: ignore[import-untyped]
        from formulaic.parser import DefaultFormulaParser  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra(
            "Formulas need the package formulaic.",
            "It reads the syntax that R and patsy share.",
            "Install it with: pip install 'flou[joint]'.",
        ) from None
    unreadable = refused(f"The formula {shown(text)} cannot be read.")
    try:
        tree = DefaultFormulaParser().get_ast(text)
    except Exception:
        raise unreadable from None
    if not hasattr(tree, "operator") or tree.operator.symbol != "~" or len(tree.args) != 2:
        raise InvalidParameter(
            f"formula must have a response, ~, and regressors, got {shown(text)}.",
            "It says which column is explained by which others.",
            "Write for example 'wage ~ age + C(region)'.",
        )
    try:
        size = _size(tree)
    except RecursionError:
        raise refused(f"The formula {shown(text)} is nested too deeply.") from None
    if size > MOST_TERMS:
        raise refused(f"The formula {shown(text)} expands to more than {MOST_TERMS} terms.")
    try:
        read = Read(text)
        return list(read.lhs), list(read.rhs)
    except Exception:
        raise unreadable from None


def _size(node: Any) -> int:
    """A bound on the number of terms that the tree expands to."""
    if not hasattr(node, "operator"):
        return 1
    symbol = node.operator.symbol
    if symbol not in ALLOWED:
        raise refused(f"The operator {shown(symbol)} is not allowed in a formula.")
    if symbol in ("**", "^"):
        exponent = str(node.args[1])
        if not re.fullmatch("[1-9]", exponent):
            raise refused("A power of terms needs a single digit as its exponent.")
        terms: int = _size(node.args[0]) ** int(exponent)
        return min(terms, MOST_TERMS + 1)
    sizes = [_size(part) for part in node.args]
    if symbol in ("*", ":") and len(sizes) == 2:
        a, b = sizes
        return min(a * b + a + b, MOST_TERMS + 1)
    return min(sum(sizes), MOST_TERMS + 1)
