"""Questions and conditions in words, and how epsilon is shared out."""

import contextlib
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flou
from flou.ask import Asked, condition, epsilon_of, parsed, shares
from flou.central import (
    Correlation,
    Count,
    Covariance,
    Density,
    Ecdf,
    Histogram,
    Keys,
    Mean,
    OuterBounds,
    Quantiles,
    Range,
    Regression,
    Total,
    quartiles,
)
from flou.central.quantiles.calls import FIVE
from flou.central.registry import STATISTICS
from flou.summaries.condition import Comparison
from flou.summaries.condition_words import tokens

NAMES = ["age", "net salary", "by", "it's", "10", "mean", "pay-2020"]
SCHEMA = flou.Schema(
    {name: flou.Interval(0, 10, cells=100) for name in NAMES}
    | {"wide": flou.Integers(0, 10**6), "g": flou.Categories(["a"]), "yes": flou.Boolean()}
)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("count", Count(1)),
        ("COUNT by g", Count(1, "g")),
        ("sum age", Total("age", 1)),
        ("Mean 'net salary' BY g", Mean("net salary", 1, "g")),
        ('mean "by" by `by`', Mean("by", 1, "by")),
        ("mean 'it''s'", Mean("it's", 1)),
        ("mean '10'", Mean("10", 1)),
        ("mean mean", Mean("mean", 1)),
        ("mean pay-2020", Mean("pay-2020", 1)),
        ("histogram age 1_0", Histogram("age", 1, 10)),
        ("  histogram   age ", Histogram("age", 1)),
        ("histogram age 4 by g", Histogram("age", 1, 4, "g")),
        ("ecdf age", Ecdf("age", 1)),
        ("histogram wide", Histogram("wide", 1)),
        ("quantile age 0.9", Quantiles("age", Fraction(9, 10), 1, statistic="0.9-quantile")),
        ("quantiles age 0.25 .5 0.75", Quantiles("age", quartiles, 1, statistic="quantiles")),
        ("quantiles age 0.5", Quantiles("age", (Fraction(1, 2),), 1, statistic="quantiles")),
        ("quantiles age 4_", Quantiles("age", quartiles, 1, statistic="quantiles")),
        ("quantile age 0.9999999", Quantiles("age", Fraction(9999999, 10**7), 1, statistic="0.9999999-quantile")),
        ("quantiles age 4", Quantiles("age", quartiles, 1, statistic="quantiles")),
        (
            "quantiles age by g",
            Quantiles("age", tuple(Fraction(i, 100) for i in range(1, 100)), 1, by="g", statistic="quantiles"),
        ),
        ("iqr age by g", Range("age", (quartiles[0], quartiles[2]), 1, by="g", statistic="iqr")),
        ("regression age on 'net salary' mean", Regression("age", ("net salary", "mean"), 1)),
        ("regression age 'net salary'", Regression("age", ("net salary",), 1)),
        ("correlation age mean", Correlation(("age", "mean"), 1)),
        ("covariance age mean 'by'", Covariance(("age", "mean", "by"), 1)),
        ("density age", Density("age", 1)),
        ("bounds income", OuterBounds("income", 1)),
        ("ecdf age 20 by g", Ecdf("age", 1, 20, "g")),
        ("boxplot age by g", Quantiles("age", FIVE, 1, by="g", statistic="boxplot")),
    ],
)
def test_questions(text, question):
    """Words become the question that they say."""
    assert parsed(text, SCHEMA).question(1) == question


def test_keys_of_columns_that_nobody_declared():
    """Their keys can be asked for, and then they can be groups."""
    assert replace(parsed("keys 'my city'", SCHEMA), delta=0.1).question(1) == Keys("my city", 1, 0.1)
    assert parsed("mean age by city", SCHEMA, ["city"]).question(1) == Mean("age", 1, "city")
    with pytest.raises(flou.InvalidParameter, match="no column 'city'"):
        parsed("mean city by city", SCHEMA, ["city"])


