"""Every kind of certificate has every block: central statistics, local estimates, sanitised tables, joint results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import flou
from flou import local
from flou.local.randomiser import Randomiser
from flou.release import Certificate, blocks, verify_chain
from joint.every_program import PROGRAMS, table
from privacy.canaries import KINDS, made, schema

ROOT = Path(__file__).parents[2]
OPTIONAL = type(None)
TYPES = {  # of the fields that every certificate has
    "id": {"certificate_version": int, "release_id": str, "created_utc": str, "software": dict},
    "data": {"dataset": (str, OPTIONAL), "schema_hash": (str, OPTIONAL), "size_is_public": bool},
    "unit": {
        "privacy_unit": str,
        "unit_column": (str, OPTIONAL),
        "neighbours": (str, OPTIONAL),
        "max_rows_per_unit": int,
        "max_groups_per_unit": int,
        "bounds": dict,
        "bounds_source": str,
        "enforcement": str,
    },
    "loss": {
        "measure": str,
        "parameters": dict,
        "delta": (float, OPTIONAL),
        "converted": (dict, OPTIONAL),
        "composition": str,
        "this_release": (dict, OPTIONAL),
        "cumulative_after": (dict, OPTIONAL),
        "cap": (dict, OPTIONAL),
    },
    "mechanism": {"name": str, "sampler": (str, OPTIONAL), "random_source": (str, OPTIONAL)},
    "keys": {"group_keys": str, "threshold": (float, int, OPTIONAL), "unprotected_quantities": list},
    "processing": {
        "statistic": str,
        "column": (str, OPTIONAL),
        "preprocessing": list,
        "postprocessing": list,
        "touches_data_again": bool,
        "reads": str,
    },
    "accuracy": {
        "level": (float, OPTIONAL),
        "noise": (float, OPTIONAL),
        "sampling": (float, OPTIONAL),
        "grid": (float, int, str, OPTIONAL),
        "total": (float, OPTIONAL),
        "clipping": str,
        "notes": str,
    },
    "channels": {
        "float_policy": str,
        "overflow_policy": str,
        "null_policy": str,
        "error_policy": str,
        "timing_policy": str,
    },
    "trust": {"model": str, "parties": int, "collusion_tolerated": (int, str)},
    "assurance": {"proof": list, "tests": str, "known_limits": list},
    "words": {"cost": str, "not_protected": str},
}


def central(kind):
    return KINDS[kind](flou.open(made().lists(), schema=schema("add-remove"))).certificate


def estimated(randomiser, values):
    return randomiser.estimate(randomiser.randomise(values)).certificate


FOUR = flou.Integers(0, 3)
RANDOMISERS = {
    "GRR": lambda: estimated(local.GRR(FOUR, epsilon=1), [0, 1, 2, 3] * 50),
    "Warner": lambda: estimated(local.Warner(epsilon=1), [True, False] * 50),
    "OUE": lambda: estimated(local.OUE(FOUR, epsilon=1), [0, 1, 2, 3] * 50),
    "OLH": lambda: estimated(local.OLH(FOUR, epsilon=1), [0, 1, 2, 3] * 50),
    "Duchi": lambda: estimated(local.Duchi(flou.Interval(0, 1), epsilon=1), np.linspace(0, 1, 200)),
    "hybrid": lambda: estimated(local.Hybrid(flou.Interval(0, 1), epsilon=1), np.linspace(0, 1, 200)),
    "square wave": lambda: estimated(local.SquareWave(flou.Integers(0, 9), epsilon=1), [3, 4] * 100),
}


def sanitised(method):
    columns = {"x": [1.0, 2.0, 3.0], "g": ["a", "b", "a"]}
    domains = {"x": flou.Interval(0, 10), "g": flou.Categories(["a", "b"])}
    return local.sanitise(columns, domains, epsilon=2, method=method).certificate


def joint(program):
    return flou.joint.simulate([table(1), table(2), table(3)], program).certificate


CERTIFICATES = (
    {f"central {kind}": (central, kind, "central") for kind in KINDS}
    | {f"local {name}": (lambda make: make(), make, "local") for name, make in RANDOMISERS.items()}
    | {f"sanitised {method}": (sanitised, method, "local") for method in ("window", "laplace", "staircase")}
    | {f"joint {i} {one.estimator}": (joint, one, "joint") for i, one in enumerate(PROGRAMS)}
)


@pytest.mark.parametrize("kind", CERTIFICATES)
def test_every_certificate_is_whole(kind):
    """All blocks with all fields of their types, proof pages that exist, JSON that reads back, a registry entry."""
    make, of, model = CERTIFICATES[kind]
    certificate = make(of)
    assert set(certificate) == set(TYPES)
    for block, types in TYPES.items():
        for name, kinds in types.items():
            assert isinstance(certificate[block][name], kinds), (block, name, certificate[block][name])
    assert certificate["trust"]["model"] == model
    assert certificate["assurance"]["proof"]
    for page in certificate["assurance"]["proof"]:
        assert page.startswith("docs/explanation/proofs/")
        assert (ROOT / page).is_file()
    assert Certificate.from_json(certificate.to_json()).hash == certificate.hash
    entry = certificate.to_registry()
    assert json.loads(json.dumps(entry)) == entry
    deployment = entry["deployment"]
    assert deployment["model"]["model_name"] == model.capitalize()
    assert deployment["privacy_loss"]["privacy_parameters"] == certificate["loss"]["parameters"]
    assert deployment["dp_flavor"]["name"]


@pytest.mark.parametrize("kind", [kind for kind in CERTIFICATES if kind.startswith("joint")])
def test_a_joint_certificate_says_what_noise_there_is(kind):
    """Exact sums promise nothing, and say so; noise has a loss, and the proof of its shares."""
    program = CERTIFICATES[kind][1]
    certificate = joint(program)
    loss, pages = certificate["loss"], certificate["assurance"]["proof"]
    again = certificate["processing"]["touches_data_again"]
    assert again == (certificate["mechanism"]["rounds"] > 1)
    if program.guarantee is None:
        assert loss["measure"] == "none"
        assert certificate["unit"]["neighbours"] is None
        assert "nothing is promised" in certificate["words"]["cost"]
        assert "exact" in certificate["keys"]["unprotected_quantities"][-1]
        assert pages == ["docs/explanation/proofs/masked-sums.md"]
    else:
        assert loss["this_release"] == program.guarantee.to_dict()
        assert program.guarantee.in_words() in certificate["words"]["cost"]
        assert "2 of the 3 parties add their noise" in certificate["words"]["cost"]
        assert pages[-1] == "docs/explanation/proofs/joint-noise.md"


def test_parties_certify_one_release():
    """The coordinator, every party and whoever checks the transcript state the same about the same release."""
    from flou.joint.simulation import simulated

    done = simulated([table(1), table(2), table(3)], PROGRAMS[1])
    checked = flou.joint.verified(done.coordinator.transcript.to_bytes())
    certificates = [fit.certificate for fit in (done.fit, checked, *done.fits.values())]
    assert len(certificates) == 5
    assert len({certificate["id"]["release_id"] for certificate in certificates}) == 1
    for certificate in certificates:
        verify_chain([certificate])
        assert {name: certificate[name] for name in certificate if name != "id"} == {
            name: certificates[0][name] for name in certificate if name != "id"
        }


def of(kind):
    for one in kind.__subclasses__():
        yield one
        yield from of(one)


def test_randomisers_name_the_page_of_their_module():
    """The page that a certificate names is one that the docstring of the randomiser's module names."""
    import sys

    seen = 0
    for randomiser in set(of(Randomiser)):
        text = sys.modules[randomiser.__module__].__doc__ or ""
        if randomiser.__module__.startswith("flou.") and "Proof" in text:
            assert f"docs/explanation/proofs/{randomiser.proof}.md" in text, randomiser
            seen += 1
    assert seen > 15


def test_a_block_cannot_be_left_out():
    """A statement without one of its blocks is not made, and blocks do not change once made."""
    with pytest.raises(TypeError, match="words"):
        blocks.Statement(**{one.name: None for one in dataclasses.fields(blocks.Statement) if one.name != "words"})
    trust = blocks.TrustBlock(model="central", parties=1, collusion_tolerated=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        trust.parties = 2
