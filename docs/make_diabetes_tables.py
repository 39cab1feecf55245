"""The tables of docs/explanation/learning-from-reports.md, from the committed experiment.

python docs/make_diabetes_tables.py             print them
python docs/make_diabetes_tables.py --write     put them into the page
python docs/make_diabetes_tables.py --check     fail if the page has others
"""

from __future__ import annotations

import json
import sys
from typing import Any

from marked_page import ROOT, fill

RESULTS = ROOT / "benchmarks" / "results" / "diabetes.json"
COLUMNS = 9
LEARNERS = {"reports": "`NaiveBayes` from reports", "pairs": "`LinearDiscriminant` from reports"}
SANITISED = {
    "laplace": "sanitised, bounded Laplace",
    "staircase": "sanitised, bounded staircase",
    "window": "sanitised, clamped window",
}


def shown(value: float, deviation: float) -> str:
    return f"{value:.3f} ± {deviation:.3f}".replace("0.", ".")


def table(lines: list[dict[str, Any]], names: dict[str, str], measure: str, heads: list[str]) -> str:
    """A row for each method, a column for each epsilon."""
    epsilons = sorted({line["epsilon"] for line in lines if line["method"] in names})
    rows = ["| total ε of a person | " + " | ".join(heads or [f"{epsilon:g}" for epsilon in epsilons]) + " |"]
    rows.append("|---" + "|---:" * len(epsilons) + "|")
    for method, name in names.items():
        found = {line["epsilon"]: line for line in lines if line["method"] == method}
        cells = [shown(found[epsilon][measure], found[epsilon][f"{measure}_sd"]) for epsilon in epsilons]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def by_bins(splits: list[dict[str, Any]], wide: dict[str, Any]) -> str:
    """How much accuracy is lost, for several numbers of bins."""
    rows = [
        "| bins | accuracy | loss, compared with the same rows without privacy | its standard error |",
        "|---|---:|---:|---:|",
    ]
    for one in (*splits, wide):
        note = ", wide bounds" if one is wide else ""
        error = one["loss_sd"] / one["splits"] ** 0.5
        found = shown(one["private"], one["private_sd"]), shown(one["loss"], one["loss_sd"])
        rows.append(f"| {one['bins']}{note} | {found[0]} | {found[1]} | {error:.4f} |")
    return "\n".join(rows)


def content(report: dict[str, Any]) -> str:
    """The tables with a sentence each, and where they come from."""
    lines, clean, faults, splits = report["lines"], report["clean"], report["faults"], report["splits"]
    totals = sorted({line["epsilon"] for line in lines if line["method"] in SANITISED})
    heads = [f"{total:g} ({total / COLUMNS:g} per column)" for total in totals]
    repeats = {line["method"]: line["repeats"] for line in lines}
    printed = report["printed"]
    return "\n\n".join(
        [
            f"Without privacy, naive Bayes has an accuracy of {clean['accuracy']:.4f}, an f1 of {clean['f1']:.4f} and "
            f"an area under the curve of {clean['auc']:.4f} on the document's split. (With the document's own "
            f"preparation of the rows: {printed['accuracy']:.6f} and {printed['f1']:.6f}, the numbers that it prints.) "
            f"The tables show mean and standard deviation over {repeats['reports']} draws of the noise "
            f"({repeats['pairs']} for the discriminant). A rule that always says no has an accuracy of "
            f"{report['majority']:.3f}; a classifier below that has learned nothing.",
            "**Accuracy on clean rows, trained on reports**",
            table(lines, LEARNERS, "accuracy", []),
            "**f1**",
            table(lines, LEARNERS, "f1", []),
            "**Area under the curve**",
            table(lines, LEARNERS, "auc", []),
            "**Accuracy on clean rows, trained on sanitised rows**",
            table(lines, SANITISED, "accuracy", heads),
            "**The same, measured as in the document: on sanitised test rows and labels**",
            table(lines, SANITISED, "noised", heads),
            f"**Other splits into training and test rows**, {splits[0]['splits']} times, `NaiveBayes` at "
            f"ε = {splits[0]['epsilon']:g}. Without privacy, the accuracy is {splits[0]['clean']:.3f} ± "
            f"{splits[0]['clean_sd']:.3f} over these splits:",
            by_bins(splits, report["wide"]),
            f"The document's own programs, at ε = {faults['epsilon']:g} per column: {100 * faults['outside']:.0f} % of "
            f"all values leave their bounds, the staircase spends {faults['staircase']:.3f} per column, a person pays "
            f"at least {faults['total']:g}, and a perfect predictor scores {faults['perfect_on_noised_labels']:.3f} "
            "on the noised labels.",
            f"Measured {report['date'][:10]}, commit {report['commit']}.",
        ]
    )


def main() -> int:
    text = content(json.loads(RESULTS.read_text()))
    page = ROOT / "docs" / "explanation" / "learning-from-reports.md"
    return fill("make_diabetes_tables.py", page, {"diabetes": text}, "benchmarks/results/diabetes.json")


if __name__ == "__main__":
    sys.exit(main())
