"""What a person is shown before agreeing, and the attack of ``joint/session/test_consent.py`` by the command line."""

from __future__ import annotations

import numpy as np
import pytest

from cli.test_joint import folder, invoke, plain, refused  # noqa: F401 - a fixture
from flou import joint
from flou.cli.fits import show_fit
from flou.joint.agreement.plan import Plan

ATTACK = (
    *("--estimator", "private histogram", "--columns", "y", "--set", "epsilon=10000", "--set", "honest=2"),
    *("--set", "bins=160", "--set", "bounds=[60, 220]"),
)


def made(*arguments):
    result = invoke("joint", "plan", "--roster", "roster.toml", "--out", "plan.toml", *arguments)
    assert result.exit_code == 0, result.output
    return result


def party(policy):
    with open("policy.toml", "w") as file:
        file.write(policy)
    given = ("--coordinator", "https://localhost:1", "--key", "a.key", "--data", "a.csv", "--give-up", "0.2")
    assert invoke("joint", "certificate", "--host", "localhost", "--out", "c").exit_code in (0, 2)
    return invoke("party", *given, "--ca", "c.pem", "--plan", "plan.toml", "--policy", "policy.toml")


@pytest.mark.usefixtures("folder")
def test_one_patient_is_refused_and_shown():
    """The condition is on the screen, with epsilon and what it protects; and the policy refuses it."""
    made(*ATTACK, "--where", "x1 == 0.417")
    result = party('columns = ["y"]\nrows_per_scalar = 100')
    assert "This plan reads the column 'x1'; your policy does not list it." in refused(result)
    shown = plain(result.stderr)
    assert 'only those with "x1 == 0.417"' in shown
    assert 'columns read "y", "x1"' in shown
    assert "epsilon 10000" in shown
    assert "this protects almost nothing" in shown
    result = party('columns = ["y", "x1"]\nrows_per_scalar = 100')
    assert "from 0 rows; your policy allows one in 100, and noise instead of rows up to epsilon = 1" in refused(result)
    made(*ATTACK)
    assert "from 200 rows; your policy allows one in 100, and noise" in refused(
        party('columns = ["y"]\nrows_per_scalar = 100')
    )
    assert "has not answered" in refused(party('columns = ["y"]\nmost_epsilon = 10000'))


@pytest.mark.usefixtures("folder")
def test_a_formula_is_shown():
    """Whatever is computed from a column stands in the formula, and the formula on the screen."""
    made("--formula", "y ~ I(exp(-50*(x1-417)**2))", "--where", "x2 > 0")
    shown = plain(party("rows_per_scalar = 0").stderr)
    # plain() takes frames away, and with them plus and minus signs
    assert plain('formula "y ~ I(exp(-50*(x1-417)**2))"') in shown
    assert 'rows only those with "x2 > 0"' in shown
    assert 'columns read "y", "x1", "x2"' in shown
    assert "noise none. The sums are exact" in shown
    assert "for each of 6 numbers" in shown


NAME = "fine\x1b[2J\x1b[H\r\nnoise         epsilon = 0.001\u202e\u2066"


@pytest.mark.usefixtures("folder")
def test_names_cannot_draw_on_the_screen():
    """A plan whose name clears the screen and writes a line of its own is shown with these characters by number."""
    result = made("--formula", "y ~ x1", "--name", NAME, "--where", "x1 != 3 or 'x2\x1b[8m' == 'a\nb'")
    assert Plan.from_toml("plan.toml").name == NAME
    for output in (result.output, party("rows_per_scalar = 0").stderr):
        lines = output.splitlines()
        assert all(line.isprintable() for line in lines)
        assert "\\x1b[2J\\x1b[H\\r\\nnoise" in output
        assert "\\x1b[8m" in output
        assert [line.split()[0] for line in lines].count("noise") == 1


@pytest.mark.usefixtures("folder")
def test_a_long_condition_cannot_pass_for_another_line():
    """Texts go on below where they began, never at the margin where labels stand."""
    made("--formula", "y ~ x1", "--where", "x1 != 3 or " + " or ".join(["noise > 1"] * 80))
    result = party("rows_per_scalar = 0")
    assert "There is no column 'noise'" in refused(result)
    facts = result.stderr[: result.stderr.index("╭")].splitlines()
    assert len(facts) > 25
    margins = [line.split()[0] for line in facts if not line.startswith(" ")]
    assert margins.count("noise") == 1
    assert margins.count("rows") == 1


def test_a_result_cannot_draw_on_the_screen(capsys):
    """Names of columns come from a plan, and are printed without their control characters."""
    name = "y\x1b[2J\x1b[H"
    show_fit(joint.simulate([{name: np.arange(5.0)}] * 3, joint.Histogram(name, edges=[0, 2, 9])))
    printed = capsys.readouterr().out
    assert "y [2J [H" in printed
    assert all(line.isprintable() for line in printed.splitlines())
