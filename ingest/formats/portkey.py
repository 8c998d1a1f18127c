"""Portkey's export of logs (JSON Lines), whose columns the user picks.

Source: portkey.ai docs "logs export". Bodies are the provider's own, nested or under dotted keys; of retries only
their number is told.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.bodies import Object
from ingest.formats import Format, Item, Line, Skipped, quarantined
from ingest.shapes.exchange import exchange
from ingest.shapes.moments import moment
from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import Threads
from ingest.shapes.wrapped import CACHED, exchanged, part, spread, started, text


def recognises(value: Any) -> bool:
    """Whether `value` is such a row."""
    return isinstance(value, dict) and {"ai_org", "ai_model"} <= value.keys()


def sniff(values: Sequence[Any]) -> float:
    """The share of rows."""
    return part(values, recognises, "data")


def read(lines: Iterable[Line]) -> Iterator[Item]:
    """One response a row."""
    threads = Threads()
    for line in spread(iter(lines), "data"):
        if not recognises(line.value):
            yield quarantined(line, "no log of Portkey: ai_org and ai_model are missing")
        elif "HIT" in str(line.value.get("cache_status")).upper().split():
            yield Skipped(line.number, CACHED)
        else:
            try:
                yield exchanged(line, exchange(line.value), threads, _over(line.value))
            except ValueError as fault:
                yield quarantined(line, str(fault))


def _over(row: Object) -> Fields:
    over: Fields = {"run_id": row["trace_id"]} if text(row, "trace_id") else {}
    over |= {"generation_id": row["id"]} if text(row, "id") else {}
    over |= {"provider": row["ai_org"]} if text(row, "ai_org") else {}
    retries = row.get("retry_success_count")
    over |= {"hidden_retries": retries} if isinstance(retries, int) and retries > 0 else {}
    return over | started(moment(row.get("created_at")))


PORTKEY = Format(
    name="portkey",
    title="Portkey, exported logs (JSON Lines)",
    sniff=sniff,
    read=read,
    recognised="objects with `ai_org` and `ai_model`",
    carries="exact text, reasoning, raw arguments, tools, finish reason, models, provider, usage, time, trace, engine "
    "by fingerprint",
    lacks="text unless the request and response columns were picked; what failed attempts answered (only their number)",
    better="pick the columns request, response and trace_id",
    example="""\
{"created_at":"2026-11-01T10:00:00Z","request":{"body":{"model":"m","messages":[{"role":"user","content":"ls"}],\
"tools":[{"type":"function","function":{"name":"ls"}}]}},"response":{"body":{"id":"r1","model":"m-1","choices":\
[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Two files."}}]}},"is_success":1,\
"ai_org":"openai","ai_model":"m","cache_status":"MISS","trace_id":"t1"}
""",
)
