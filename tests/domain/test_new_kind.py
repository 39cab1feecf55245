"""A new kind of column is one class: every statistic and every engine takes it from what it says about itself.

The two kinds of this file are made of nothing but ``flou.domain``. One codes numbers, one codes texts.
"""

from __future__ import annotations

import ast
import pathlib
from dataclasses import dataclass
from typing import ClassVar

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import flou
from flou.cli.template import template
from flou.domain import Domain, kinds
from flou.domain.column import checked_codes
from flou.domain.even_numbers import EvenNumbers
from flou.domain.lookup import Lookup
from flou.local.tables.sanitised_file import written

SURE = 10**4  # an epsilon that leaves no noise to speak of


@dataclass(frozen=True)
class ClockTime(EvenNumbers):
    """A time of day in quarters of an hour, stored as hours after midnight: 8.3 falls into the quarter from 08:15."""

    kind: ClassVar[str] = "clock time"
    about: ClassVar[str] = "a time of day"
    lines: ClassVar[str] = "missing = 12                    # what a missing time counts as\n"
    bounds: ClassVar[tuple[float, float]] = (0.0, 23.75)

    missing: float = 12.0

    @property
    def rule(self):
        return flou.Interval(0, 24, step=0.25, missing=self.missing).rule

    def decode(self, codes):
        return checked_codes(codes, self.size) / 4

    def printed(self, values):
        return tuple(f"{int(hours):02d}:{round(hours % 1 * 60):02d}" for hours in values.tolist())

    def named(self, codes):
        return self.printed(self.decode(codes))

    def to_dict(self):
        return {"type": self.kind, "missing": self.missing}

    @classmethod
    def from_dict(cls, table):
        return cls(table["missing"])


@dataclass(frozen=True)
class BloodGroup(Domain):
    """One of four blood groups; everything else is unknown."""

    kind: ClassVar[str] = "blood groups"
    rule: ClassVar[Lookup] = Lookup(("0", "A", "B", "AB"), 5, 4)

    def decode(self, codes):
        return np.array([*self.rule.values, "unknown"], dtype=object)[checked_codes(codes, 5)]

    def to_dict(self):
        return {"type": self.kind}

    @classmethod
    def from_dict(cls, table):  # noqa: ARG003  there is nothing to be told
        return cls()


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """The line in the registry."""
    monkeypatch.setitem(kinds.KINDS, ClockTime.kind, ClockTime)
    monkeypatch.setitem(kinds.KINDS, BloodGroup.kind, BloodGroup)


SCHEMA = {"at": ClockTime(), "group": BloodGroup(), "x": flou.Interval(0, 10), "yes": flou.Boolean()}
generator = np.random.default_rng(20261118)
HOURS = np.concatenate([generator.normal(9, 2, 700), [8.25, 8.4999, 8.5, -3, 40, np.nan]])
COUNT = HOURS.size
GROUPS = generator.choice(["0", "A", "B", "AB", "AB-", None], COUNT)
FRAME = pd.DataFrame({"at": HOURS, "group": GROUPS, "x": HOURS / 3, "yes": HOURS > 9})
TIMES = np.where(np.isnan(HOURS), 12.0, np.clip(np.floor(HOURS * 4) / 4, 0, 23.75))
NAMES = np.where(pd.Series(GROUPS).isin(["0", "A", "B", "AB"]), GROUPS, "unknown")

SOURCES = {
    "arrays": lambda: {name: FRAME[name].to_numpy() for name in FRAME},
    "lists": lambda: {name: FRAME[name].tolist() for name in FRAME},
    "pandas": lambda: FRAME,
    "polars": lambda: pl.from_pandas(FRAME),
    "lazy polars": lambda: pl.from_pandas(FRAME).lazy(),
    "arrow": lambda: pl.from_pandas(FRAME).to_arrow(),
    "duckdb": lambda: duckdb.sql("SELECT * FROM FRAME"),
}


@pytest.fixture(params=SOURCES)
def table(request):
    """A table that has both kinds, on each engine."""
    return flou.open(SOURCES[request.param](), schema=SCHEMA)


