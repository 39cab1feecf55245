"""What exact noise costs: flou side by side with NumPy, OpenDP, diffprivlib and PyDP, in one run.

python benchmarks/noise.py [--quick] [--out FILE]
"""

from __future__ import annotations

import math

from harness.declare import Benchmark, Claim, Entry, Fact, Measure, Participant, Section, Unit
from harness.run import main

SCALES = (1, 10**3, 10**6, 10**9)
HEAVY = ["matplotlib", "pandas", "polars", "pyarrow", "pyspark", "duckdb", "scipy.stats"]

PARTICIPANTS = (
    Participant("flou", "workers.noise_flou"),
    Participant("numpy", "workers.noise_numpy"),
    Participant("OpenDP", "workers.noise_opendp", "opendp"),
    Participant("diffprivlib", "workers.noise_diffprivlib", "diffprivlib"),
    Participant("PyDP", "workers.noise_pydp", "pydp"),
)

NS_A_DRAW = Unit("ns a draw", 1e9)
NS_A_CANDIDATE = Unit("ns a candidate", 1e9)
US_A_CALL = Unit("µs a call", 1e6)
MS = Unit("ms", 1e3)
GB_A_SECOND = Unit("GB/s", 1e-9, rate=True)

LAPLACE, GAUSSIAN, SELECTION = "Discrete Laplace noise", "Gaussian noise", "Choosing one candidate"
BITS, CALLS, IMPORTS = "Random bits", "One draw of Laplace noise of scale 1000", "A fresh process"


def scale_name(scale: int) -> str:
    return f"scale {scale:.0e}".replace("e+0", "e") if scale > 1 else "scale 1"


def sampler(participant: str, label: str, task: str, *, draws: int, **parameters: object) -> Entry:
    """A vector of draws in one call."""
    return Entry(participant, f"{participant} {label}", task, {"draws": draws, **parameters}, draws)


def caller(participant: str, label: str, task: str, *, count: int, **parameters: object) -> Entry:
    """One call a draw, ``count`` of them."""
    return Entry(participant, f"{participant} {label}", task, {"count": count, **parameters}, count)


def laplace(scale: int, many: int, few: int) -> Measure:
    entries = (
        sampler("flou", "DiscreteLaplace", "sample", law="DiscreteLaplace", scale=scale, draws=many),
        sampler("numpy", "Generator.laplace (not private)", "generator_laplace", scale=scale, draws=many),
        sampler("numpy", "random.laplace (not private)", "legacy_laplace", scale=scale, draws=many),
        sampler("OpenDP", "make_laplace, int64 vector", "laplace", scale=scale, draws=few),
        caller("diffprivlib", "Laplace", "draw", mechanism="Laplace", scale=scale, count=few),
        caller("diffprivlib", "Geometric", "draw", mechanism="Geometric", scale=scale, count=few),
        caller("PyDP", "LaplaceMechanism", "draw", mechanism="LaplaceMechanism", scale=scale, count=few),
    )
    return Measure(scale_name(scale), entries, mean_absolute=scale)


