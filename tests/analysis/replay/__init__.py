"""Tests of the parts of a replay's report."""
