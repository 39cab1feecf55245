"""The public API as somebody else's type checker sees it: right calls pass, and every wrong one is refused.

flou says ``py.typed``, so its annotations are a promise. Both checkers run from outside of the source tree, on the
package as users import it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

import flou

HERE = Path(__file__).parent
RIGHT, WRONG = HERE / "right_calls.py", HERE / "wrong_calls.py"
SOURCE = Path(flou.__file__).parents[1]


def refused_by_mypy(text, folder):
    """The lines of a program that mypy --strict refuses, with the reasons."""
    (folder / "calls.py").write_text(text)
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\nfollow_imports = silent\nignore_missing_imports = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(folder.parent / "mypy"), "--no-error-summary", "calls.py"],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 2: it did not run
    found = re.findall(r"^calls.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert bool(found) == bool(done.returncode), done.stdout
    return {int(line): reason for line, reason in found}


@pytest.fixture(scope="module")
def pyright():
    """How pyright is started: the command, the package of npm, or that of PyPI; a skip where there is none."""
    ways = [[shutil.which("pyright")], [sys.executable, "-m", "pyright"] if find_spec("pyright") else [None]]
    env = os.environ | {"PYRIGHT_PYTHON_GLOBAL_NODE": "1", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    for way in ways:
        if way[0] is not None:
            try:
                done = subprocess.run([*way, "--version"], env=env, capture_output=True, text=True, timeout=120)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if done.returncode == 0 and "pyright" in done.stdout:
                return way, env
    pytest.skip("pyright cannot be started here: install it with pip install pyright (it needs Node.js)")


def refused_by_pyright(text, pyright, folder):
    """The lines of a program that pyright refuses, with the reasons."""
    way, env = pyright
    (folder / "calls.py").write_text(text)
    settings = {"include": ["calls.py"], "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [*way, "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["summary"]["filesAnalyzed"] == 1
    errors = [one for one in told["generalDiagnostics"] if one["severity"] == "error"]
    assert bool(errors) == bool(done.returncode), told
    return {one["range"]["start"]["line"] + 1: one["message"] for one in errors}


def wrong_lines():
    return {number for number, line in enumerate(WRONG.read_text().splitlines(), 1) if "# WRONG" in line}


def test_the_package_says_that_it_is_typed():
    """Checkers ignore annotations of a package without this file."""
    assert files("flou").joinpath("py.typed").is_file()


@pytest.fixture(params=["mypy", "pyright"])
def refused(request, tmp_path):
    """What a checker has to say about a program."""
    if request.param == "mypy":
        return lambda text: refused_by_mypy(text, tmp_path)
    pyright = request.getfixturevalue("pyright")
    return lambda text: refused_by_pyright(text, pyright, tmp_path)


def test_calls(refused):
    """Every right call has the type that is stated, every wrong call is refused, and so is a type that is not so."""
    right, changed = RIGHT.read_text(), "assert_type(release.to_json(), bytes)"
    assert refused(right) == {}
    lines = refused(WRONG.read_text())
    assert set(lines) == wrong_lines(), lines
    other = right.replace("assert_type(release.to_json(), str)", changed)
    assert set(refused(other)) == {other.splitlines().index(changed) + 1}
