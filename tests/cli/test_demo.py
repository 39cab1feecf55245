"""The demo: its lines of Python are the ones that are run, their costs add up, and the truth is the table's."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import sysconfig
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import flou.bits
from cli.test_cli import RUNNER, invoke, plain, refused
from flou import cli
from flou.bits import SeededBits
from flou.guarantee import PureDP
from flou.release.entries import entries
from flou.reproduce.salaries import DECILES, made_staff

PNG = b"\x89PNG\r\n\x1a\n"
MISSED = re.compile(r"(\d+) of (\d+) intervals contain the true value")


@pytest.fixture
def seeded(monkeypatch):
    """The system's bits, replaced by bits that begin anew whenever this is called."""

    def begin(seed="noise of the demo"):
        monkeypatch.setitem(vars(flou.bits.SYSTEM), "take", SeededBits(seed).take)

    begin()
    return begin


def code(text):
    """The lines of Python that were printed, without those of the question that is refused."""
    lines = [line[6:] for line in text.splitlines() if line.startswith(("  >>> ", "  ... "))]
    return lines[: lines.index(next(line for line in lines if line.startswith("table.count")), 0)], [
        line for line in lines if line.startswith("table.")
    ]


def costs(text):
    opening, asked = code(text)
    budget = Decimal(re.search(r"budget=([\d.]+)\)", "\n".join(opening))[1])
    return budget, [Decimal(re.search(r"epsilon=([\d.]+)\)", line)[1]) for line in asked[:-1]]


def test_help():
    """The help of the demo lists its options with their defaults."""
    text = plain(invoke("demo", "--help").output)
    for words in ("--rows", "20000", "--epsilon", "--plot", "the line of Python that asks for it"):
        assert words in text


def test_installed_command(tmp_path):
    """The command as users run it explains epsilon, prints code, answers, truth and cost, and draws a picture."""
    out = tmp_path / "picture.png"
    command = [Path(sysconfig.get_path("scripts")) / "flou", "demo", "--rows", "5000", "--plot", out]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    picture = out.read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) > 10_000
    text = plain(done.stdout.decode())
    for words in (
        "A made-up table of 5,000 employees.",
        "Epsilon is the privacy cost of an answer",
        "95 % interval",
        "62,507",  # the true mean of this table
        "34,902",  # its lowest decile
        "epsilon 1, the whole budget. " + PureDP(1).in_words(),
        "BudgetExceeded: The budget does not cover this",
        "The picture",
        "What to try next",
    ):
        assert words in text, words


def test_the_printed_lines_are_the_program(seeded):
    """Whoever types the lines gets the same answers, and the same refusal at the end."""
    text = RUNNER.invoke(cli.app, ["demo", "--rows", "3000"]).stdout
    opening, asked = code(text)
    known = {}
    seeded()
    exec("\n".join(opening), known)
    releases = [eval(line, known) for line in asked[:-1]]
    printed = plain(text)
    for release in releases:
        for entry in entries(release):
            assert f"{entry.text} {entry.between(entry.data)}" in printed
    with pytest.raises(flou.BudgetExceeded) as caught:
        eval(asked[-1], known)
    assert str(caught.value) in printed


@pytest.mark.parametrize("epsilon", ["1", "0.1", "0.3", "1e-5", "7.77", "10000", "0.3333333333333333"])
def test_costs_add_up(epsilon):
    """The parts of all questions are the budget, exactly, so that nothing is left and nothing is refused too early."""
    result = invoke("demo", "--rows", "50", "--epsilon", epsilon)
    assert result.exit_code == 0, result.output
    budget, parts = costs(result.stdout)
    assert sum(parts) == budget == Decimal(f"{float(epsilon):.12g}")
    assert "remaining epsilon 0," in plain(result.stdout)
    assert PureDP(budget).in_words() in plain(result.stdout)


def test_statistics():
    """There is a count, a condition, a mean, deciles, means of groups and a cross-tabulation."""
    _, asked = code(invoke("demo", "--rows", "50").stdout)
    for line, word in zip(asked, (".count(", ".where(", ".mean(", "deciles", "group_by", "histogram"), strict=False):
        assert word in line


