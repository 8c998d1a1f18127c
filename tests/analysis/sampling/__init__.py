"""Samples drawn for labelling, on real stores."""
