from __future__ import annotations

import math

import pytest

from flou.joint.estimators.fit import Fit, Provenance
from flou.joint.estimators.summary_table import SummaryTable, decimal


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (0.0, 4, "0.0000"),
        (15.06187, 4, "15.0619"),
        (-3482258.6, 4, "-3.482e+06"),
        (0.00001234, 3, "1.23e-05"),
        (9999.5, 3, "9999.500"),
        (10000.0, 3, "1e+04"),
        (math.nan, 3, "nan"),
        (math.inf, 3, "inf"),
        (-math.inf, 3, "-inf"),
    ],
)
def test_numbers_look_as_in_statsmodels(number, digits, text):
    assert decimal(number, digits) == text


def table(names=("Intercept", "x"), **more):
    rows = [
        [names[0], "1.5000", "0.100", "15.000", "0.000", "1.300", "1.700"],
        [names[1], "2.0000", "0.200", "10.000", "0.040", "1.600", "2.400"],
    ]
    heads = ("coef", "std err", "t", "P>|t|", "[0.025", "0.975]")
    return SummaryTable("Title", [("Model", "OLS"), ("n", "3")], [("R", "1")], heads, rows, **more)


def test_lines_are_as_wide_as_the_longest_name_needs():
    assert {len(line) for line in table().text().splitlines() if line[0] in "=-"} == {78}
    wide = table(("Intercept", "C(region)[T.north]:C(industry)[T.manufacturing]")).text()
    (width,) = {len(line) for line in wide.splitlines() if line[0] in "=-"}
    assert width > 78
    assert all(len(line) <= width for line in wide.splitlines())


def test_facts_of_unequal_number_stand_side_by_side():
    lines = table().text().splitlines()
    assert lines[2].split() == ["Model:", "OLS", "R:", "1"]
    assert lines[3].split() == ["n:", "3"]


def test_provenance_and_notes_come_last():
    names = tuple(f"party number {k}" for k in range(50))
    told = Fit(provenance=Provenance(names, 2, 10, "0" * 64, None))._provenance_facts(1000)
    text = table(provenance=told, notes=("one", "two")).text()
    assert "50 (party number 0, party number 1," in text
    assert "10 scalars (100.0 rows per scalar)" in text
    assert text.splitlines()[-2:] == ["[1] one", "[2] two"]
    assert max(map(len, text.splitlines())) == 78
    assert Fit()._provenance_facts(5) == []


def test_html_escapes_what_people_name():
    page = table(("<script>", "a & b"), notes=("<b>",)).html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert "<b>" not in page
