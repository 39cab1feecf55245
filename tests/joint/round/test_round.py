"""A round step by step: what parties refuse, and that no lie brings both secrets of a party together."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import FlouError, ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.program import Ask, Opened
from flou.joint.masking import codec
from flou.joint.round.coordinator import CoordinatorRound
from flou.joint.round.keys import shown
from flou.joint.round.messages import signed
from flou.joint.round.record import Record, open_sums
from flou.joint.round.sharing import check_sealed
from flou.joint.session.opening import Beginning
from joint.round.rounds import IDENTITIES, Game, Party, advert_of, keys_of, setting_for

WORDS = [[10**i, -(2**i), i] for i in range(12)]


def total(group):
    return tuple(sum(WORDS[i][j] for i in group) for j in range(3))


def seed(i):
    return SeededBits(f"seed {i}").take(32).tobytes()


def both_secrets(game, colluders=()):
    """Parties of which both secrets can be put together from what was released and what conspirators hold."""
    found = []
    for i in set(game.parties) - set(colluders):
        threshold = game.setting.resilience.threshold
        told = {j: content for j, content in game.released.items() if j not in colluders and j != i}
        alive = sum(str(i) in content["alive"] for content in told.values()) + len(colluders)
        gone = sum(str(i) in content["gone"] for content in told.values()) + len(colluders)
        if (i in game.released or alive >= threshold) and gone >= threshold:
            found.append(i)
    return found


def honest(game, survivors):
    assert not game.agree(dict.fromkeys(survivors, survivors))
    assert not game.unmask()
    return game


# What the coordinator's own side makes of it


@pytest.mark.parametrize(("m", "gone"), [(3, ()), (5, ()), (5, (2,)), (8, (0, 7))])
def test_both_sides_open_the_same_sum(m, gone):
    """The coordinator's steps, the record, and an independent reading of the shares give the sum of the survivors."""
    game = Game(setting_for(m), WORDS[:m])
    living = sorted(set(range(m)) - set(gone))
    state = CoordinatorRound(game.setting, game.adverts, game.shared())
    steps = {name: (check, close) for name, check, close in state.steps()}
    honest(game, living)
    messages = {
        "mask": {i: game.masked[i] for i in living},
        "agree": game.agreed,
        "unmask": {i: game.parties[i].release(content) for i, content in game.released.items()},
    }
    for name, (check, close) in steps.items():
        state.step = name
        for message in messages[name].values():
            check(message)
        assert close(messages[name]) is not None
    assert codec.decode(state.sums) == total(living) == game.opened(living)
    state.record.check_signatures(game.setting)
    assert np.array_equal(open_sums(game.setting, state.record), state.sums)


def test_a_list_that_was_signed_with_the_words_is_the_only_one():
    """Where nobody may be lost: after a restart as well, no other list is taken, and all signatures are needed."""
    game = Game(setting_for(4, dropouts=0), WORDS[:4])
    assert game.setting.ahead.unanimous
    assert {len(message.content["survivors"]) for message in game.masked.values()} == {32}
    for one in game.parties.values():
        one.survivors = None  # as after a restart
        with pytest.raises(ProtocolError, match="another list of survivors"):
            one.settle(frozenset(range(4)) - {(one.party + 1) % 4})
    assert not game.agree(dict.fromkeys(range(4), range(4)))
    missing = game.agreed.pop(3)
    assert game.unmask([0, 1, 2]).keys() == {0, 1, 2}
    other = dataclasses.replace(game.masked[3], body=game.masked[2].body, signature=game.masked[2].signature).alone
    game.agreed[3] = other
    assert game.unmask([0, 1, 2]).keys() == {0, 1, 2}
    game.agreed[3] = missing
    assert not game.unmask()
    assert not any(told["gone"] for told in game.released.values())
    record = Record(game.adverts, game.masked, {}, {i: game.parties[i].release(t) for i, t in game.released.items()})
    record.check_signatures(game.setting)
    assert codec.decode(open_sums(game.setting, record)) == total(range(4))
    signed_again = {i: one.say("agree", {"survivors": bytes(32)}) for i, one in game.parties.items()}
    with pytest.raises(ProtocolError, match="were signed before"):
        dataclasses.replace(record, agreed=signed_again).check_signatures(game.setting)
    unsigned = dataclasses.replace(game.masked[1], signature=bytes(64))
    with pytest.raises(ProtocolError, match="signature"):
        dataclasses.replace(record, masked=game.masked | {1: unsigned}).check_signatures(game.setting, needed=True)


