"""From what a user points at to decoded records: files, archives, compression, framing, grouping."""
