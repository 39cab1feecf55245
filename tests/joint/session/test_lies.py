"""A coordinator that lies is refused by the parties, with the right reason and before anything is given away."""

from __future__ import annotations

import dataclasses
import re

import pytest

from flou.errors import FlouError, ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.round.coordinator import CoordinatorRound
from flou.joint.round.messages import Message, bitmap, signed
from flou.joint.session import coordinator as coordinating
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.simulation import converse
from joint.session.sessions import (
    IDENTITIES,
    Integers,
    Recorder,
    edited,
    exposed,
    given_away,
    lie,
    parties,
    plain,
    plan_for,
    total,
)

EVERYONE = frozenset(range(5))


def told_lies(tampered, m=5, program=None, **terms):
    """A session under a lie: the plan, the sessions, and what came of it."""
    plan = plan_for(m, program, **terms)
    sessions = parties(plan, plain(m))
    outcome = converse(CoordinatorSession(plan), sessions, tampered=tampered)
    assert not exposed(sessions, plan)
    return plan, sessions, outcome


def flip(data: bytes, at: int = -1) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def first(change):
    """Change the first entry of a table or list."""

    def edit(found):
        if isinstance(found, dict):
            key = min(found)
            return found | {key: change(found[key])}
        return [change(found[0]), *found[1:]]

    return edit


def every(change):
    """Change every entry of a table."""
    return lambda found: {key: change(value) for key, value in found.items()}


def without_first(found):
    return {key: found[key] for key in sorted(found)[1:]} if isinstance(found, dict) else found[1:]


def body_of(change):
    """Change the body of an encoded message, not its signature."""

    def edit(data):
        message = Message.from_bytes(data)
        return dataclasses.replace(message, body=change(message.body)).to_bytes()

    return edit


BEFORE_UNMASKING = [
    # commitments and nonces
    ((0, "join"), edited(joined=bitmap([1, 2, 3, 4], 5)), "wrong length"),
    ((0, "join"), edited(commitments=flip), "missing from the list|do not match its commitment"),
    ((0, "reveal"), edited(nonces=flip), "another nonce"),
    ((0, "reveal"), edited(present=bitmap([0, 1], 5), nonces=lambda found: found[:64]), "left out|2 parties are there"),
    ((0, "reveal"), edited(present=lambda found: found + b"\0"), "wrong length"),
    # the question
    ((0, "reveal"), edited(ask=lambda ask: ask | {"length": 3}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"length": 2.0}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"limit": ask["limit"] + 1}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"step": "other"}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"parameters": {"times": 2, "last": []}}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"parameters": [["times", 1], ["last", []]]}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"noise": {"parameter": "1/0"}}), "asks for other sums"),
    ((0, "reveal"), edited(ask=lambda ask: ask | {"more": 1}), "asks for other sums"),
    ((0, "reveal"), edited(ask=None), "asks for other sums"),
    # keys
    (
        (0, "join"),
        edited(adverts=every(body_of(lambda body: flip(body, -70)))),
        "signature|do not match its commitment|not a table",
    ),
    ((0, "join"), edited(adverts=lambda found: dict.fromkeys(found, found[max(found)])), "do not match its commitment"),
    ((0, "join"), edited(adverts={}), "do not match its commitment"),
    ((0, "join"), edited(adverts=without_first), "do not match its commitment"),
    ((0, "join"), edited(adverts=lambda found: {"0" + key: found[key] for key in found}), "lacks the table"),
    # sealed shares
    ((0, "reveal"), edited(sealed=first(flip)), "cannot be opened"),
    ((0, "reveal"), edited(sealed=lambda found: dict.fromkeys(found, found[max(found)])), "cannot be opened"),
    ((0, "reveal"), edited(sealed={}), "Only 0 neighbours have shared"),
    ((0, "reveal"), edited(sealed=without_first), "not masked for all of its neighbours"),
    # survivors
    ((1, "mask"), edited(survivors=bitmap([0, 1, 2], 5)), "would be over 3 parties|party as lost"),
    ((1, "mask"), edited(survivors=bitmap([], 5)), "party as lost"),
    ((1, "mask"), edited(survivors=b"\xff"), "does not exist"),
    ((1, "mask"), edited(survivors=b""), "wrong length"),
    # signatures under the survivors
    ((1, "agree"), edited(agreed=first(body_of(lambda body: flip(body, -5)))), "signature|another place"),
    ((1, "agree"), edited(agreed=lambda found: dict.fromkeys(found, found[max(found)])), "Only 1 neighbours"),
    ((1, "agree"), edited(agreed={}), "Only 0 neighbours have signed"),
]