def test_moments(table):
    """Sums, means and spreads are those of the times themselves, without rounding."""
    assert table.count(epsilon=SURE).value == COUNT
    assert table.sum("at", epsilon=SURE).value == pytest.approx(TIMES.sum(), abs=0.1)
    assert table.mean("at", epsilon=SURE).value == pytest.approx(TIMES.mean(), abs=1e-3)
    assert table.variance("at", epsilon=SURE).value == pytest.approx(TIMES.var(ddof=1), rel=1e-3)
    assert table.std("at", epsilon=SURE).value == pytest.approx(TIMES.std(ddof=1), rel=1e-3)


def test_counts(table):
    """Histograms and modes speak of times, one by one and in bins."""
    every = table.histogram("at", epsilon=SURE)
    assert every.labels[:3] == ("00:00", "00:15", "00:30")
    assert every.value.tolist() == np.bincount((TIMES * 4).astype(int), minlength=96).tolist()
    hours = table.histogram("at", bins=24, epsilon=SURE)
    assert hours.labels[8] == "08:00 to 08:45"
    assert hours.value.tolist() == np.bincount(TIMES.astype(int), minlength=24).tolist()
    assert table.mode("at", epsilon=SURE).value == every.labels[int(np.argmax(every.value))]
    assert len(table.top_k("at", 3, epsilon=SURE).value) == 3


def test_quantiles(table):
    """Quantiles are possible times, and the distribution function is named by them."""
    quartiles = table.quantiles("at", [0.25, 0.5, 0.75], epsilon=SURE).value
    assert quartiles.tolist() == np.quantile(TIMES, [0.25, 0.5, 0.75], method="inverted_cdf").tolist()
    assert table.iqr("at", epsilon=SURE).value == quartiles[2] - quartiles[0]
    function = table.ecdf("at", epsilon=SURE)
    assert function.labels[34] == "08:30"
    assert function.value[34] == pytest.approx(np.mean(TIMES <= 8.5), abs=1e-6)


def test_density_and_matrices(table):
    """A density has times below it; correlations and regressions take the column as numbers."""
    density = table.density("at", epsilon=SURE)
    assert density.labels[0].startswith("00:")
    assert np.argmax(density.value) == pytest.approx(9 / 24 * 65, abs=3)
    x = np.clip(np.nan_to_num(HOURS / 3, nan=5), 0, 10)
    expected = np.corrcoef(TIMES, x)[0, 1]
    assert table.correlation("at", "x", epsilon=SURE).value == pytest.approx(expected, abs=0.01)
    slope = np.polyfit(TIMES, x, 1)[0]
    assert table.regression("x", "at", epsilon=SURE).value[-1] == pytest.approx(slope, rel=0.05)


def test_groups_and_conditions(table):
    """Both kinds can be grouped by and be asked about within groups, and rows are chosen by what they hold."""
    by_time = table.group_by("at").count(epsilon=SURE)
    assert by_time.labels[33] == "08:15"
    assert by_time.value[33] == np.sum(TIMES == 8.25)
    means = table.group_by("group").mean("at", epsilon=SURE)
    assert means.labels == ("0", "A", "B", "AB", "unknown")
    assert means.value == pytest.approx([TIMES[name == NAMES].mean() for name in means.labels], abs=0.01)
    table.group_by("group").quantiles("at", [0.5], epsilon=SURE)
    table.group_by("group").ecdf("at", epsilon=SURE)
    early = table.where((flou.column("at") < 8) & (flou.column("group") == "A"))
    assert early.count(epsilon=SURE).value == np.sum((HOURS < 8) & (GROUPS == "A"))


def test_labels(table):
    """What holds texts has a histogram and a mode, and is refused where numbers are needed, by its own name."""
    shares = table.histogram("group", epsilon=SURE)
    assert dict(zip(shares.labels, shares.value, strict=True)) == {
        name: np.sum(name == NAMES) for name in ("0", "A", "B", "AB", "unknown")
    }
    assert table.mode("group", epsilon=SURE).value == shares.labels[int(np.argmax(shares.value))]
    for ask, lacking in (
        (table.sum, "sum"),
        (table.mean, "sum"),
        (table.variance, "variance"),
        (table.median, "order"),
        (table.ecdf, "order"),
    ):
        with pytest.raises(flou.InvalidParameter, match=f"Column 'group' holds blood groups, which have no {lacking}"):
            ask("group", epsilon=1)
    with pytest.raises(flou.InvalidParameter, match="cannot be cut into bins"):
        table.histogram("group", bins=2, epsilon=1)


