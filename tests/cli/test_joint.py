"""The commands of joint statistics: what they teach, write, print and refuse."""

import csv
import json
import re
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

from flou import cli
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.plan_words import plan_facts
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.likelihood.likelihood import MaximumLikelihood
from flou.joint.estimators.program import ESTIMATORS
from flou.joint.simulation import simulated
from flou.joint.transport.tls import server_context

RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"})


def invoke(*arguments, given=None):
    return RUNNER.invoke(cli.app, [str(argument) for argument in arguments], input=given)


def plain(text):
    """A text without colours, frames and line breaks."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─|+]", " ", text).split())


def refused(result):
    """The message of a refusal: exit code 2, three sentences."""
    assert result.exit_code == 2, result.output
    message = plain(result.stderr).partition("refused ")[2]
    assert len(re.findall(r"\.(?:$| (?=[A-Z]))", message)) == 3, result.stderr
    return message


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three tables, three keys and their roster, in the current folder."""
    monkeypatch.chdir(tmp_path)
    made = np.random.default_rng(3)
    lines = ["[parties]"]
    for name in "abc":
        x = made.normal(size=(200, 2))
        y = 1 + x @ [2, -1] + made.normal(size=200)
        with open(f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("y", "x1", "x2"), *np.column_stack([y, x]).tolist()])
        lines.append(invoke("joint", "keygen", name, "--out", f"{name}.key").stdout.strip())
    (tmp_path / "roster.toml").write_text("\n".join(lines))
    return tmp_path


def pooled(*names):
    rows = np.concatenate([np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1) for name in names])
    return np.linalg.lstsq(np.column_stack([np.ones(len(rows)), rows[:, 1:]]), rows[:, 0])[0]


def test_help_teaches():
    """The first page of help leads to joint, and that from a key to a verified result."""
    assert "flou joint --help" in plain(invoke("--help").output)
    text = plain(invoke("joint", "--help").output)
    for words in (
        "none of which shows its rows",
        "flou joint keygen north",
        "flou coordinator plan.toml",
        "flou party",
    ):
        assert words in text
    assert "goes on where it was" in plain(invoke("coordinator", "--help").output)
    assert "rows_per_scalar = 10" in plain(invoke("party", "--help").output)


def test_keygen(folder):
    """The key is for its owner only, never written over, and the printed line makes a roster."""
    assert stat.S_IMODE((folder / "a.key").stat().st_mode) == 0o600
    assert Roster.from_toml("roster.toml").keys["a"] == Identity.load("a.key").public
    assert "cannot be made" in refused(invoke("joint", "keygen", "a", "--out", "a.key"))
    result = invoke("joint", "keygen", 'the "north", inc.', "--out", "n.key")
    (folder / "odd.toml").write_text(f"[parties]\n{result.stdout}")
    assert list(Roster.from_toml("odd.toml").keys) == ['the "north", inc.']
    assert "needs a name" in refused(invoke("joint", "keygen", "", "--out", "x.key"))
    assert not (folder / "x.key").exists()


def test_certificate(folder):
    """A certificate and its key fit together, and neither is written over."""
    arguments = ("joint", "certificate", "--host", "localhost", "--host", "127.0.0.1", "--out", "c")
    assert "c-key.pem" in plain(invoke(*arguments).output)
    server_context("c.pem", "c-key.pem")
    assert stat.S_IMODE((folder / "c-key.pem").stat().st_mode) == 0o600
    before = (folder / "c.pem").read_bytes()
    assert "cannot be made" in refused(invoke(*arguments))
    assert (folder / "c.pem").read_bytes() == before
    assert "names or addresses" in refused(invoke("joint", "certificate", "--host", "", "--out", "d"))


