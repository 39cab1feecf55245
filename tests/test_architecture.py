"""The shape of the house: imports point down, randomness has one door, and the linters see who breaks the rules."""

from __future__ import annotations

import ast
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
BIN = pathlib.Path(sys.executable).parent


@pytest.fixture
def copy(tmp_path):
    """The project's sources and rules, free to be broken."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def contract(folder) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "lint-imports"), "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": str(BIN)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_imports_point_down(copy):
    """The layers contract holds."""
    done = contract(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/flou/bits.py", "from flou.guarantee import PureDP"),  # sideways
        ("src/flou/laws/geometric.py", "from flou.mechanisms.laplace import Laplace"),  # upwards
        ("src/flou/errors.py", "import flou.parameters"),  # from the ground floor
    ],
)
def test_an_import_that_points_sideways_or_up_is_refused(copy, file, line):
    """The contract is seen to refuse."""
    path = copy / file
    path.write_text(path.read_text() + f"\n{line}\n")
    done = contract(copy)
    assert done.returncode != 0
    assert "BROKEN" in done.stdout


def test_a_module_outside_the_layers_is_refused(copy):
    """Every module has its place."""
    (copy / "src/flou/attic.py").write_text('"""Nowhere."""\n')
    assert contract(copy).returncode != 0


FORBIDDEN = [
    "import random",
    "import secrets",
    "from random import gauss",
    "from secrets import token_bytes",
    "from numpy import random",
    "import numpy.random",
    "from numpy.random import default_rng",
    "import numpy as np\n\nx = np.random.normal()",
    "import numpy\n\nx = numpy.random.default_rng()",
    "import os\n\nx = os.urandom(8)",
    "from os import urandom",
]


def banned(folder, file: str, text: str) -> bool:
    path = folder / file
    path.write_text(text + "\n")
    command = [str(BIN / "ruff"), "check", "--no-cache", "--select", "TID251", str(path)]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("text", FORBIDDEN)
def test_other_sources_of_randomness_are_refused(copy, text):
    """random, secrets, numpy.random and os.urandom are for bits.py only."""
    assert banned(copy, "src/flou/laws/somewhere.py", text)
    assert banned(copy, "src/flou/mechanisms/somewhere.py", text)
    assert not banned(copy, "src/flou/bits.py", text)


def test_files_stay_short():
    """A file is one concept, whole: past 400 lines it is usually two."""
    long = [p for p in (ROOT / "src").rglob("*.py") if len(p.read_text().splitlines()) > 400]
    assert long == []


SAME_STATISTIC = {"Correlation", "Ecdf", "Histogram", "Moments", "Quantiles"}  # of one table, of reports, of parties


def twice(folder) -> dict[str, list[str]]:
    """The names that classes of several files have."""
    where: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(path.relative_to(folder).as_posix())
    return {name: files for name, files in where.items() if len(files) > 1}


def test_no_class_name_has_two_meanings(copy):
    """A name stands for one thing in the whole tree, except for a statistic that several rooms compute."""
    assert set(twice(ROOT / "src/flou")) == SAME_STATISTIC
    (copy / "src/flou/laws/interval.py").write_text('"""Another."""\n\n\nclass Interval:\n    """Not the domain."""\n')
    assert set(twice(copy / "src/flou")) == {*SAME_STATISTIC, "Interval"}


OF_TESTS_ALONE = {"docs", "privacy", "typing"}  # whether pages are true, the laws of all neighbours, types from outside


def rooms(folder) -> set[str]:
    """Folders that hold a Python file, by their names below ``folder``."""
    holding = {path.parent.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    return holding - {"."}


def homeless(tests: set[str], source: set[str]) -> list[str]:
    """Folders of tests that no folder of the source corresponds to."""
    return sorted(tests - source - OF_TESTS_ALONE)


def test_tests_have_the_rooms_of_the_source():
    """Tests of a folder are in the folder of the same name."""
    source = rooms(ROOT / "src" / "flou")
    assert homeless(rooms(ROOT / "tests"), source) == []
    assert homeless({"central/attic", "privacy", "central"}, source) == ["central/attic"]


HEAVY = {"matplotlib", "pandas", "polars", "pyarrow", "pyspark", "duckdb", "ibis", "sklearn", "typer", "rich"}


@pytest.mark.parametrize(("module", "allowed"), [("flou", set()), ("flou.cli", {"typer", "rich"})])
def test_importing_flou_is_light(module, allowed):
    """No plotting, data-frame or engine package is imported before it is needed, and of SciPy nothing either."""
    program = f"import sys, {module}; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not (HEAVY - allowed) & {name.split(".")[0] for name in loaded}
    assert "scipy.special" not in loaded
    assert "scipy.stats" not in loaded
