"""Bits are fresh for every process, thread and call, and uniform integers are exactly uniform."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from flou.bits import REFILL, SYSTEM, Bits, SeededBits, SystemBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace

NOISE = DiscreteLaplace(10**6)


class Tape(Bits):
    """Serves given bytes, then fails."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, size: int) -> np.ndarray:
        assert size <= len(self.data), "the tape has ended"
        served, self.data = self.data[:size], self.data[size:]
        return np.frombuffer(served, dtype=np.uint8).copy()


def draw_noise(_: int = 0) -> list[int]:
    return NOISE.sample(20).tolist()


def test_seeded_bits_are_pinned():
    """The stream of a seed is AES-256-CTR under SHA-256 of the named seed, for ever."""
    assert SeededBits(1).take(16).tobytes().hex() == "9320d21f68ee4309a6b49a3df8daf124"
    assert SeededBits("1").take(16).tobytes().hex() == "aa7096428d74cede4c4b83c945f689f9"
    assert SeededBits(b"1").words(2).tolist() == [13837841117251317979, 1438099899629012418]
    assert DiscreteLaplace(1000).sample(5, bits=SeededBits("noise")).tolist() == [921, -422, -1495, 544, -438]


def test_seeded_stream_does_not_depend_on_how_it_is_cut():
    """Ten small requests give the same bytes as one large one, also across refills."""
    whole = SeededBits(7).take(3 * REFILL)
    parts = SeededBits(7)
    cut = np.concatenate([parts.take(size) for size in (1, 10, REFILL - 5, 0, REFILL + 1, 3)])
    assert (whole[: cut.size] == cut).all()


@pytest.mark.parametrize("seed", [1.5, None, True, [1]])
def test_a_seed_that_is_no_seed_is_refused(seed):
    """Seeds are integers, strings or bytes."""
    with pytest.raises(InvalidParameter, match="seed"):
        SeededBits(seed)


def test_two_calls_never_share_bytes():
    """Small and large requests alike are fresh."""
    bits = SystemBits()
    seen = [bits.take(16).tobytes() for _ in range(10_000)]
    seen += [bits.take(REFILL + 1)[:16].tobytes() for _ in range(50)]
    assert len(set(seen)) == len(seen)


def test_served_bytes_are_erased():
    """What was served is not kept."""
    bits = SystemBits()
    bits.take(64)
    assert not bits._buffer.ready[:64].any()
    assert bits._buffer.ready[64:128].any()


def test_forked_children_share_no_noise():
    """A child forked from a process with a full buffer draws other noise than its parent and its siblings."""
    SYSTEM.take(8)  # the buffer is full now, and copied by the fork
    ends = []
    for _ in range(3):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(draw_noise()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        ends.append(os.read(read, 65536).decode())
        os.close(read), os.close(write)
    ends.append(repr(draw_noise()))
    assert len(set(ends)) == 4


def test_forks_that_bypass_the_hook_are_noticed_by_process_number(monkeypatch):
    """Even without Python's fork hook another process number means another stream."""
    bits = SystemBits()
    bits.take(8)
    before = bits._buffer.ready
    monkeypatch.setattr(os, "getpid", lambda: 1)
    bits.take(8)
    assert bits._buffer.ready is not before


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_workers_of_a_pool_share_no_noise():
    """Noise drawn by forked workers never repeats."""
    SYSTEM.take(8)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        noise = [tuple(x) for x in pool.map(draw_noise, range(40), chunksize=1)]
    assert len(set(noise)) == 40


def test_threads_share_no_noise():
    """Eight threads that draw at once from one source never see the same bytes."""
    barrier = threading.Barrier(8)

    def work(_: int) -> list[bytes]:
        barrier.wait()
        return [SYSTEM.take(16).tobytes() for _ in range(2000)]

    with ThreadPoolExecutor(8) as pool:
        seen = [piece for part in pool.map(work, range(8)) for piece in part]
    assert len(set(seen)) == 16_000


def test_restarts_share_no_noise():
    """Two runs of the same program draw different noise."""
    program = "from flou.laws import DiscreteLaplace; print(DiscreteLaplace(10**6).sample(20).tolist())"
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 2


def test_a_pickled_source_starts_afresh():
    """Sending the source to another process copies no buffer."""
    bits = SystemBits()
    bits.take(8)
    assert not pickle.loads(pickle.dumps(bits))._buffer.ready.size


def test_seeding_other_generators_changes_nothing():
    """Noise does not listen to random.seed or numpy.random.seed."""
    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)
        drawn.append(draw_noise())
    assert drawn[0] != drawn[1]