def test_losses_after_masking_are_restored():
    """The own mask of a survivor that went after signing comes from shares, and is checked against its commitment."""
    game = honest(Game(setting_for(8), WORDS[:8]), range(8))
    state = CoordinatorRound(game.setting, game.adverts, game.shared())
    state._masked, state._agreed = game.masked, game.agreed
    state.survivors = frozenset(range(8))
    released = {i: game.parties[i].release(content) for i, content in game.released.items() if i not in (2, 5)}
    state._open(released)
    assert codec.decode(state.sums) == total(range(8))
    wrong = dict(game.released[0]["alive"])
    wrong["2"] = wrong["2"][:-2] + bytes([wrong["2"][-2] ^ 1]) + wrong["2"][-1:]
    released[0] = game.parties[0].release(game.released[0] | {"alive": wrong})
    with pytest.raises(ProtocolError, match=r"does not match its commitment|do not belong to one secret"):
        state._open(released)


# Keys and shares


def adverts_for(setting, count):
    return {i: advert_of(setting, i, seed(i)) for i in range(count)}


def shares(setting, adverts):
    """What party 0 seals for whoever shows these keys."""
    return Party(setting, 0, seed(0), adverts).sharing.sealed


def test_a_changed_key_is_refused():
    """Any byte of a signed advert, another sender, another signer, another round, another session, another step."""
    setting = setting_for(5, number=2)
    true = adverts_for(setting, 5)
    message = true[3]
    later, elsewhere = setting_for(5, number=3), setting_for(5, number=2, session=1)
    someone = {"keys": keys_of(setting, 3, bytes(32)).public()}
    lies = [
        dataclasses.replace(message, body=message.body.replace(shown(message, "masking"), bytes(32))),
        dataclasses.replace(message, signature=bytes(64)),
        dataclasses.replace(message, sender=2),
        dataclasses.replace(message, attachment=b"x"),
        true[2],
        signed(IDENTITIES[2], 3, *setting.ahead.keys, someone),
        adverts_for(later, 5)[3],
        adverts_for(elsewhere, 5)[3],
        signed(IDENTITIES[3], 3, setting.ahead.keys[0], "unmask", message.content | {"step": "unmask"}),
        *(dataclasses.replace(message, body=flipped(message.body, at)) for at in range(0, len(message.body), 7)),
    ]
    for lie in lies:
        with pytest.raises(ProtocolError):
            shares(setting, true | {3: lie})
    shares(setting, true)


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


def test_replays_say_so():
    """An old message has its own reason: it belongs to another place."""
    setting = setting_for(5, number=2)
    for old in (setting_for(5), setting_for(5, number=2, session=1), setting_for(5, number=2, length=4)):
        with pytest.raises(ProtocolError, match="another place in the protocol"):
            shares(setting, adverts_for(old, 5))


@pytest.mark.parametrize("key", [bytes(32), (1).to_bytes(32, "little"), b"\xec" + b"\xff" * 30 + b"\x7f"])
def test_a_key_of_small_order_is_refused(key):
    """A signed key with which every secret would be zero."""
    setting = setting_for(5)
    true = adverts_for(setting, 5)
    weak = signed(IDENTITIES[3], 3, *setting.ahead.keys, {"keys": true[3].content["keys"] | {"sharing": key}})
    with pytest.raises(ProtocolError, match="not a usable X25519 key"):
        shares(setting, true | {3: weak})


