"""A certificate in the fields of the deployments registry (opendp/deployments-registry-data).

The registry describes whole deployments, a certificate one release: what only people can say (who curates the data,
what for, where) is left empty for them, and nothing is made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["registry_entry"]

FLAVOURS = {"pure": "Pure DP", "approx": "Approximate DP", "zcdp": "Zero-concentrated DP", "none": "No DP"}
MEASURES = {"pure": "max divergence", "approx": "smoothed max divergence", "zcdp": "zero-concentrated divergence"}


def registry_entry(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The registry's tree for one release; ready to be written as YAML or JSON."""
    blocks: dict[str, dict[str, Any]] = {name: certificate.get(name) or {} for name in certificate}
    identity, data, unit, loss = (blocks.get(name, {}) for name in ("id", "data", "unit", "loss"))
    mechanism, keys, processing = (blocks.get(name, {}) for name in ("mechanism", "keys", "processing"))
    measure = loss.get("measure", "")
    parameters = loss.get("parameters", {})
    statistic = " of ".join(word for word in (processing.get("statistic"), processing.get("column")) if word)
    software = identity.get("software", {})
    return {
        "status": "Draft",
        "deployment": {
            "product": {
                "name": data.get("dataset") or "",
                "data_curators": [],
                "intended_use": "",
                "data_product_type": "Summary statistics",
                "data_product_region": "",
                "description": statistic,
                "publication_date": identity.get("created_utc", "")[:10],
                "data_product_sector": "",
            },
            "dp_flavor": {
                "name": FLAVOURS.get(measure, measure),
                "input_metric": unit.get("neighbours") or "",
                "bound_on_input_distance": "1",
                "output_measure": MEASURES.get(measure, ""),
                "bound_on_output_distance": ", ".join(f"{name} = {value}" for name, value in parameters.items()),
                "data_domain": _domain(unit.get("bounds", {})),
                "unprotected_quantities": _lines(keys.get("unprotected_quantities", [])),
            },
            "privacy_loss": {
                "privacy_unit": unit.get("privacy_unit", ""),
                "privacy_unit_description": _unit(unit),
                "privacy_parameters": parameters,
                "privacy_parameters_description": blocks.get("words", {}).get("cost", ""),
            },
            "model": {
                "model_name": blocks.get("trust", {}).get("model", "").capitalize(),
                "model_name_description": "",
                "actors": "",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": _lines(processing.get("postprocessing", [])),
                "composition": loss.get("composition", ""),
            },
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": _lines(processing.get("preprocessing", [])),
                "mechanisms": _mechanism(mechanism, software),
                "justification": "",
            },
            "resources": {"sources": "", "registry_authors": []},
        },
    }


def _lines(items: Any) -> str:
    return "\n".join(f"- {item}" for item in items)


def _domain(bounds: Mapping[str, Any]) -> str:
    return _lines(f"{name}: {domain.get('type', '')}" for name, domain in bounds.items())


def _unit(unit: Mapping[str, Any]) -> str:
    if unit.get("neighbours") is None:
        return ""
    rows = unit.get("max_rows_per_unit")
    change = {"add-remove": "added or removed", "substitute": "replaced"}.get(unit["neighbours"], "changed")
    most = f", which has at most {rows} row{'s' if rows != 1 else ''}" if rows and unit.get("unit_column") else ""
    return f"Neighbouring tables differ in one {unit.get('privacy_unit', 'row')} {change}{most}."


def _mechanism(mechanism: Mapping[str, Any], software: Mapping[str, Any]) -> str:
    facts = [f"{name}: {value}" for name, value in mechanism.items()]
    return _lines([*facts, f"software: {software.get('name', '')} {software.get('version', '')}".rstrip()])
