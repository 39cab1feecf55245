"""What an attacker finds out about one row of a lazy frame, end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import flou


def test_a_histogram_of_a_lazy_frame_costs_what_it_says():
    """An audit of 1,000 releases finds less than epsilon, and finds more with a rule that batches can change."""
    program = Path(__file__).with_name("lazy_audit.py")
    source = str(Path(flou.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, str(program), "1000"],
        env=os.environ | {"POLARS_MAX_THREADS": "2", "PYTHONPATH": source},
        capture_output=True,
        check=True,
        text=True,
    )
    bounds = json.loads(found.stdout)
    assert bounds["now"] <= 1
    assert bounds["before"] > 1.2
