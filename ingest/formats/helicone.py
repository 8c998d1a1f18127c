"""Helicone's export of requests (`npx @helicone/export --include-body`), one request with its response a line.

Source: docs.helicone.ai "ETL". Bodies are the provider's own; times are ClickHouse's, without a zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.exchange import exchange
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import Threads
from ingest.shapes.wrapped import CACHED, exchanged, object_at, part, spread, started, text

SESSION = "helicone-session-id"
_NO_CACHE = (None, "", "00000000-0000-0000-0000-000000000000")


def recognises(value: Any) -> bool:
    """Whether `value` is such a row."""
    return isinstance(value, dict) and {"request_created_at", "response_status"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of rows."""
    return part(values, recognises, "data")


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a row."""
    threads = Threads()
    for line in spread(iter(lines), "data"):
        if not recognises(line.value):
            yield quarantined(line, "no row of Helicone: request_created_at and response_status are missing")
        elif line.value.get("cache_reference_id") not in _NO_CACHE:
            yield Skipped(line.number, CACHED)
        else:
            try:
                yield exchanged(line, exchange(line.value), threads, _over(line.value))
            except ValueError as fault:
                yield quarantined(line, str(fault))


def _over(row: Object) -> Fields:
    properties = object_at(row, "request_properties") or object_at(row, "properties")
    sessions = [name for key, name in properties.items() if key.lower() == SESSION and isinstance(name, str) and name]
    over: Fields = {"run_id": sessions[0]} if sessions else {}
    over |= {"generation_id": row["request_id"]} if text(row, "request_id") else {}
    provider = text(row, "provider")
    over |= {"provider": provider.lower()} if provider else {}
    return over | _time(row["request_created_at"])


def _time(told: Any) -> Fields:
    when = moment(told)
    zoned = isinstance(told, str) and ("Z" in told or "+" in told)
    return started(when) | ({} if zoned or when is None else {"zone": "assumed_utc"})


HELICONE = Format(
    name="helicone",
    title="Helicone, exported requests (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `request_created_at` and `response_status`; also a list of them, or one under `data`",
    carries="exact text, reasoning, raw arguments, tools, finish reason, models, provider, usage, time, session where "
    "Helicone-Session-Id was sent, engine by fingerprint",
    lacks="text unless exported with `--include-body`; time zone (UTC is assumed); retries; host",
    better="export with `--include-body`, and send Helicone-Session-Id",
    example="""\
{"request_id":"q1","request_created_at":"2026-11-01 10:00:00.500","request_body":{"model":"m","messages":[{"role":\
"user","content":"ls"}],"tools":[{"type":"function","function":{"name":"ls"}}]},"request_properties":\
{"Helicone-Session-Id":"s1"},"response_created_at":"2026-11-01 10:00:01.500","response_body":{"id":"r1","model":"m-1",\
"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Two files."}}]},\
"response_status":200,"provider":"CUSTOM"}
""",
)
