"""A history with an old half and a young half, all that is counted over it, and a search through every table."""

from datetime import UTC, date, datetime
from typing import Any

from analysis import browse
from analysis.charts import weekly_lines
from analysis.detectors import Detector
from analysis.drift import drift
from analysis.filters import Filters
from analysis.rates import rates
from analysis.recovery.policy_replay import replay_policies
from analysis.reported import reported
from analysis.segments import matrix
from ingest.store import Store
from tests.analysis.stories import WORDS, Json, called, event_of, finds, label, numbered, rows, said

OLD, YOUNG = "2026-05-01T12:00:00Z", "2026-11-20T12:00:00Z"
CUTOFF = datetime.fromisoformat("2026-09-01")
NOW = datetime.fromisoformat("2026-11-30T12:00")
BY = finds("words", WORDS)
NEWER = finds("words-newer", {"hello": ("leaked_call", "certain"), "LEAK": ("leaked_call", "certain")})
SHARED = "LEAK, and said in both halves"


def half(when: str, name: str, word: str) -> list[Json]:
    """Runs `name`-0 and `name`-1 of one time: leaks with and without a retry, a failure, words, an event, labels."""
    first, second = {"run": f"{name}-0", "started_at": when}, {"run": f"{name}-1", "started_at": when}
    told: dict[str, Any] = {"model": "m", "engine": "e", "client": "c", "usage": {"input_tokens": 2000}}
    records = [
        said(f"{word}1 LEAK", 0, 0, **first, **told, extra_words=f"{word}2", tools=[{"name": f"{word}tool"}]),
        called(0, 1, arguments=f'{{"q": "{word}3"}}', **first, **told),
        said(f"{word}4 CUT", 1, 0, **first, **told, reasoning=f"{word}5", raw_text=f"{word}6", reprimand=f"{word}7"),
        said(f"{word}8 BOOM", 0, 0, **second, **told),
        said(f"{word}9 hello", 1, 0, **second, **told),
        said(SHARED, 2, 0, **second, **told, tools=[{"name": "ls"}, {"name": "read"}]),
        {**event_of(f"{word}1 LEAK"), "run_id": f"{name}-0", "round": 0, "at": when, "note": f"{word}10"},
        {"type": "run", "run_id": f"{name}-0", "template": "t", "words": f"{word}11"},
    ]
    ids = [{"generation_id": f"{name}.{at}", **each} if each["type"] == "generation" else each
           for at, each in enumerate(records)]  # fmt: skip
    return [*ids, label(f"{name}.0", True, note=f"{word}12"), label(f"{name}.5", True, note=f"on both, {name}")]


def whole() -> list[Json]:
    """Both halves."""
    return numbered([*half(OLD, "old", "quartz"), *half(YOUNG, "young", "basalt")])


def counted(store: Store, by: Detector = BY) -> dict[str, Any]:
    """All that is counted: from the rollups, and raw."""
    found: dict[str, Any] = {}
    for name, where in (("rolled", ()), ("raw", ("run_id=*",))):
        asked = Filters.parse(where)
        recovery = replay_policies(store, by, (), asked)
        found[name] = [
            *(rates(store, by, keys, asked) for keys in (("model",), ("template", "client"))),
            weekly_lines.lines(store, by, asked),
            *(_cells(store, by, other, asked) for other in ("engine", "kind", "tools_offered")),
            drift(store, by, date(2026, 11, 30), asked).as_json(),
            [each.as_json() for each in recovery.rates],
            recovery.funnel.as_json(),
            (recovery.outcomes, recovery.evidence, recovery.rounds, recovery.not_followed, recovery.marks),
            browse.runs(store, by, asked).as_json(),
        ]
    counts = reported(store, by)
    found["reported"] = (counts.both, counts.reported_only, counts.found_only, counts.unjoined)
    return found


def _cells(store: Store, by: Detector, other: str, asked: Filters) -> list[str]:
    """Of a matrix, which has them in no order."""
    return sorted(map(repr, matrix(store, by, "model", other, asked).cells))


def holding(store: Store, *sought: str) -> list[str]:
    """Every table and column, of any type, in which one of the texts stands somewhere."""
    columns = rows(
        store,
        "SELECT c.table_name, c.column_name FROM duckdb_columns() c "
        "SEMI JOIN (FROM duckdb_tables() WHERE NOT temporary) t ON t.table_name = c.table_name ORDER BY ALL",
    )
    return [
        f"{table}.{column}: {text}"
        for table, column in columns
        for text in sought
        if rows(store, f'SELECT 1 FROM "{table}" WHERE contains("{column}"::VARCHAR, $1) LIMIT 1', text)  # noqa: S608
    ]


def today() -> datetime:
    """The moment as the store notes it."""
    return datetime.now(UTC).replace(tzinfo=None)
