"""flou release, end to end: real files in; a table, JSON and a page out; and how it refuses."""

import json
import re
import subprocess
import sysconfig
import tomllib
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.test_cli import plain, refused
from flou import Schema, ask, cli, report
from flou.bits import SeededBits
from flou.guarantee import ApproxDP, PureDP, guarantee_from_dict
from flou.release import Certificate, verify_chain
from release.test_release import Balanced, without_infinity

SCRIPT = "<script>alert(1)</script>"
SCHEMA = f"""
[dataset]
name = "salaries"

[columns."net salary"]
type = "interval"
bounds = [0, 300_000]

[columns.age]
type = "integers"
bounds = [0, 100]

[columns.department]
type = "categories"
values = ["care", "{SCRIPT}", "a & b"]

[columns.member]
type = "boolean"
"""
ASKS = [
    "count",
    "mean 'net salary'",
    "sum 'net salary'",
    "histogram age",
    'mean "net salary" by department',
    "mode age",
]
SECRET = "31337.42"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, in two formats, and its schema."""
    here = tmp_path_factory.mktemp("release")
    draw = np.random.default_rng(2)
    departments = draw.choice(["care", SCRIPT, "a & b"], 3000)
    salaries = [SECRET, *(f"{x:.2f}" for x in draw.gamma(4, 11_000, 2999))]
    ages, members = draw.integers(18, 67, 3000), draw.choice(["true", "false"], 3000)
    lines = [f"{s},{a},{d},{m}" for s, a, d, m in zip(salaries, ages, departments, members, strict=True)]
    (here / "salaries.csv").write_text("\n".join(["net salary,age,department,member", *lines]) + "\n")
    (here / "salaries.toml").write_text(SCHEMA)
    return here


@pytest.fixture
def run(folder, monkeypatch):
    """Runs the command in that folder."""
    monkeypatch.chdir(folder)
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})

    def call(*arguments, schema="salaries.toml", data="salaries.csv"):
        return runner.invoke(cli.app, ["release", data, "--schema", schema, *arguments])

    return call


def asking(*asks):
    return [word for text in asks for word in ("--ask", text)]


@pytest.fixture(scope="module")
def answers(folder):
    return ask.ask_file(
        folder / "salaries.csv",
        schema=Schema.from_text(SCHEMA),
        asks=[*ASKS, "histogram 'net salary' 50"],
        epsilon="1",
        where="age >= 18 and not department == '<nobody>'",
        bits=SeededBits(1),
    )


def test_end_to_end(run, folder):
    """Everything asked is printed with its cost, and JSON and page are written; no raw value appears anywhere."""
    out = ["--epsilon", "1", "--split", "1,2,2,1,3,1", "--json", "out.json", "--html", "out.html"]
    result = run(*asking(*ASKS), *out)
    assert (result.exit_code, result.stderr) == (0, "")
    text = plain(result.stdout)
    for words in ("salaries", "mean 'net salary' by department", SCRIPT, "these rows", "population", "0.2", "0.3"):
        assert words in text
    assert f"epsilon = 1 in total for each row (add-remove), proved. {PureDP(1).in_words()}" in text
    tree = json.loads((folder / "out.json").read_text())
    costs = [Fraction(answer["cost"]["exact_epsilon"]) for answer in tree["answers"]]
    assert costs == [Fraction(w, 10) for w in (1, 2, 2, 1, 3, 1)]
    assert guarantee_from_dict(tree["cost"]) == PureDP(1)
    assert [answer["question"] for answer in tree["answers"]][4] == "mean 'net salary' by department"
    verify_chain([Certificate(answer["certificate"]) for answer in tree["answers"]])
    page = (folder / "out.html").read_text()
    assert SECRET not in page + result.output + (folder / "out.json").read_text()


def test_json_says_what_the_releases_say(answers):
    """Values and intervals of the JSON are those of the releases."""
    tree = json.loads(answers.to_json())
    for answer, told in zip(answers, tree["answers"], strict=True):
        assert told["value"] == (np.asarray(answer.release.value).tolist())
        for of in ("data", "population"):
            assert told["interval_95"][of] == [without_infinity(end) for end in answer.release.interval(of=of)]


def test_answers_are_right(answers):
    """The intervals hold the truth of the made-up table, for the seed that was taken first."""
    count = answers.answers[0].release
    low, high = count.interval(1 - 1e-9)
    assert low <= 3000 <= high


def test_page(answers):
    """The page is well formed, needs no network, draws every number with title and description, and escapes labels."""
    text = report.page(answers)
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert not {"script", "link", "img", "iframe", "object"} & parser.tags
    assert not re.search(r"https?:|//|\bsrc=|href=|url\(|@import|javascript|\bon[a-z]+=", text)
    assert SCRIPT not in text
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text
    assert answers.cost.in_words() in text
    for answer in answers:
        assert answer.release.certificate.hash in text
    drawings = [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    assert len(drawings) == 12  # all but the mode, for wide pages and for narrow ones
    for drawing in drawings:
        title, description = drawing.find("title"), drawing.find("desc")
        assert title.text
        assert description.text
        assert drawing.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    names = [element.get("id") for drawing in drawings for element in drawing.iter() if element.get("id")]
    assert len(names) == len(set(names))


def test_a_page_shows_the_intervals(answers):
    """Each number of the page's tables is that of its release."""
    text = report.page(answers)
    mean = answers.answers[1].release
    from flou.release.entries import entries

    (line,) = entries(mean)
    assert f'<p class="big">{line.text}</p>' in text
    assert line.between(line.data).replace(" to ", " and ") in text


