"""What is public about a table, and its file."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import math
import pickle
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.domain import Boolean, Categories, Integers, Interval, Schema
from flou.errors import InvalidParameter

# The example of the design document.
TEXT = """
[dataset]
name = "salaries"
relation = "add-remove"
unit = "employee_id"            # whose privacy; left out when every row is a person
max_rows_per_unit = 3
max_rows = 1_000_000_000        # for the overflow proof

[columns.salary]
type = "interval"
bounds = [0, 300_000]
granularity = 1                 # optional: pay comes in whole euros

[columns.department]
type = "categories"
values = ["care", "research", "administration"]
other = true                    # unknown values fall into "other"
"""

SALARIES = Schema(
    {
        "salary": Interval(0, 300_000, granularity=1),
        "department": Categories(["care", "research", "administration"]),
    },
    name="salaries",
    unit="employee_id",
    max_rows_per_unit=3,
    max_rows=10**9,
)

ALL = Schema(
    {
        "x": Interval(-1.5, 2.5, step=0.1, missing=0.25),
        "big": Interval(0, 1e300, cells=7),
        "small": Interval(1e-9, 2e-9),
        "age": Integers(-(2**62), 120, missing=0),
        "sex": Categories([1, 2, True], other=False, missing=True),
        'a "quoted".name\n\x7f\t é🙂': Categories(['"', "\\", "\n\r\t\x01\x7f", "é🙂", "", "'", "#"], other_label="?"),
        "yes": Boolean(missing=True),
    },
    relation="substitute",
)


def test_the_example_of_the_design():
    """The schema file of the design document means what it says."""
    assert Schema.from_text(TEXT) == SALARIES
    assert SALARIES["salary"].step == 1
    assert SALARIES.relation == "add-remove"


def test_defaults():
    """Without settings every row is a person, neighbours differ by one row, and the table is not endless."""
    schema = Schema({"age": Integers(0, 120)})
    assert (schema.name, schema.unit, schema.max_rows_per_unit, schema.max_rows) == (None, None, 1, 2**40)
    assert schema.relation == "add-remove"
    assert Schema.from_text('[columns.age]\ntype = "integers"\nbounds = [0, 120]') == schema


@pytest.mark.parametrize("schema", [SALARIES, ALL])
def test_round_trip(schema, tmp_path):
    """A schema survives its dictionary, its text, its file, pickling and copying."""
    path = tmp_path / "schema.toml"
    path.write_text(schema.to_toml(), encoding="utf-8")
    for again in (
        Schema.from_dict(schema.to_dict()),
        Schema.from_text(schema.to_toml()),
        Schema.from_toml(path),
        Schema.from_toml(str(path)),
        pickle.loads(pickle.dumps(schema)),
        copy.deepcopy(schema),
        dataclasses.replace(schema),
    ):
        assert again == schema
        assert again.hash == schema.hash
        assert hash(again) == hash(schema)
        assert again.to_dict() == schema.to_dict()
        assert list(again) == list(schema)
        assert all(again[name] == schema[name] for name in schema)


def test_text_is_for_people():
    """The text of a schema is what a person would write, with every choice in it."""
    assert (
        SALARIES.to_toml()
        == """\
[dataset]
name = "salaries"
relation = "add-remove"
unit = "employee_id"
max_rows_per_unit = 3
max_rows = 1000000000

[columns.salary]
type = "interval"
bounds = [0, 300000]
granularity = 1
cells = 300000
missing = 150000

