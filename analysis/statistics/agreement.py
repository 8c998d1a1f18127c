"""How far two people agree beyond chance: Cohen's kappa of a two-by-two table.

Sources: Cohen (1960), Educational and Psychological Measurement 20:37-46; the interval's variance is that of Fleiss,
Cohen and Everitt (1969), Psychological Bulletin 72:323-327, as statsmodels has it.
"""

import math
import warnings
from dataclasses import dataclass

_NOTHING = 1e-9
"""A standard error below this is none: rounding."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa on `n` outputs with its 95 % interval.

    `value` is None where chance alone would agree on everything (nothing was judged, or both say one thing only).
    `low` and `high` are None where the variance is nought, as at full agreement: it tells nothing there.
    """

    n: int
    value: float | None
    low: float | None
    high: float | None


def cohen(both: int, first_only: int, second_only: int, neither: int) -> Kappa:
    """Of two people's yes and no on the same outputs. ValueError for a negative count."""
    counts = (both, first_only, second_only, neither)
    if min(counts) < 0:
        raise ValueError(f"{counts} are no counts of outputs")
    n, first, second = sum(counts), both + first_only, both + second_only
    if n == 0 or (first == second and first in (0, n)):
        return Kappa(n, None, None, None)
    from statsmodels.stats.inter_rater import cohens_kappa  # takes a second, and few ask for a kappa

    with warnings.catch_warnings():
        # where one of them says one thing only, the variance is nought, and rounding may put it below
        warnings.simplefilter("ignore", RuntimeWarning)
        found = cohens_kappa([[both, first_only], [second_only, neither]])
    if not math.isfinite(found.std_kappa) or found.std_kappa < _NOTHING:
        return Kappa(n, float(found.kappa), None, None)
    return Kappa(n, float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp)))