@pytest.mark.parametrize(("step", "edit", "reason"), BEFORE_UNMASKING)
def test_lies_before_anything_is_released(step, edit, reason):
    """Everyone stops, with the reason, and no mask and no share was given away."""
    _, sessions, outcome = told_lies(lie(step, edit))
    assert not given_away(sessions)
    assert not outcome.fits
    assert len(outcome.refusals) == 5
    for error in outcome.refusals.values():
        assert isinstance(error, ProtocolError)
        assert any(part in error.what for part in reason.split("|")), error.what


AFTER_UNMASKING = [
    (edited(sums=flip), "hash|do not follow"),
    (edited(sums=lambda found: found + bytes(8)), "hash"),
    (edited(root=flip), "hash"),
    (edited(hash=flip), "hash"),
    (edited(survivors=bitmap([0, 1, 2, 3], 5)), "do not follow"),
    (edited(record={}), "not complete"),
    (edited(record=lambda found: found | {"adverts": []}), "have not taken part"),
    (edited(record=lambda found: found | {"released": []}), "0 shares"),
    (edited(record=lambda found: found | {"agreed": []}), "Too few"),
    (edited(record=lambda found: found | {"masked": found["masked"][1:]}), "Too few|would (be over|include)"),
    (
        edited(record=lambda found: found | {"masked": first(body_of(lambda body: flip(body, 40)))(found["masked"])}),
        "sign",
    ),
    (edited(record=lambda found: found | {"masked": first(flip)(found["masked"])}), "do not follow|does not match"),
    (edited(record=lambda found: found | {"adverts": found["masked"]}), "another place|something attached"),
]


@pytest.mark.parametrize(("edit", "reason"), AFTER_UNMASKING)
def test_lies_about_the_sum(edit, reason):
    """Changed sums, hashes, survivors or records are not believed by anyone."""
    _, _, outcome = told_lies(lie((1, "unmask"), edit))
    assert not outcome.fits
    assert len(outcome.refusals) == 5
    for error in outcome.refusals.values():
        assert any(part in error.what for part in reason.split("|")), error.what


def test_a_sum_that_fits_its_hash_is_checked_against_the_words():
    """Even if the coordinator changes everything that hangs on the sum, the masked words do not add up to it."""
    from flou.joint.round import coordinator as relaying

    class Lying(CoordinatorRound):
        def _open(self, messages):
            super()._open(messages)
            self.sums[0, 0] += 1
            words = relaying.codec.to_bytes(self.sums)
            self.hash = relaying.record_hash(self.setting, self.record.root(), self.survivors, words)
            return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordinating, "CoordinatorRound", Lying)
        _, _, outcome = told_lies(lambda _number, _address, reply: reply)
    assert not outcome.fits
    assert {error.what for error in outcome.refusals.values()} == {
        "The sums do not follow from what the parties have sent."
    }


def test_a_lie_to_one_is_refused_by_one():
    """The others still have each other, and a party may be lost."""
    _, _, outcome = told_lies(lie((1, "unmask"), edited(sums=flip), to=[3]))
    assert set(outcome.refusals) == {IDENTITIES[3].name}
    assert len(outcome.fits) == 4
    assert outcome.fit.sums == (total(plain(5)),)


@pytest.mark.parametrize("confirmed", [[], "first", 5])
def test_a_result_that_others_have_not_seen(confirmed):
    """Without the others' signatures under the same sums a party does not believe that they have seen them."""
    change = (lambda found: found[:2]) if confirmed == "first" else confirmed
    _, _, outcome = told_lies(lie((2, "confirm"), edited(confirmed=change)))
    assert not outcome.fits
    assert len(outcome.refusals) == 5


# Two lists


@pytest.mark.parametrize("half", [1, 2, 3, 4])
def test_two_lists(half):
    """Some hear that party 4 is gone, the others that it is there: at most one of the lists is opened."""
    gone = edited(survivors=bitmap([0, 1, 2, 3], 5))
    _, sessions, outcome = told_lies(lie((1, "mask"), gone, to=range(half)))
    released = given_away(sessions)
    assert len(outcome.fits) == (4 if half == 1 else 0)  # one party that is told a lie may be lost
    assert len(released.get(1, [])) == len(outcome.fits)
    assert len(outcome.refusals) == 5 - len(outcome.fits)