def test_where(run, folder):
    """Only rows for which the condition holds are counted."""
    truth = sum(int(line.split(",")[1]) >= 40 for line in (folder / "salaries.csv").read_text().splitlines()[1:])
    result = run("--ask", "count", "--epsilon", "1000", "--where", "age >= 40", "--json", "w.json")
    assert "rows where age >= 40" in plain(result.stdout)
    tree = json.loads((folder / "w.json").read_text())
    assert tree["where"] == "age >= 40"
    assert tree["answers"][0]["value"] == truth


def test_method_of_quantiles(run, folder):
    """It is asked for once, and holds for all quantiles of the call; means have none."""
    asks = ("--ask", "quantiles 'net salary' 0.1 0.5", "--ask", "iqr 'net salary'", "--ask", "mean age")
    result = run(*asks, "--epsilon", "3", "--method", "focused", "--json", "m.json")
    assert result.exit_code == 0
    answers = json.loads((folder / "m.json").read_text())["answers"]
    assert [one["certificate"]["mechanism"]["name"] for one in answers[:2]] == ["quantiles, focused"] * 2
    assert answers[0]["certificate"]["mechanism"]["probabilities"] == [0.1, 0.5]


def test_budget(run):
    """A call that exceeds the budget is refused before anything is read, and one that fits is answered."""
    assert "requested epsilon 1, remaining epsilon 0.5" in refused(
        run("--ask", "count", "--epsilon", "1", "--budget", ".5")
    )
    assert run("--ask", "count", "--epsilon", "1/2", "--budget", "0.5").exit_code == 0


@pytest.fixture(scope="module")
def undeclared(folder):
    """The same schema without the departments."""
    start, end = SCHEMA.index("[columns.department]"), SCHEMA.index("[columns.member]")
    (folder / "undeclared.toml").write_text(SCHEMA[:start] + SCHEMA[end:])
    return "undeclared.toml"


def test_groups_that_are_not_public(run, folder, undeclared):
    """Keys are selected first, paid for once, and are the groups of all questions about them."""
    asks = asking("mean 'net salary' by department", "keys department", "histogram age by department", "count")
    price = ["--epsilon", "2", "--delta", "1e-6", "--split", "1,2,1,1", "--json", "keys.json", "--html", "keys.html"]
    result = run(*asks, *price, schema=undeclared)
    assert (result.exit_code, result.stderr) == (0, "")
    tree = json.loads((folder / "keys.json").read_text())
    assert guarantee_from_dict(tree["cost"]) == ApproxDP(2, 1e-6)
    names = {"care", SCRIPT, "a & b"}
    first, mean, ages, _ = tree["answers"]
    assert first["question"] == "keys department"
    assert Fraction(first["cost"]["exact_epsilon"]) == Fraction(4, 5)
    assert set(first["labels"]) == set(mean["labels"]) == names
    assert len(ages["labels"]) == 3 * 101
    assert mean["certificate"]["keys"]["group_keys"] == "selected"
    verify_chain([Certificate(answer["certificate"]) for answer in tree["answers"]])
    assert SECRET not in result.output + (folder / "keys.html").read_text() + (folder / "keys.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ask", "mean age by department"], "The groups of 'department' are not public"),
        (["--ask", "keys department"], "--delta must be given exactly when a question asks for keys"),
        (["--ask", "count", "--delta", "1e-8"], "--delta must be given exactly when a question asks for keys"),
        (["--ask", "keys department", "--delta", "2"], "delta"),
        (["--ask", "keys nothing", "--delta", "1e-8"], "There is no column 'nothing'"),
        (["--ask", "keys department", "--delta", "1e-8", "--budget", "0.5"], "remaining epsilon 0.5"),
        ([*asking("keys department", "keys department"), "--delta", "1e-8"], "each column is asked for its keys once"),
    ],
)
def test_refusals_about_keys(run, undeclared, arguments, words):
    """Groups that are not public cost a delta, and a delta buys nothing else."""
    assert words in refused(run(*arguments, "--epsilon", "1", schema=undeclared))


@pytest.mark.parametrize("columns", ["80", "100", "160"])
def test_nothing_is_cut(folder, columns, monkeypatch):
    """On a terminal of 80 columns or more no number is cut, and no line is too long."""
    monkeypatch.chdir(folder)
    command = ["release", "salaries.csv", "--schema", "salaries.toml", *asking(*ASKS), "--epsilon", "1"]
    result = CliRunner(env={"COLUMNS": columns, "NO_COLOR": "1"}).invoke(cli.app, command)
    assert result.exit_code == 0
    assert "…" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= int(columns)
    assert re.search(r"\d{2},\d{3} to", result.stdout)