def test_truth():
    """The truth is that of the table, and where the noise is next to nothing, so are the answers."""
    text = invoke("demo", "--rows", "4000", "--epsilon", "10000").stdout
    staff = made_staff(4000)
    answer, true = re.search(r"([\d,.]+) +[\d,.]+ to [\d,.]+ +([\d,.]+) +\w+ *\n\nWhat do the lowest", text).groups()
    assert true == f"{staff['salary'].mean():,.2f}"
    assert float(answer.replace(",", "")) == pytest.approx(staff["salary"].mean(), abs=2)
    deciles = re.findall(r"^  \d0 % +([\d,.]+) +[\d,.]+ to [\d,.]+ +([\d,.]+)", text, re.MULTILINE)
    assert [round(float(true.replace(",", ""))) for _, true in deciles] == list(DECILES)
    assert [round(float(answer.replace(",", ""))) for answer, _ in deciles] == list(DECILES)
    assert re.search(rf"4,000 +4,000 to 4,000 +4,000 +held.*to.* {np.sum(staff['age'] >= 60)} +held", text, re.DOTALL)
    table = re.findall(r"^  (\w+): (\w+) +([\d,]+) +[\d,]+ to [\d,]+ +([\d,]+) +held", text, re.MULTILINE)
    assert [(name, full) for name, full, *_ in table] == [
        (name, full) for name in ("care", "research", "administration", "other") for full in ("False", "True")
    ]
    for name, full, answer, true in table:
        there = staff["department"] == name
        if name == "other":
            there = np.isin(staff["department"], ["engineering", "kitchen", "garden"])
        expected = f"{np.sum(there & (staff['full_time'] == (full == 'True'))):,}"
        assert answer == true == expected


def test_an_interval_that_misses_is_called_so(monkeypatch, seeded):
    """The mark and the number at the end say which intervals do not hold the truth."""
    text = RUNNER.invoke(cli.app, ["demo", "--rows", "3000"]).stdout
    held, all_of_them = map(int, MISSED.search(text).groups())
    assert (text.count(" held "), text.count(" missed ")) == (held, all_of_them - held)
    seeded()
    first = cli.demo.QUESTIONS[0]
    wrong = cli.demo.DemoQuestion(first.asked, first.code, first.tenths, lambda staff: [len(staff["age"]) + 1000])
    monkeypatch.setattr(cli.demo, "QUESTIONS", (wrong, *cli.demo.QUESTIONS[1:]))
    text = RUNNER.invoke(cli.app, ["demo", "--rows", "3000"]).stdout
    assert re.search(r"4,000 +missed", text)
    assert MISSED.search(text)[1] == str(held - 1)


@pytest.mark.parametrize("epsilon", ["1e-5", "0.1", "1"])
@pytest.mark.parametrize("rows", ["1", "2", "30"])
def test_small_tables(rows, epsilon):
    """However little there is to say, there is an answer; groups without people have no true mean."""
    text = invoke("demo", "--rows", rows, "--epsilon", epsilon).stdout
    assert "What to try next" in text
    assert "nan" not in text
    assert int(MISSED.search(text)[2]) == 24 - len(re.findall(r"to [\d,]+ +nobody", text))


@pytest.mark.parametrize("columns", ["80", "100", "200"])
def test_nothing_is_cut(columns):
    """On a terminal of 80 columns or more no number is cut short and no line is too long."""
    for size in (["--rows", "400000"], ["--rows", "3000", "--epsilon", "0.0001"]):
        result = RUNNER.invoke(cli.app, ["demo", *size], env={"COLUMNS": columns})
        assert "…" not in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= int(columns)


def test_ascii_terminal():
    """A terminal without Unicode gets intervals of hyphens."""
    result = CliRunner(charset="ascii", env={"COLUMNS": "120"}).invoke(cli.app, ["demo", "--rows", "1000"])
    assert result.exit_code == 0
    assert result.stdout.isascii()
    assert re.search("--o|o--", result.stdout)