def test_a_party_that_hears_that_it_is_gone_itself():
    """It stops; the others, if they hear the same, have agreed to go on without it."""
    gone = edited(survivors=bitmap([0, 1, 2, 3], 5))
    _, sessions, outcome = told_lies(lie((1, "mask"), gone))
    assert "party as lost" in outcome.refusals[IDENTITIES[4].name].what
    assert sessions[4].memory.recall("1/agree") is None


def test_two_views_of_who_is_there():
    """Some are told that party 4 has shown no nonce, and are given its shares nevertheless: rounds that do not meet."""
    without = edited(present=bitmap(range(4), 5), nonces=lambda found: found[:128])
    _, sessions, outcome = told_lies(lie((0, "reveal"), without, to=[0, 1]))
    assert {IDENTITIES[i].name for i in (0, 1)} <= outcome.refusals.keys()
    assert not outcome.fits
    assert not given_away(sessions)


# Several rounds


def over(m, losses, lying=False, **terms):
    """Two rounds; these parties go at their step. A lying coordinator does not care about differences itself."""
    plan = plan_for(m, Integers(rounds=2), **terms)
    sessions = parties(plan, plain(m))
    gone = set()

    class Careless(CoordinatorRound):
        def __init__(self, setting, adverts, sealed):
            super().__init__(dataclasses.replace(setting, differences=True), adverts, sealed)

    def lost(number, address):
        if address in losses.get(number, ()):
            gone.add(number)
        return number in gone

    with pytest.MonkeyPatch.context() as patch:
        if lying:
            patch.setattr(coordinating, "CoordinatorRound", Careless)
        outcome = converse(CoordinatorSession(plan), sessions, lost=lost)
    assert not exposed(sessions, plan)
    return sessions, outcome


@pytest.mark.parametrize("lying", [False, True])
@pytest.mark.parametrize("step", [(1, "unmask"), (2, "mask")])
def test_a_party_lost_between_rounds_is_not_singled_out(step, lying):
    """The second sum would be without it: refused by the coordinator, and by the parties if it would not."""
    sessions, outcome = over(5, {2: [step]}, lying)
    assert not outcome.fits
    if lying:
        reasons = {error.what for error in outcome.refusals.values()}
        assert reasons == {"Sums were opened with p0002, and would now be opened without."}
    with pytest.raises(ProtocolError, match="opened with p0002, and would now be opened without"):
        outcome.fit  # noqa: B018
    assert given_away(sessions).keys() == {1}


@pytest.mark.parametrize("step", ["agree", "unmask"])
def test_a_party_lost_after_its_words_are_in_is_in_both_sums(step):
    """Nothing is singled out, so the session goes on."""
    _, outcome = over(5, {2: [(2, step)]})
    once = total(plain(5))
    assert outcome.fit.sums == (once, tuple(2 * word for word in once))


def test_differences_by_consent():
    """With differences = "accept" the second sum is opened without the lost party."""
    _, outcome = over(5, {2: [(2, "mask")]}, differences="accept")
    twice = tuple(2 * word for word in total(plain(5), [0, 1, 3, 4]))
    assert outcome.fit.sums == (total(plain(5)), twice)
    assert len(outcome.fit.provenance.parties) == 4


@pytest.mark.parametrize("count", [1, 2, 3])
def test_enough_parties_lost_at_once(count):
    """Their sum is one that the plan allows anyway; with fewer it is not."""
    losses = {number: [(2, "mask")] for number in range(count)}
    _, outcome = over(9, losses, dropouts=3, minimum=3)
    if count == 3:
        assert outcome.fit.sums[1] == tuple(2 * word for word in total(plain(9), range(3, 9)))
    else:
        assert not outcome.fits


def test_the_next_question_is_the_party_s_own():
    """After the first sums, the next question follows from them; another one is refused, rounding aside."""

    def asks(change):
        return edited(ask=lambda ask: ask | {"parameters": ask["parameters"] | change(ask["parameters"])})

    for change in (
        lambda _: {"times": 3},
        lambda told: {"last": [told["last"][0] * 1.001, *told["last"][1:]]},
        lambda told: {"last": told["last"][::-1]},
        lambda told: {"last": told["last"][:1]},
        lambda told: {"last": [float("1e308"), *told["last"][1:]]},
        lambda _: {"more": 0},
    ):
        _, sessions, outcome = told_lies(lie((1, "unmask"), asks(change)), program=Integers(rounds=2))
        assert {error.what for error in outcome.refusals.values()} == {
            "The coordinator asks for other sums than the plan does."
        }
        assert given_away(sessions).keys() == {1}
    near = asks(lambda told: {"last": [told["last"][0] * (1 + 1e-12), *told["last"][1:]]})
    _, _, outcome = told_lies(lie((1, "unmask"), near, to=[0]), program=Integers(rounds=2))
    assert "another place" in outcome.refusals[IDENTITIES[0].name].what  # a question of its own is a round of its own


