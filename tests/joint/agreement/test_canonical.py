"""One value has one encoding: round trips, the examples of RFC 8949, and everything else refused."""

from __future__ import annotations

import hashlib
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import DEEPEST, decode, digest, encode

numbers = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.sampled_from(
        [sign * 2**power + off for power in (8, 16, 32, 63, 64, 512) for sign in (1, -1) for off in (-1, 0, 1)]
    ),
)
scalars = st.one_of(
    st.none(), st.booleans(), numbers, st.floats(allow_nan=False, allow_infinity=False), st.text(), st.binary()
)
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)), max_leaves=30
)


def same(a, b) -> bool:
    """Equal, and of equal types: 1, 1.0 and True are three values."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


@given(values)
@settings(max_examples=120, deadline=None)
def test_what_is_written_is_read(value):
    """Every value comes back with its types, and has the same bytes again."""
    assert same(decode(encode(value)), value)
    assert encode(decode(encode(value))) == encode(value)


@given(values, st.data())
@settings(max_examples=120, deadline=None)
def test_one_value_has_one_encoding(value, data):
    """Bytes that are changed, cut or lengthened are refused, or are the encoding of what they are read as."""
    true = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(true) - 1))
        true[place] = data.draw(st.integers(0, 255))
    for changed in (bytes(true), bytes(true[:-1]), bytes(true) + b"\x00"):
        try:
            read = decode(changed)
        except ProtocolError:
            continue
        assert encode(read) == changed


@given(st.binary(max_size=40))
@settings(max_examples=500, deadline=None)
def test_noise_is_refused_or_canonical(data):
    """No bytes make the reader stumble, and what it accepts is canonical."""
    try:
        read = decode(data)
    except ProtocolError:
        return
    assert encode(read) == data


@pytest.mark.parametrize(
    ("value", "text"),
    [  # RFC 8949, appendix A
        (0, "00"),
        (1, "01"),
        (10, "0a"),
        (23, "17"),
        (24, "1818"),
        (25, "1819"),
        (100, "1864"),
        (1000, "1903e8"),
        (1000000, "1a000f4240"),
        (1000000000000, "1b000000e8d4a51000"),
        (18446744073709551615, "1bffffffffffffffff"),
        (18446744073709551616, "c249010000000000000000"),
        (-18446744073709551616, "3bffffffffffffffff"),
        (-18446744073709551617, "c349010000000000000000"),
        (-1, "20"),
        (-10, "29"),
        (-100, "3863"),
        (-1000, "3903e7"),
        (1.1, "fb3ff199999999999a"),
        (1.0e300, "fb7e37e43c8800759c"),
        (-4.1, "fbc010666666666666"),
        (False, "f4"),
        (True, "f5"),
        (None, "f6"),
        (b"", "40"),
        (b"\x01\x02\x03\x04", "4401020304"),
        ("", "60"),
        ("a", "6161"),
        ("IETF", "6449455446"),
        ('"\\', "62225c"),
        ("\u00fc", "62c3bc"),
        ("\u6c34", "63e6b0b4"),
        ("\U00010151", "64f0908591"),
        ([], "80"),
        ([1, 2, 3], "83010203"),
        ([1, [2, 3], [4, 5]], "8301820203820405"),
        (list(range(1, 26)), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
        ({}, "a0"),
        ({"a": 1, "b": [2, 3]}, "a26161016162820203"),
        (["a", {"b": "c"}], "826161a161626163"),
        (
            {"e": "E", "d": "D", "c": "C", "b": "B", "a": "A"},
            "a56161614161626142616361436164614461656145",
        ),
    ],
)
def test_examples_of_the_standard(value, text):
    """The examples of RFC 8949 that lie in the subset."""
    assert encode(value).hex() == text
    assert same(decode(bytes.fromhex(text)), value)


def test_keys_stand_in_the_order_of_their_encodings():
    """Shorter keys first, as RFC 8949 (4.2.1) orders encoded keys, whatever the order of writing."""
    keys = ["b", "aa", "", "\u00fc", "a", "a" * 30]
    tables = [dict.fromkeys(order, 0) for order in (keys, keys[::-1], sorted(keys))]
    assert len({encode(table) for table in tables}) == 1
    assert list(decode(encode(tables[0]))) == ["", "a", "b", "aa", "\u00fc", "a" * 30]


@pytest.mark.parametrize(
    "text",
    [
        "",  # nothing
        "1817",  # 23 in the form of 24
        "190018",  # 24 in two bytes
        "1a00000400",  # in four
        "1b00000000ffffffff",  # in eight
        "1c",  # reserved lengths
        "1d",
        "1e",
        "1f",
        "3817",  # long forms elsewhere
        "580161",
        "7801" + "61",
        "9801" + "00",
        "b801" + "616100",
        "d80249010000000000000000",
        "c24101",  # a big integer that is small
        "c248ffffffffffffffff",
        "c24a00010000000000000000",  # with a leading zero
        "c240",
        "c249" + "01" * 8,  # cut
        "c26161",  # a tag on a text
        "c1" + "00",  # other tags
        "c4821b000000000000000001" + "01",
        "d9d9f7" + "00",
        "5f42010243030405ff",  # indefinite lengths
        "7f657374726561646d696e67ff",
        "9fff",
        "bfff",
        "a2616201616100",  # keys out of order
        "a2616100616100",  # the same key twice
        "a3616100616200616100",
        "a10000",  # keys that are no texts
        "a14161" + "00",
        "a1f600",
        "a18000",
        "f0",  # other simple values
        "f818",
        "f8ff",
        "f7",  # undefined
        "f90000",  # half and single precision
        "fa47c35000",
        "fb8000000000000000",  # minus zero
        "fb7ff0000000000000",  # infinities and no number
        "fbfff0000000000000",
        "fb7ff8000000000000",
        "fb3ff0",  # cut
        "ff",  # a stray end
        "0000",  # more than one value
        "61",  # cut texts and bytes
        "62c3",
        "41",
        "5bffffffffffffffff",  # lengths without end
        "9bffffffffffffffff",
        "bbffffffffffffffff",
        "82" + "00",  # cut lists and tables
        "a1" + "6161",
        "62c328",  # not UTF-8
        "63eda080",  # half a character
        "62c080",  # zero in two bytes
    ],
)
def test_every_other_form_is_refused(text):
    """Long forms, foreign types, disorder, repetition, and what is cut or has something behind it."""
    with pytest.raises(ProtocolError, match="cannot be read"):
        decode(bytes.fromhex(text))


@pytest.mark.parametrize("size", [1, 2, 30, 300])
def test_a_cut_message_is_refused(size):
    """Wherever it is cut."""
    data = encode({"list": list(range(size)), "text": "ü" * size, "big": -(2 ** (8 * size)), "float": 0.1})
    for end in range(len(data)):
        with pytest.raises(ProtocolError):
            decode(data[:end])


def nested(levels, inner=0):
    for _ in range(levels):
        inner = [inner]
    return inner


def test_nesting_has_an_end_on_both_sides():
    """As deep as allowed goes both ways; a level more goes neither."""
    deepest = nested(DEEPEST)
    assert decode(encode(deepest)) == deepest
    for inner in (nested(DEEPEST + 1), nested(DEEPEST, {}), nested(DEEPEST, []), nested(DEEPEST, 2**64)):
        with pytest.raises(InvalidParameter, match="too deeply"):
            encode(inner)
    for inner in (b"\x00", b"\x80", b"\xa0", encode(2**64)):
        with pytest.raises(ProtocolError):
            decode(b"\x81" * (DEEPEST + (inner == b"\x00")) + inner)
    with pytest.raises(ProtocolError):
        decode(b"\x81" * 100_000 + b"\x00")


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, {1: 2}, {b"a": 1}, object(), {1, 2}, np.float64(1), np.int64(1), bytearray(1), 1j],
)  # fmt: skip
def test_what_has_no_encoding_is_refused(value):
    """Numbers that are not finite, other types, and half characters; also inside of others."""
    for wrapped in (value, [value], {"a": value}, "\ud800", {"\udfff": value}):
        with pytest.raises(InvalidParameter):
            encode(wrapped)


def test_there_is_one_zero():
    """Minus zero is written as zero, so that equal numbers have equal hashes."""
    assert encode(-0.0) == encode(0.0) == b"\xfb" + struct.pack(">d", 0.0)
    assert digest("zero", -0.0) == digest("zero", 0.0)
    assert len({encode(zero) for zero in (0, 0.0, False, None)}) == 4


def test_hashes_carry_their_tag():
    """No hash of one kind passes for another: neither another tag, nor other parts, nor other borders between them."""
    found = [
        digest("a"),
        digest("b"),
        digest("a", b""),
        digest("a", ""),
        digest("a", b"xy"),
        digest("a", b"x", b"y"),
        digest("a", [b"x", b"y"]),
        digest("ax", b"y"),
        digest("a", 1),
        digest("a", True),
    ]
    assert len(set(found)) == len(found)
    assert digest("a", b"xy") == digest("a", b"xy")
    by_hand = b"\x85\x6aflou joint\x66vector\x01\x63two\x413"
    assert digest("vector", 1, "two", b"3") == hashlib.sha256(by_hand).digest()
