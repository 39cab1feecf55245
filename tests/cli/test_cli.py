"""The flou command: what it teaches, what it prints, what it draws, and how it refuses."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from typer.testing import CliRunner

import flou
from flou import cli, demo
from flou.guarantee import PureDP

PNG = b"\x89PNG\r\n\x1a\n"
RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"})


def invoke(*arguments):
    return RUNNER.invoke(cli.app, list(arguments))


def plain(text):
    """A text without colours, frames and line breaks."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─|+]", " ", text).split())


def refused(result):
    """The message of a refusal: exit code 2, three sentences on standard error, nothing else, no traceback."""
    message = plain(result.stderr)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in message
    assert message.startswith("refused ")
    assert len(re.findall(r"\.(?:$| (?=[A-Z]))", message)) == 3, message
    return message.removeprefix("refused ")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_teaches(arguments):
    """The help says what flou is, what it promises, where to start, and gives a command to type."""
    result = invoke(*arguments)
    text = plain(result.output)
    for words in (
        "statistics on confidential data",
        "Every answer comes with its privacy cost, proved, and its error, known.",
        "Where to start",
        "flou demo --epsilon 0.1",
        "--version",
    ):
        assert words in text
    assert result.exit_code == (0 if arguments else 2)


def test_help_of_the_demo():
    """The help of the demo lists its options with their defaults."""
    text = plain(invoke("demo", "--help").output)
    for words in ("--rows", "400000", "--epsilon", "--out", "flou-demo.png", "--no-plot"):
        assert words in text


def test_version():
    """The version is the package's."""
    assert invoke("--version").output == f"flou {flou.__version__}\n"


def test_installed_command(tmp_path):
    """The command as users run it writes a picture and prints answers, truth, intervals and costs."""
    out = tmp_path / "picture.png"
    command = [Path(sysconfig.get_path("scripts")) / "flou", "demo", "--rows", "5000", "--out", out]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    picture = out.read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) > 30_000
    text = plain(done.stdout.decode())
    for words in (
        "5,000 made-up salaries",
        "we may look at the truth",
        "95 % interval",
        "62,507",  # the true mean of this table
        "1,468",  # the true count of its largest bar
        "280 to 300",
        "epsilon = 1 in total, proved. " + PureDP(1).in_words(),
        "The plot",
        "What to read next",
    ):
        assert words in text, words