@pytest.mark.parametrize("content", [None, {}, {"sharing": b"short"}, {"sharing": "text" * 8}, {"sharing": None}])
def test_an_advert_without_keys_is_refused(content):
    """Signed nonsense is nonsense."""
    setting = setting_for(5)
    odd = signed(IDENTITIES[3], 3, *setting.ahead.keys, {"keys": content})
    with pytest.raises(ProtocolError, match="lacks"):
        shares(setting, adverts_for(setting, 5) | {3: odd})


def test_secrets_serve_once():
    """A round that nothing was shared for is refused, and so is one that opens nothing and would not count."""
    setting = setting_for(5)
    assert setting.last
    assert setting.following is None
    plan = Plan(Roster.of(IDENTITIES[:5]), VectorSum("v", 3, 10), expires="2099-01-01T00:00:00Z")
    begun = Beginning.of(plan, bytes(32), tuple(range(5)), range(5), bytes(160))
    with pytest.raises(ProtocolError, match="another round after the last one"):
        begun.setting(bytes(32), 2, plan.program.next([]), [], setting.following)
    with pytest.raises(FlouError, match="length must be a whole number from 1"):
        Ask("nothing", 0, 1)


def test_a_changed_share_is_refused():
    """Any byte of it; a share for someone else; of someone else; of another round; an empty one."""
    game, later = Game(setting_for(5), WORDS[:5]), Game(setting_for(5, number=2), WORDS[:5])
    true = {j: game.sealed[j]["0"] for j in range(1, 5)}
    lies = [
        *(flipped(true[2], at) for at in range(0, len(true[2]), 5)),
        game.sealed[2]["1"],
        game.sealed[3]["0"],
        game.sealed[0]["2"],  # what this party has sealed itself, reflected
        later.sealed[2]["0"],
        b"",
        true[2][:-1],
        true[2] + b"\0",
    ]
    for lie in lies:
        with pytest.raises(ProtocolError, match="cannot be opened"):
            fresh_receiver(game).receive(true | {2: lie})
    with pytest.raises(ProtocolError, match="whose key is not known"):
        fresh_receiver(game).receive(true | {7: true[2]})
    fresh_receiver(game).receive(true)


def fresh_receiver(game):
    return Party(game.setting, 0, seed(0), {j: told for j, told in game.adverts.items() if j})


def test_shares_say_nothing_to_others():
    """Sealed shares of one pair are as long as any other, and differ in every round even for the same secrets."""
    one, other = Game(setting_for(5), WORDS[:5]), Game(setting_for(5, number=2), WORDS[:5])
    assert {len(data) for box in one.sealed.values() for data in box.values()} == {94}
    boxes = [data for game in (one, other) for box in game.sealed.values() for data in box.values()]
    assert len(set(boxes)) == len(boxes)


def test_words_of_another_shape_are_refused():
    """Another length, another width."""
    game = Game(setting_for(5), WORDS[:5])
    for words in (codec.encode([1, 2], 64), codec.encode([1, 2, 3, 4], 64), codec.encode([1, 2, 3], 128)):
        with pytest.raises(ProtocolError, match="agreed length and width"):
            game.parties[0].mask(words)


# Survivors


def test_lists_that_are_refused():
    """A list without the party itself, a short one, one with a stranger: each has its reason, and none is signed."""
    game = Game(setting_for(8, minimum=6), WORDS[:8])
    for survivors, reason in (
        ({1, 2, 3, 4, 5, 6, 7}, "party as lost, but it is present"),
        ({0, 1, 2, 3, 4}, "would be over 5 parties"),
        (set(), "party as lost"),
        ({0, 1, 2, 3, 4, 5, 6, 11}, "has not taken part from the beginning"),
    ):
        with pytest.raises(ProtocolError, match=reason):
            game.parties[0].agree(frozenset(survivors))
    assert game.parties[0].survivors is None


def test_one_list_a_round():
    """The same list may be signed again, another one may not, however it differs."""
    game = Game(setting_for(8), WORDS[:8])
    first = frozenset(range(8))
    said = game.parties[0].agree(first)
    assert game.parties[0].agree(first) == said
    for gone in range(1, 8):
        with pytest.raises(ProtocolError, match="already signed another list of survivors"):
            game.parties[0].agree(first - {gone})