@pytest.mark.usefixtures("folder")
def test_plan():
    """A plan says what was asked for, in a file and in words."""
    result = invoke(
        *("joint", "plan", "--roster", "roster.toml", "--formula", "y ~ x1 + x2", "--covariance", "HC3"),
        *("--name", "wages", "--dropouts", 0, "--where", "x1 > 0", "--max-rows", 1000, "--accept-differences"),
        *("--expires", "2099-01-31T00:00:00Z", "--out", "plan.toml"),
    )
    assert result.exit_code == 0, result.output
    plan = Plan.from_toml("plan.toml")
    assert (plan.name, plan.dropouts, plan.minimum, plan.max_rows) == ("wages", 0, 3, 1000)
    assert (plan.where, plan.differences, plan.expires) == ("x1 > 0", "accept", "2099-01-31T00:00:00Z")
    assert plan.program.terms()["covariance"] == "HC3"
    for label, text in plan_facts(plan):
        assert plain(f"{label} {text}") in plain(result.output)
    assert plan.hash.hex() in result.output.split()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--estimator", "logit", "--formula", "y ~ x1", "--set", "max_rounds=9"),
        ("--estimator", "moments", "--columns", "y,x1, x2"),
        ("--estimator", "histogram", "--columns", "y", "--set", "bins=4", "--set", "bounds=[0, 100]"),
        ("--estimator", "histogram", "--columns", "y", "--set", "categories=['a', 'b']"),
        ("--estimator", "ecdf", "--columns", "y", "--set", "at=[1, 2.5]"),
        ("--estimator", "quantiles", "--columns", "y", "--set", "exact=true"),
        ("--estimator", "likelihood", "--formula", "y ~ x1", "--set", "model=poisson"),
        ("--estimator", "vector sum", "--columns", "y", "--set", "length=3"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_every_statistic_can_be_planned(arguments):
    """The options of all statistics fit onto one command, and the file gives back the same plan."""
    result = invoke("joint", "plan", "--roster", "roster.toml", *arguments, "--out", "plan.toml")
    assert result.exit_code == 0, result.output
    assert Plan.from_toml("plan.toml").hash.hex() in plain(result.output)


def test_the_help_names_every_statistic():
    """A statistic that is added is found in the help."""
    text = plain(invoke("joint", "plan", "--help").output)
    assert [name for name in ESTIMATORS if name not in text] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "needs 'formula'"),
        (("--estimator", "lasso"), "estimator must be one of"),
        (("--formula", "y ~ x1", "--columns", "y"), "has no setting 'columns'"),
        (("--formula", "y ~ x1", "--covariance", "HC9"), "covariance must be one of"),
        (("--formula", "y ~ x1", "--set", "covarince=HC3"), "Perhaps 'covariance' was meant"),
        (("--formula", "y ~ x1", "--set", "HC3"), "--set must be a name and a value"),
        (("--estimator", "vector sum", "--columns", "y", "--set", "length=[1]"), "length must be a whole number"),
        (("--estimator", "ecdf", "--columns", "y", "--set", "at=x"), "at"),
        (("--formula", "y ~ x1", "--minimum", "9"), "minimum must be a whole number from 3 to 3"),
        (("--formula", "y ~ x1", "--dropouts", "1"), "dropouts"),
        (("--formula", "y ~ x1", "--expires", "soon"), "expires must be a date"),
        (("--formula", "y ~ x1", "--out", "plan.txt"), "--out must end in .toml"),
        (("--formula", "y ~ x1", "--out", "roster.toml"), "another file than the inputs"),
        (("--formula", "y ~ x1", "--roster", "nothing.toml"), "nothing.toml"),
    ],
)
def test_plans_that_are_refused(folder, arguments, words):
    """What cannot be meant is refused, and no file appears."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = invoke("joint", "plan", "--roster", "roster.toml", "--out", "plan.toml", *arguments)
    assert words in refused(result)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_simulate(folder):
    """The line of the help works as it stands, and gives the fit of the pooled rows."""
    result = invoke(
        *("joint", "simulate", "--parties", "3", "--data", "a.csv", "b.csv", "c.csv"),
        *("--formula", "y ~ x1 + x2", "--json", "out.json"),
    )
    assert result.exit_code == 0, result.output
    assert "OLS Regression Results" in result.output
    told = json.loads((folder / "out.json").read_text())
    assert (told["parties"], told["scalars"], told["estimator"]) == (["a", "b", "c"], 10, "ols")
    found = [told["result"][name]["coef"] for name in ("Intercept", "x1", "x2")]
    assert found == pytest.approx(pooled("a", "b", "c"), rel=1e-12)


def test_simulate_in_other_ways(folder):
    """--data may be repeated, one file may be split, and rows may be selected."""
    repeated = ("--data", "a.csv", "--data", "b.csv", "--data", "c.csv")
    for given, names in ((repeated, "abc"), (("--data", "a.csv"), "a"), (("--parties", 7, "--data", "b.csv"), "b")):
        result = invoke("joint", "simulate", *given, "--formula", "y ~ x1 + x2", "--json", "out.json")
        assert result.exit_code == 0, result.output
        told = json.loads((folder / "out.json").read_text())
        found = [told["result"][name]["coef"] for name in ("Intercept", "x1", "x2")]
        assert found == pytest.approx(pooled(*names), rel=1e-12)
    for given in (repeated, ("--data", "a.csv")):
        result = invoke(
            *("joint", "simulate", *given, "--estimator", "histogram", "--columns", "x1", "--where", "x1 > 0"),
            *("--set", "edges=[-100, 0, 100]", "--json", "out.json"),
        )
        assert result.exit_code == 0, result.output
        counts = json.loads((folder / "out.json").read_text())["result"]["counts"]
        rows = [np.loadtxt(f"{path}", delimiter=",", skiprows=1) for path in given[1::2]]
        assert counts == [0, int(sum((part[:, 1] > 0).sum() for part in rows))]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--data", "a.csv", "b.csv"), "at least 3 parties, got 2"),
        (("--parties", "4", "--data", "a.csv", "b.csv", "c.csv"), "There are 3 files for 4 parties"),
        (("--parties", "2", "--data", "a.csv"), "parties must be a whole number from 3"),
        (("--data", "a.csv", "b.csv", "nothing.csv"), "nothing.csv"),
        (("--data", "a.csv", "b.csv", "roster.toml"), "roster.toml"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_simulations_that_are_refused(arguments, words):
    """Too few parties, and files that are not there."""
    result = invoke("joint", "simulate", *arguments, "--formula", "y ~ x1 + x2")
    assert words in refused(result)


def test_verify(folder):
    """A transcript is checked against itself and against a plan; a changed one is refused."""
    outcome = simulated([{"x": np.arange(4.0)}] * 3, VectorSum("x", 4))
    outcome.coordinator.transcript.write("t.flou")
    plan = outcome.coordinator.plan
    (folder / "plan.toml").write_text(plan.to_toml())
    result = invoke("joint", "verify", "t.flou", "--plan", "plan.toml", "--json", "out.json")
    assert result.exit_code == 0, result.output
    assert "Verified: the sums follow from what 3 parties have signed, under your plan." in plain(result.output)
    assert "totals: [0.0, 3.0, 6.0, 9.0]" in result.output
    assert json.loads((folder / "out.json").read_text())["plan"] == plan.hash.hex()
    assert "its own plan" in plain(invoke("joint", "verify", "t.flou").output)
    (folder / "other.toml").write_text(plan.to_toml().replace("joint statistics", "other statistics"))
    assert "another plan" in refused(invoke("joint", "verify", "t.flou", "--plan", "other.toml"))
    data = bytearray((folder / "t.flou").read_bytes())
    for place in (10, len(data) // 2, len(data) - 20):
        changed = bytearray(data)
        changed[place] ^= 1
        (folder / "u.flou").write_bytes(changed)
        assert refused(invoke("joint", "verify", "u.flou"))
    assert "cannot be read" in refused(invoke("joint", "verify", "nothing.flou"))


def party(*arguments):
    given = ("--coordinator", "https://localhost:1", "--key", "a.key", "--data", "a.csv", "--give-up", "0.2")
    return invoke("party", *given, *arguments)


@pytest.fixture
def planned(folder):
    """The plan of a regression, and a certificate."""
    assert invoke("joint", "certificate", "--host", "localhost", "--out", "c").exit_code == 0
    made = invoke("joint", "plan", "--roster", "roster.toml", "--formula", "y ~ x1 + x2", "--out", "plan.toml")
    assert made.exit_code == 0
    return folder


@pytest.mark.usefixtures("planned")
def test_a_party_is_shown_the_plan_first():
    """The plan is told in words before anything else; then the coordinator is not there."""
    result = party("--plan", "plan.toml", "--ca", "c.pem")
    message = refused(result)
    assert "has not answered for 0.2 seconds" in message
    shown = plain(result.stderr)
    for label, text in plan_facts(Plan.from_toml("plan.toml")):
        assert plain(f"{label} {text}") in shown
    assert "your rows 200 count, 20.0 for each of 10 numbers" in shown


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("rows_per_scalar = 30", "This plan opens 10 numbers from 200 rows; your policy allows one in 30."),
        ('columns = ["y", "x1"]', "This plan reads the column 'x2'; your policy does not list it."),
        ("epsilon = 1", "This plan is not differentially private"),
        ("minimum_partis = 3", "Perhaps 'minimum_parties' was meant"),
    ],
)
def test_a_policy_refuses(planned, policy, words):
    """What the policy of a party does not allow is refused before anything is sent."""
    (planned / "policy.toml").write_text(policy)
    assert words in refused(party("--plan", "plan.toml", "--ca", "c.pem", "--policy", "policy.toml"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plan", "plan.toml", "--hash", "00"), "not the hash that you passed"),
        (("--plan", "plan.toml", "--key", "roster.toml"), "cannot be used"),
        (("--plan", "plan.toml", "--key", "d.key"), "does not list 'd' with this key"),
        (("--plan", "plan.toml", "--data", "roster.toml"), "roster.toml"),
        (("--plan", "plan.toml", "--ca", "nothing.pem"), "cannot be read"),
        (("--plan", "plan.toml", "--certificate", "c.pem"), "cannot be used with the key"),
        (("--plan", "plan.toml", "--coordinator", "http://localhost"), "over HTTPS only"),
        (("--plan", "nothing.toml"), "nothing.toml"),
        (("--plan", "plan.toml", "--json", "out.txt"), "--json must end in .json"),
        (("--ca", "c.pem"), "has not answered"),
    ],
)
@pytest.mark.usefixtures("planned")
def test_parties_that_are_refused(arguments, words):
    """What cannot work is refused, in three sentences."""
    Identity.generate("d").save("d.key")
    ca = () if "--ca" in arguments else ("--ca", "c.pem")
    assert words in refused(party(*ca, *arguments))


@pytest.mark.usefixtures("planned")
def test_a_party_is_asked(monkeypatch):
    """On a terminal the party has to agree; a refusal sends nothing, and is no error of flou."""
    from flou.cli import party as module

    asked = []
    monkeypatch.setattr(module, "is_terminal", lambda: True)
    monkeypatch.setattr(module.typer, "confirm", lambda question, **_: asked.append(question) or False)
    assert party("--plan", "plan.toml", "--ca", "c.pem").exit_code == 1
    assert asked == ["Do you agree to this plan?"]
    assert "has not answered" in refused(party("--plan", "plan.toml", "--ca", "c.pem", "--yes"))
    assert len(asked) == 1


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.usefixtures("planned")
def test_the_coordinators_own_plan_takes_somebody_who_is_asked(monkeypatch, terminal):
    """A coordinator could list parties that it has made up: nobody agrees to its plan unseen."""
    from flou.cli import party as module

    plan = Plan.from_toml("plan.toml")
    monkeypatch.setattr(module, "is_terminal", lambda: terminal)
    monkeypatch.setattr(module, "_plan", lambda *_: plan)
    assert "Nobody here has seen this plan before" in refused(party("--ca", "c.pem", "--yes"))
    assert "has not answered" in refused(party("--ca", "c.pem", "--yes", "--hash", plan.hash.hex()))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--certificate", "c.pem", "--key", "a.key"), "cannot be used with the key"),
        (("--client-ca", "nothing.pem"), "cannot be read"),
        (("--transcript", "t.json"), "--transcript must end in .flou"),
        (("--host", "192.0.2.1"), "cannot listen on 192.0.2.1"),
    ],
)
@pytest.mark.usefixtures("planned")
def test_coordinators_that_are_refused(arguments, words):
    """What cannot work is refused, in three sentences."""
    given = ("--certificate", "c.pem", "--key", "c-key.pem", "--port", "0")
    assert words in refused(invoke("coordinator", "plan.toml", *given, *arguments))


def test_nobody_comes(planned):
    """A coordinator that has waited long enough says who is missing."""
    given = ("--certificate", "c.pem", "--key", "c-key.pem", "--port", "0", "--wait", "0.1")
    message = refused(invoke("coordinator", "plan.toml", *given))
    assert "Only 0 parties are there; missing: a, b, c." in message
    assert not (planned / "transcript.flou").exists()


def test_what_others_write_does_not_move_the_cursor(monkeypatch):
    """A reason that came over the network is printed without its control characters."""
    from flou.errors import ProtocolError

    def raises(*_):
        raise ProtocolError("It \x1b[2Jis\r\nbad.", "Why.", "Do.")

    monkeypatch.setattr(Roster, "from_toml", raises)
    monkeypatch.setattr(cli.joint, "checked_out", lambda *_: None)
    result = invoke("joint", "plan", "--roster", "r", "--formula", "y ~ x", "--out", "p.toml")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert "It  [2Jis bad." in plain(result.stderr).replace("It [2Jis", "It  [2Jis")


# Likelihoods of one's own

MODEL = """
import numpy as np
from flou.joint import register_model

