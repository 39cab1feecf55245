"""What a plan reads is one list: statistics get nothing else, and a condition cannot hide a column."""

from __future__ import annotations

import csv
import pathlib
import re

import numpy as np
import polars as pl
import pytest

import flou.joint
from flou.errors import InvalidData, InvalidParameter, ProtocolError
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.estimators.private.row_by_row import RowByRow
from flou.joint.estimators.program import ESTIMATORS
from flou.joint.session.party import PartySession
from flou.joint.simulation import simulated
from flou.summaries.array.rows import ArrayRows
from flou.summaries.condition import named
from joint.every_program import PROGRAMS, planned, table

NAMES = [program.estimator for program in PROGRAMS]


class Watched(ArrayRows):
    """Rows that note which of their columns are asked for."""

    seen: set[str]

    def values(self, columns):
        self.seen |= set(columns)
        return super().values(columns)

    def where(self, condition):
        self.seen |= set(named(condition))
        found = super().where(condition)
        found.__class__, found.seen = Watched, self.seen
        return found


def watched(seed, seen):
    rows = Watched(table(seed))
    rows.seen = seen
    return rows


def test_every_statistic_is_watched():
    """A statistic that is added without an example here is missed."""
    own = {name for name, module in ESTIMATORS.items() if module.startswith("flou.")}
    assert own == set(NAMES)


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_a_statistic_reads_what_its_plan_names(program):
    """From the first round to the last: the columns of the plan's reading, all of them and no others."""
    seen = set()
    where = "" if program.estimator == "vector sum" else "not (age > 75 or (age < 22 and id > 0))"
    outcome = simulated([watched(seed, seen) for seed in (1, 2, 3)], program, where=where)
    assert outcome.fit is not None
    reading = outcome.coordinator.plan.reading
    assert seen == set(reading.columns)
    assert set(reading.columns) == set(program.columns) | ({"age", "id"} if where else set())
    assert reading.computed == program.columns


class Greedy(VectorSum):
    """A sum that says that it reads one column, and reads another one."""

    estimator = "greedy"

    def words(self, ask, rows):
        return super().words(ask, rows) if not list(rows.batches(("id",))) else []


@pytest.mark.parametrize("where", ["", "id > 3"])
def test_a_statistic_that_reads_more_is_stopped(where):
    """Also where the column is read by the condition: parties agree to a comparison, not to a sum."""
    seen = set()
    with pytest.raises(ProtocolError, match="asks for the column 'id', which it does not list"):
        assert simulated([watched(1, seen)] * 3, Greedy("count", 60), where=where).fit
    assert seen == {"count"} | ({"id"} if where else set())


def test_a_forgotten_column_cannot_be_read(monkeypatch):
    """Clusters that a regression does not list: it stops, and does not read them in silence."""
    monkeypatch.setattr(LinearRegression, "columns", property(lambda self: self.design.columns))
    program = LinearRegression("y ~ x", covariance="cluster", cluster="k")
    with pytest.raises(KeyError):  # the batch does not hold it
        assert simulated([table(seed) for seed in (1, 2, 3)], program).fit
    monkeypatch.setattr(VectorSum, "columns", property(lambda _: ("x", "y")))
    with pytest.raises(ProtocolError, match="does not list"):
        list(PartyRows(table(), Reading(("x",))).batches(VectorSum("x", 3).columns))


def test_rows_read_one_by_one_obey_as_well():
    """Private statistics wrap the rows, and the wrapping gives no more than they do."""
    rows = RowByRow(PartyRows(table(), Reading(("x",), "age > 3")))
    assert [list(batch) for batch in rows.batches(("x",))] == [["x"]]
    for name in ("age", "id", "X", "x "):
        with pytest.raises(ProtocolError, match="does not list"):
            list(rows.batches(("x", name)))


@pytest.mark.parametrize(
    ("where", "columns"),
    [
        ("", ()),
        ("x > 3", ()),
        ("age > 3", ("age",)),
        ("Age > 3 and AGE < 9", ("Age", "AGE")),
        ("not (a > 1 or (`b c` == 'x' and not \"D\" != true)) and x < 3", ("a", "b c", "D")),
        ("'and' == 'or'", ("and",)),
        ("((((id == 417))))", ("id",)),
        ("a = 'b == 1 and c'", ("a",)),
        ("\u202eid > 3", ("\u202eid",)),
    ],
)
def test_columns_of_a_condition(where, columns):
    """Each column that is compared is read, as it is written, however deep it stands; constants are none."""
    assert Reading(("x",), where).columns == ("x", *columns)
    assert planned(VectorSum("x", 3), where=where).reading.columns == ("x", *columns)


@pytest.mark.parametrize("where", ["age >", "age > 3 and", "log(age) > 3", "3 < age", " ", "age > height", "x" * 4001])
def test_a_plan_with_a_condition_that_cannot_be_read_is_refused(where):
    """Before anybody signs it."""
    with pytest.raises(InvalidParameter):
        planned(VectorSum("x", 3), where=where)


@pytest.mark.parametrize("kind", ["mapping", "csv", "parquet", "lazy"])
def test_a_name_in_other_letters_is_another_column(kind, tmp_path):
    """Engines that take ID for id are not asked: what a policy lists is what is read, letter by letter."""
    data = {"x": np.arange(5.0), "id": np.arange(5.0)}
    source = data
    if kind == "csv":
        source = tmp_path / "rows.csv"
        with source.open("w", newline="") as file:
            csv.writer(file).writerows([tuple(data), *zip(*data.values(), strict=True)])
    elif kind == "parquet":
        source = tmp_path / "rows.parquet"
        pl.DataFrame(data).write_parquet(source)
    elif kind == "lazy":
        source = pl.LazyFrame(data)
    assert PartyRows(source, Reading(("x",), "id > 2")).count(("x",)) == 2
    for reading in (Reading(("x",), "ID > 2"), Reading(("X",))):
        with pytest.raises(InvalidData, match="There is no column"):
            PartyRows(source, reading).count(reading.computed)


def test_rows_of_another_plan_are_refused():
    """A party cannot sign one plan and have its rows read as another one says."""
    mine = planned(VectorSum("count", 60))
    identity = flou.joint.Identity.generate("north")
    mine = flou.joint.Plan(flou.joint.Roster({**mine.roster.keys, "north": identity.public}), mine.program)
    for rows in (
        planned(VectorSum("count", 60), where="id > 3").rows(table()),
        planned(VectorSum("id", 60)).rows(table()),
        PartyRows(table(), Reading(("count", "id"))),
    ):
        with pytest.raises(ProtocolError, match="opened for another plan"):
            PartySession(identity, mine, rows, flou.joint.Policy(rows_per_scalar=0))
    PartySession(identity, mine, mine.rows(table()), flou.joint.Policy(rows_per_scalar=0))


def test_rows_have_one_door():
    """One file of joint statistics knows engines at all: the rows, and the reading that they obey."""
    folder = pathlib.Path(flou.joint.__file__).parent
    known = {
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"flou(\.| import )summaries", path.read_text(encoding="utf-8"))
    }
    assert known == {"party_rows.py"}