@given(
    statistic=st.sampled_from(sorted(STATISTICS)),
    name=st.sampled_from(NAMES),
    by=st.none() | st.sampled_from(["g", "by"]),
)
def test_a_question_can_be_asked_again(statistic, name, by):
    """The text of a question is a question with the same parts."""
    kind = STATISTICS[statistic].phrase
    name = "yes" if statistic == "majority" else name
    several = kind.shares > 1 and by == "g"
    asked = Asked(
        statistic,
        column=name if kind.column else "",
        others=tuple({"age", "mean", "10"} - {name}) if kind.others else (),
        number=7 if kind.number and not several else None,
        shares=(Fraction(9, 10),) if kind.shares == 1 else (Fraction(1, 10), Fraction(1, 4)) if several else (),
        by=by if STATISTICS[statistic].grouped else None,
    )
    assert parsed(str(asked), SCHEMA) == asked
    assert statistic in asked.title.lower()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("mean", "mean needs the name of a column"),
        ("covariance age", "covariance needs the names of several columns"),
        ("regression age on", "regression needs the names of several columns"),
        ("regression age on income", "no column 'income'"),
        ("quantile age", "quantile needs one share of the rows"),
        ("quantile age 90", "for a percentile of 90 write 0.9"),
        ("quantile age -0.5", "must be a probability"),
        ("quantile age 0.1 0.5", "The form of this question is: quantile C P [by G]"),
        ("quantiles age 0.1 50", "shares lie between 0 and 1"),
        ("quantiles age +4", "parts must be a whole number"),
        ("percentile age 0.9", "Perhaps 'quantile' was meant, for example --ask 'quantile salary 0.9 by department'"),
        ("percentiles age", "Perhaps 'quantiles' was meant"),
        ("quantiles age 20_000", "Between 1 and 10000 quantiles can be asked for"),
        ("mean by g", "mean needs the name of a column"),
        ("mean 10", "mean needs the name of a column"),
        ("mean age by", "by needs the name of a column"),
        ("mode age by g", "mode takes no groups"),
        ("mean age by city", "The groups of 'city' are not public"),
        ("mean age by city", '--ask "keys city" --delta 1e-8'),
        ("mean age by aeg", "Perhaps 'age' was meant"),
        ("histogram age 1.5", "bins must be a whole number"),
        ("histogram age -3", "bins must be a whole number"),
        ("mean age age", "'age' does not belong there"),
        ("mean 'age", "a quote is not closed, or a sign is unknown"),
        ("'mean' age", "is not a known statistic"),
        ("maen age", "Perhaps 'mean' was meant"),
        ("total age", "Perhaps 'sum' was meant"),
        ("mean nobody", "The schema has no column 'nobody'"),
        ("histogram wide 20_000", "would have 19608 answers"),
        ("mean age by wide", "would have 1000001 answers"),
        ("histogram age 6000 by g", "would have 12000 answers"),
        ("ecdf age by wide", "would have 10000010 answers"),
        ("cdf age", "Perhaps 'ecdf' was meant"),
        ("x" * 10_000, "was not understood"),
    ],
)
def test_what_is_not_understood(text, words):
    """A refusal says what was not understood, in three sentences of a readable length."""
    with pytest.raises(flou.InvalidParameter) as refusal:
        parsed(text, SCHEMA)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 700


@given(st.text(max_size=60))
def test_nothing_else_is_raised(text):
    """Whatever is typed is a question, a condition, or refused."""
    for read in (lambda: parsed(text, SCHEMA), lambda: condition(text)):
        with contextlib.suppress(flou.InvalidParameter):
            read()


A, B, C = Comparison("a", ">=", 18), Comparison("b", "==", "x"), Comparison("c", "!=", True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a >= 18", A),
        ("a>=18", A),
        ("'a' >= 18.0", A),
        ("b = 'x'", B),
        ('b == "x"', B),
        ("c <> true", C),
        ("a >= 18 and b == 'x' or c != true", (A & B) | C),
        ("a >= 18 or b == 'x' and c != TRUE", A | (B & C)),
        ("(a >= 18 or b == 'x') and c != true", (A | B) & C),
        ("not a >= 18 and b == 'x'", ~A & B),
        ("NOT (a >= 18 AND b == 'x')", ~(A & B)),
        ("not not a >= 18", ~~A),
        ("a < -1.5e3", Comparison("a", "<", -1500)),
        ("a < .5", Comparison("a", "<", 0.5)),
        ("b == 'it''s'", Comparison("b", "==", "it's")),
        ("`net salary` > 300_000", Comparison("net salary", ">", 300_000)),
    ],
)
def test_conditions(text, wanted):
    """Conditions read as people read them: not before and, and before or."""
    assert condition(text) == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ends too early"),
        ("a", "a sign is expected after 'a'"),
        ("a >=", "a constant is expected"),
        ("a >= b", "'b' is neither a number nor a text in quotes"),
        ("18 <= a", "a column is expected in place of '18'"),
        ("a >= 18 and", "ends too early"),
        ("(a >= 18", "a parenthesis is not closed"),
        ("a >= 18)", "')' is not expected there"),
        ("a >= 18 < 65", "'<' is not expected there"),
        ("a == 'x", "a quote is not closed"),
        ("a == 1e999", "is too large"),
        ("(" * 5000, "more than 400 words"),
    ],
)
def test_conditions_that_are_not_understood(text, words):
    """A refusal says what was not understood, and the grammar in one line."""
    with pytest.raises(flou.InvalidParameter) as refusal:
        condition(text)
    assert words in str(refusal.value)
    assert "joined by and, or, not" in str(refusal.value)


def test_tokens_forget_nothing():
    """All letters but spaces are in some token."""
    assert "".join(token.text for token in tokens(" a<= 'b c' (10)x!")) == "a<=b c(10)x!"


@given(
    total=st.fractions(min_value="1/1000", max_value=10, max_denominator=10**6),
    weights=st.lists(st.integers(1, 1000), min_size=1, max_size=20),
)
def test_shares_add_up(total, weights):
    """The parts are in proportion to the weights, and their sum is the total, exactly."""
    parts = shares(total, len(weights), ",".join(map(str, weights)))
    assert sum(parts) == total
    assert [part * sum(weights) for part in parts] == [total * weight for weight in weights]
    assert sum(shares(total, 7)) == total


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), ("1e-2", Fraction(1, 100))]
)
def test_epsilon_is_exact(text, value):
    """Epsilon is the number that was typed."""
    assert epsilon_of("--epsilon", text) == value


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "1/0", "1e999999999", "1" * 400, "one", "1,5"])
def test_other_epsilons_are_refused(text):
    """What is no positive number of a usual size is refused at once."""
    with pytest.raises(flou.InvalidParameter):
        epsilon_of("--epsilon", text)


@pytest.mark.parametrize("split", ["", "1", "1,2,3", "1,x", "1,0", "1,-1", "1,,2"])
def test_other_splits_are_refused(split):
    """There is one positive weight for each question."""
    with pytest.raises(flou.InvalidParameter, match="--split must be 2 positive numbers"):
        shares(Fraction(1), 2, split)
