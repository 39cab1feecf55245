"""A plan is data: the same everywhere, another one with every letter, and refused where it makes no sense."""

from __future__ import annotations

import copy
import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from flou.domain import toml
from flou.errors import FlouError, InvalidParameter, ProtocolError
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.program import Ask
from flou.joint.masking.noise import polya_share

IDENTITIES = [Identity.generate(f"p{i:03d}") for i in range(120)]


def roster(m):
    return Roster.of(IDENTITIES[:m])


def plan(m=5, **terms):
    return Plan(roster(m), VectorSum("income", 3, 1000, 2), **{"expires": "2099-01-31T00:00:00Z"} | terms)


def test_a_file_keeps_the_hash(tmp_path):
    """Written and read again, a plan is the same plan, with every default spelled out."""
    for terms in (
        {},
        {"name": 'Ünï "x" \\', "minimum": 3, "dropouts": 2, "differences": "accept", "where": "income > 3"},
    ):
        first = plan(**terms)
        (tmp_path / "plan.toml").write_text(first.to_toml(), encoding="utf-8")
        again = Plan.from_toml(tmp_path / "plan.toml")
        assert again.hash == first.hash
        assert again.to_dict() == first.to_dict()
        assert Plan.from_dict(again.to_dict()).hash == first.hash
    assert set(plan().to_dict()["plan"]) == {
        "version",
        "name",
        "minimum",
        "dropouts",
        "differences",
        "max_rows",
        "where",
        "expires",
    }


def test_defaults_are_part_of_the_hash():
    """What is left out and what is written out are one plan; another choice is another."""
    assert plan().hash == plan(minimum=4, dropouts=1).hash
    hashes = {
        plan(**terms).hash
        for terms in (
            {},
            {"m": 6},
            {"name": "x"},
            {"minimum": 3},
            {"minimum": 5},
            {"dropouts": 0},
            {"differences": "accept"},
            {"max_rows": 7},
            {"where": "income > 3"},
            {"expires": "2099-01-31T00:00:01Z"},
        )
    }
    assert len(hashes) == 10


def leaves(tables, path=()):
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def changed(value):
    """The value with one letter changed, in every place; or the next number."""
    if isinstance(value, int):
        return [value + 1, value - 1]
    return [value[:i] + ("1" if value[i] == "0" else "0") + value[i + 1 :] for i in range(len(value))] + [value + "0"]


def test_every_changed_letter_is_another_plan():
    """Each letter of each text and each number of the file: either refused, or with another hash."""
    first = plan(where="income > 3")
    hashes, tried = {first.hash}, 1
    for path, value in leaves(first.to_dict()):
        for other in changed(value):
            tables = copy.deepcopy(first.to_dict())
            place = tables
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = other
            try:
                found = Plan.from_dict(tables).hash
            except FlouError:
                continue
            hashes.add(found)
            tried += 1
    assert tried > 300
    assert len(hashes) == tried
    renamed = {("q000" if name == "p000" else name): key for name, key in first.to_dict()["parties"].items()}
    assert Plan.from_dict(first.to_dict() | {"parties": renamed}).hash not in hashes


def test_expiry():
    """A plan serves until its date, not after, and the date has a time zone."""
    soon = plan(expires="2030-06-01T12:00:00+02:00")
    soon.check_date(datetime(2030, 6, 1, 9, 59, 59, tzinfo=UTC))
    for late in (datetime(2030, 6, 1, 10, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)):
        with pytest.raises(ProtocolError, match="expired on 2030-06-01"):
            soon.check_date(late)
    with pytest.raises(ProtocolError, match="expired"):
        plan(expires="2020-01-01T00:00:00Z").check_date()
    in_a_month = Plan(roster(3), VectorSum("income", 3))
    in_a_month.check_date(datetime.now(UTC) + timedelta(days=29))
    with pytest.raises(ProtocolError):
        in_a_month.check_date(datetime.now(UTC) + timedelta(days=31))
    for date in ("tomorrow", "2030-06-01", "2030-06-01T00:00:00", 5, ["2030"]):
        with pytest.raises(InvalidParameter, match="expires must be"):
            plan(expires=date)


