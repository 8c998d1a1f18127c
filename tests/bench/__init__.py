"""`make bench`: our work against a yardstick in the same run, as ratios of CPU seconds or of throughput."""