def test_nothing_is_released_before_a_list_is_signed():
    """Shares without a list would be of either kind."""
    game = Game(setting_for(5), WORDS[:5])
    with pytest.raises(ProtocolError, match="not agreed on yet"):
        game.parties[0].unmask({})


@pytest.mark.parametrize("half", range(9))
def test_split_views_open_at_most_one_list(half):
    """Some are told that party 0 is alive and the others that it is gone: never are both kinds of its shares enough."""
    game = Game(setting_for(8), WORDS[:8])
    alive, gone = frozenset(range(8)), frozenset(range(1, 8))
    lists = {i: alive if i < half else gone for i in range(8)}
    game.agree(lists)
    refused = game.unmask()
    assert not both_secrets(game)
    assert len({lists[i] for i in game.released}) <= 1
    quorum = game.setting.resilience.quorum
    for error in refused.values():
        assert f"{quorum} are needed" in error.what


def test_every_assignment_of_two_lists():
    """Five parties, of which two conspire: all ways to show three others one of two lists, for each target."""
    everyone = frozenset(range(5))
    for target in range(3):
        without = everyone - {target}
        for told in itertools.product((everyone, without, None), repeat=3):
            game = Game(setting_for(5), WORDS[:5])
            lists = {i: one for i, one in enumerate(told) if one is not None}
            for false in (everyone, without):  # conspirators sign both lists
                game.agree(lists)
                for i in (3, 4):
                    lying = Party(game.setting, i, seed(i), game.adverts)
                    lying.peers = lying.neighbours
                    game.agreed[i] = lying.say("agree", lying.agree(false))
                told = dict(getattr(game, "released", {}))
                game.unmask([i for i in lists if i in game.agreed])
                game.released = told | game.released
            assert not both_secrets(game, colluders=(3, 4))


def two_views(told, conspirators):
    """Parties with the same shares in two rounds: told of different nonces, they do not know of each other.

    Each of the honest ones is in one round and is shown one list there; conspirators sign every list in both.
    """
    game = Game(setting_for(5), WORDS[:5])
    views = [game.setting, dataclasses.replace(game.setting, id=bytes(32))]
    found = {}
    for view, setting in enumerate(views):
        here = {i: one[1] for i, one in enumerate(told) if one is not None and one[0] == view}
        for i in here:
            game.parties[i].setting = setting
        for false in dict.fromkeys(here.values()):
            game.agree(here)
            for i in conspirators:
                lying = Party(setting, i, seed(i), game.adverts)
                lying.peers = lying.neighbours
                game.agreed[i] = lying.say("agree", lying.agree(false))
            game.unmask([i for i in here if i in game.agreed])
            found |= game.released
    game.released = found
    return game


def test_the_same_shares_in_two_rounds():
    """Shares are sealed before the number of the round is known: also over two numbers, everyone gives one kind."""
    everyone = frozenset(range(5))
    ways = [None, *itertools.product((0, 1), (everyone, everyone - {0}))]
    opened = 0
    for told in itertools.product(ways, repeat=3):
        game = two_views(told, (3, 4))
        opened += bool(game.released)
        assert not both_secrets(game, colluders=(3, 4))
    assert opened
    broken = two_views(((0, everyone), (1, everyone - {0}), None), (2, 3, 4))  # one more than promised
    assert both_secrets(broken, colluders=(2, 3, 4)) == [0]


def test_three_conspirators_of_five_break_it():
    """The promise is for two: with three, the test above would find both secrets."""
    everyone = frozenset(range(5))
    game = Game(setting_for(5), WORDS[:5])
    released = {}
    for target_list, asked in ((everyone, 0), (everyone - {0}, 1)):
        game.agree({asked: target_list})
        for i in (2, 3, 4):
            lying = Party(game.setting, i, seed(i), game.adverts)
            lying.peers = lying.neighbours
            game.agreed[i] = lying.say("agree", lying.agree(target_list))
        assert not game.unmask([asked])
        released |= game.released
    game.released = released
    assert both_secrets(game, colluders=(2, 3, 4)) == [0]