@pytest.mark.usefixtures("seeded")
def test_intervals_are_drawn_in_proportion():
    """All intervals of an answer are drawn on one scale, from end to end, with the answer where it belongs."""
    text = RUNNER.invoke(cli.app, ["demo", "--rows", "2000", "--epsilon", "0.5"], env={"COLUMNS": "120"}).stdout
    found = re.findall(r"^  \d0 % +([\d,]+) +([\d,]+) to ([\d,]+) +[\d,]+ +\w+  ?( *)(─*)●(─*)", text, re.MULTILINE)
    assert len(found) == 9
    numbers = [[int(n.replace(",", "")) for n in line[:3]] for line in found]
    first = min(len(line[3]) for line in found)
    drawn = [(len(a) - first, len(a) - first + len(b), len(a) - first + len(b) + len(c)) for *_, a, b, c in found]
    start, stop = min(low for _, low, _ in numbers), max(high for *_, high in numbers)
    scale = max(end for *_, end in drawn) / (stop - start)
    for (value, low, high), places in zip(numbers, drawn, strict=True):
        for number, place in zip((low, value, high), places, strict=True):
            assert math.isclose((number - start) * scale, place, abs_tol=1)  # printed ends are rounded outwards


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--epsilon", "0", "epsilon must be a positive number, got 0"),
        ("--epsilon", "-1", "epsilon must be a positive number, got -1"),
        ("--epsilon", "nan", "epsilon must be a positive number, got nan"),
        ("--epsilon", "inf", "epsilon must be a positive number, got inf"),
        ("--epsilon", "1e-9", "epsilon must be at least 1e-05 here"),
        ("--epsilon", "1e9", "epsilon must lie between"),
        ("--rows", "0", "rows must be a whole number from 1 to 10000000, got 0"),
        ("--rows", "-5", "rows must be a whole number"),
        ("--plot", "picture.jpg", "--plot must end in .png"),
        ("--plot", "picture", "--plot must end in .png"),
        ("--plot", "missing/folder/picture.png", "--plot must be a file that can be written"),
        ("--plot", "folder.png", "--plot must be a file that can be written"),
        ("--plot", "x" * 300 + ".png", "--plot must be a file that can be written"),
    ],
)
def test_refusals(tmp_path, monkeypatch, option, value, words):
    """A bad option is refused in three sentences, before anything is made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    assert words in refused(invoke("demo", option, value))
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_without_a_plot(tmp_path, monkeypatch):
    """No file is written that nobody asked for, and Matplotlib is not imported."""
    monkeypatch.chdir(tmp_path)
    program = "import sys\nfrom flou.cli import app\ntry: app(['demo', '--rows', '50'])\nexcept SystemExit: pass\n"
    program += "print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.endswith("False\n")
    assert list(tmp_path.iterdir()) == []


def test_existing_file(tmp_path):
    """A picture that is there already is replaced, and kept when something else is refused."""
    out = tmp_path / "picture.png"
    out.write_bytes(b"old")
    refused(invoke("demo", "--rows", "0", "--plot", str(out)))
    assert out.read_bytes() == b"old"
    assert invoke("demo", "--rows", "1000", "--plot", str(out)).exit_code == 0
    assert out.read_bytes().startswith(PNG)


def test_disk_that_fails(tmp_path, monkeypatch):
    """A disk that fails while the picture is written is told in three sentences, after the answers."""

    def plot(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(flou.Release, "plot", plot)
    result = invoke("demo", "--rows", "1000", "--plot", str(tmp_path / "a.png"))
    assert result.exit_code == 2
    assert "--plot must be a file that can be written" in plain(result.stderr)
    assert "What it cost" in result.stdout


def test_without_matplotlib(tmp_path, monkeypatch):
    """Without Matplotlib everything is printed, and a note says in three sentences how to get the plot."""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    out = tmp_path / "picture.png"
    result = invoke("demo", "--rows", "1000", "--plot", str(out))
    text = plain(result.stdout)
    assert result.exit_code == 0
    assert not out.exists()
    assert "needs Matplotlib" in text
    assert "pip install 'flou[plots]'" in text
    assert "What to try next" in text
