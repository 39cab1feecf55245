"""Errors lead to nothing but their three sentences."""

from __future__ import annotations

import gc
import traceback
from dataclasses import replace

import pytest

import flou
from flou.domain.toml import file_text, parsed
from flou.errors import FlouError, InvalidData, instead
from flou.joint.agreement.canonical import encode
from flou.summaries import rows_of
from flou.summaries.duck.text_file import text_sql
from flou.summaries.rows import quiet

CANARY = "canary-8431"


class Panic(BaseException):
    """What pyo3 raises when Rust panics: an error that is no ``Exception``."""


def failing(kind):
    record = {"name": CANARY}
    try:
        raise KeyError(record["name"])
    except KeyError as cause:
        raise kind(f"cannot convert {record['name']!r}") from cause


def reachable(error):
    """All texts that can be reached from an error, its frames in flou and below included."""
    found, seen, waiting = [], set(), [error.args, error.__context__, error.__cause__, vars(error)]
    waiting += [
        frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename != __file__
    ]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, BaseException):
            waiting += [one.args, one.__context__, one.__cause__, one.__traceback__]
        elif type(one).__name__ == "frame":
            waiting.append(one.f_locals)
        else:
            waiting += gc.get_referents(one)
    return found


def test_the_walk_finds_what_from_none_leaves():
    """The walk of these tests sees a canary behind an error that was raised from None."""

    def hidden():
        try:
            failing(ValueError)
        except ValueError:
            raise InvalidData("a", "b", "c") from None

    with pytest.raises(InvalidData) as caught:
        hidden()
    assert any(CANARY in text for text in reachable(caught.value))


@pytest.mark.parametrize("kind", [ValueError, Panic, MemoryError, RecursionError])
def test_engine_errors_are_cut(kind):
    """Whatever an engine throws, a panic too, becomes one error that neither quotes it nor leads to it."""
    with pytest.raises(InvalidData) as caught, quiet("duckdb"):
        failing(kind)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert not any(CANARY in text for text in reachable(caught.value))
    assert len(list(traceback.walk_tb(caught.value.__traceback__))) == 2


def test_engine_errors_are_all_alike():
    """Nothing in the message tells one failure from another."""
    said = set()
    for kind in (ValueError, Panic, MemoryError, OverflowError):
        with pytest.raises(InvalidData) as caught, quiet("polars"):
            failing(kind)
        said.add(str(caught.value))
    assert len(said) == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_passes(kind):
    """Ctrl-C ends a question, and is no error of an engine."""
    with pytest.raises(kind), quiet("duckdb"):
        raise kind


def test_errors_of_flou_pass_without_their_frames():
    """A refusal stays what it is, and forgets what the frames below were working on."""

    def refusing():
        record = CANARY
        try:
            raise ValueError(record)
        except ValueError:
            raise flou.InvalidParameter("what", "why", "do") from None

    with pytest.raises(flou.InvalidParameter, match="what why do") as caught, quiet("duckdb"):
        refusing()
    assert caught.value.__context__ is None
    assert not any(frame.f_code.co_name == "refusing" for frame, _ in traceback.walk_tb(caught.value.__traceback__))


def test_other_kinds_pass():
    """Only the kinds that are named are replaced."""
    with pytest.raises(KeyError), instead(InvalidData("a", "b", "c"), ValueError):
        raise KeyError


class Surrogates(list):
    def __iter__(self):
        raise ValueError(CANARY)


@pytest.mark.parametrize(
    "broken",
    [
        lambda folder: text_sql([str(folder / "t.csv")], [""]),
        lambda folder: file_text(folder / "t.csv"),
        lambda _: parsed(f"x = [{CANARY}"),
        lambda _: encode(f"{CANARY}\ud800"),
        lambda _: flou.mean(Surrogates([1]), bounds=(0, 1), epsilon=1),
        lambda _: rows_of({"x": Surrogates([1, 2])}).values(["x"]).__next__(),
        lambda folder: flou.joint.Identity.load(folder / "t.csv"),
    ],
)
def test_errors_on_the_way_in_are_cut(tmp_path, broken):
    """A file or a list that cannot be read leaves nothing of itself behind the error."""
    (tmp_path / "t.csv").write_bytes(CANARY.encode() + b"\xff\xfe,b\n1,2\n")
    with pytest.raises(FlouError) as caught:
        broken(tmp_path)
    assert caught.value.__context__ is None
    assert not any(CANARY in repr(one) for one in (caught.value.args, caught.value.__cause__))


def test_one_error_for_whatever_goes_wrong_after_the_charge(monkeypatch):
    """An answer that breaks down once rows were read is charged, is one plain error, and shows no exact number."""

    def broken(found, _):
        raise IndexError(f"index {found[0]} is out of bounds")

    prepare = flou.central.Count.prepare
    monkeypatch.setattr(flou.central.Count, "prepare", lambda *given: replace(prepare(*given), answer=broken))
    table = flou.open({"x": [0.5] * 8431}, schema={"x": flou.Interval(0, 1)}, budget=1)
    with pytest.raises(InvalidData, match="could not answer") as caught:
        table.count(epsilon=1)
    assert table.budget.remaining == {"epsilon": 0.0}
    assert not any("8431" in text for text in reachable(caught.value))
    assert "broken" not in {frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)}
