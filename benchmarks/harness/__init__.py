"""Side-by-side benchmarks: every participant in its own environment, all of them alive in one run.

    declare.py       what a benchmark is: participants, sections, measures, entries, claims, facts
    environments.py  one virtual environment a peer, made on demand from pinned requirements
    tasks.py         the worker's side: how a task is written (standard library only)
    worker.py        the worker's side: the loop that prepares and times tasks
    connection.py    our side: one running worker
    rounds.py        the interleaved rounds
    outcome.py       what came out of a measure, a claim, a fact
    report.py        tables and claims on the terminal
    machine.py       where and when it was measured
    run.py           the command line that ties them together

Workers run in environments that hold nothing but the peer, so this file imports nothing.
"""