def test_messages_of_an_older_round_or_session_are_refused():
    """A coordinator that replays what was signed before: in the same session, or in another one of the same plan."""
    plan = plan_for(5, Integers(rounds=2))
    old = {}

    def note(number, address, reply):
        old[number, address] = reply
        return reply

    converse(CoordinatorSession(plan), parties(plan, plain(5)), tampered=note)
    cases = [
        ("adverts", (0, "join"), None),
        ("sealed", (0, "reveal"), None),
        ("sealed", (1, "unmask"), None),
        ("sealed", (1, "unmask"), (0, "reveal")),
        ("agreed", (2, "agree"), None),
        ("agreed", (2, "agree"), (1, "agree")),
    ]
    for name, place, earlier in cases:  # of the other session, in the same place, or of this one
        now = {}

        def replay(who, address, reply, name=name, place=place, earlier=earlier, now=now):
            now[who, address] = reply
            if address != place:
                return reply
            source = old[who, place] if earlier is None else now[who, earlier]
            return encode(decode(reply) | {name: decode(source)[name]})

        sessions = parties(plan, plain(5))
        outcome = converse(CoordinatorSession(plan), sessions, tampered=replay)
        assert len(outcome.refusals) == 5
        for error in outcome.refusals.values():
            assert re.search("another place|cannot be opened|do not match its commitment", error.what)
        assert given_away(sessions).keys() == ({1} if place[0] else set())


# What the coordinator refuses


def test_a_late_joiner_and_an_old_message():
    """Who comes after a step is closed is too late; who repeats itself gets the same answer, who differs does not."""
    plan = plan_for(5)
    sessions = parties(plan, plain(5))
    running = {number: session.run() for number, session in sessions.items()}
    said = {number: next(steps) for number, steps in running.items()}
    session = CoordinatorSession(plan)
    for number in range(4):
        session.receive(*said[number])
    other = parties(plan, plain(5))[0]
    with pytest.raises(ProtocolError, match="contradicts"):
        session.receive(*next(other.run()))
    session.close()
    with pytest.raises(ProtocolError, match="p0004 came too late"):
        session.receive(*said[4])
    assert session.receive(*said[1]) == 1
    assert session.reply((0, "join"), 1) is not None
    with pytest.raises(ProtocolError, match="not open"):
        session.receive((1, "mask"), said[1][1])
    with pytest.raises(ProtocolError, match="another place"):
        session.receive((0, "reveal"), said[1][1])
    place = session.step.at
    with pytest.raises(ProtocolError, match="another place"):  # signed before it was known who joins
        session.receive((0, "reveal"), signed(IDENTITIES[1], 1, plan.hash, "reveal", {"nonce": bytes(32)}).to_bytes())
    forged = signed(IDENTITIES[1], 2, place, "reveal", {"nonce": bytes(32)})
    with pytest.raises(ProtocolError, match="signature"):
        session.receive((0, "reveal"), forged.to_bytes())
    stranger = signed(IDENTITIES[4], 4, place, "reveal", {"nonce": bytes(32)})
    with pytest.raises(ProtocolError, match="too late"):
        session.receive((0, "reveal"), stranger.to_bytes())
    unfaithful = signed(IDENTITIES[1], 1, place, "reveal", {"nonce": bytes(32)})
    with pytest.raises(ProtocolError, match="commit"):
        session.receive((0, "reveal"), unfaithful.to_bytes())


def test_nothing_unsigned_comes_with_shares():
    """Besides the boxes, whose hash is signed, nothing is enclosed."""
    plan = plan_for(5)
    coordinator = CoordinatorSession(plan)
    receive = coordinator.receive

    def with_more(address, data):
        message = Message.from_bytes(data)
        if address == (0, "reveal") and message.sender == 2:
            more = encode(message.enclosed | {"more": b"x"})
            data = dataclasses.replace(message, attachment=more).to_bytes()
        return receive(address, data)

    coordinator.receive = with_more
    outcome = converse(coordinator, parties(plan, plain(5)))
    assert "has not signed" in outcome.refusals[IDENTITIES[2].name].what
    assert len(outcome.fits) == 4


def test_parties_of_another_plan():
    """Their first message already shows that they have signed something else."""
    session = CoordinatorSession(plan_for(5))
    other = parties(plan_for(5, name="another"), plain(5))[0]
    with pytest.raises(ProtocolError, match="another place"):
        session.receive(*next(other.run()))


