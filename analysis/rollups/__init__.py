"""Eligible generations counted ahead, so that a rate over millions of them reads a few thousand rows.

A run lies mostly in one series and on one day. Such *simple* runs are summed by series and day (`day_rates`), with the
sums of squares that the interval by run needs; no run is in two of those sums, so they may be added up to any coarser
grouping. The other runs are kept one by one (`run_rates`) and grouped when asked. Both together are the raw counts, to
the last unit.
"""

from analysis.rollups.asking import Rolled, answers, condition, rolled
from analysis.rollups.leaks import LEAK_SUMS, days, leaks, reading
from analysis.rollups.making import recount, refresh, up_to_date

__all__ = [
    "LEAK_SUMS", "Rolled", "answers", "condition", "days", "leaks", "reading", "recount", "refresh", "rolled",
    "up_to_date",
]  # fmt: skip
