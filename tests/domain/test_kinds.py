"""Domains written as tables, and what is wrong with a table."""

from __future__ import annotations

import pytest

from flou.domain import Boolean, Categories, Integers, Interval, domain_from_dict
from flou.errors import InvalidParameter


@pytest.mark.parametrize(
    "domain",
    [Interval(0, 1), Integers(0, 9), Categories(["a"], other=False, missing="a"), Boolean()],
    ids=lambda domain: type(domain).__name__,
)
def test_unknown_key(refuses, domain):
    """A key that the type does not know is refused with the known ones and the closest."""
    table = domain.to_dict()
    refuses(lambda: domain_from_dict({**table, "misssing": 1}), "'misssing'", "Perhaps 'missing'", "known keys")
    refuses(lambda: domain_from_dict({**table, "zzz": 1}), "'zzz'", "Use a known one")
    refuses(lambda: domain_from_dict({**table, 5: 1}), "5")


@pytest.mark.parametrize(
    ("kind", "key"), [("interval", "bounds"), ("integers", "bounds"), ("categories", "values"), (None, "type")]
)
def test_missing_key(refuses, kind, key):
    """A key that is needed is asked for by name."""
    refuses(lambda: domain_from_dict({"type": kind} if kind else {}), repr(key), "known keys")


@pytest.mark.parametrize("kind", ["intervall", "float", "", 5, None, ["interval"]])
def test_unknown_type(refuses, kind):
    """An unknown type is refused with the known ones."""
    message = refuses(lambda: domain_from_dict({"type": kind}), "type", "interval, integers, categories, boolean")
    assert ("Perhaps 'interval' was meant" in message) == (kind == "intervall")


@pytest.mark.parametrize("kind", ["interval", "integers"])
@pytest.mark.parametrize("bounds", [5, "ab", [1], [1, 2, 3], None, {"lower": 0, "upper": 1}])
def test_bounds_must_be_a_pair(refuses, kind, bounds):
    """Bounds in a table are a list of two numbers."""
    refuses(lambda: domain_from_dict({"type": kind, "bounds": bounds}), "bounds")


@pytest.mark.parametrize("table", [5, None, "interval", ["type"]])
def test_a_domain_is_a_table(refuses, table):
    """A domain is described by a table."""
    refuses(lambda: domain_from_dict(table, "columns.age"), "columns.age", "table")


def test_where_is_named():
    """A refusal names the table in which it happened."""
    with pytest.raises(InvalidParameter, match=r"^In columns\.age: lower must be below upper"):
        domain_from_dict({"type": "integers", "bounds": [5, 1]}, "columns.age")
