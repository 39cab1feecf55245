"""What each participant does, one module a benchmark and participant; see harness/tasks.py."""
