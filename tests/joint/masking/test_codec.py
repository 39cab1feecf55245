"""Words against Python's integers, which never wrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.masking.codec import add, decode, encode, from_bytes, subtract, to_bytes

WIDTHS = [64, 128, 192, 256, 512]
widths = st.sampled_from(WIDTHS)


def wrapped(value: int, width: int) -> int:
    return (value + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)


@st.composite
def two_vectors(draw):
    width = draw(widths)
    top = 2 ** (width - 1)
    edges = st.sampled_from([0, 1, -1, top - 1, -top, 2**63 - 1, -(2**63), min(2**64, top - 1), -min(2**64, top)])
    length = draw(st.integers(0, 6))
    vector = st.lists(edges | st.integers(-top, top - 1), min_size=length, max_size=length)
    return width, draw(vector), draw(vector)


@given(two_vectors())
@settings(max_examples=300, deadline=None)
def test_words_add_and_subtract_as_integers_modulo_two_to_the_width(case):
    """Every carry and borrow is that of Python's integers, reduced to two's complement."""
    width, a, b = case
    total = encode(a, width)
    add(total, encode(b, width))
    assert decode(total) == tuple(wrapped(x + y, width) for x, y in zip(a, b, strict=True))
    subtract(total, encode(b, width))
    assert decode(total) == tuple(a)
    subtract(total, encode(b, width))
    assert decode(total) == tuple(wrapped(x - y, width) for x, y in zip(a, b, strict=True))


@given(two_vectors())
@settings(max_examples=100, deadline=None)
def test_values_and_bytes_come_back(case):
    """Values survive encoding, and bytes are each word little-endian, one after the other."""
    width, a, _ = case
    words = encode(a, width)
    assert words.shape == (width // 64, len(a))
    assert words.dtype == np.uint64
    assert words.flags.c_contiguous
    assert decode(words) == tuple(a)
    data = to_bytes(words)
    assert data == b"".join(value.to_bytes(width // 8, "little", signed=True) for value in a)
    again = from_bytes(data, width, len(a))
    assert np.array_equal(again, words)
    assert again.flags.writeable


@pytest.mark.parametrize("width", WIDTHS)
def test_the_fast_path_of_arrays_is_the_slow_one(width):
    """An array of 64-bit integers, a strided one too, encodes as the list of its entries."""
    values = np.array([0, 1, -1, 2**63 - 1, -(2**63), 12345, -98765], dtype=np.int64)
    assert np.array_equal(encode(values, width), encode(values.tolist(), width))
    assert np.array_equal(encode(values[::2], width), encode(values[::2].tolist(), width))
    small = np.array([3, -4], dtype=np.int32)
    assert decode(encode(small, width)) == (3, -4)


def test_encoding_does_not_share_memory_with_the_values():
    """Masking words in place leaves the values of the caller alone."""
    values = np.array([5, 6], dtype=np.int64)
    add(words := encode(values, 64), encode([1, 1], 64))
    assert values.tolist() == [5, 6]
    assert decode(words) == (6, 7)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_that_does_not_fit_is_refused(width, sign):
    """The largest values fit, one more does not, and the error does not quote it."""
    edge = 2 ** (width - 1) - 1 if sign == 1 else -(2 ** (width - 1))
    assert decode(encode([edge], width)) == (edge,)
    with pytest.raises(InvalidParameter, match="does not fit") as refused:
        encode([edge + sign], width)
    assert str(edge + sign) not in str(refused.value)


def test_fractions_are_refused():
    """A float is no word, not even a whole one."""
    for width in (64, 128):
        with pytest.raises(TypeError):
            encode([1.0], width)  # type: ignore[list-item]
        with pytest.raises(TypeError):
            encode(np.array([1.5]), width)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [0, 32, 65, 576, -64, 64.0, True])
def test_a_width_that_is_not_a_multiple_of_limbs_is_refused(width):
    """Widths are 64, 128, ..., 512."""
    with pytest.raises(InvalidParameter, match="multiple of 64"):
        encode([1], width)


@pytest.mark.parametrize(("size", "width", "length"), [(15, 64, 2), (17, 64, 2), (16, 128, 2), (0, 64, 1), (8, 64, -1)])
def test_bytes_of_another_length_are_refused(size, width, length):
    """Neither a byte too many nor one too few."""
    with pytest.raises(ProtocolError, match="bytes"):
        from_bytes(bytes(size), width, length)


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (1, 1)])
def test_words_of_another_shape_are_refused(shape):
    """NumPy would spread one word over all; a sum of words does not."""
    for combine in (add, subtract):
        with pytest.raises(ProtocolError, match="different widths or lengths"):
            combine(np.zeros((2, 3), np.uint64), np.ones(shape, np.uint64))
