"""Document 002's experiment: how well is diabetes predicted, against epsilon? What it shows is in
docs/explanation/learning-from-reports.md.

python benchmarks/diabetes.py --data diabetes.csv     the real table: 300 draws for each setting, a few minutes
python benchmarks/diabetes.py --quick                 a made-up table, 5 draws: half a minute
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from rich.console import Console

from flou.reproduce.diabetes import read_diabetes
from flou.reproduce.diabetes_curves import experiment
from harness import machine
from harness.environments import BENCHMARKS

REPEATS, SPLITS, QUICK = 300, 200, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the table of the document; FLOU_DIABETES, or a made-up one, without")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, help="a .json file")
    chosen = parser.parse_args()
    console, start = Console(highlight=False), time.perf_counter()
    diabetes = read_diabetes(chosen.data)
    with console.status("sanitising, randomising, learning"):
        found = experiment(diabetes, *((QUICK, QUICK) if chosen.quick else (REPEATS, SPLITS)))
    report = {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
        "seconds": round(time.perf_counter() - start, 1),
        "quick": chosen.quick,
        **found,
    }
    name = "diabetes" if diabetes.real and not chosen.quick else "diabetes-quick"
    out = chosen.out or BENCHMARKS / "results" / f"{name}.json"
    out.write_text(json.dumps(report, indent=1) + "\n")
    console.print(f"without privacy: accuracy {found['clean']['accuracy']:.4f}, f1 {found['clean']['f1']:.4f}")
    for line in found["lines"]:
        numbers = f"{line['accuracy']:.3f} ± {line['accuracy_sd']:.3f}, noised {line['noised']:.3f}"
        console.print(f"{line['method']:10} {line['epsilon']:6g}  {numbers}")
    for one in found["splits"]:
        loss = f"loss {one['loss']:.4f} ± {one['loss_sd']:.4f}"
        console.print(f"epsilon {one['epsilon']:g}, {one['bins']} bins, {one['splits']} splits: {loss}")
    console.print(f"[bold]{out}[/bold]")


if __name__ == "__main__":
    main()