def test_versions():
    """Another version, or none, is not guessed at."""
    tables = plan().to_dict()
    for version in (0, 2, "1", None):
        with pytest.raises(InvalidParameter, match="another version"):
            Plan.from_dict(tables | {"plan": tables["plan"] | {"version": version}})
    without = {key: value for key, value in tables["plan"].items() if key != "version"}
    with pytest.raises(InvalidParameter, match="no key 'version'"):
        Plan.from_dict(tables | {"plan": without})


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("plan", {"minimum": 2}),
        ("plan", {"minimum": 6}),
        ("plan", {"minimum": "4"}),
        ("plan", {"minimum": True}),
        ("plan", {"dropouts": 3}),
        ("plan", {"dropouts": -1}),
        ("plan", {"dropouts": 1.0}),
        ("plan", {"differences": "perhaps"}),
        ("plan", {"differences": True}),
        ("plan", {"max_rows": 0}),
        ("plan", {"name": ""}),
        ("plan", {"name": 5}),
        ("plan", {"name": "a\0b"}),
        ("plan", {"where": None}),
        ("plan", {"colour": "red"}),
        ("plan", None),
        ("plan", 5),
        ("estimate", {"estimator": "magic"}),
        ("estimate", {"estimator": 5}),
        ("estimate", {"length": 0}),
        ("estimate", {"length": "3"}),
        ("estimate", {"colour": "red"}),
        ("estimate", None),
        ("estimate", 5),
        ("estimate", [1]),
        ("parties", {"p000": "00"}),
        ("parties", {"p000": 7}),
        ("parties", None),
        ("dataset", {"title": "unused"}),
        ("columns", {"income": {}}),
        ("colour", {}),
    ],
)
def test_terms_that_make_no_sense_are_refused(where, what):
    """Whoever wrote the file, every part of it is checked, and nothing is ignored."""
    tables = plan().to_dict()
    part = tables.get(where)
    tables[where] = part | what if isinstance(part, dict) and isinstance(what, dict) else what
    with pytest.raises(InvalidParameter):
        Plan.from_dict(tables)


@pytest.mark.parametrize("tables", [None, 5, [], "plan", {}, {"plan": {"version": 1}}])
def test_what_is_no_plan_is_refused(tables):
    """Also when nothing is left of it."""
    with pytest.raises(InvalidParameter):
        Plan.from_dict(tables)


def test_too_few_parties():
    """Of two parties each learns the other's sums."""
    with pytest.raises(InvalidParameter, match="from 3"):
        plan(2)


@pytest.mark.parametrize(
    ("m", "terms", "smallest", "dropouts", "colluders"),
    [
        (3, {}, 3, 0, 1),
        (4, {}, 3, 1, 1),
        (5, {}, 4, 1, 2),
        (5, {"dropouts": 0}, 5, 0, 3),
        (5, {"dropouts": 2}, 3, 2, 0),
        (8, {}, 6, 2, 3),
        (8, {"minimum": 3}, 3, 2, 1),
        (10, {"dropouts": 0, "minimum": 10}, 10, 0, 8),
        (100, {}, 75, 25, 49),
        (120, {}, 114, 6, 12),
    ],
)
def test_what_a_plan_withstands(m, terms, smallest, dropouts, colluders):
    """The smallest sum, the losses and the conspirators, which always leave two honest parties in the smallest sum."""
    found = plan(m, **terms)
    assert (found.smallest, found.dropouts, found.colluders) == (smallest, dropouts, colluders)
    assert colluders <= smallest - 2
    said = {0: "as long as nobody conspires", 1: "even if one of them conspires"}
    assert said.get(colluders, f"even if {colluders} of them conspire") in found.in_words()


def test_many_parties_cannot_be_cut_down_to_few():
    """With few neighbours each, a small part of the parties could be full of conspirators, and is refused."""
    with pytest.raises(InvalidParameter, match="at least 114"):
        plan(120, minimum=60)
    assert plan(120, minimum=115).smallest == 115


class Noisy(VectorSum):
    """A sum that counts on so many honest parties."""

    honest = 0

    def next(self, opened):
        return dataclasses.replace(
            super().next(opened), noise=polya_share(epsilon=1, sensitivity=1, honest=self.honest)
        )


@pytest.mark.parametrize(("honest", "colluders"), [(1, 2), (2, 2), (3, 1), (4, 0)])
def test_noise_counts_on_parties_in_the_smallest_sum(honest, colluders, monkeypatch):
    """Of five parties one may be lost: if noise counts on three honest ones, one of the four left may conspire."""
    monkeypatch.setattr(Noisy, "honest", honest)
    noisy = Plan(roster(5), Noisy("income", 3))
    assert noisy.colluders == colluders
    monkeypatch.setattr(Noisy, "honest", 5)
    with pytest.raises(InvalidParameter, match="counts on 5 honest parties, but a sum may cover only 4"):
        Plan(roster(5), Noisy("income", 3))
    assert Plan(roster(5), Noisy("income", 3), dropouts=0).colluders == 0


def test_the_width_holds_every_sum():
    """The proof of a question covers all parties of the roster at the limit."""
    for limit in (1, 2**40, 2**62, 2**100, 2**250):
        proof = plan().proof(Ask("x", 1, limit))
        assert proof.largest == 5 * limit < 2 ** (proof.width - 1)


def test_a_plan_file_is_toml():
    """Anyone can read it."""
    assert toml.parsed(plan().to_toml()) == plan().to_dict()
