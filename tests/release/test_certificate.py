"""Certificates: frozen, chained, checked without the data, and readable by the registry."""

import json

import pytest

import flou
from flou.release import Certificate, verify_chain


@pytest.fixture
def chain():
    """Four certificates of one table."""
    table = flou.open({"x": [1.0, 2.0, 3.0] * 50}, schema={"x": flou.Interval(0, 10)}, budget=10)
    for epsilon in (0.1, 0.2, 0.3):
        table.count(epsilon=epsilon)
    table.where(flou.column("x") > 1).mean("x", epsilon=0.4)
    return list(table.certificates)


def edited(certificate, block, key, value):
    tree = json.loads(certificate.to_json())
    tree[block][key] = value
    return Certificate(tree)


def test_a_whole_chain_passes(chain):
    """The chain as it was issued holds, and so does its beginning."""
    verify_chain(chain)
    verify_chain(chain, last=chain[-1].hash)
    verify_chain(chain[:2])
    verify_chain([])


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_edit_is_noticed(chain, position):
    """Whatever is changed before the end breaks the next link."""
    chain[position] = edited(chain[position], "loss", "epsilon", 0.01)
    with pytest.raises(flou.InvalidData, match=f"Certificate {position + 2} does not follow"):
        verify_chain(chain)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_gap_is_noticed(chain, position):
    """What is left out is missed."""
    del chain[position]
    with pytest.raises(flou.InvalidData, match=f"Certificate {position + 1} does not follow"):
        verify_chain(chain)


def test_another_order_is_noticed(chain):
    """Certificates cannot be moved."""
    chain[1], chain[2] = chain[2], chain[1]
    with pytest.raises(flou.InvalidData, match="Certificate 2"):
        verify_chain(chain)


def test_the_end_needs_a_witness(chain):
    """An edited or missing end is noticed by whoever keeps the last hash, and only then."""
    last = chain[-1].hash
    verify_chain(chain[:-1])
    with pytest.raises(flou.InvalidData, match="should end"):
        verify_chain(chain[:-1], last=last)
    chain[-1] = edited(chain[-1], "loss", "epsilon", 0.01)
    verify_chain(chain)
    with pytest.raises(flou.InvalidData, match="should end"):
        verify_chain(chain, last=last)


def test_what_is_no_certificate_is_refused():
    """A tree without an identity, and a text that is no tree, are refused in three sentences."""
    with pytest.raises(flou.InvalidData, match="Certificate 1"):
        verify_chain([Certificate({})])
    for text in ("", "[1]", "{", "null"):
        with pytest.raises(flou.InvalidData, match="not a certificate"):
            Certificate.from_json(text)


def test_certificates_are_frozen(chain):
    """Changing what was read changes nothing, and the hash is that of the text, whatever the order of its keys."""
    before = chain[0].hash
    chain[0]["loss"]["epsilon"] = 0
    assert chain[0].hash == before
    tree = json.loads(chain[0].to_json())
    assert Certificate(dict(reversed(tree.items()))).hash == before
    assert Certificate.from_json(chain[0].to_json()).hash == before
    assert before[:12] in repr(chain[0])


def test_registry(chain):
    """The registry's fields are filled with what is known, and what only people know is empty."""
    entry = chain[0].to_registry()
    assert json.loads(json.dumps(entry)) == entry
    deployment = entry["deployment"]
    assert deployment["dp_flavor"]["name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.1}
    assert deployment["privacy_loss"]["privacy_parameters_description"] == flou.PureDP(0.1).in_words()
    assert deployment["model"]["model_name"] == "Central"
    assert deployment["product"]["data_curators"] == []
    assert "discrete Laplace" in deployment["implementation"]["mechanisms"]
    assert Certificate({}).to_registry()["deployment"]["privacy_loss"]["privacy_parameters"] == {}
