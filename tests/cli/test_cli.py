"""The flou command: what it teaches, and how it refuses."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import flou
from flou import cli

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
        "Every answer comes with its proved privacy cost and with an interval for its error.",
        "Where to start",
        "flou demo --epsilon 0.1",
        "--version",
    ):
        assert words in text
    assert result.exit_code == (0 if arguments else 2)


def test_version():
    """The version is the package's."""
    assert invoke("--version").output == f"flou {flou.__version__}\n"


@pytest.mark.parametrize("arguments", [["demo", "--rows", "many"], ["demo", "--epsilon", ""], ["demos"], ["--what"]])
def test_misunderstandings(arguments):
    """What cannot be read at all is an error of usage: exit code 2 and no traceback."""
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.output


def test_import_is_light():
    """Importing the command loads neither Matplotlib nor DuckDB nor pandas."""
    code = "import sys, flou.cli; print(sorted({'matplotlib', 'duckdb', 'pandas', 'polars'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