def test_ascii_terminal(folder, monkeypatch):
    """A terminal without Unicode loses letters, but never answers."""
    monkeypatch.chdir(folder)
    (folder / "unicode.toml").write_text(SCHEMA.replace('"a & b"', '"santé"'), encoding="utf-8")
    command = ["release", "salaries.csv", "--schema", "unicode.toml", "--ask", "count by department", "--epsilon", "1"]
    result = CliRunner(charset="ascii").invoke(cli.app, command)
    assert result.exit_code == 0
    assert "sant?" in result.stdout


def test_installed_command(folder):
    """The command as users run it."""
    command = [Path(sysconfig.get_path("scripts")) / "flou", "release", "salaries.csv", "--schema", "salaries.toml"]
    more = ["--ask", "mean age", "--ask", "count by member", "--epsilon", "1/3", "--html", "installed.html"]
    done = subprocess.run([*command, *more], cwd=folder, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "epsilon = 1/3 in total" in plain(done.stdout.decode())
    assert (folder / "installed.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ask", "average age"], "'average' is not a known statistic"),
        (["--ask", "average age"], "Perhaps 'mean' was meant"),
        (["--ask", "meen age"], "Perhaps 'mean' was meant"),
        (["--ask", "mean aeg"], "Perhaps 'age' was meant"),
        (["--ask", "mean department"], "holds categories, which have no sum"),
        (["--ask", "count", "--epsilon", "0"], "epsilon must be a positive number"),
        (["--ask", "count", "--epsilon", "much"], "--epsilon must be a positive number, got 'much'"),
        (["--ask", "count", "--split", "1,2"], "--split must be 1 positive numbers"),
        (["--ask", "count", "--budget", "x"], "--budget must be a positive number"),
        (["--ask", "count", "--where", "age >="], "a constant is expected after '>='"),
        (["--ask", "count", "--where", "agee > 1"], "There is no column 'agee'"),
        (["--ask", "count", "--method", "focused"], "--method is for quantiles"),
        (["--ask", "median age", "--method", "magic"], "method must be one of 'auto'"),
        (["--ask", "count", "--json", "out.txt"], "--json must end in .json"),
        (["--ask", "count", "--html", "missing/out.html"], "--html must be a file that can be written"),
    ],
)
def test_refusals(run, folder, arguments, words):
    """What cannot be is refused in three sentences, and nothing is written."""
    before = sorted(folder.iterdir())
    epsilon = [] if "--epsilon" in arguments else ["--epsilon", "1"]
    assert words in refused(run(*arguments, *epsilon))
    assert sorted(folder.iterdir()) == before


def test_the_data_are_never_overwritten(run, folder):
    """An output that is also an input is refused."""
    (folder / "link.json").symlink_to("salaries.csv")
    try:
        text = refused(run("--ask", "count", "--epsilon", "1", "--json", "link.json"))
    finally:
        (folder / "link.json").unlink()
    assert "another file than the inputs" in text


def test_paid_answers_are_not_lost(run, folder, monkeypatch):
    """A disk that fails is told after the answers, and the other file is written; files come before the screen."""
    written = Path.write_text

    def fails(path, *arguments, **options):
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        return written(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", fails)
    result = run("--ask", "count", "--epsilon", "1", "--json", "full.json", "--html", "kept.html")
    assert result.exit_code == 2
    assert "--json must be a file that can be written" in plain(result.stderr)
    assert "What it cost" in result.stdout
    assert (folder / "kept.html").exists()


def test_a_reader_who_leaves(folder):
    """Files are there even when the screen was closed early."""
    flou = Path(sysconfig.get_path("scripts")) / "flou"
    command = f"'{flou}' release salaries.csv --schema salaries.toml --ask count --epsilon 1 --json left.json | true"
    subprocess.run(command, cwd=folder, shell=True, capture_output=True, timeout=120, check=False)
    assert json.loads((folder / "left.json").read_text())["dataset"] == "salaries"


def test_other_files_are_refused(run, folder):
    """Missing and unreadable files are refused without a word of their content."""
    assert "There is no file" in refused(run("--ask", "count", "--epsilon", "1", data="nothing.csv"))
    (folder / "broken.parquet").write_bytes(b"PAR1 secret row PAR1")
    text = refused(run("--ask", "count", "--epsilon", "1", data="broken.parquet"))
    assert "secret" not in text
    assert tomllib.loads(SCHEMA)


def test_help_teaches():
    """The help has examples and the grammar."""
    text = plain(CliRunner(env={"COLUMNS": "100"}).invoke(cli.app, ["release", "--help"]).output)
    for words in (
        '--ask "mean salary by department"',
        "histogram C [bins]",
        "--split 2,1",
        "first: state what is public",
    ):
        assert words in text
