"""Precision and recall of a whole history from a random draw of labels per stratum: estimates by inverse probability,
exact bounds.

A history is finite and all that is unsure is which of it was labelled, so bounds are those of the hypergeometric
distribution: Clopper and Pearson's (1934, Biometrika 26:404-413) for draws without replacement, as in Buonaccorsi
(1987), The American Statistician 41:215-218. A stratum that is labelled throughout is known, with no error at all.
Estimates weigh each label by one over its chance to be drawn: Horvitz and Thompson (1952), JASA 47:663-685. Bounds of
several strata hold together because their error probabilities add up to that of the whole (Bonferroni's inequality).
A label that could not be had counts as whichever answer is worse: Manski (1989), Journal of Human Resources
24:343-360.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ERROR = 0.05
"""Of an interval, both sides together; of a lower bound, its one side."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """`size` outputs. `looked` of them, a simple random draw, were looked at: `leaks` are leaks, of `unknown` no truth
    came (people unsure or in conflict), the others are none. Of the rest, `more_leaks` and `more_clean` are known for
    another reason than the draw: they are no estimate of anything, but a bound cannot pass them."""

    size: int
    looked: int
    leaks: int
    unknown: int = 0
    more_leaks: int = 0
    more_clean: int = 0

    def __post_init__(self) -> None:
        counts = (self.leaks, self.unknown, self.more_leaks, self.more_clean)
        beyond = self.looked + self.more_leaks + self.more_clean > self.size
        if min(counts) < 0 or self.leaks + self.unknown > self.looked or beyond:
            raise ValueError(f"{self} is no draw")

    @property
    def known(self) -> int:
        """Outputs with a truth."""
        return self.looked - self.unknown

    @property
    def unsure(self) -> bool:
        """True if what was not looked at leaves room for an error of the draw, and something was looked at."""
        return 0 < self.looked < self.size

    def estimate(self) -> float | None:
        """The leaks in the stratum, each label weighed by one over its chance; None without a truth."""
        if not self.size:
            return 0.0
        return self.size * self.leaks / self.known if self.known else None

    def least(self, error: float) -> int:
        """Fewer leaks than this are in the stratum with a probability of at most `error`."""
        return self._possible(fewest(self.size, self.looked, self.leaks, error))

    def most(self, error: float) -> int:
        """More leaks than this are in the stratum with a probability of at most `error`."""
        return self._possible(self.size - fewest(self.size, self.looked, self.known - self.leaks, error))

    def _possible(self, leaks: int) -> int:
        """The number next to `leaks` that what is known for certain allows: it wins over an unlucky draw."""
        most = self.size - (self.known - self.leaks) - self.more_clean
        return min(max(leaks, self.leaks + self.more_leaks), most)


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of leaks among what is found, with a 95 % interval; `n` labels stand behind it. All three are None
    where nothing is found or nothing looked at; `value` alone where a stratum has no label to stand for it."""

    n: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RecallBound:
    """Recall is at least `low`, with 95 % probability. It stands on at least `found` leaks that are found and at most
    `missed` that are not. None where nothing was looked at, and where both are 0: nothing can have been missed, and
    nothing is known to be found. `n` labels stand behind it."""

    n: int
    low: float | None
    found: int
    missed: int


def fewest(size: int, drawn: int, hits: int, error: float) -> int:
    """The smallest number of hits among `size` outputs with which `drawn` of them would show `hits` or more in more
    than a share `error` of draws."""
    from scipy.stats import hypergeom  # takes most of a second, and only sampled labels ask for it

    low, high = hits, size - drawn + hits
    while low < high:
        middle = (low + high) // 2
        if hypergeom.sf(hits - 1, size, middle, drawn) > error:
            high = middle
        else:
            low = middle + 1
    return low


def error_shares(strata: Sequence[Stratum], error: float) -> list[float]:
    """`error` divided among the strata that can err: one half evenly, one half by size.

    What a bound hangs on is mostly one large silent stratum; a stratum labelled throughout, or not at all, takes
    none. It depends on sizes and draws alone and not on what the labels say, else the sum would not hold.
    """
    unsure = [each for each in strata if each.unsure]
    outputs = sum(each.size for each in unsure)
    return [error * (0.5 / len(unsure) + 0.5 * each.size / outputs) if each.unsure else 0.0 for each in strata]


def precision(found: Sequence[Stratum], error: float = ERROR) -> Precision:
    """The share of leaks in the strata `found`, with an interval that holds with at least 1 - `error`."""
    size, n = sum(each.size for each in found), sum(each.known for each in found)
    if not any(each.looked for each in found):
        return Precision(0, None, None, None)
    estimates = [each.estimate() for each in found]
    value = None if None in estimates else sum(each for each in estimates if each) / size
    shares = error_shares(found, error / 2)
    low = sum(each.least(share) for each, share in zip(found, shares, strict=True)) / size
    high = sum(each.most(share) for each, share in zip(found, shares, strict=True)) / size
    # few labels may point to where nothing can be: past what is known beside the draw
    return Precision(n, None if value is None else min(max(value, low), high), low, high)


def recall_bound(found: Sequence[Stratum], silent: Sequence[Stratum], error: float = ERROR) -> RecallBound:
    """What recall is at least, with a probability of 1 - `error`: the fewest leaks in the strata `found` against the
    most in the strata `silent`. A stratum without a label has no leak for the one and nothing else for the other."""
    shares = error_shares([*found, *silent], error)
    fewest_found = sum(each.least(share) for each, share in zip(found, shares, strict=False))
    most_missed = sum(each.most(share) for each, share in zip(silent, shares[len(found) :], strict=True))
    leaks = fewest_found + most_missed
    strata = (*found, *silent)
    low = fewest_found / leaks if leaks and any(each.looked for each in strata) else None
    return RecallBound(sum(each.known for each in strata), low, fewest_found, most_missed)
