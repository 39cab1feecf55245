"""Keys stay with their owner, and the roster says which key is whose."""

from __future__ import annotations

import os
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.identity import Identity, Roster

NAMES = ("north", "south", "west")


@pytest.fixture(scope="module")
def identities():
    return [Identity.generate(name) for name in NAMES]


@pytest.fixture
def roster(identities):
    return Roster.of(identities)


def test_a_key_file_comes_back_and_is_for_its_owner_only(tmp_path, identities):
    """The same name and key, in a file that nobody else may read, whatever the mask of the process."""
    before = os.umask(0)
    try:
        identities[0].save(tmp_path / "north.key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "north.key").stat().st_mode) == 0o600
    read = Identity.load(tmp_path / "north.key")
    assert (read.name, read.public) == ("north", identities[0].public)
    assert Roster.of(identities).index(read) == 0


def test_a_key_is_never_written_over(tmp_path, identities):
    """A second key does not replace the first."""
    identities[0].save(tmp_path / "key")
    with pytest.raises(InvalidParameter, match="cannot be made"):
        identities[1].save(tmp_path / "key")
    with pytest.raises(InvalidParameter, match="cannot be made"):
        identities[1].save(tmp_path / "no such folder" / "key")
    assert Identity.load(tmp_path / "key").name == "north"


def test_files_that_hold_no_key_of_flou_are_refused(tmp_path, identities):
    """Nothing, noise, another kind of key, or a key without a name."""
    identities[0].save(tmp_path / "good")
    good = (tmp_path / "good").read_text()
    other = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    texts = [
        "",
        "noise",
        good.partition("\n")[2],
        "name: north\n",
        f"name: north\n{other}",
        good[:-40],
        f"name: \n{other}",
    ]
    for number, text in enumerate(texts):
        (tmp_path / str(number)).write_text(text)
        with pytest.raises(InvalidParameter, match="cannot be used"):
            Identity.load(tmp_path / str(number))
    with pytest.raises(InvalidParameter, match="cannot be used"):
        Identity.load(tmp_path / "nowhere")
    (tmp_path / "nameless").write_text(good.replace("name: north", "name:  "))
    with pytest.raises(InvalidParameter, match="needs a name"):
        Identity.load(tmp_path / "nameless")


def test_nothing_prints_a_secret(identities):
    """An identity shows its name only."""
    secret = identities[0].secret.private_bytes_raw()
    shown = repr(identities[0]) + str(identities[0]) + repr([identities[0]])
    assert shown.startswith("Identity('north')")
    assert secret.hex() not in shown
    assert repr(secret)[2:20] not in shown


def test_keys_are_fresh():
    """Two identities of one name have different keys."""
    assert Identity.generate("a").public != Identity.generate("a").public


def test_a_signature_is_for_its_signer_its_tag_and_its_values(roster, identities):
    """Whatever else it is held against refuses it, before and after the good one was seen."""
    signature = identities[1].sign("tag", b"value", 1)
    wrong = [
        (0, signature, "tag", b"value", 1),
        (2, signature, "tag", b"value", 1),
        (3, signature, "tag", b"value", 1),
        (1, signature, "gat", b"value", 1),
        (1, signature, "tag", b"Value", 1),
        (1, signature, "tag", b"value", 2),
        (1, signature, "tag", b"value"),
        (1, signature[:-1], "tag", b"value", 1),
        (1, signature + b"\0", "tag", b"value", 1),
        (1, bytes(64), "tag", b"value", 1),
        (1, b"", "tag", b"value", 1),
        (1, bytes([signature[0] ^ 1]) + signature[1:], "tag", b"value", 1),
    ]
    for _ in range(2):
        for claim in wrong:
            with pytest.raises(ProtocolError, match="does not have its signature"):
                roster.verify(*claim)
        roster.verify(1, signature, "tag", b"value", 1)


def test_a_foreign_key_is_refused(roster):
    """Neither an unknown name nor a known name with another key is in the roster."""
    for name in ("east", "north"):
        with pytest.raises(ProtocolError, match="does not list"):
            roster.index(Identity.generate(name))


def test_a_party_cannot_be_two(identities):
    """One key under two names would be counted twice."""
    twin = Identity("twin", identities[0].secret)
    with pytest.raises(InvalidParameter, match="same key"):
        Roster.of([*identities, twin])


def test_numbers_follow_the_names(identities):
    """The order in which parties are listed does not matter, neither for their numbers nor for the hash."""
    one, other = Roster.of(identities), Roster.of(identities[::-1])
    assert one.names == other.names == tuple(sorted(NAMES))
    assert one.hash == other.hash
    assert [one.index(identity) for identity in identities] == [0, 1, 2]
    assert one.numbers == {"north": 0, "south": 1, "west": 2}
    assert Roster.of(identities[:2]).hash != one.hash


def test_a_roster_is_a_table_of_a_file(tmp_path, roster):
    """Names and hexadecimal keys, in any case of letters."""
    lines = [f'{name} = "{key.upper()}"' for name, key in roster.to_dict().items()]
    (tmp_path / "roster.toml").write_text("\n".join(["[parties]", *lines]))
    assert Roster.from_toml(tmp_path / "roster.toml").hash == roster.hash


@pytest.mark.parametrize(
    "parties",
    [
        {},
        {"north": "ab"},
        {"north": 5},
        {"north": ["ab"]},
        {"north": "zz" * 32},
        {"north": "00" * 33},
        {"": "00" * 32},
        {" north": "00" * 32},
        {"no\nrth": "00" * 32},
        {"no\x1b[31mrth": "00" * 32},
        {"n" * 65: "00" * 32},
        {"north": "00" * 32, "south": "00" * 32},
        ["north"],
        None,
        "north",
    ],
)
def test_a_roster_with_nonsense_is_refused(parties):
    """Empty, without keys, with bad keys, or with names that cannot be shown."""
    with pytest.raises(InvalidParameter):
        Roster.from_dict(parties)
