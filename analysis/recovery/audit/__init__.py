"""The audit: recorded runs that break an invariant of a recovery policy. One rule a file in `rules/`."""
