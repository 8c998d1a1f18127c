"""Tests of the call grammars: each family whole, damaged and cut; values; hostile texts."""
