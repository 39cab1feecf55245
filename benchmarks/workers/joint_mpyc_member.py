"""A party of MPyC: python -m workers.joint_mpyc_member -M3 -I0 -B 11365 (see workers/joint_mpyc.py).

Integers are shared as arrays, MPyC's quickest way.
"""

from __future__ import annotations

import gc
import time
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from mpyc.runtime import mpc

from workers.joint_data import rows, words
from workers.joint_group import answer, questions

WHOLE = mpc.SecInt(64)
FRACTION = 32  # bits: sums of products stay below 2^31, and are rounded to multiples of 2^-32


async def summed(whole: Any) -> Any:
    """Everyone's integers, added up and opened to everyone."""
    given = mpc.input(WHOLE.array(whole))
    return await mpc.output(reduce(add, given))


async def vector(given: Any) -> list[int]:
    return [int(value) for value in await summed(given)]


async def regression(given: Any) -> list[float]:
    """Sums of products as integers on a grid; what is opened is solved in floats."""
    x, y = given
    z = np.column_stack([np.ones(len(x)), x, y])
    upper = np.triu_indices(z.shape[1])
    opened = await summed(np.rint((z.T @ z)[upper] * 2.0**FRACTION).astype(np.int64))
    gram = np.zeros((z.shape[1], z.shape[1]))
    gram[upper] = [int(value) / 2.0**FRACTION for value in opened]
    gram += np.triu(gram, 1).T
    return np.linalg.solve(gram[:-1, :-1], gram[:-1, -1]).tolist()


STATISTICS = {"sum": (words, vector), "regression": (rows, regression)}


def main() -> None:
    connected = False
    waiting = questions()
    for told in waiting:
        data, compute = STATISTICS[told["statistic"]]
        given, connecting = data(mpc.pid), told["connecting"]
        if connected == connecting:
            mpc.run(mpc.shutdown() if connected else mpc.start())
        gc.collect()
        answer({"ready": True})
        next(waiting)
        began, cpu = time.monotonic(), time.process_time()
        if connecting:
            mpc.run(mpc.start())
        result = mpc.run(compute(given))
        ended, cpu = time.monotonic(), time.process_time() - cpu
        connected = True
        answer({"began": began, "ended": ended, "cpu": cpu, "result": result})


if __name__ == "__main__":
    main()
