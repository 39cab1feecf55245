"""The collector over HTTP: what it accepts, what it refuses, what it shows."""

from __future__ import annotations

import json
import xml.dom.minidom

import pytest
from starlette.testclient import TestClient

import flou
from flou.collect import Store, collector
from flou.local import Survey, batch_of

TRAVEL = Survey(
    {"mode": flou.Categories(["foot", "bike", "car <b>"]), "hours": flou.Interval(0, 10)}, epsilon=2, name="travel & co"
)


@pytest.fixture
def client(tmp_path):
    with TestClient(collector(Store(tmp_path / "sums.db", TRAVEL), longest=20_000)) as client:
        yield client


def batch(name: str, people: int = 100) -> dict:
    answers = {"mode": ["foot", "bike"] * (people // 2), "hours": [1.0, 2.0] * (people // 2)}
    return {"batch": name, **batch_of(TRAVEL, TRAVEL.randomise(answers))}


def test_batches_become_estimates(client):
    for i in range(5):
        answer = client.post("/reports", json=batch(f"b{i}"))
        assert (answer.status_code, answer.json()) == (200, {"batch": f"b{i}", "counted": 100, "again": False})
    assert client.post("/reports", json=batch("b0")).json()["again"]
    found = client.get("/estimates.json").json()
    assert sum(found["reports"].values()) == 500
    shares = found["estimates"]["mode"]
    assert shares["labels"] == ["foot", "bike", "car <b>", "other"]
    low, high = shares["interval_95"]["population"]
    assert all(a <= b for a, b in zip(low, high, strict=True))
    page = client.get("/")
    assert page.status_code == 200
    assert "car &lt;b&gt;" in page.text
    assert "<b>" not in page.text
    assert "travel &amp; co" in page.text
    assert page.text.count("<svg") == 4  # for wide pages and for narrow ones
    for picture in page.text.split("<svg")[1:]:
        xml.dom.minidom.parseString("<svg" + picture.split("</svg>")[0] + "</svg>")


def test_a_page_without_reports(client):
    assert client.get("/").status_code == 200
    assert client.get("/estimates.json").json()["reports"] == {"mode": 0, "hours": 0}


def test_the_survey_is_public(client):
    assert client.get("/survey.json").json()["fingerprint"] == TRAVEL.fingerprint
    again = Survey.from_dict({k: v for k, v in client.get("/survey.json").json().items() if k != "fingerprint"})
    assert again.fingerprint == TRAVEL.fingerprint
    assert "[questions.mode]" in client.get("/survey.toml").text


def wrong_batches():
    good = batch("x", 4)
    yield from (b"", b"{", b"[]", b"null", b"\xff", b"[" * 5000)
    for change in (
        {"survey": "0" * 64},
        {"survey": None},
        {"reports": []},
        {"reports": {"mode": 3}},
        {"reports": {"mode": [99]}},
        {"reports": {"mode": [True]}},
        {"reports": {"mode": [0.5]}},
        {"reports": {"mode": [None]}},
        {"reports": {"mode": [[1, 2], [3]]}},
        {"reports": {"mode": [[1], 2]}},
        {"reports": {"other": [1]}},
        {"reports": {"mode": [10**30]}},
        {"batch": 5},
        {"batch": ""},
        {"extra": 1},
    ):
        yield json.dumps({**good, **change}).encode()
    yield json.dumps({key: value for key, value in good.items() if key != "batch"}).encode()


def test_malformed_batches_are_refused_and_leave_no_trace(client):
    for body in wrong_batches():
        answer = client.post("/reports", content=body)
        assert answer.status_code == 422, body[:80]
        assert set(answer.json()) == {"what", "why", "do"}
    assert client.post("/reports", json=batch("long", 30_000)).status_code == 413
    assert sum(client.get("/estimates.json").json()["reports"].values()) == 0
    assert client.get("/reports").status_code == 405
    assert client.get("/nothing").status_code == 404