def test_short_calls_and_texts(tmp_path):
    """A kind that a schema file names is read from it, and the short calls take the domain as it is."""
    schema = flou.Schema(SCHEMA)
    assert flou.Schema.from_text(schema.to_toml()) == schema
    assert flou.mean(HOURS, domain=ClockTime(), epsilon=SURE).value == pytest.approx(TIMES.mean(), abs=1e-3)
    assert flou.median(HOURS, domain=ClockTime(), epsilon=SURE).value == np.quantile(TIMES, 0.5, method="inverted_cdf")
    (tmp_path / "t.csv").write_text("at,group\n8.3,A\n")
    assert '# type = "clock time"           # a time of day' in template(tmp_path / "t.csv")
    assert "missing = 12" in template(tmp_path / "t.csv", {"at": "clock time"})
    rows = flou.open(tmp_path / "t.csv", schema={"at": ClockTime(), "group": BloodGroup()})
    assert rows.mean("at", epsilon=SURE).value == pytest.approx(8.25, abs=0.1)


def test_other_rooms(tmp_path):
    """Local and joint statistics take the new kinds too."""
    schema = {"at": ClockTime(), "group": BloodGroup()}
    table = flou.local.sanitise(FRAME[["at", "group"]], schema=schema, epsilon=SURE).table
    assert np.mean(np.abs(np.asarray(table["at"]) - TIMES)) < 0.2
    assert np.mean(np.asarray(table["group"]) == NAMES) > 0.99
    shares = flou.local.frequencies(BloodGroup(), epsilon=SURE)
    found = shares.estimate(shares.randomise(GROUPS.tolist()))
    assert found.labels == ("0", "A", "B", "AB", "unknown")
    mean = flou.local.mean_of(ClockTime(), epsilon=SURE)
    assert mean.estimate(mean.randomise(HOURS)).value == pytest.approx(TIMES.mean(), abs=0.1)
    with written(tmp_path / "t.parquet", schema) as take:
        take({"at": np.array([33]), "group": np.array([1])})
    assert duckdb.read_parquet(str(tmp_path / "t.parquet")).fetchall() == [(8.25, "A")]
    parties = [FRAME.iloc[part::3].assign(at=TIMES[part::3], x=1.0, group=NAMES[part::3]) for part in range(3)]
    found = flou.joint.simulate(parties, flou.joint.Quantiles("at", [0.5], schema=SCHEMA))
    assert found.values[0] == np.quantile(TIMES, 0.5, method="inverted_cdf")
    assert flou.joint.simulate(parties, formula="at ~ group", schema=SCHEMA).params.size == 5


DOMAINS = {"Interval", "Integers", "Categories", "Boolean", "EvenNumbers", "Runs"}
ROOT = pathlib.Path(flou.__file__).parent

ALLOWED: dict[str, str] = {}  # files that may ask, and why


def asked_kinds(path):
    """The classes of ``flou.domain`` that a file compares something with, by ``isinstance`` or by a pattern."""
    tree = list(ast.walk(ast.parse(path.read_text())))
    named = {
        alias.asname or alias.name: alias.name
        for node in tree
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flou.domain")
        for alias in node.names
    }
    calls = [node for node in tree if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    tests = [node.args[1] for node in calls if node.func.id in ("isinstance", "issubclass")]
    tests += [node.cls for node in tree if isinstance(node, ast.MatchClass)]
    found = {node.id for test in tests for node in ast.walk(test) if isinstance(node, ast.Name)}
    return {named[name] for name in found & set(named)} & DOMAINS


def test_nobody_asks_which_kind_it_is(tmp_path):
    """Outside of ``domain/``, no code takes a domain apart by its class, but for the exceptions above."""
    asking = {path for path in ROOT.rglob("*.py") if asked_kinds(path)}
    assert {str(p.relative_to(ROOT)) for p in asking if not p.is_relative_to(ROOT / "domain")} == set(ALLOWED)
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from flou.domain import Integers as I, Domain\nisinstance(x, str | I)\nisinstance(x, Domain)\n")
    assert asked_kinds(wrong) == {"Integers"}
