"""flou schema: a template with nothing from the rows, refused until it is filled in."""

import tomllib

import duckdb
import pytest
from typer.testing import CliRunner

from cli.test_cli import plain, refused
from flou import InvalidParameter, Schema, cli
from flou.cli.template import filled_in, parsed_types, template

NAMES = ["pay", "age", "home town", 'quo"te', "since", "member"]
VALUES = ["77123.45", "83", "Zanzibar", "xyzzy", "2019-03-04", "true"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The same rows in two formats."""
    monkeypatch.chdir(tmp_path)
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    (tmp_path / "t.csv").write_text("\n".join([header] + [",".join(VALUES)] * 7919) + "\n")
    columns = """77123.45::DOUBLE AS pay, 83::INTEGER AS age, 'Zanzibar' AS "home town", 'xyzzy' AS "quo""te",
        DATE '2019-03-04' AS since, true AS member"""
    duckdb.sql(f"COPY (SELECT {columns} FROM range(7919)) TO 't.parquet'")
    return tmp_path


def invoke(*arguments):
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(cli.app, ["schema", *arguments])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_no_value_appears(folder, name):
    """Neither values nor their number are in the template, and it is the same for every table with these columns."""
    text = template(folder / name)
    for secret in ("77123", "83", "Zanzibar", "xyzzy", "2019", "7919"):
        assert secret not in text
    (folder / "t.csv").write_text((folder / "t.csv").read_text().splitlines()[0] + "\n")
    if name == "t.csv":
        assert template(folder / name) == text


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_it_is_toml_with_every_column(folder, name):
    """The template parses, names every column in order, and is refused kindly, naming the columns to fill in."""
    assert invoke(name, "--out", "s.toml").exit_code == 0
    tables = tomllib.loads((folder / "s.toml").read_text())
    assert list(tables["columns"]) == NAMES
    command = ["release", name, "--schema", "s.toml", "--ask", "count", "--epsilon", "1"]
    text = refused(CliRunner(env={"COLUMNS": "100"}).invoke(cli.app, command))
    assert "is still to be filled in (columns to fill in: pay, age, home town" in text


def test_csv_declares_nothing(folder):
    """Every column of a CSV file offers all four types, and chooses none."""
    tables = tomllib.loads(template(folder / "t.csv"))
    assert set(map(str, tables["columns"].values())) == {"{}"}
    assert template(folder / "t.csv").count('# type = "boolean"') == len(NAMES)


def test_parquet_declares_types(folder):
    """Declared types are used, and a date is left to people."""
    columns = tomllib.loads(template(folder / "t.parquet"))["columns"]
    kinds = {name: table.get("type") for name, table in columns.items()}
    expected = ["interval", "integers", "categories", "categories", None, "boolean"]
    assert kinds == dict(zip(NAMES, expected, strict=True))


@pytest.mark.usefixtures("folder")
def test_types():
    """Types that the user knows are written, and the rest is left open."""
    result = invoke("t.csv", "--types", "pay=interval, home town=categories", "--types", "member=boolean")
    columns = tomllib.loads(result.stdout)["columns"]
    assert [table.get("type") for table in columns.values()] == ["interval", None, "categories", None, None, "boolean"]


def test_filled_in(folder):
    """A template that somebody has filled in is a schema; the line todo alone keeps it from being one."""
    text = template(folder / "t.csv", dict.fromkeys(NAMES, "boolean"))
    (folder / "s.toml").write_text(text)
    with pytest.raises(InvalidParameter, match=r"is still to be filled in\. "):
        filled_in("s.toml")
    lines = [line for line in text.splitlines() if not line.startswith("todo")]
    (folder / "s.toml").write_text("\n".join(lines))
    assert list(filled_in("s.toml")) == NAMES


@pytest.mark.parametrize("kind", ["interval", "integers", "categories"])
def test_half_filled_in(folder, kind):
    """Without the line todo, an empty bound or list is refused all the same."""
    text = template(folder / "t.csv", dict.fromkeys(NAMES, kind))
    with pytest.raises(InvalidParameter, match=r"In columns\.pay"):
        Schema.from_text("\n".join(line for line in text.splitlines() if not line.startswith("todo")))


def test_a_filled_in_schema_is_kept(folder):
    """An existing file is never replaced."""
    (folder / "s.toml").write_text("mine")
    assert "--out must be a new file" in refused(invoke("t.csv", "--out", "s.toml"))
    assert (folder / "s.toml").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--types", "pay=interwal"], "Perhaps 'interval' was meant"),
        (["--types", "pay"], "--types must be pairs name=type"),
        (["--types", "pai=interval"], "Perhaps 'pay' was meant"),
        (["--out", "s.txt"], "--out must end in .toml"),
    ],
)
def test_refusals(folder, arguments, words):
    """Typing mistakes are refused in three sentences."""
    assert words in refused(invoke("t.csv", *arguments))
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv", "t.parquet"]


def test_names_with_an_equals_sign():
    """The type is what stands after the last sign."""
    assert parsed_types(["a=b=interval"]) == {"a=b": "interval"}


def test_help_teaches():
    """The help says why nothing is guessed, and has examples."""
    text = plain(CliRunner(env={"COLUMNS": "100"}).invoke(cli.app, ["schema", "--help"]).output)
    for words in ("a release without noise", "flou schema salaries.csv --out salaries.toml", "The four types"):
        assert words in text
