"""What travels looks uniform to whoever lacks the keys, even when all words are zero.

Bytes, low bits and pairs of low bits of masked words are held against the uniform law; words that are not masked, or
twice with the same key, are refused by the same tests.
"""

from __future__ import annotations

import numpy as np
import pytest

from flou.joint.masking import codec
from flou.joint.masking.masks import add_mask
from goodness import compatible
from joint.round.rounds import Game, setting_for

LENGTH = 6000
LIMITS = {64: 2**40, 128: 2**62}


def uniform(words: np.ndarray) -> bool:
    """Whether limbs may be uniform: their bytes, by place and together, their low bits, and neighbouring low bits."""
    limbs = np.ascontiguousarray(words).ravel()
    places = limbs.view(np.uint8).reshape(-1, 8)
    low = (limbs & np.uint64(15)).astype(np.int64)
    pairs = 16 * low[:-1:2] + low[1::2]
    tests = [(places[:, place], 256) for place in range(8)] + [(places.ravel(), 256), (low, 16), (pairs, 256)]
    return all(compatible(np.bincount(values, minlength=bins), np.full(bins, 1 / bins)) for values, bins in tests)


def words_of(game, i):
    return codec.from_bytes(game.masked[i].attachment, game.setting.width, game.setting.length)


@pytest.fixture(scope="module")
def zeros():
    return Game(setting_for(3, LENGTH), [[0] * LENGTH] * 3)


def test_the_test_refuses_what_is_not_uniform():
    """Zeros, small numbers, a bit that is always zero, one that leans and repetition are noticed; noise is not."""
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 2**64, LENGTH, dtype=np.uint64)
    assert uniform(noise)
    assert not uniform(np.zeros(LENGTH, dtype=np.uint64))
    assert not uniform(noise >> np.uint64(8))
    assert not uniform(noise & ~np.uint64(1 << 32))
    lean = noise | (rng.random(LENGTH) < 0.25).astype(np.uint64)
    assert not uniform(lean)
    assert not uniform(np.repeat(noise[: LENGTH // 2], 2))


def test_an_eavesdropper_sees_uniform_words(zeros):
    """Each party's words, all zero before the masks, and any sum of them; without masks they are refused."""
    words = [words_of(zeros, i) for i in range(3)]
    for some in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2]):
        whole = words[some[0]].copy()
        for i in some[1:]:
            codec.add(whole, words[i])
        assert uniform(whole)
    assert not uniform(codec.encode([0] * LENGTH, 64))


def test_without_its_own_mask_a_word_is_still_uniform(zeros):
    """What the coordinator has after unmasking: uniform words but for their sum, which is zero here."""
    words = [words_of(zeros, i) for i in range(3)]
    for i, word in enumerate(words):
        add_mask(word, zeros.parties[i].sharing.keys.own, -1)
        assert uniform(word)
    pair = words[0].copy()
    codec.add(pair, words[1])
    assert uniform(pair)
    codec.add(pair, words[2])
    assert not pair.any()


@pytest.mark.parametrize("width", [64, 128])
def test_every_limb_is_masked(width):
    """Wide words are uniform in all of their limbs, and these are not copies of each other."""
    limit = LIMITS[width]
    game = Game(setting_for(3, 3000, limit=limit), [[limit] * 3000, [-limit] * 3000, [0] * 3000])
    assert game.setting.width == width
    words = words_of(game, 0)
    for limb in words:
        assert uniform(limb)
    if width > 64:
        assert uniform(words[0] - words[1])


def test_no_mask_serves_twice(zeros):
    """The same words in another round, session or party have other masks; under one used twice they would show."""
    first = words_of(zeros, 0)
    others = [
        words_of(Game(setting_for(3, LENGTH, number=2), [[0] * LENGTH] * 3), 0),
        words_of(Game(setting_for(3, LENGTH, session=1), [[0] * LENGTH] * 3), 0),
        words_of(zeros, 1),
    ]
    for other in others:
        difference = first.copy()
        codec.subtract(difference, other)
        assert uniform(difference)
    values = list(range(LENGTH))
    twice = words_of(Game(setting_for(3, LENGTH), [values] * 3), 0)  # the very same round and seed
    codec.subtract(twice, first)
    assert not uniform(twice)
    assert codec.decode(twice) == tuple(values)