def test_a_coordinator_with_another_plan_has_no_session():
    """Signatures under another plan are refused by the parties as well."""
    mine, other = plan_for(5), plan_for(5, name="another")
    theirs = Recorder(other, plain(5))
    steps = theirs.again(0).run()
    next(steps)
    honest = parties(mine, plain(5))[0].run()
    next(honest)
    told = decode(theirs.replies[0, (0, "join")])
    with pytest.raises(ProtocolError, match=r"missing from the list|another place"):
        honest.send(encode(told))


# Nonsense

NONSENSE = [
    None,
    True,
    5,
    -1,
    2**70,
    1.5,
    "x",
    b"",
    b"x",
    [],
    [5],
    [b""],
    {},
    {"x": b""},
    {"²": b""},
    {"01": b""},
    {"1": 5},
]
HUGE = [{"9" * 5000: b""}, {"٣": b"x"}, {"-1": b"x"}, {"99999": b"x"}, ["\x1b[31m"] * 3, ["a" * 10_000] * 3]


PLACES = [(m, place) for m, places in ((3, 7), (4, 9)) for place in range(places)]  # replies that a party hears


def test_every_reply_is_tried(recorded):
    """Where survivors are signed with the words, a round has a step less."""
    assert (len(recorded.plan.roster), len(recorded.addresses()) - 1) in PLACES
    assert (len(recorded.plan.roster), len(recorded.addresses())) not in PLACES


@pytest.fixture(scope="module", params=[3, 4], ids=["nobody may be lost", "one may be lost"])
def recorded(request):
    return Recorder(plan_for(request.param, Integers(rounds=2)), plain(request.param))


def lied_to(recorded, at, reply):
    """One party that hears the truth up to a step and then this."""
    session = recorded.again(0)
    steps = session.run()
    address, _ = next(steps)
    while address != at:
        address, _ = steps.send(recorded.replies[0, address])
    try:
        steps.send(reply)
    except FlouError as error:
        return session, error
    except StopIteration:
        pass
    return session, None


@pytest.mark.parametrize(("recorded", "place"), PLACES, indirect=["recorded"])
def test_nonsense_is_refused_as_such(recorded, place):
    """Whatever stands in the place of whatever part of a reply: a refusal, never a stumble, nothing given away."""
    at = recorded.addresses()[place]
    told = decode(recorded.replies[0, at])
    checked = 0
    for key in [*told, "failed"]:
        for value in [*NONSENSE, *HUGE]:
            if told.get(key, ...) == value:
                continue
            session, error = lied_to(recorded, at, encode(told | {key: value}))
            if key == "ask" and at == (2, "unmask"):  # nothing is left to ask
                continue
            assert isinstance(error, ProtocolError), (key, value)
            assert len(str(error)) < 1000
            assert str(error).isprintable()
            if at[1] != "unmask":
                assert session.memory.recall(f"{at[0]}/unmask") is None
            checked += 1
        if key in told and (at, key) != ((2, "unmask"), "ask"):
            less = {name: part for name, part in told.items() if name != key}
            assert isinstance(lied_to(recorded, at, encode(less))[1], ProtocolError), key
    assert checked > 20
    for reply in (b"", b"\xff", encode([]), encode(5), encode({}), encode({"failed": ["a", "b", "c"]})):
        assert isinstance(lied_to(recorded, at, reply)[1], ProtocolError)


def test_nonsense_inside_of_a_record_is_refused_as_such(recorded):
    """The same one level down, in the record of the round and in its messages."""
    at = (1, "unmask")
    told = decode(recorded.replies[0, at])
    record = decode(told["record"])
    for name in record:
        for value in NONSENSE:
            for odd in (value, [*record[name][1:], value]):
                if odd == record[name]:  # no lists of survivors
                    continue
                changed = told | {"record": encode(record | {name: odd})}
                assert isinstance(lied_to(recorded, at, encode(changed))[1], ProtocolError), (name, value)


def test_the_reason_of_the_coordinator_is_shown_if_it_can_be(recorded):
    """Three sentences that can be printed; anything else is not passed on to a terminal."""
    _, error = lied_to(recorded, (1, "mask"), encode({"failed": ["Too few.", "Why.", "Wait."]}))
    assert str(error) == "Too few. Why. Wait."
    _, error = lied_to(recorded, (1, "mask"), encode({"failed": ["\x1b[2J", "Why.", "Wait."]}))
    assert "no reason that can be shown" in error.why