def gaussian(scale: int, many: int, few: int) -> Measure:
    entries = [
        sampler("flou", "DiscreteGaussian", "sample", law="DiscreteGaussian", scale=scale, draws=many),
        sampler("flou", "RoundedGaussian", "sample", law="RoundedGaussian", scale=scale, draws=many),
        sampler("numpy", "Generator.normal (not private)", "generator_normal", scale=scale, draws=many),
        sampler("OpenDP", "make_gaussian, int64 vector", "gaussian", scale=scale, draws=few),
        caller("diffprivlib", "Gaussian", "draw", mechanism="Gaussian", scale=scale, count=few),
        caller("PyDP", "GaussianMechanism", "draw", mechanism="GaussianMechanism", scale=scale, count=few),
    ]
    if scale <= 1000:  # the time it takes grows with the scale
        count = max(few // scale, 40)
        entries.append(caller("diffprivlib", "GaussianDiscrete", "draw", mechanism="", scale=scale, count=count))
    return Measure(scale_name(scale), tuple(entries), mean_absolute=scale * math.sqrt(2 / math.pi))


def selection(candidates: int) -> Measure:
    def entry(participant: str, label: str, task: str, **parameters: object) -> Entry:
        return Entry(participant, f"{participant} {label}", task, {"candidates": candidates, **parameters}, candidates)

    entries = (
        entry("flou", "Exponential", "select", mechanism="Exponential"),
        entry("flou", "Exponential, another draw of a kept law", "select_again"),
        entry("flou", "PermuteAndFlip", "select", mechanism="PermuteAndFlip"),
        entry("flou", "NoisyMax", "select", mechanism="NoisyMax"),
        entry("numpy", "choice, p given (not private)", "choice"),
        entry("numpy", "softmax and choice (not private)", "softmax_and_choice"),
        entry("OpenDP", "make_noisy_max, Gumbel noise", "noisy_max", noise="gumbel"),
        entry("OpenDP", "make_noisy_max, exponential noise", "noisy_max", noise="exponential"),
        entry("diffprivlib", "Exponential", "select", mechanism="Exponential"),
        entry("diffprivlib", "PermuteAndFlip", "select", mechanism="PermuteAndFlip"),
    )
    return Measure(f"{candidates:,} candidates", entries)


def bits(count: int) -> Measure:
    entries = (
        Entry("flou", "flou SystemBits.words (AES-256-CTR)", "words", {"count": count}, 8 * count),
        Entry("numpy", "os.urandom", "urandom", {"size": 8 * count}, 8 * count),
        Entry("numpy", "numpy PCG64 integers (not private)", "pcg64", {"count": count}, 8 * count),
    )
    return Measure(f"{count:,} words", entries)


def calls(few: int) -> tuple[Measure, Measure]:
    def entries(prefix: str) -> tuple[Entry, ...]:
        task, at = f"{prefix}draw", {"scale": 1000, "count": few}
        return (
            caller("flou", "DiscreteLaplace", f"{task}_law", **at),
            caller("flou", "Laplace", f"{task}_mechanism", **at),
            caller("OpenDP", "make_laplace, int64", task, **at),
            caller("diffprivlib", "Laplace", task, mechanism="Laplace", answer=120, **at),
            caller("diffprivlib", "Geometric", task, mechanism="Geometric", answer=120, **at),
            caller("PyDP", "LaplaceMechanism", task, mechanism="LaplaceMechanism", answer=120, **at),
        )

    numpy = (
        caller("numpy", "Generator.laplace (not private)", "draw_generator", scale=1000, count=few),
        caller("numpy", "random.laplace (not private)", "draw_legacy", scale=1000, count=few),
    )
    return Measure("draw", (*entries(""), *numpy)), Measure("build and draw", entries("build_and_"))


def imports() -> Measure:
    def entry(participant: str, code: str, label: str = "") -> Entry:
        return Entry(participant, label or code, "fresh_process", {"code": code})

    entries = (
        entry("flou", "import flou"),
        entry("flou", "import flou; flou.laws.DiscreteGaussian(1).sample()"),
        entry("flou", "pass", "nothing but Python"),
        entry("numpy", "import numpy"),
        entry("OpenDP", "import opendp.prelude"),
        entry("diffprivlib", "import diffprivlib"),
        entry("PyDP", "import pydp"),
    )
    return Measure("milliseconds", entries)


def claims(select: Measure) -> tuple[Claim, ...]:
    found = []
    for name in map(scale_name, SCALES):
        ours = (LAPLACE, name, "flou DiscreteLaplace")
        numpy = (LAPLACE, name, "numpy Generator.laplace (not private)")
        opendp = (LAPLACE, name, "OpenDP make_laplace, int64 vector")
        found.append(Claim(f"discrete Laplace, {name}: time against numpy's laplace", ours, numpy, at_most=3))
        found.append(Claim(f"discrete Laplace, {name}: faster than OpenDP's", ours, opendp, at_least=100))
    for law in ("DiscreteGaussian", "RoundedGaussian"):
        for name in map(scale_name, SCALES):
            ours, opendp = (GAUSSIAN, name, f"flou {law}"), (GAUSSIAN, name, "OpenDP make_gaussian, int64 vector")
            found.append(Claim(f"{law}, {name}: faster than OpenDP's", ours, opendp, at_least=50))
    ours, numpy = (
        (SELECTION, select.name, label) for label in ("flou Exponential", "numpy choice, p given (not private)")
    )
    found.append(Claim("exponential mechanism: time against numpy's choice with p given", ours, numpy, at_most=10))
    return tuple(found)


def declare(quick: bool) -> Benchmark:
    many, few, once = (10**5, 10**3, 200) if quick else (10**6, 2 * 10**4, 1000)
    select, short = selection(many), 9 if quick else 25
    return Benchmark(
        "noise",
        PARTICIPANTS,
        (
            Section(LAPLACE, NS_A_DRAW, tuple(laplace(scale, many, few) for scale in SCALES)),
            Section(GAUSSIAN, NS_A_DRAW, tuple(gaussian(scale, many, few) for scale in SCALES)),
            Section(SELECTION, NS_A_CANDIDATE, (select,), "A million candidates: as many ms a draw."),
            Section(BITS, GB_A_SECOND, (bits(many),), rounds=short),
            Section(CALLS, US_A_CALL, calls(once), rounds=short),
            Section(IMPORTS, MS, (imports(),), "Python's own start is included.", statistic="median"),
        ),
        claims(select),
        (
            Fact(
                "import flou loads no heavy module",
                Entry("flou", "", "loaded_modules", {"code": "import flou", "modules": HEAVY}),
            ),
        ),
        rounds=3 if quick else 7,
    )


if __name__ == "__main__":
    main(declare, __doc__.splitlines()[0])