def test_signatures_under_the_list_are_checked():
    """Changed, of another round, of somebody else, of another list, or of somebody who is not in the list: too few."""
    game = Game(setting_for(5), WORDS[:5])
    everyone = frozenset(range(5))
    game.agree(dict.fromkeys(everyone, everyone))
    true = {j: told for j, told in game.agreed.items() if j}
    party = game.parties[0]
    later = Game(setting_for(5, number=2), WORDS[:5])
    later.agree(dict.fromkeys(everyone, everyone))
    for lie in (
        dataclasses.replace(true[1], signature=bytes(64)),
        dataclasses.replace(true[1], body=flipped(true[1].body, 30)),
        later.agreed[1],
        signed(IDENTITIES[2], 1, game.setting.id, "agree", {"survivors": true[1].content["survivors"]}),
        signed(IDENTITIES[1], 1, game.setting.id, "mask", {"survivors": true[1].content["survivors"]}),
    ):
        with pytest.raises(ProtocolError):
            party.unmask(true | {1: lie})
    quorum = game.setting.resilience.quorum
    for few in ({1: true[1]}, {1: true[1], 2: true[2]}, {1: true[1], 2: true[1], 3: true[1], 4: true[1]}):
        with pytest.raises(ProtocolError, match=f"{quorum} are needed"):
            party.unmask(few)
    other = signed(IDENTITIES[1], 1, game.setting.id, "agree", {"survivors": bytes(32)})
    odd = signed(IDENTITIES[2], 2, game.setting.id, "agree", {})
    with pytest.raises(ProtocolError, match="Only 2 neighbours"):
        party.unmask(true | {1: other, 2: odd})
    content, shares = party.unmask({j: true[j] for j in (1, 2, 3)})
    assert content.keys() == {"own", "shares"}
    assert decode(shares).keys() == {"alive", "gone"}


def test_exactly_one_kind_of_share():
    """For every peer one share, of the kind that the list says; never none, never both."""
    game = honest(Game(setting_for(8), WORDS[:8]), [0, 1, 2, 3, 4, 5])
    for i, told in game.released.items():
        assert told["alive"].keys() == {str(j) for j in range(6) if j != i}
        assert told["gone"].keys() == {"6", "7"}
        assert set(told["alive"].values()).isdisjoint(told["gone"].values())
    assert not both_secrets(game)


# Rounds after one another


def opened(parties):
    return Opened(Ask("x", 3, 5), (0, 0, 0), tuple(IDENTITIES[i].name for i in parties))


@pytest.mark.parametrize(
    ("before", "now", "terms", "reason"),
    [
        (range(9), range(9), {}, None),
        (range(9), range(8), {}, "opened with p008, and would now be opened without"),
        (range(9), range(7), {}, "opened with p007, p008"),
        (range(9), range(6), {}, None),  # three at once are a sum that the plan allows
        (range(9), range(8), {"differences": "accept"}, None),
        (range(8), range(9), {}, "include a party that was not in the sums opened before"),
        (range(1, 9), range(8), {"differences": "accept"}, "was not in the sums opened before"),
    ],
)
def test_sums_with_and_without_a_few(before, now, terms, reason):
    """A second sum without one or two parties would show them; without three, or by consent, it is allowed."""
    setting = setting_for(9, dropouts=3, minimum=3, opened=[opened(before)], number=2, **terms)
    game = Game(setting, WORDS[:9])
    refused = game.agree(dict.fromkeys(now, now))
    if reason is None:
        assert not refused
        assert not game.unmask()
        assert game.opened(now) == total(now)
    else:
        assert len(refused) == len(now)
        assert all(reason in error.what for error in refused.values())
        game.unmask()
        assert not game.released


# What a party checks of the record


def recorded(survivors=range(5), m=5):
    game = honest(Game(setting_for(m), WORDS[:m]), survivors)
    released = {i: game.parties[i].release(content) for i, content in game.released.items()}
    return game, Record(game.adverts, {i: game.masked[i] for i in survivors}, game.agreed, released)


