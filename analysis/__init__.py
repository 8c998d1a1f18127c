"""What the records mean: which outputs are leaks, what followed, how sure we are."""
