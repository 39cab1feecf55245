"""A transcript proves its result: the true one is accepted, and no change to it brings another result."""

from __future__ import annotations

import dataclasses

import pytest

from flou.bits import SeededBits
from flou.errors import FlouError, InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Identity
from flou.joint.estimators import program
from flou.joint.round.messages import Message, signed
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.transcript import verified
from flou.joint.simulation import converse
from joint.session.sessions import IDENTITIES, Integers, lie, parties, plain, plan_for, total

ROUNDS = 2


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(program.ESTIMATORS, "integers", f"{Integers.__module__}.Integers")


@pytest.fixture(scope="module")
def held():
    """A session of five with two rounds, in which one party is lost after its words were in."""
    plan = plan_for(5, Integers(rounds=ROUNDS))
    gone = set()

    def lost(number, address):
        if (number, address) == (4, (2, "unmask")):
            gone.add(number)
        return number in gone

    outcome = converse(CoordinatorSession(plan), parties(plan, plain(5)), lost=lost)
    return plan, outcome.coordinator.transcript.to_bytes(), outcome.fit


def test_the_true_transcript(held, tmp_path):
    """Bytes or file, with the plan or without: the result with everything that belongs to it."""
    plan, data, fit = held
    assert fit.sums == (total(plain(5)), tuple(2 * word for word in total(plain(5))))
    assert verified(data) == verified(data, plan) == fit
    (tmp_path / "transcript").write_bytes(data)
    assert verified(tmp_path / "transcript", plan) == fit
    with pytest.raises(InvalidParameter, match="cannot be read"):
        verified(tmp_path / "nowhere")


def test_a_transcript_with_a_lost_party():
    """The keys of a party that went before its words were in are restored again."""
    plan = plan_for(5)
    outcome = converse(
        CoordinatorSession(plan), parties(plan, plain(5)), lost=lambda who, at: who == 1 and at == (1, "mask")
    )
    assert verified(outcome.coordinator.transcript.to_bytes(), plan) == outcome.fit
    assert outcome.fit.sums == (total(plain(5), [0, 2, 3, 4]),)


def attached(name):
    def change(told):
        message = Message.from_bytes(told[name][0])
        told[name][0] = dataclasses.replace(message, attachment=b"junk").to_bytes()

    return change


def another_join(told):
    """With other keys, before the one that was founded on."""
    told["joined"].insert(0, signed(IDENTITIES[0], 0, bytes(32), "join", {"commitment": bytes(32)}).to_bytes())


def in_record(change):
    return lambda told: change(told["rounds"][0]["record"])


@pytest.mark.parametrize(
    "change",
    [
        attached("joined"),
        attached("revealed"),
        attached("confirmed"),
        another_join,
        in_record(lambda record: record["adverts"].pop()),
        in_record(lambda record: record["released"].insert(0, record["released"][0])),
        in_record(lambda record: record["agreed"].reverse()),
        in_record(lambda record: record.update(more=[])),
        lambda told: told["revealed"].reverse(),
        lambda told: told["confirmed"].append(told["confirmed"][-1]),
        lambda told: told.update(more=5),
    ],
)
def test_nothing_is_added_left_out_or_moved(held, change):
    """A session has one transcript: also what changes no result is refused if nobody vouches for it."""
    told = decode(held[1])
    change(told)
    with pytest.raises(ProtocolError):
        verified(encode(told))


def test_another_plan(held):
    """It is the transcript of its own plan only."""
    _, data, _ = held
    with pytest.raises(ProtocolError, match="another plan"):
        verified(data, plan_for(5, Integers(rounds=ROUNDS), name="other"))


def test_any_flipped_bit():
    """A bit flipped anywhere is noticed."""
    plan = plan_for(3, Integers(length=1))
    outcome = converse(CoordinatorSession(plan), parties(plan, plain(3, 1)))
    data, fit = outcome.coordinator.transcript.to_bytes(), outcome.fit
    assert verified(data) == fit
    bits = SeededBits(11)
    refused = 0
    places = range(1, len(data), 4)
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << bits.integer_below(8)
        try:
            found = verified(bytes(changed), plan)
        except FlouError:
            refused += 1
            continue
        assert found == fit
    assert refused == len(places)


def test_cut_and_lengthened(held):
    """Nothing is missing and nothing is added."""
    _, data, _ = held
    for changed in (data[:-1], data + b"\0", data[1:], b"", encode({}), encode([]), encode(5)):
        with pytest.raises(ProtocolError):
            verified(changed)


