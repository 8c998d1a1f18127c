"""Rates with their intervals, and tests of differences: pure functions of counts, each naming its source."""
