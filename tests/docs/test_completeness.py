"""The documentation is whole: every public name has a place, every link leads somewhere, every command exists."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer.main

import flou
from docs.pages import DOCS, PAGES, ROOT, anchors, blocks, code_words, commands, links, prose
from flou.cli import app

REFERENCE = DOCS / "reference"
PLACES = {
    "flou.mechanisms.quantiles": "quantiles.md",
    "flou.laws": "laws.md",
    "flou.mechanisms": "mechanisms.md",
    "flou.guarantee": "guarantees.md",
    "flou.domain": "domains.md",
    "flou.central": "tables.md",
    "flou.release": "tables.md",
    "flou.joint": "joint.md",
    "flou.local": "local.md",
    "flou.bits": "bits.md",
    "flou.errors": "errors.md",
}
COMMAND = typer.main.get_command(app)

page_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


# Names


def public_parts(thing: object) -> set[str]:
    """What a class of flou offers: attributes that flou itself defines, and the fields of its values."""
    if not isinstance(thing, type):
        return set()
    ours = [cls for cls in thing.__mro__ if cls.__module__.split(".")[0] == "flou"]
    names = {name for cls in ours for name in vars(cls)} | set(getattr(thing, "__dataclass_fields__", ()))
    return {name for name in names if not name.startswith("_")}


def unnamed(module: types.ModuleType, text: str) -> set[str]:
    """The public names of a module, and of its classes, that a page does not show as code."""
    known = code_words(text)
    missing = {name for name in module.__all__ if name not in known}
    for name in module.__all__:
        missing |= {f"{name}.{part}" for part in public_parts(getattr(module, name)) - known}
    return missing


@pytest.mark.parametrize(("module", "page"), PLACES.items())
def test_every_public_name_has_its_place(module, page):
    """All names of a module's ``__all__``, and all that its classes offer, are on its reference page."""
    assert unnamed(importlib.import_module(module), (REFERENCE / page).read_text()) == set()


def test_every_name_of_the_package_has_a_place():
    """All names of ``flou.__all__`` are on some reference page, and its modules each have one of their own."""
    known = set().union(*(code_words(page.read_text()) for page in REFERENCE.glob("*.md")))
    assert set(flou.__all__) - known == set()
    modules = {f"flou.{name}" for name in flou.__all__ if isinstance(getattr(flou, name), types.ModuleType)}
    assert modules <= set(PLACES)


def test_a_forgotten_name_is_noticed():
    """The walk over names is seen to find a forgotten function, class and method."""
    module = types.ModuleType("flou.example")
    made = type("Made", (), {"__module__": "flou.example", "draw": None, "_hidden": None})
    module.Made, module.make = made, len
    module.__all__ = ["Made", "make"]
    assert unnamed(module, "`make()` gives a Made, which can draw") == {"Made", "Made.draw"}
    assert unnamed(module, "`make()`\n\n```python\nMade().draw\n```\n") == {"Made", "Made.draw"}
    assert unnamed(module, "`Made` has `draw`, and `make` makes one") == set()


def parts_of(command: object) -> dict[str, object]:
    """The commands of a group of commands."""
    return getattr(command, "commands", {})


def test_every_command_and_option_has_its_place():
    """The page about the command line names every command and every option."""
    text = (REFERENCE / "command-line.md").read_text()
    inner = {f"{name} {part}": c for name, command in COMMAND.commands.items() for part, c in parts_of(command).items()}
    for name, command in (COMMAND.commands | inner).items():
        assert f"## `flou {name}`" in text
        options = {option for parameter in command.params for option in parameter.opts}
        assert [option for option in options if f"`{option}" not in text] == []
    for option in (option for parameter in COMMAND.params for option in parameter.opts):
        assert f"`flou {option}`" in text


# Links


def broken(page: Path, text: str) -> list[str]:
    """The relative links of a page that lead nowhere."""
    found = []
    for link in links(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue  # another site
        path, _, fragment = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_relative_to(ROOT) and target.exists()
        content = text if target == page else target.read_text() if inside and target.suffix == ".md" else ""
        if not inside or (fragment and target.suffix == ".md" and fragment not in anchors(content)):
            found.append(link)
    return found


@page_by_page
def test_links_lead_somewhere(page):
    """Relative links, pictures and anchors of a page exist."""
    assert broken(page, page.read_text()) == []


def test_broken_links_are_noticed():
    """The check is seen to refuse missing pages, pictures and headings, and to let good ones pass."""
    page = ROOT / "README.md"
    text = (
        "# A *good* day\n[x](nothing.md) ![y](no.png) [z](#bad-day) [w](LICENSE#any) <img src='gone.svg'> [v](../x)\n"
    )
    assert broken(page, text) == ["nothing.md", "no.png", "#bad-day", "../x", "gone.svg"]
    assert broken(page, "# A *good* day!\n[a](#a-good-day) [b](LICENSE) [c](https://example.org/) `[d](e)`\n") == []


def reachable(start: Path) -> set[Path]:
    """All pages to which links lead from a page, in any number of steps."""
    seen, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        for link in links(page.read_text()):
            target = (page.parent / unquote(link).partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file() and target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def test_no_page_is_an_orphan():
    """Links lead from the map of the documentation to every page of it, and from the front page to the map."""
    assert set(DOCS.rglob("*.md")) - reachable(DOCS / "README.md") == set()
    assert "docs/README.md" in links((ROOT / "README.md").read_text())


def test_no_picture_is_an_orphan():
    """Every picture is on some page."""
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page.read_text())}
    assert {path for path in (DOCS / "images").iterdir() if path.suffix in {".png", ".svg"}} - shown == set()