def changes(told):
    """Transcripts that are well-formed and false, with the name of the lie."""
    first, second = told["rounds"]
    yield "other format", told | {"format": "flou joint transcript 2"}
    yield "no plan", {key: value for key, value in told.items() if key != "plan"}
    yield "a plan with another limit", told | {"plan": edit(told["plan"], "estimate", limit=2**41)}
    yield "a plan with fewer rounds", told | {"plan": edit(told["plan"], "estimate", rounds=1)}
    yield "a plan with another minimum", told | {"plan": edit(told["plan"], "plan", minimum=3)}
    yield "a plan with a later date", told | {"plan": edit(told["plan"], "plan", expires="2100-01-01T00:00:00Z")}
    stranger = Identity.generate("x").public.hex()
    yield "a plan with another key", told | {"plan": edit(told["plan"], "parties", p0000=stranger)}
    yield "nobody joined", told | {"joined": []}
    yield "someone has not joined", told | {"joined": told["joined"][1:]}
    yield "a nonce is missing", told | {"revealed": told["revealed"][1:]}
    yield "joined for revealed", told | {"revealed": told["joined"]}
    yield "one round only", told | {"rounds": [first]}
    yield "no round", told | {"rounds": []}
    yield "rounds exchanged", told | {"rounds": [second, first]}
    yield "a round twice", told | {"rounds": [first, first]}
    yield "a round more", told | {"rounds": [first, second, second | {"number": 3}]}
    yield "a void round before", told | {"rounds": [{"number": 1, "void": ""}, first, second]}
    yield "a void round behind", told | {"rounds": [first, second, {"number": 3, "void": ""}]}
    yield "another number", told | {"rounds": [first | {"number": 2}, second]}
    yield "a number that is no number", told | {"rounds": [first | {"number": "1"}, second]}
    sums = bytes([first["sums"][0] ^ 1]) + first["sums"][1:]
    yield "another sum", told | {"rounds": [first | {"sums": sums}, second]}
    yield "another question", told | {"rounds": [first | {"ask": first["ask"] | {"limit": 5}}, second]}
    yield "the first question again", told | {"rounds": [first, second | {"ask": first["ask"]}]}
    yield (
        "other parameters",
        told | {"rounds": [first, second | {"ask": second["ask"] | {"parameters": {"times": 2, "last": [0.0, 0.0]}}}]},
    )
    for name, listed in second["record"].items():
        for what, lies in (("without", listed[1:]), ("no", []), ("nonsense in", [*listed[1:], b""])):
            yield f"{what} {name}", told | {"rounds": [first, second | {"record": second["record"] | {name: lies}}]}
        old = first["record"][name]
        yield f"old {name}", told | {"rounds": [first, second | {"record": second["record"] | {name: old}}]}
    for key in ("ask", "sums", "record", "number"):
        yield f"a round without {key}", told | {"rounds": [first, {k: v for k, v in second.items() if k != key}]}
    confirmed = Message.from_bytes(told["confirmed"][0])
    yield "a false confirmation", told | {"confirmed": [dataclasses.replace(confirmed, sender=1).to_bytes()]}
    other = signed(IDENTITIES[0], 0, bytes(32), "confirm", {}).to_bytes()
    yield "a confirmation of something else", told | {"confirmed": [other]}
    for key in told:
        for value in (None, 5, "x", b"x", [5], [None], [{}], [[]], [b""], {}, {"x": 1}):
            yield f"{value!r} as {key}", told | {key: value}


def edit(plan, table, **terms):
    return plan | {table: plan[table] | terms}


def test_every_kind_of_change(held):
    """Whatever is changed in a way that can be read: refused, and with a reason of flou's own."""
    plan, data, fit = held
    told = decode(data)
    tried = 0
    for name, changed in changes(told):
        try:
            found = verified(encode(changed))
        except FlouError:
            tried += 1
            continue
        # what nobody needs for the result may be left out: whose shares were more than enough
        assert name in ("without released", "without agreed", "old agreed"), name
        assert found == fit, name
    assert tried > 100
    assert plan.hash


def test_a_forger_cannot_sign(held):
    """A transcript of the same plan with other words needs the parties' keys."""
    plan, data, _ = held
    false = parties(plan, [[1, 1]] * 5)
    outcome = converse(CoordinatorSession(plan), false, tampered=lie((9, "never"), lambda reply: reply))
    other, mine = decode(outcome.coordinator.transcript.to_bytes()), decode(data)
    for key in ("joined", "revealed", "rounds", "confirmed"):
        with pytest.raises(FlouError):
            verified(encode(mine | {key: other[key]}), plan)
