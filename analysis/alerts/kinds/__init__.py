"""Kinds of rules, one file each: a table of a rule file, and what it says of the lines. Docs: docs/drift.md."""
