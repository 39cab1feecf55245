"""The tables of docs/how-to/which-quantile-method.md, from the committed benchmark.

python docs/make_quantile_tables.py             print them
python docs/make_quantile_tables.py --write     put them into the page
python docs/make_quantile_tables.py --check     fail if the page has others
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from marked_page import ROOT, fill

RESULTS = ROOT / "benchmarks" / "results"

Cell: TypeAlias = dict[str, Any]

RELATIONS = ("add-remove", "substitute")
CALL, WITHOUT = "flou", "flou, intervals=0"
SHOWN_ROWS, SHOWN_EPSILON = 100_000, 1.0  # of the tables that show one size only
SURE = 4  # standard errors by which a method must be better to be named
# who answers under which relation: flou's call, then peers
COLUMNS = (
    ("add-remove", "flou"), ("add-remove", "OpenDP"), ("add-remove", "PyDP"),
    ("substitute", "flou"), ("substitute", "OpenDP"), ("substitute", "diffprivlib"),
)  # fmt: skip
MARKS = {True: "✓", False: "✗", None: "?"}
# what a run calls things, and what the page calls them
WORDS = {
    "one quantile: never worse than the exponential mechanism, and ties help":
        "one quantile: this method is never worse than the exponential mechanism, and uses ties",
    "up to 40 quantiles of many records cost least together":
        "up to 40 quantiles of many rows: one joint draw is the most accurate",
    "more than 40 quantiles are read best off noisy counts around them":
        "more than 40 quantiles: noisy counts around the quantiles are the most accurate",
    "beside peers": "compared with other libraries",
    "beside its": "compared with its",
    "the best peer": "the best other library",
    ", its engine kept": ", engine kept running",
    ", its connection kept": ", connection kept open",
    ", connection kept": ", connection kept open",
    "kept open open": "kept open",
    ": one look": ": one pass",
    "its worker ended (silent for 300 s, or killed)": "its process gave no answer for 300 s, or was killed",
    ", 1 quantiles": ", 1 quantile",
}  # fmt: skip


def plain(text: str) -> str:
    """The words of the page for those of a run."""
    for said, meant in WORDS.items():
        text = text.replace(said, meant)
    return text


def chosen(report: dict[str, Any], **facts: Any) -> list[Cell]:
    """The errors of cells with these facts."""
    return [cell for cell in report["errors"] if all(cell[name] == fact for name, fact in facts.items())]


def measured(cells: Iterable[Cell]) -> list[Cell]:
    """Those that have an error, the smallest first."""
    return sorted((cell for cell in cells if "error" in cell), key=lambda cell: cell["error"])


def number(value: float) -> str:
    """Two digits below 100, three above; nothing was ever wrong: exact."""
    if value == 0:
        return "exact"
    if value >= 99.5:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.1g}"


def distinct(report: dict[str, Any], name: str) -> list[Any]:
    return list(dict.fromkeys(cell[name] for cell in report["errors"]))


def table(heading: list[str], rows: Iterable[list[str]], left: int = 1) -> str:
    rule = "|" + "---|" * left + "---:|" * (len(heading) - left)
    return "\n".join(["| " + " | ".join(heading) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)])


def doubt(cell: Cell) -> float:
    return max(cell["standard_error"], 1 / (cell["releases"] * cell["quantiles"]))


def default_cell(report: dict[str, Any], **facts: Any) -> str:
    """The error of the default, and a method that is surely better if there is one."""
    cells = chosen(report, rows=SHOWN_ROWS, epsilon=SHOWN_EPSILON, **facts)
    ours = next(cell for cell in cells if cell["column"] == WITHOUT)
    best = measured(cell for cell in cells if cell["kind"] == "method")[0]
    better = ours["error"] - best["error"] > SURE * math.hypot(doubt(ours), doubt(best))
    return number(ours["error"]) + (f" ({best['column']}: {number(best['error'])})" if better else "")


def default(report: dict[str, Any]) -> str:
    """Which method is chosen when."""
    data, rows = distinct(report, "data"), []
    for relation in RELATIONS:
        for many in distinct(report, "quantiles"):
            facts = {"relation": relation, "quantiles": many}
            said = chosen(report, column=WITHOUT, rows=SHOWN_ROWS, epsilon=SHOWN_EPSILON, **facts)[0]
            errors = [default_cell(report, data=one, **facts) for one in data]
            rows.append([relation, str(many), f"`{said['method']}`", plain(said["why"]), *errors])
    return table(["relation", "quantiles", "method", "why", *data], rows, 4)


def methods(report: dict[str, Any]) -> str:
    """Every method on the same rows."""
    at = {"data": "uniform", "rows": SHOWN_ROWS, "epsilon": SHOWN_EPSILON}
    settings = [(relation, many) for relation in RELATIONS for many in distinct(report, "quantiles")]
    names = dict.fromkeys(cell["column"] for cell in chosen(report, **at) if cell["kind"] != "peer")
    rows = []
    for name in names:
        found = [chosen(report, column=name, relation=r, quantiles=m, **at) for r, m in settings]
        rows.append([f"`{name}`" if "flou" not in name else name, *(entry(cells) for cells in found)])
    return table(["", *(f"{relation}, {many}" for relation, many in settings)], rows)


def entry(cells: list[Cell]) -> str:
    """The smallest error of some cells."""
    found = measured(cells)
    return number(found[0]["error"]) if found else "–"


def peers(report: dict[str, Any]) -> str:
    """flou as it is called beside peers, under the relations that they implement."""
    epsilons = (0.1, 1.0)
    rows = []
    sizes = dict.fromkeys((c["data"], c["rows"], c["quantiles"]) for c in report["errors"])
    for data, count, many in sizes:
        texts = []
        for relation, who in COLUMNS:
            at = {"data": data, "rows": count, "quantiles": many, "relation": relation, "participant": who}
            only = {"column": CALL} if who == "flou" else {}
            pair = [entry(chosen(report, epsilon=epsilon, **at, **only)) for epsilon in epsilons]
            texts.append(" / ".join(pair) if set(pair) != {"–"} else "–")
        rows.append([data, f"{count:,}", str(many), *texts])
    heading = [f"{who}, {relation}" for relation, who in COLUMNS]
    return table(["data", "rows", "quantiles", *heading], rows, 1)


def near(report: dict[str, Any]) -> str:
    """How far off a median of rows without ties is, as a multiple of whichever peer is best at the same setting."""
    ratios: dict[int, dict[str, list[float]]] = {}
    settings = dict.fromkeys((c["data"], c["rows"], c["epsilon"], c["relation"]) for c in chosen(report, quantiles=1))
    for data, count, epsilon, relation in settings:
        if data == "salaries":
            continue
        cells = chosen(report, data=data, rows=count, epsilon=epsilon, relation=relation, quantiles=1)
        best = measured(cell for cell in cells if cell["kind"] == "peer")[0]["error"]
        for cell in (cell for cell in cells if cell["kind"] == "call"):
            ratios.setdefault(count, {}).setdefault(cell["column"], []).append(cell["error"] / best)
    names = (CALL, WITHOUT)
    rows = [
        [
            f"{count:,}",
            str(len(found[CALL])),
            *(f"{math.exp(statistics.fmean(map(math.log, found[n]))):.2f}" for n in names),
        ]
        for count, found in ratios.items()
    ]
    return table(["rows", "settings", *names], rows)


def skipped(report: dict[str, Any]) -> str:
    """Why cells are empty."""
    seen: dict[str, list[str]] = {}
    for cell in (cell for cell in report["errors"] if "problem" in cell):
        reason = "a call takes longer than 5 s" if cell["problem"].startswith("skipped") else cell["problem"]
        where = f"{cell['data']}, {cell['rows']:,} rows, {cell['quantiles']} quantiles"
        seen.setdefault(f"{cell['column']}: {reason}", []).append(where)
    lines = [f"- {what} ({'; '.join(dict.fromkeys(where))})" for what, where in seen.items()]
    return plain("\n".join(lines)) or "Nothing."


def times(report: dict[str, Any]) -> str:
    """What was timed, one line per entry."""
    rows = [
        [plain(section["title"]), measure["name"], plain(row["label"]), timed(row["value"], section["unit"])]
        for section in report["sections"]
        for measure in section["measures"]
        for row in measure["rows"]
    ]
    return table(["what", "size", "who", "median of the rounds"], rows, 3)


def timed(value: float | None, unit: str) -> str:
    """Three digits and the unit, or a dash."""
    return "–" if value is None else f"{float(f'{value:.3g}'):,g} {unit}"


def claims(report: dict[str, Any]) -> str:
    """What is claimed, and what came out."""
    lines = [[MARKS[c["holds"]], plain(c["text"]), c["limit"], c["measured"]] for c in report["claims"]]
    machine = report["machine"]
    releases = sum(cell.get("releases", 0) for cell in report["errors"])
    where = f"{machine['cpu']}, {machine['cores']} cores, {report['date'][:10]}, commit {report['commit']}"
    notes = "".join(f"\n\n{note}" for note in report.get("notes", ()))
    return table(["", "claim", "limit", "measured"], lines, 4) + f"\n\n{releases:,} releases: {where}.{notes}"


PARTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "default": default,
    "methods": methods,
    "peers": peers,
    "near": near,
    "skipped": skipped,
    "times": times,
    "claims": claims,
}


FEW = (9, 40, 99)  # quantiles of the table about few rows
SHAPES = {"32": "32 leaves", "8²": "64", "16²": "256", "8³": "512", "16³": "4,096"}


def few(report: dict[str, Any]) -> str:
    """A joint draw beside two trees and one, between bounds that fit and between wide ones; the default is bold."""
    rows = []
    for cell in report["cells"]:
        if cell["relation"] != "substitute" or cell["quantiles"] not in FEW:
            continue
        texts = []
        for way in ("joint", "focused", *SHAPES):
            wide, fit = (
                [error for kind, error in cell["errors"][way].items() if ("wide" in kind) is wanted]
                for wanted in (True, False)
            )
            text = " / ".join(number(math.exp(statistics.fmean(map(math.log, part)))) for part in (fit, wide))
            texts.append(f"**{text}**" if way == cell["default"] else text)
        rows.append([str(cell["quantiles"]), f"{cell['seen']:,}", *texts])
    trees = [f"one tree, {leaves}" for leaves in SHAPES.values()]
    return table(["quantiles", "rows × ε", "joint draw", "two trees", *trees], rows, 1)


def engines(report: dict[str, Any]) -> str:
    """The same call on Spark."""
    rows = [
        [section["title"], row["label"], timed(row["value"], section["unit"])]
        for section in report["sections"]
        for measure in section["measures"]
        for row in measure["rows"]
    ]
    return table(["what", "who", "measured"], rows, 2)


def read(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return report


def main() -> int:
    report = read("quantiles")
    tables = {name: draw(report) for name, draw in PARTS.items()}
    tables |= {"few": few(read("quantiles_trees")), "engines": engines(read("quantiles_spark"))}
    page = ROOT / "docs" / "how-to" / "which-quantile-method.md"
    return fill("make_quantile_tables.py", page, tables, "benchmarks/results/quantiles*.json")


if __name__ == "__main__":
    sys.exit(main())
