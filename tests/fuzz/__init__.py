"""Fuzzing: whatever bytes come, leakdown answers, or refuses in one line of its own.

`targets` has the table: a name, a function that takes bytes, and seeds. `mutation` changes bytes and JSON at random.
`test_fuzz` runs every target for a moment in each `make test`, from fixed seeds and on the kept corpus;
`python -m tests.fuzz --seconds N [TARGET …]` runs them for long, guided by coverage where atheris is installed.
"""
