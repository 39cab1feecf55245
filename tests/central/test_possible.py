"""Answers stay within what is possible, and so do their intervals; nothing is lost when a call is refused."""

import threading

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central import Mean
from flou.domain import Categories, Interval, Schema
from flou.errors import FlouError, InvalidData, InvalidParameter
from flou.release import verify_chain


def table(n=40, relation="add-remove", **options):
    schema = Schema({"v": Interval(0, 100), "g": Categories(["a", "b"])}, relation=relation)
    data = {"v": [50.0] * n, "g": ["a"] * n}
    return flou.open(data, schema=schema, bits=SeededBits(f"{n} {relation}"), **options)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_every_value_lies_in_its_intervals(relation):
    """Counts, counts of a part, histograms and sums never lie outside of their own intervals."""
    asked = table(relation=relation)
    part = asked.where(flou.column("v") > 10)
    for _ in range(60):
        for release in (
            asked.count(epsilon=0.1),
            part.count(epsilon=0.1),
            part.histogram("v", bins=3, epsilon=0.1),
            part.sum("v", epsilon=0.1),
            asked.group_by("g").sum("v", epsilon=0.1),
        ):
            for of in ("data", "population"):
                low, high = release.interval(of=of)
                assert np.all(np.asarray(low) <= release.value)
                assert np.all(release.value <= np.asarray(high))
            assert np.all(np.asarray(release.value) >= 0)
            if relation == "substitute" and release.is_counts:
                assert np.all(np.asarray(release.value) <= 40)


def test_a_public_count_has_no_noise():
    """Under substitution the number of all rows is public, and is told as it is; that of a part is not."""
    asked = table(relation="substitute")
    for _ in range(5):
        release = asked.count(epsilon=0.1)
        assert release.value == 40
        assert release.interval() == release.interval(of="population") == (40, 40)
        assert "public" in release.note
    assert len({asked.where(flou.column("v") > 10).count(epsilon=0.1).value for _ in range(40)}) > 5


def test_sums_between_bounds():
    """A sum of numbers that are not negative is not negative, nor positive where none is; others may be either."""
    for _ in range(30):
        assert flou.sum([1.0, 2.0], bounds=(0, 100), epsilon=0.1).value >= 0
        assert flou.sum([-1.0, -2.0], bounds=(-100, -1), epsilon=0.1).value <= 0
        known = flou.sum([5.0] * 4, bounds=(3, 10), epsilon=0.1, relation="substitute")
        assert 12 <= known.interval()[0] <= known.value <= known.interval()[1] <= 40
    assert min(flou.sum([0.0], bounds=(-1, 1), epsilon=0.1).value for _ in range(40)) < 0


@pytest.mark.parametrize("epsilon", [float("nan"), None, [1], "0.1", 0, -1, float("inf"), 1e-300, 10**400])
@pytest.mark.parametrize(
    "call",
    [
        lambda t, e: t.mode("g", epsilon=e),
        lambda t, e: t.top_k("g", 2, epsilon=e),
        lambda t, e: t.bounds("v", epsilon=e),
        lambda t, e: t.mean("v", epsilon=e),
        lambda t, e: t.median("v", epsilon=e),
        lambda t, e: t.ecdf("v", epsilon=e),
        lambda t, e: t.histogram("g", epsilon=e),
        lambda t, e: t.keys("g", epsilon=e, delta=1e-8),
        lambda t, e: t.group_by("g").variance("v", epsilon=e),
    ],
)
def test_bad_prices_are_refused_and_cost_nothing(call, epsilon):
    """Whatever is passed, the error is flou's own and the budget is as it was."""
    asked = table(budget=3)
    with pytest.raises(FlouError):
        call(asked, epsilon)
    assert asked.budget.spent is None


def test_nothing_is_charged_for_a_column_that_is_not_there():
    """The table is asked for its columns first; a unit that is not there is refused when the table is opened."""
    asked = table(budget=3)
    with pytest.raises(InvalidData, match="no column 'typo'"):
        asked.bounds("typo", epsilon=1)
    with pytest.raises(InvalidParameter, match="ask takes questions"):
        asked.ask("mean v")
    assert asked.budget.spent is None
    schema = Schema({"v": Interval(0, 1)}, unit="person", max_rows_per_unit=1)
    with pytest.raises(InvalidData, match="no column 'person'"):
        flou.open({"v": [1.0]}, schema=schema)


def test_a_file_without_a_header_shows_nothing(tmp_path):
    """Its first row is no list of names to be quoted in an error."""
    path = tmp_path / "n.csv"
    path.write_text("34,Mayer,HIV\n51,Huber,none\n")
    with pytest.raises(InvalidData) as error:
        flou.open(str(path), schema={"age": Interval(0, 120)})
    assert not any(secret in str(error.value) for secret in ("34", "Mayer", "HIV"))


def test_threads_share_one_chain():
    """Certificates of answers that were made at the same time still follow each other."""
    asked = table(budget=1000)
    go = threading.Barrier(16)

    def ask():
        go.wait()
        for _ in range(10):
            asked.ask(Mean("v", 0.1))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked.certificates) == 160
    verify_chain(asked.certificates)


def test_standard_errors_contain_the_noise():
    """They are those of a normal error, smaller for the rows than for the population, and shrink as epsilon grows."""
    x = np.linspace(0, 1, 2000)
    data = {"x": x, "y": 0.3 + 0.4 * x + 0.1 * np.sin(999 * x)}
    asked = flou.open(data, schema={"x": Interval(0, 1), "y": Interval(0, 1)}, bits=SeededBits(7))
    few, many = (asked.regression("y", "x", epsilon=epsilon) for epsilon in (1, 100))
    classical = np.std(0.1 * np.sin(999 * x)) / (np.std(x) * np.sqrt(2000))
    assert many.standard_error()[1] == pytest.approx(classical, rel=0.1)
    assert few.standard_error()[1] > 2 * classical
    assert np.all(few.standard_error(of="data") <= few.standard_error())
    mean = asked.mean("x", epsilon=100)
    assert mean.standard_error() == pytest.approx(np.std(x) / np.sqrt(2000), rel=0.1)


def test_certificates_state_the_loss_and_where_bounds_come_from():
    """Parameters, a delta (0 where there is none), a rho as an epsilon too, and bounds that were not public."""
    schema = Schema({"v": Interval(0, 64)}, unit="u", max_rows_per_unit=3, bounds_source="private")
    asked = flou.open({"v": [1.0, 2.0], "u": [1, 2]}, schema=schema)
    pure, rho = asked.mean("v", epsilon=1).certificate, asked.mean("v", rho=0.5).certificate
    assert pure["loss"]["parameters"] == {"epsilon": 1}
    assert (pure["loss"]["delta"], pure["loss"]["converted"]) == (0, None)
    assert rho["loss"]["converted"]["delta"] == 1e-6
    assert rho["loss"]["this_release"]["rho"] == 0.5
    assert pure["unit"]["bounds_source"] == "private"
    assert pure["unit"]["max_groups_per_unit"] == 3
    assert Schema.from_text(schema.to_toml()) == schema
    assert "delta" not in pure.to_registry()["deployment"]["privacy_loss"]["privacy_parameters"]
