"""The words that a party agrees to: they say everything that a plan says, and cannot be made to say something else."""

from __future__ import annotations

import copy

import pytest

from flou.errors import FlouError
from flou.joint.agreement.identity import Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.plan_words import plan_facts, quoted
from flou.joint.estimators.distribution.distribution import Histogram
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.private.histogram import PrivateHistogram
from joint.every_program import PROGRAMS, ROSTER, planned

whole = plan_facts
NAMES = [program.estimator for program in PROGRAMS]
WHERE = "age >= 18 and not ward == 'b'"


def leaves(value, path=()):
    """Every value of nested tables and lists, with its way there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inside is None:
        yield path, value
    else:
        for key, part in inside:
            yield from leaves(part, (*path, key))


def others(value):
    """Values of the same kind that a plan may have instead."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, value * 2, value / 2, value + 0.25]
    known = {
        "refuse": ["accept"],
        "add-remove": ["substitute"],
        "substitute": ["add-remove"],
        "HC3": ["HC1"],
        "sandwich": ["opg"],
        "auto": ["polya", "skellam"],
        "skellam": ["discrete-gaussian"],
        "discrete-gaussian": ["skellam"],
        "newton": ["bhhh"],
        "1/3": ["1/4"],
        "2099-01-31T00:00:00Z": ["2098-01-31T00:00:00Z"],
        "poisson": ["probit"],
        WHERE: ["age >= 19 and not ward == 'b'"],
    }
    digits = [value[:i] + ("1" if c == "0" else "0") + value[i + 1 :] for i, c in enumerate(value[:3])]
    return [
        *known.get(value, ()),
        value + "x",
        value + " + count",
        value.replace("x", "age"),
        value.replace("y", "age"),
        *digits,
    ]


def put(tables, path, value):
    made = copy.deepcopy(tables)
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


def words(plan):
    """The facts, but for the hash, which would tell any two plans apart without saying how they differ."""
    return [fact for fact in plan_facts(plan) if fact[0] != "hash"]


FIXED = {  # entries with one value only, or that hang together with others
    ("plan", "version"),
    ("estimate", "estimator"),
    ("estimate", "source"),
    ("estimate", "model"),
    ("estimate", "fixed_effects"),
    ("estimate", "covariance"),
    ("estimate", "method"),
    ("estimate", "exact"),
    ("plan", "minimum"),
    ("plan", "dropouts"),
}


def silent(plan):
    """The entries of a plan that can change without a word; and those that could not be changed at all."""
    first, tables = words(plan), plan.to_dict()
    found, stuck = [], []
    for path, value in leaves(tables):
        for other in others(value):
            try:
                again = Plan.from_dict(put(tables, path, other))
            except (FlouError, TypeError):
                continue
            if again.hash != plan.hash:
                found += [path] if words(again) == first else []
                break
        else:
            stuck.append(path)
    return found, stuck


def unwritten(plan):
    """The entries of a plan whose value or name does not stand in its words."""
    facts = words(plan)
    labels, text = {label for label, _ in facts}, "\n".join(text for _, text in facts)
    found = []
    for path, value in leaves(plan.to_dict()):
        shown = (
            f"{value:,}" if path == ("plan", "max_rows") else str(value).lower() if isinstance(value, bool) else value
        )
        named = path[0] != "estimate" or path[1] in {*labels, "estimator"}
        found += [] if named and str(shown) in text and (path[0] != "parties" or path[1] in text) else [path]
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_nothing_changes_without_a_word(program):
    """Whichever entry of a plan is another one, the words are others too, the hash aside."""
    plan = planned(program, where=WHERE, name="wages", max_rows=1000)
    found, stuck = silent(plan)
    assert found == []
    assert [path for path in stuck if path not in FIXED and path[0] not in ("dataset", "columns")] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_every_entry_is_written_out(program):
    """Each text and number of the plan's tables stands in the words, each choice of the statistic with its name."""
    plan = planned(program, where=WHERE, name="wages", max_rows=1000)
    assert unwritten(plan) == []
    for name in plan.reading.columns:
        assert f'"{name}"' in dict(words(plan))["columns read"]


@pytest.mark.parametrize("gone", ["plan", "rows", "formula", "epsilon", "party", "columns", "expires", "differences"])
def test_a_page_that_leaves_something_out_is_noticed(monkeypatch, gone):
    """The tests above are seen to refuse: without the condition, the formula, epsilon, a party, a bound, a date."""
    plan = planned(PROGRAMS[NAMES.index("private ols")], where=WHERE, max_rows=1000)
    assert unwritten(plan) == []
    monkeypatch.setitem(globals(), "plan_facts", lambda plan: [fact for fact in whole(plan) if fact[0] != gone])
    assert unwritten(plan) or silent(plan)[0]


@pytest.mark.parametrize("counts", [(3, 0), (5, 0), (5, 1), (5, 2), (9, 2)])
def test_parties_are_counted_in_words(counts):
    """How many there are, how many may be lost, and how many there must be."""
    m, dropouts = counts
    plan = Plan(Roster({f"p{i}": i.to_bytes(32, "big") for i in range(m)}), VectorSum("x", 3), dropouts=dropouts)
    lost = {0: "needs all of them", 1: "survives the loss of one"}.get(dropouts, f"survives the loss of {dropouts}")
    said = f"{m}. A round {lost}, and no sum is opened over fewer than {plan.minimum}."
    assert dict(plan_facts(plan))["parties"] == said