def test_masked_words_are_signed_twice():
    """With the survivors once more: so the first signature need not be checked, and other words do not pass."""
    game, record = recorded()
    record.check_signatures(game.setting)
    record.check_signatures(game.setting, needed=True)
    unsigned = dataclasses.replace(game.masked[2], signature=bytes(64))
    again = dataclasses.replace(record, masked=record.masked | {2: unsigned})
    again.check_signatures(game.setting, needed=True)
    with pytest.raises(ProtocolError, match="does not have its signature"):
        again.check_signatures(game.setting)
    other = signed(IDENTITIES[3], 2, game.setting.id, "mask", {"digest": bytes(32), "peers": b"\x1b"})
    with pytest.raises(ProtocolError, match="does not have its signature"):
        dataclasses.replace(record, masked=record.masked | {2: other}).check_signatures(game.setting, needed=True)


def test_masked_words_of_who_went_before_agreeing():
    """Then the first signature is the only one, and is checked."""
    game, record = recorded()
    left = {i: message for i, message in record.agreed.items() if i != 2}
    here = {i: message for i, message in record.released.items() if i != 2}
    gone = dataclasses.replace(record, agreed=left, released=here)
    gone.check_signatures(game.setting, needed=True)
    unsigned = dataclasses.replace(game.masked[2], signature=bytes(64))
    with pytest.raises(ProtocolError, match="does not have its signature"):
        dataclasses.replace(gone, masked=gone.masked | {2: unsigned}).check_signatures(game.setting, needed=True)


def test_the_coordinator_wants_the_words_that_it_has():
    """A party that signs other masked words with the survivors would make everyone refuse the record."""
    game, _ = recorded()
    state = CoordinatorRound(game.setting, game.adverts, game.shared())
    state._propose(game.masked)
    state._check_agreed(game.agreed[1])
    other = game.parties[1].say("agree", {"survivors": game.agreed[1].content["survivors"], "masked": bytes(32)})
    with pytest.raises(ProtocolError, match="other masked words"):
        state._check_agreed(other)


# The coordinator's checks


def test_the_coordinator_refuses_what_it_cannot_add():
    """Words of another length, another hash, not masked with everyone; shares that are missing; another list."""
    game = Game(setting_for(5), WORDS[:5])
    state = CoordinatorRound(game.setting, game.adverts, game.shared())
    checks = {name: check for name, check, _ in state.steps()}
    checks["share"] = lambda message: check_sealed(game.setting.ahead, message, game.adverts)
    checks["share"](game.shared()[0])
    good = game.masked[0]
    checks["mask"](good)
    one = game.parties[0]
    content = {key: good.content[key] for key in ("digest", "peers")}
    for step, message in (
        *(("share", one.seal(odd)) for odd in ({"1": b"x"}, game.sealed[0] | {"1": 5}, 5, {})),
        ("share", one.say("share", {"sealed": bytes(32)}, encode({"sealed": game.sealed[0]}))),
        ("mask", dataclasses.replace(good, attachment=good.attachment[:-8])),
        ("mask", dataclasses.replace(good, attachment=good.attachment + bytes(8))),
        ("mask", dataclasses.replace(good, attachment=flipped(good.attachment, 3))),
        ("mask", one.say("mask", content | {"peers": b"\x06"}, good.attachment)),
        ("mask", one.say("mask", content | {"peers": b"\xff"}, good.attachment)),
        ("mask", one.say("mask", content | {"peers": 3}, good.attachment)),
        ("mask", one.say("mask", {}, good.attachment)),
        ("agree", one.say("agree", {"survivors": bytes(32)})),
        ("unmask", one.release({"own": b"", "alive": {}, "gone": {}})),
        ("unmask", one.release({"own": bytes(32), "alive": {"1": 5}, "gone": {}})),
        ("unmask", one.release({"own": bytes(32), "alive": [], "gone": {}})),
        ("unmask", one.say("unmask", {"own": bytes(32), "shares": bytes(32)}, encode({"alive": {}, "gone": {}}))),
        ("unmask", one.release({"own": bytes(32), "alive": {}, "gone": {}}).alone),
    ):
        with pytest.raises(FlouError):
            checks[step](message)
