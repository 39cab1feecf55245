"""Masks cancel, look uniform, and depend on the whole key."""

from __future__ import annotations

import hashlib
import tracemalloc

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from scipy.stats import chi2

from flou.bits import SeededBits
from flou.errors import ProtocolError
from flou.joint.masking import masks
from flou.joint.masking.codec import add, decode, encode, from_bytes
from flou.joint.masking.masks import add_mask, pair_key, stream

KEY = bytes(range(32))
# a point of order 8 (Curve25519's known ones): the shared secret is zero whatever the secret key
SMALL_ORDER = bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")


def zeros(width: int, length: int) -> np.ndarray:
    return np.zeros((width // 64, length), dtype=np.uint64)


@pytest.mark.parametrize("width", [64, 128, 256])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 1000, masks.PIECE - 1, masks.PIECE, 2 * masks.PIECE + 5])
def test_two_sides_of_a_mask_cancel(width, length):
    """What one party adds the other takes off, whatever the number of pieces."""
    words = from_bytes(SeededBits(1).take(width // 8 * length).tobytes(), width, length)
    masked = words.copy()
    add_mask(masked, KEY, 1)
    assert length == 0 or not np.array_equal(masked, words)
    add_mask(masked, KEY, -1)
    assert np.array_equal(masked, words)


@pytest.mark.parametrize("length", [1, 5, masks.FEW // 3, masks.FEW // 3 + 1, masks.FEW, masks.PIECE + 3])
@pytest.mark.parametrize("width", [64, 192])
def test_the_mask_is_the_keystream_of_its_definition(width, length):
    """Limb l of word i is half of block i/2 after counter l 2^64: checked block by block with AES itself."""
    mask = zeros(width, length)
    add_mask(mask, KEY, 1)
    block = Cipher(AES(KEY), ECB()).encryptor()
    for limb in range(width // 64):
        for word in sorted(
            {0, 1, 2, length // 2, length - 2, length - 1, masks.PIECE - 1, masks.PIECE} & {*range(length)}
        ):
            data = block.update(((limb << 64) + word // 2).to_bytes(16, "big"))
            assert int(mask[limb, word]) == int.from_bytes(data[word % 2 * 8 :][:8], "little")


@pytest.mark.parametrize("width", [128, 256])
def test_masks_carry_from_limb_to_limb(width):
    """Adding a mask is the sum of the words and the mask modulo 2^W, not limb by limb."""
    words = encode([-1, 2 ** (width - 1) - 1, 5, -(2 ** (width - 2))] * 50, width)
    mask = zeros(width, 200)
    add_mask(mask, KEY, 1)
    expected = words.copy()
    add(expected, mask)
    limb_by_limb = words + mask
    add_mask(words, KEY, 1)
    assert np.array_equal(words, expected)
    assert not np.array_equal(words, limb_by_limb)


def test_a_vector_is_pinned():
    """The mask of a known key is the same in every version."""
    mask = zeros(128, 100)
    add_mask(mask, KEY, 1)
    digest = hashlib.sha256(np.ascontiguousarray(mask.astype("<u8")).tobytes()).hexdigest()
    assert digest == "6943bd5e96f0c4c05304c3623f58e98e18138409fdc3ca5ebce59b60dfdcef32"
    assert stream(KEY).update(bytes(16)).hex() == "f29000b62a499fd0a9f39a6add2e7780"


def test_masked_words_are_uniform():
    """All bits of masked zeros are fair (chi-squared of bytes, false alarms: 1e-9), and of the zeros alone are not."""
    words = zeros(128, 100_000)

    def statistic(data: np.ndarray) -> float:
        counts = np.bincount(data.view(np.uint8).ravel(), minlength=256)
        return float(np.sum((counts - counts.mean()) ** 2) / counts.mean())

    assert statistic(words) > chi2.isf(1e-9, 255)
    add_mask(words, SeededBits("uniform").take(32).tobytes(), 1)
    assert statistic(words) < chi2.isf(1e-9, 255)


def test_no_vector_of_the_masks_length_is_allocated():
    """A mask of 16 MB needs less than 2 MB."""
    words = zeros(128, 1 << 20)
    tracemalloc.start()
    add_mask(words, KEY, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * 2 * masks.PIECE < words.nbytes / 2


@pytest.mark.parametrize(
    ("key", "sign"), [(bytes(31), 1), (bytes(16), 1), (bytes(33), -1), (bytes(32), 0), (bytes(32), 2)]
)
def test_a_short_key_or_another_sign_is_refused(key, sign):
    """AES would take a key of 16 bytes; masks do not."""
    with pytest.raises(ProtocolError, match="32 bytes"):
        add_mask(zeros(64, 4), key, sign)


def test_a_pair_has_one_key_and_every_context_another():
    """Both sides derive the same 32 bytes, and another context, or another pair, has nothing to do with it."""
    a, b, c = (X25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2, 3))
    public = [key.public_key().public_bytes_raw() for key in (a, b, c)]
    key = pair_key(a, public[1], b"round 1")
    assert len(key) == 32
    assert key == pair_key(b, public[0], b"round 1")
    assert (
        len({key, pair_key(a, public[1], b"round 2"), pair_key(a, public[2], b"round 1"), pair_key(a, public[1], b"")})
        == 4
    )
    assert key.hex() == "366d95c73b3523734e4a06865cae3cfefd911eccdf0e2d4478d3e1b769d74c75"


@pytest.mark.parametrize("public", [bytes(32), (1).to_bytes(32, "little"), SMALL_ORDER, bytes(31), bytes(33), b""])
def test_a_key_that_makes_no_secret_is_refused(public):
    """Points of small order give a secret that everyone knows."""
    with pytest.raises(ProtocolError, match="X25519"):
        pair_key(X25519PrivateKey.from_private_bytes(bytes([7]) * 32), public, b"")


def test_a_round_of_masks_leaves_the_sum():
    """With a mask for each pair, added by one and taken off by the other, only the sum of all words remains."""
    values = [[3, -5, 2**100], [10, 0, -1], [-20, 7, 2**90], [1, 1, 1]]
    total = zeros(128, 3)
    for i, own in enumerate(values):
        words = encode(own, 128)
        for j in range(len(values)):
            if i != j:
                add_mask(words, hashlib.sha256(f"{min(i, j)} {max(i, j)}".encode()).digest(), 1 if i < j else -1)
        assert not set(decode(words)) & set(own)
        add(total, words)
    assert decode(total) == tuple(map(sum, zip(*values, strict=True)))
