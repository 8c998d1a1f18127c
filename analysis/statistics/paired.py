"""Two detectors on the same labelled outputs: only the outputs on which they differ say which is better."""

from scipy.stats import binomtest


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p of McNemar's exact test: the discordant pairs are fair coin tosses if neither is better.

    1.0 without a discordant pair; ValueError for a negative count. Source: McNemar (1947), Psychometrika
    12:153-157, in its exact conditional form (Fagerland et al. 2013, BMC Med Res Methodol 13:91).
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"{only_first} and {only_second} are no counts of pairs")
    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_first, only_first + only_second, 0.5).pvalue)
