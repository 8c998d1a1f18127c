"""Cohen's kappa: against published examples, null where undefined, its interval by simulation."""

import random

import pytest

from analysis.statistics.agreement import Kappa, cohen


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        pytest.param((20, 5, 10, 15), 0.4, id="Wikipedia's grants: 50 proposals, kappa 0.4"),
        pytest.param((45, 15, 25, 15), 0.1304, id="the same agreement by chance"),
        pytest.param((25, 35, 5, 35), 0.2593, id="the same agreement, other margins"),
        pytest.param((0, 5, 5, 0), -1.0, id="always the opposite"),
    ],
)
def test_kappa_of_known_tables(table: tuple[int, int, int, int], kappa: float) -> None:
    found = cohen(*table)
    assert found.value == pytest.approx(kappa, abs=5e-5)
    assert found.n == sum(table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param((0, 0, 0, 0), Kappa(0, None, None, None), id="nothing"),
        pytest.param((3, 0, 0, 0), Kappa(3, None, None, None), id="both say leak only"),
        pytest.param((0, 0, 0, 3), Kappa(3, None, None, None), id="both say clean only"),
        pytest.param((5, 0, 0, 5), Kappa(10, 1.0, None, None), id="full agreement has no variance to go by"),
        pytest.param((0, 4, 0, 0), Kappa(4, 0.0, None, None), id="each says one thing, never the same"),
        pytest.param((4, 2, 0, 0), Kappa(6, 0.0, None, None), id="one says leak only"),
    ],
)
def test_what_is_undefined_is_none(table: tuple[int, int, int, int], expected: Kappa) -> None:
    assert cohen(*table) == expected


def test_the_interval_stays_within_the_scale() -> None:
    found = cohen(5, 1, 0, 5)
    assert found.low == pytest.approx(0.4882, abs=1e-4)
    assert found.high == 1.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="no counts"):
        cohen(1, -1, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rate", "error"), [pytest.param(50, 0.5, 0.1, id="50 outputs"), pytest.param(200, 0.2, 0.1, id="200 outputs")]
)
def test_the_interval_covers_the_true_kappa(n: int, rate: float, error: float) -> None:
    """Two people who each err independently; what has no interval does not count as covered."""
    fate, covered, rounds = random.Random(1), 0, 2_000  # noqa: S311 - no cryptography
    agree = (1 - error) ** 2 + error**2
    says = rate * (1 - error) + (1 - rate) * error
    chance = says**2 + (1 - says) ** 2
    kappa = (agree - chance) / (1 - chance)
    for _ in range(rounds):
        counts = [0, 0, 0, 0]
        for _ in range(n):
            leak = fate.random() < rate
            first, second = (leak != (fate.random() < error) for _ in range(2))
            counts[2 * (not first) + (not second)] += 1
        found = cohen(*counts)
        covered += found.low is not None and found.high is not None and found.low <= kappa <= found.high
    assert covered / rounds >= 0.92