def loglike(batch, theta):
    return -((batch["y"] - theta[0]) ** 2) / 2

register_model("own", loglike)
"""
LIKELIHOOD = (
    *("--estimator", "likelihood", "--columns", "y", "--set", "model=own"),
    *("--set", "parameters=['level']", "--set", "start=[0.5]"),
)
UNKNOWN = "No likelihood is registered under the name 'own'"


@pytest.fixture
def forgotten(folder):
    """A file with a model, which this process does not know yet, nor afterwards."""
    from flou.joint.estimators.likelihood.likelihood_model import MODELS

    (folder / "own.py").write_text(MODEL)
    MODELS.pop("own", None)
    yield MODELS
    MODELS.pop("own", None)


def test_a_model_of_one_s_own(forgotten):
    """Simulated, planned, coordinated and taken part in with --model, and refused without it."""
    tables = ("--data", "a.csv", "b.csv", "c.csv")
    ran = invoke("joint", "simulate", *tables, *LIKELIHOOD, "--model", "own.py")
    assert ran.exit_code == 0, ran.output
    rows = np.concatenate([np.loadtxt(f"{name}.csv", delimiter=",", skiprows=1) for name in "abc"])
    assert f"{rows[:, 0].mean():.4f}" in ran.output
    forgotten.pop("own")
    plan = ("joint", "plan", "--roster", "roster.toml", "--out", "plan.toml", *LIKELIHOOD)
    assert UNKNOWN in refused(invoke(*plan))
    assert invoke(*plan, "--model", "own.py").exit_code == 0
    coordinate = ("coordinator", "plan.toml", "--certificate", "x.pem", "--key", "y.pem")
    for command, reason in ((("--plan", "plan.toml"), "This plan opens"), (coordinate, "x.pem")):
        forgotten.pop("own", None)
        ask = invoke if command is coordinate else party
        assert UNKNOWN in refused(ask(*command))
        assert reason in refused(ask(*command, "--model", "own.py"))


def test_a_transcript_with_a_model_of_one_s_own(forgotten):
    """Whoever verifies it needs the same model."""
    assert (
        invoke("joint", "simulate", "--data", "a.csv", "b.csv", "c.csv", *LIKELIHOOD, "--model", "own.py").exit_code
        == 0
    )
    program = MaximumLikelihood("own", columns=["y"], parameters=["level"], start=[0.5])
    simulated([{"y": np.arange(40.0)}] * 3, program).coordinator.transcript.write("t.flou")
    forgotten.pop("own")
    assert UNKNOWN in refused(invoke("joint", "verify", "t.flou"))
    assert invoke("joint", "verify", "t.flou", "--model", "own.py").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "cannot be read"), ("1 / 0", "stops with ZeroDivisionError"), ("(", "stops with SyntaxError")],
)
def test_files_of_models_that_are_refused(folder, text, words):
    """A file that is not there, or that does not run."""
    if text is not None:
        (folder / "own.py").write_text(text)
    plan = ("joint", "plan", "--roster", "roster.toml", "--out", "plan.toml", "--formula", "y ~ x1")
    assert words in refused(invoke(*plan, "--model", "own.py"))
    assert not (folder / "plan.toml").exists()
