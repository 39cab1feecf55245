"""Schema files that cannot be right."""

from __future__ import annotations

import pytest

from flou.domain import Boolean, Schema

COLUMN = '[columns.age]\ntype = "integers"\nbounds = [0, 120]\n'


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (COLUMN + "[datset]\nname = 'x'", ["schema", "'datset'", "Perhaps 'dataset'", "columns, dataset"]),
        (COLUMN + "[dataset]\nnmae = 'x'", ["dataset", "'nmae'", "Perhaps 'name'", "max_rows_per_unit"]),
        (COLUMN + "[dataset]\nmax_row = 5", ["dataset", "'max_row'", "Perhaps 'max_rows'"]),
        (COLUMN + "bound = 3", ["columns.age", "'bound'", "Perhaps 'bounds'", "known keys"]),
        ("dataset = 5\n" + COLUMN, ["dataset", "table"]),
        ("[dataset]\nname = 'x'", ["'columns'"]),
        ("", ["'columns'"]),
        ("[columns]", ["columns"]),
        ("columns = 5", ["columns", "table"]),
        ("[columns]\nage = 5", ["columns.age", "table"]),
        ("[columns.age]\nbounds = [0, 1]", ["columns.age", "'type'", "bounds"]),
        ("[columns.age]\ntype = 'integer'\nbounds = [0, 1]", ["columns.age", "Perhaps 'integers'"]),
        ("[columns.age]\ntype = 'interval'", ["columns.age", "'bounds'"]),
        ("[columns.age]\ntype = 'interval'\nbounds = [nan, 1]", ["columns.age", "lower"]),
        ("[columns.age]\ntype = 'interval'\nbounds = [0, inf]", ["columns.age", "upper"]),
        ("[columns.age]\ntype = 'interval'\nbounds = [1979-05-27, 1]", ["columns.age", "lower", "date"]),
        ("[columns.age]\ntype = 'interval'\nbounds = [0, 1]\ncells = 0", ["columns.age", "cells"]),
        ("[columns.age]\ntype = 'categories'\nvalues = []", ["columns.age", "values"]),
        ("[columns.age]\ntype = 'categories'\nvalues = [0.5]", ["columns.age", "values"]),
        ("[columns.age]\ntype = 'boolean'\nmissing = 0", ["columns.age", "missing"]),
        (COLUMN + "[dataset]\nunit = 'id'", ["max_rows_per_unit"]),
        (COLUMN + "[dataset]\nrelation = 'swap'", ["relation"]),
        ("[columns.age\nx = 1", ["TOML", "at line 1"]),
        ("x = ", ["TOML", "at end of document"]),
        ("\n\nx == 1", ["TOML", "at line 3"]),
        (COLUMN + COLUMN, ["TOML"]),
        ("x = " + "9" * 5000, ["TOML"]),
        ("x = " + "[" * 100_000, ["TOML"]),
    ],
    ids=lambda value: value[-30:] if isinstance(value, str) else "",
)
def test_broken_files(refuses, broken, words):
    """Whatever is wrong in a file is named, with what could have been meant."""
    refuses(lambda: Schema.from_text(broken), *words)


def test_broken_dictionaries(refuses):
    """Names and keys that no file could hold are refused as well."""
    refuses(lambda: Schema.from_dict({"columns": {5: {"type": "boolean"}}}), "columns")
    refuses(lambda: Schema.from_dict({"columns": {"a": {"type": "boolean"}}, 5: {}}), "5")
    refuses(lambda: Schema.from_dict([]), "schema", "table")
    refuses(lambda: Schema.from_dict({"columns": {"a": Boolean()}}), "columns.a", "table")


def test_unreadable_files(refuses, tmp_path):
    """A file that is missing, a folder, or not in UTF-8 is refused by its name."""
    latin = tmp_path / "latin.toml"
    latin.write_bytes(COLUMN.encode() + b"# \xe9")
    refuses(lambda: Schema.from_toml(latin), "path", "UTF-8")
    refuses(lambda: Schema.from_toml("no-such-file.toml"), "path", "'no-such-file.toml'")
    refuses(lambda: Schema.from_toml(tmp_path), "path")
    refuses(lambda: Schema.from_toml("a\0b"), "path")
    refuses(lambda: Schema.from_toml(5), "path")
    refuses(lambda: Schema.of(5), "columns")
    refuses(lambda: Schema.from_text(COLUMN.encode()), "text")
    refuses(lambda: Schema.from_text(None), "text")