def test_noise_works_with_other_generators_broken(monkeypatch):
    """Nothing on the way to a draw calls random or numpy.random."""

    def broken(*_, **__):
        raise AssertionError("a private path called another generator")

    for name in ("random", "getrandbits", "randint", "gauss"):
        monkeypatch.setattr(random, name, broken)
    for name in ("random", "randint", "normal", "laplace", "default_rng", "RandomState", "choice"):
        monkeypatch.setattr(np.random, name, broken)
    assert len(draw_noise()) == 20


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 1000, 2**31 + 1, 2**32 - 1, 2**32 + 1, 3 * 2**40, 2**62 + 1, 2**63])
def test_uniform_integers_are_in_range_and_even(n):
    """Draws below n fill 0..n-1 evenly (chi-squared on at most 16 cells, false alarms below 1e-9)."""
    draws = SeededBits(f"below {n}").below(n, 160_000)
    assert draws.min() >= 0
    assert draws.max() < n
    cells = min(n, 16)
    edges = [-(-i * n // cells) for i in range(cells + 1)]
    expected = np.diff(np.array(edges, dtype=object)).astype(float) / n * draws.size
    counts = np.bincount(
        np.searchsorted(np.array(edges[1:-1], dtype=np.uint64), draws.astype(np.uint64), side="right"), minlength=cells
    )
    assert np.sum((counts - expected) ** 2 / expected) < 80


@pytest.mark.parametrize("n", [3, 5, 7, 1000, 2**31 + 11])
def test_every_result_has_the_same_number_of_words(n):
    """Of the 2^32 words exactly floor(2^32 / n) lead to each result; at the boundaries this is seen word by word."""
    share = 2**32 // n
    for result in (0, 1, n // 2, n - 1):
        first = -(-result * 2**32 // n)  # the least word whose product reaches this result
        last = -(-(result + 1) * 2**32 // n) - 1
        refused = [w for w in range(first, min(first + 3, last + 1)) if (w * n) % 2**32 < 2**32 % n]
        assert last - first + 1 - len(refused) == share
        for word in {first, min(first + 1, last), last}:
            tape = Tape(word.to_bytes(4, "little") + (0xFFFFFFFF).to_bytes(4, "little"))
            got = tape.below(n, 1)[0]
            if word in refused:
                assert len(tape.data) == 0
            else:
                assert got == result
                assert len(tape.data) == 4


def test_large_n_refuses_the_incomplete_cycle():
    """Words at or above the last multiple of n are drawn again."""
    n = 2**62 + 1
    limit = 2**64 // n * n
    kept = Tape((limit - 1).to_bytes(8, "little"))
    assert kept.below(n, 1)[0] == (limit - 1) % n
    again = Tape(limit.to_bytes(8, "little") + (5).to_bytes(8, "little"))
    assert again.below(n, 1)[0] == 5


@pytest.mark.parametrize("n", [0, -1, 1.5, "3", None, 2**64, True])
def test_a_senseless_range_is_refused(n):
    """The number of outcomes is a whole number from 1 to 2^63."""
    with pytest.raises(InvalidParameter, match="n must"):
        SYSTEM.below(n, 3)


def test_integers_of_any_length():
    """Long integers have all their bits, and single draws below huge numbers stay below."""
    assert max(SYSTEM.integer(200).bit_length() for _ in range(100)) >= 190
    assert SYSTEM.integer(0) == 0
    assert all(SYSTEM.integer_below(10**40) < 10**40 for _ in range(100))
    assert {SYSTEM.integer_below(3) for _ in range(200)} == {0, 1, 2}