def test_demo_costs(tmp_path, monkeypatch):
    """Each question has its part of epsilon, and without a plot no file is written."""
    monkeypatch.chdir(tmp_path)
    result = invoke("demo", "--rows", "1000", "--epsilon", "0.5", "--no-plot")
    assert result.exit_code == 0
    rows = {line.split()[0]: line.split()[-1] for line in result.stdout.splitlines() if line.strip()}
    assert (rows["count"], rows["mean,"], rows["histogram"], rows["together"]) == ("0.2", "0.2", "0.1", "0.5")
    assert PureDP(0.5).in_words() in plain(result.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("columns", ["80", "100", "200"])
def test_nothing_is_cut(columns):
    """On a terminal of 80 columns or more no number is cut short."""
    for size in (["--rows", "400000"], ["--rows", "3000", "--epsilon", "0.0001"]):
        result = RUNNER.invoke(cli.app, ["demo", "--no-plot", *size], env={"COLUMNS": columns})
        assert "…" not in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= int(columns)


def test_ascii_terminal():
    """A terminal without Unicode gets bars of number signs."""
    result = CliRunner(charset="ascii").invoke(cli.app, ["demo", "--rows", "1000", "--no-plot"])
    assert result.exit_code == 0
    assert "####" in result.stdout


def test_bars_are_in_proportion():
    """A bar is solid up to the lower end of its interval and shaded up to the upper end."""
    result = RUNNER.invoke(cli.app, ["demo", "--rows", "2000", "--epsilon", "0.5", "--no-plot"])
    bars = {}
    for line in result.stdout.splitlines():
        found = re.match(r" *\d+ to \d+ +(█*)(░*) +[\d,]+ +([\d,]+) to ([\d,]+) ", line)
        if found:
            low, high = (int(number.replace(",", "")) for number in found.group(3, 4))
            bars[low, high] = (len(found[1]), len(found[1]) + len(found[2]))
    longest = max(high for _, high in bars)
    width = max(stop for _, stop in bars.values())
    for ends, drawn in bars.items():
        assert drawn == tuple(round(end * width / longest) for end in ends)


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
        ("--out", "picture.jpg", "--out must end in .png"),
        ("--out", "picture", "--out must end in .png"),
        ("--out", "missing/folder/picture.png", "--out must be a file that can be written"),
        ("--out", "folder.png", "--out must be a file that can be written"),
        ("--out", "x" * 300 + ".png", "--out must be a file that can be written"),
    ],
)
def test_refusals(tmp_path, monkeypatch, option, value, words):
    """A bad option is refused in three sentences, before anything is made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    assert words in refused(invoke("demo", option, value))
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_existing_file(tmp_path):
    """A picture that is there already is replaced, and kept when something else is refused."""
    out = tmp_path / "picture.png"
    out.write_bytes(b"old")
    refused(invoke("demo", "--rows", "0", "--out", str(out)))
    assert out.read_bytes() == b"old"
    assert invoke("demo", "--rows", "1000", "--out", str(out)).exit_code == 0
    assert out.read_bytes().startswith(PNG)


@pytest.mark.parametrize("arguments", [["demo", "--rows", "many"], ["demo", "--epsilon", ""], ["demos"], ["--what"]])
def test_misunderstandings(arguments):
    """What cannot be read at all is an error of usage: exit code 2 and no traceback."""
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.output


def test_disk_that_fails(tmp_path, monkeypatch):
    """A disk that fails while the picture is written is told in three sentences, after the answers."""

    def draw(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo, "draw", draw)
    result = invoke("demo", "--rows", "1000", "--out", str(tmp_path / "a.png"))
    assert result.exit_code == 2
    assert "--out must be a file that can be written" in plain(result.stderr)
    assert "What it cost" in result.stdout


def test_without_matplotlib(tmp_path, monkeypatch):
    """Without Matplotlib everything is printed, and a note says in three sentences how to get the plot."""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    out = tmp_path / "picture.png"
    result = invoke("demo", "--rows", "1000", "--out", str(out))
    text = plain(result.stdout)
    assert result.exit_code == 0
    assert not out.exists()
    assert "The plot needs Matplotlib, which is not installed." in text
    assert "pip install 'flou[plots]'" in text
    assert "What to read next" in text


def test_import_is_light():
    """Importing the command loads neither Matplotlib nor DuckDB nor pandas."""
    code = "import sys, flou.cli; print(sorted({'matplotlib', 'duckdb', 'pandas', 'polars'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("rows", "epsilon"), [(1, 1e-5), (1000, 0.1), (5000, 10_000)])
def test_picture(tmp_path, rows, epsilon):
    """A picture is drawn whatever the noise, of the same size, and Matplotlib's global state is left alone."""
    import matplotlib

    from flou.bits import SeededBits
    from flou.reproduce.salaries import made_salaries

    def settings():  # but for the backend, which would be chosen now because somebody asks
        return {key: value for key, value in matplotlib.rcParams.copy().items() if key != "backend"}

    before, pyplot = settings(), "matplotlib.pyplot" in sys.modules
    out = tmp_path / "picture.png"
    demo.draw(demo.ask(made_salaries(rows), epsilon=epsilon, bits=SeededBits(rows)), out)
    picture = out.read_bytes()
    assert picture.startswith(PNG)
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1600, 1344)
    assert settings() == before
    assert ("matplotlib.pyplot" in sys.modules) == pyplot