# Commands


def unknown(command: str) -> str:
    """What is wrong with a line that people are asked to type, or nothing."""
    words = shlex.split(command, comments=True)
    if not words:
        return "nothing to type"
    program, arguments = words[0], words[1:]
    if program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        wrong = [word for word in arguments if "=" not in word and word not in targets]
    elif Path(program).name == "flou":
        options = [word.partition("=")[0] for word in arguments if word.startswith("-")]
        known = {option for parameter in COMMAND.params for option in parameter.opts} | {"--help", "-h"}
        part: object = COMMAND
        for argument in arguments:
            if argument.startswith("-") or not parts_of(part):
                break
            if argument not in parts_of(part):
                return f"flou has no command {argument}"
            part = parts_of(part)[argument]
            known |= {o for p in part.params for o in (*p.opts, *p.secondary_opts)}
        wrong = [option for option in options if option not in known]
    elif Path(program).name == "python" or program == "cd":
        wrong = [word for word in arguments if word.endswith(".py") or word.startswith(("tests", "docs", "benchmarks"))]
        wrong = [word for word in wrong if not (ROOT / word.partition("::")[0]).exists()]
    elif program.startswith(".venv/bin/"):
        wrong = [] if (Path(sys.executable).parent / Path(program).name).exists() else [program]
    else:
        wrong = [] if program in {"pip", "git"} else [program]
    return f"{wrong} in: {command}" if wrong else ""


@page_by_page
def test_commands_exist(page):
    """Whatever a page asks people to type exists: targets, commands, options, files."""
    wrong = [f"line {number}: {found}" for number, line in commands(page.read_text()) if (found := unknown(line))]
    assert wrong == []


@pytest.mark.parametrize(
    "line",
    [
        "make coffee",
        "flou demos",
        "flou demo --colour red",
        "flou --nothing",
        ".venv/bin/nothing",
        "python no.py",
        ".venv/bin/python -m pytest tests/nowhere",
        "curl example.org",
        "",
    ],
)
def test_unknown_commands_are_noticed(line):
    """The check is seen to refuse."""
    assert unknown(line)


@pytest.mark.parametrize("line", ["make test PYTHON=python3.11", "flou demo --epsilon=0.1 --rows 50", "flou --version"])
def test_known_commands_pass(line):
    """The check is seen to let good ones pass."""
    assert unknown(line) == ""


# The front page, the changelog, the pictures


def test_the_front_page_says_the_essential_first():
    """The first screen has the promise, the picture and the two commands."""
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:30])
    for words in (
        "Every answer comes with its privacy cost, proved, and its error, known.",
        "docs/images/demo.png",
        "$ make demo",
        "$ make test",
    ):
        assert words in screen


def test_the_speed_tables_are_the_committed_runs():
    """The numbers of the front page are those of benchmarks/results."""
    done = subprocess.run(
        [sys.executable, DOCS / "make_speed_table.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("benchmark", ["noise", "central"])
def test_a_speed_table_of_another_run_is_noticed(benchmark, tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page = tmp_path / "README.md"
    text = (ROOT / "README.md").read_text()
    before, mark, after = text.partition(f"<!-- end of {benchmark} -->")
    results = json.loads((ROOT / f"benchmarks/results/{benchmark}.json").read_text())
    head, commit, tail = before.rpartition(results["commit"].rstrip("+"))
    assert commit
    page.write_text(f"{head}0123456789ab{tail}{mark}{after}")
    assert page.read_text() != text
    command = [sys.executable, DOCS / "make_speed_table.py", "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_changelog_knows_this_version_and_puts_privacy_first():
    """The version has its heading, and where a version speaks of privacy it does so first."""
    text = prose((ROOT / "CHANGELOG.md").read_text())
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert any(flou.__version__ in version.splitlines()[0] for version in versions)
    for version in versions:
        headings = re.findall(r"^### (.*)$", version, flags=re.MULTILINE)
        assert "Privacy" not in headings[1:]


@pytest.mark.parametrize("script", sorted((DOCS / "images").glob("make_*.py")), ids=lambda path: path.name)
def test_pictures_can_be_drawn_again(script, tmp_path):
    """Each script draws its picture, and the committed one is there."""
    out = tmp_path / "picture.svg"
    subprocess.run([sys.executable, "-W", "error", script, "--out", out], check=True)
    assert out.read_text().rstrip().endswith("</svg>")
    assert (script.parent / script.name.removeprefix("make_")).with_suffix(".svg").is_file()


def test_links_and_words_are_read_from_prose_only():
    """What stands in a code block is neither a link nor a documented name."""
    text = "a [b](c.md) `name`\n\n```text\n[d](e.md) `other`\n```\n"
    assert links(text) == ["c.md"]
    assert code_words(text) == {"name"}
    assert [block.text for block in blocks(text)] == ["[d](e.md) `other`\n"]
