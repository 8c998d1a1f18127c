"""Records in: read run logs, map them to native records, store them."""
