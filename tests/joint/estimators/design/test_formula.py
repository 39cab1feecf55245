from __future__ import annotations

import builtins
import time

import pytest

from flou.errors import InvalidParameter, MissingExtra
from flou.joint.estimators.design.formula import Formula

REFUSED = [
    "y ~ __import__('os').system('touch here')",
    "__import__('os').system('touch here') ~ x",
    "y ~ {open('here', 'w')}",
    "y ~ x + I(x.__class__)",
    "y ~ I((lambda: 1)())",
    "y ~ I(f'{x}')",
    "y ~ I(x ** 9999999)",
    "y ~ center(x)",
    "y ~ scale(x) + z",
    "y ~ poly(x, 3)",
    "y ~ bs(x, df=4)",
    "y ~ lag(x)",
    "y ~ C(x, contr.treatment('a'))",
    "y ~ C(x, levels=['a', 'b'])",
    "y ~ C(log(x))",
    "y ~ x | z",
    "y ~ .",
    "y ~ x %in% z",
    "y ~ 2:x",
    "y ~ 'x'",
    "y ~ (a + b) ** 99",
    "y ~ (a + b) ** z",
    "y ~ (a + b + c + d + e + f) ** 9",
    "y ~ " + "*".join(f"(a{i} + b{i})" for i in range(40)),
    "y ~ " + " + ".join(["x"] * 1300),
    "y ~ I(" + "(" * 500 + "x" + ")" * 501,
    "y ~ " + ":".join(f"C(g{i})" for i in range(9)),
    "y ~ [x ~ z]",
    "x + z",
    "~ x",
    "y + z ~ x",
    "1 ~ x",
    "y ~ x ~ z",
    "y ~ +",
    "y ~ x +* z",
    "y ~ x)",
    "y ~ `x",
    "",
    "   ",
    None,
    7,
    "y ~ " + "x" * 5000,
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_formula_that_is_more_than_a_formula_is_refused_at_once(text, tmp_path, monkeypatch):
    """Nothing is evaluated, and nothing takes long, however large the answer would be."""
    monkeypatch.chdir(tmp_path)
    start = time.process_time()
    with pytest.raises(InvalidParameter):
        Formula.of(text)
    assert time.process_time() - start < 2
    assert list(tmp_path.iterdir()) == []


def test_terms_are_products_of_factors_and_the_intercept_is_the_empty_one():
    formula = Formula.of("log(y) ~ a * C(g) + I(a ** 2)")
    assert formula.response.text == "log(y)"
    assert [[factor.text for factor in term] for term in formula.terms] == [
        [],
        ["a"],
        ["C(g)"],
        ["I(a ** 2)"],
        ["a", "C(g)"],
    ]
    assert [factor.category for factor in formula.terms[-1]] == [False, True]


def test_without_formulaic_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("formulaic"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"flou\[joint\]"):
        Formula.of("y ~ x")