[columns.department]
type = "categories"
values = ["care", "research", "administration"]
other = true
other_label = "other"
"""
    )


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
number = st.floats(-1e15, 1e15, allow_nan=False, allow_subnormal=False)


@given(text.filter(bool), st.lists(text, min_size=1, unique=True), number, number, st.integers(1, 2**40))
def test_any_text_and_number_round_trips(name, values, one, two, cells):
    """Every text and every number comes back from the file as it was."""
    columns = {name: Categories(values, other=False, missing=values[0])}
    with contextlib.suppress(InvalidParameter):  # bounds too close for so many cells
        columns["x" + name] = Interval(min(one, two), max(one, two), cells=cells)
    schema = Schema(columns, name=name)
    again = Schema.from_text(schema.to_toml())
    assert again.to_dict() == schema.to_dict() == tomllib.loads(schema.to_toml())
    assert dict(again.columns) == columns


def test_hash_is_pinned():
    """The hash of a schema is the same on every machine and in every version: it is written on certificates."""
    canonical = (
        '{"columns":{"department":{"other":true,"other_label":"other","type":"categories",'
        '"values":["care","research","administration"]},"salary":{"bounds":[0,300000],"cells":300000,'
        '"granularity":1,"missing":150000,"type":"interval"}},"dataset":{"max_rows":1000000000,'
        '"max_rows_per_unit":3,"name":"salaries","relation":"add-remove","unit":"employee_id"}}'
    )
    assert SALARIES.hash == hashlib.sha256(canonical.encode()).hexdigest()
    assert SALARIES.hash == "a905b95cced098f21509128d74854ae3d3bff9a816d23b101cb696eb8d53f6d4"
    assert ALL.hash == "dcce9714fcdd2c306a0c87e2b58d5236562bf51b772b172ffe4ec243b76dc563"


def test_hash_means_the_same():
    """The order of columns and the way numbers were written do not matter, everything else does."""
    a, b = Interval(0, 100, cells=100), Boolean()
    schema = Schema({"a": a, "b": b})
    assert schema.hash == Schema({"b": Boolean(), "a": Interval(0.0, 100.0, step=1)}).hash
    others = [
        Schema({"a": a}),
        Schema({"a": a, "c": b}),
        Schema({"a": Interval(0, 100, cells=99), "b": b}),
        Schema({"a": Interval(0, 100, cells=100, granularity=1), "b": b}),
        Schema({"a": Interval(0, 100, cells=100, missing=0), "b": b}),
        Schema({"a": a, "b": Boolean(missing=True)}),
        Schema({"a": a, "b": b}, name="x"),
        Schema({"a": a, "b": b}, relation="substitute"),
        Schema({"a": a, "b": b}, max_rows=5),
        Schema({"a": a, "b": b}, unit="u", max_rows_per_unit=1),
        Schema({"a": a, "b": b}, unit="u", max_rows_per_unit=2),
        Schema({"a": a, "b": Categories([1, 0])}),
        Schema({"a": a, "b": Categories([True, False])}),
        Schema({"a": a, "b": Categories(["1", "0"])}),
    ]
    assert len({schema.hash, *(other.hash for other in others)}) == len(others) + 1
    assert all(schema != other for other in others)
    assert schema != {"a": a, "b": b}


def test_of(tmp_path):
    """A schema is made of itself, of a dictionary of domains, or of a file."""
    path = tmp_path / "schema.toml"
    path.write_text(TEXT)
    assert Schema.of(SALARIES) is SALARIES
    assert Schema.of(path) == Schema.of(str(path)) == SALARIES
    assert Schema.of({"age": Integers(0, 120)}) == Schema({"age": Integers(0, 120)})


def test_byte_order_mark(tmp_path):
    """A file that begins with a byte-order mark is read like any other."""
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert Schema.from_toml(path) == SALARIES


def test_frozen():
    """Neither the schema nor its columns can be changed, not even through the dictionary they came from."""
    columns = {"age": Integers(0, 120)}
    schema = Schema(columns)
    columns["more"] = Boolean()
    assert list(schema.columns) == ["age"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        schema.unit = "x"
    with pytest.raises(TypeError):
        schema.columns["age"] = Boolean()


def test_lookup(refuses):
    """A column is found by its name, and an unknown one is refused with the closest."""
    assert SALARIES["salary"] == Interval(0, 300_000, granularity=1)
    assert "salary" in SALARIES
    assert "bonus" not in SALARIES
    assert [1] not in SALARIES
    assert list(SALARIES) == ["salary", "department"]
    assert len(SALARIES) == 2
    refuses(lambda: SALARIES["salry"], "'salry'", "Perhaps 'salary'", "department")
    refuses(lambda: SALARIES["zzz"], "'zzz'", "Use a known one")
    refuses(lambda: SALARIES[["salary"]], "column")


@pytest.mark.parametrize("columns", [{}, None, [], "age", 5, [("age", Integers(0, 1))]])
def test_columns_must_be_a_mapping(refuses, columns):
    """Columns are a mapping with at least one name."""
    refuses(lambda: Schema(columns), "columns")


@pytest.mark.parametrize("domain", [None, (0, 100), Interval, {"type": "boolean"}, "interval", np.arange(3)])
def test_columns_must_be_domains(refuses, domain):
    """Every column has a domain."""
    refuses(lambda: Schema({"age": domain}), "columns", "'age'", "Interval")


@pytest.mark.parametrize("name", ["", 5, None, "a\0", "\ud800", b"a"])
def test_names_must_be_texts(refuses, name):
    """Names of columns, of the unit and of the data set are texts."""
    refuses(lambda: Schema({name: Boolean()}), "columns")
    if name is not None:
        refuses(lambda: Schema({"a": Boolean()}, name=name), "name")
        refuses(lambda: Schema({"a": Boolean()}, unit=name, max_rows_per_unit=1), "unit")


@pytest.mark.parametrize("relation", ["swap", "Add-Remove", None, 1])
def test_relation_must_be_known(refuses, relation):
    """The relation is one of two words."""
    refuses(lambda: Schema({"a": Boolean()}, relation=relation), "relation", "add-remove", "substitute")


@pytest.mark.parametrize("bad", [0, -1, 1.0, math.nan, "3", True, 2**53 + 1, 10**400])
def test_row_limits_must_be_counts(refuses, bad):
    """Both limits on rows are positive whole numbers."""
    refuses(lambda: Schema({"a": Boolean()}, max_rows=bad), "max_rows")
    refuses(lambda: Schema({"a": Boolean()}, unit="u", max_rows_per_unit=bad), "max_rows_per_unit")


def test_a_unit_needs_its_limit(refuses):
    """A unit column needs the number of rows a unit may have, and that number needs a unit column."""
    refuses(lambda: Schema({"a": Boolean()}, unit="u"), "max_rows_per_unit must be given when unit is 'u'")
    refuses(lambda: Schema({"a": Boolean()}, max_rows_per_unit=3), "max_rows_per_unit", "unit")
    refuses(lambda: Schema({"a": Boolean()}, unit="u", max_rows_per_unit=11, max_rows=10), "max_rows_per_unit")
    assert Schema({"a": Boolean()}, max_rows_per_unit=1) == Schema({"a": Boolean()})
    for bad in ("3", True, 1.0):
        if bad != 1:
            refuses(lambda value=bad: Schema({"a": Boolean()}, max_rows_per_unit=value), "max_rows_per_unit")