def test_an_entry_that_is_added_is_shown(monkeypatch):
    """A plan or a statistic that comes to say more says it in its words, without a line of code there."""
    plan = planned(VectorSum("income", 3))
    whole = Plan.to_dict(plan)
    added = {
        "plan": whole["plan"] | {"weather": "rain"},
        "estimate": whole["estimate"] | {"weights": "w", "nested": {"a b": {"deep": [1, "two"]}}},
        "fees": {"total": 7},
    }
    monkeypatch.setattr(Plan, "to_dict", lambda _: whole | added)
    for line in ('weather: "rain"', 'weights: "w"', 'nested: "a b": deep = [1, "two"]', "fees: total = 7"):
        assert line in plan.in_words().splitlines()


def test_what_matters_is_said():
    """The condition, the formula, the columns, the cost, the unit, the rows behind a number, and the parties."""
    plan = planned(PROGRAMS[NAMES.index("private ols")], where=WHERE, name="wages")
    facts = dict(plan_facts(plan))
    assert facts["plan"] == '"wages", version 1'
    assert facts["hash"] == plan.hash.hex()
    assert facts["computes"] == '"private ols"'
    assert facts["formula"] == '"y ~ x + C(g)"'
    assert facts["rows"].startswith(f'only those with "{WHERE}"; at most ')
    assert facts["columns read"] == '"y", "x", "g", "age", "ward"'
    assert facts["epsilon"] == "1"
    assert facts["noise"].startswith("in all rounds together epsilon = ")
    assert "for each row (add-remove)" in facts["noise"]
    assert facts["noise"].endswith("Somebody with several rows has several times this cost.")
    assert facts["parties"].startswith("3. A round needs all of them, and no sum is opened over fewer than 3.")
    parties = [text for label, text in plan_facts(plan) if label == "party"]
    assert parties == [f'"{name}", key {ROSTER.keys[name].hex()}' for name in ("north", "south", "west")]
    assert f"your rows: 1,234 count, {12340 // plan.scalars / 10:,.1f} for each of {plan.scalars} numbers" in (
        plan.in_words(1234).splitlines()
    )
    exact = dict(plan_facts(planned(LinearRegression("y ~ x"))))
    assert exact["noise"].startswith("none. The sums are exact")
    assert exact["rows"].startswith("all, without a condition")
    cost = dict(plan_facts(planned(PrivateHistogram("y", edges=[0, 1], honest=2, epsilon=2, delta=1e-6))))
    assert (cost["epsilon"], cost["delta"]) == ("2", "1e-06")


HOSTILE = [
    "a\nnoise: epsilon = 0.1",
    "a\r\x1b[2K\x1b[1Anoise",
    "\x1b]0;title\x07",
    "age\u202e 714 == di",
    "\u2066age\u2069",
    "a\u200bb",
    "a" + " " * 300 + "and id == 417",
    "age\u3164",
    "age\ufe0f",
    "age\u2028noise",
    "age\xa0x",
    "\u05d0 == 1",
    "\x9b2J",
    'a", "b',
    "a\\nb",
    "\U000e0041",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_cannot_move_what_is_read(text):
    """Control characters, marks of direction, blanks and what looks like a new line are written by their number."""
    shown = quoted(text)
    assert shown.isprintable()
    assert "  " not in shown
    assert not any("\u0590" <= letter <= "\u08ff" or letter in "\u3164\ufe0f\u2800" for letter in shown)
    for plan in (
        planned(VectorSum("income", 3), name=text[-200:]),
        planned(VectorSum(text, 3)),
        planned(VectorSum("income", 3), where=f"""`{text.replace("`", "")}` == 1"""),
        planned(VectorSum("income", 3), where=f"""ward == '{text.replace("'", "")}'"""),
        planned(Histogram("ward", categories=[text, "b"])),
    ):
        lines = plan.in_words().splitlines()
        assert len(lines) == len(plan_facts(plan))
        assert all(line.isprintable() for line in lines)
        assert shown[1:-1][-20:] in plan.in_words()


def test_different_texts_look_different():
    """No two texts are shown alike: what is escaped cannot be typed."""
    texts = [*HOSTILE, "a\\x0a", "a\x0a", "a\\n", "a\n", "a\\\n", 'a"', 'a\\"', "a  b", "a \\x20b", "\u202e", "\\u202e"]
    assert len({quoted(text) for text in texts}) == len(set(texts))
    assert quoted("Zürich, 東京 'x' (α ≥ 3)") == "\"Zürich, 東京 'x' (α ≥ 3)\""


def test_long_lists_say_that_they_are_cut():
    """A thousand entries are shown, and how many more there are; nothing else is ever cut."""
    edges = [float(place) for place in range(1500)]
    text = dict(plan_facts(planned(Histogram("income", edges=edges))))["edges"]
    assert "999.0, and 500 more, which the plan file lists" in text
    many = Roster({f"party {i}": i.to_bytes(32, "big") for i in range(1200)})
    parties = [text for label, text in plan_facts(Plan(many, VectorSum("x", 3))) if label == "party"]
    assert len(parties) == 1001
    assert parties[-1] == "and 200 more, which the plan file lists"
