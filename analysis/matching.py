"""Filters that match nothing: a slip of the pen mostly, and never to be read as "nothing differs"."""

from analysis.filters import Filters
from ingest.errors import NotFound
from ingest.store import Cursor, Store, one

OFFERED = 5
"""Values shown of a key that matched nothing, the most frequent first."""
LONGEST = 60
"""Characters of such a value: an id may be of any length."""


def require_match(store: Store, filters: Filters) -> None:
    """NotFound, with the values that there are, if `filters` match no generation; no filter is always fine."""
    _, parameters = filters.sql()
    if not parameters:
        return
    with store.cursor() as cursor:
        if not _matches(cursor, filters):
            raise NotFound(_why_none(cursor, filters))


def _matches(cursor: Cursor, filters: Filters) -> bool:
    condition, parameters = filters.sql()
    # the condition is made of fixed names, and its values are bound
    return bool(cursor.execute(f"SELECT 1 FROM facts WHERE {condition} LIMIT 1", parameters).fetchall())  # noqa: S608


def _why_none(cursor: Cursor, filters: Filters) -> str:
    [known] = one(cursor, "SELECT count(*) FROM generations")
    told = [f"--where {key}={glob}" for key, glob in filters.where]
    told += [f"since {filters.since.isoformat()}"] if filters.since else []
    told += [f"until {filters.until.isoformat()}"] if filters.until else []
    hints = [hint for key, glob in filters.where if (hint := _hint(cursor, key, glob))]
    return f"{', '.join(told)}: none of {known:,} generations matches" + "".join(f"; {hint}" for hint in hints)


def _hint(cursor: Cursor, key: str, glob: str) -> str | None:
    """The values of a key that matches nothing even by itself."""
    if _matches(cursor, Filters(((key, glob),))):
        return None
    values = cursor.execute(
        # `key` is one of the fixed names that a filter can have
        f"SELECT {key}, count(*) AS n FROM facts WHERE {key} IS NOT NULL GROUP BY ALL ORDER BY n DESC, {key}"  # noqa: S608
    ).fetchmany(OFFERED + 1)
    shown = ", ".join(value[:LONGEST] for value, _ in values[:OFFERED]) + (", …" if len(values) > OFFERED else "")
    return f"{key} is {shown}" if values else f"no generation tells its {key}"
